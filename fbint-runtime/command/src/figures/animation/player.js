// The page: controls, the loop that plays, and the chart of the integrals.

const $ = (id) => document.getElementById(id);
const film = developed(JSON.parse($("film").textContent));
const [start, end] = [film.times[0], film.times[film.times.length - 1]];

let time = start;
let view = firstView(film);
/** The time of the last frame on the screen in milliseconds, while the animation plays. */
let shown = null;
/** The request for the next frame. */
let request = 0;

function draw() {
  const { width, height } = $("picture").getBoundingClientRect();
  $("picture").setAttribute("viewBox", `0 0 ${width} ${height}`);
  $("picture").innerHTML = picture(film, time, view, width, height, $("traces").checked);
  $("time").value = time;
  const clock = `t = ${time.toFixed(decimals)} of ${Number(end.toPrecision(6))}`;
  $("time").setAttribute("aria-valuetext", clock);
  $("clock").textContent = clock;
  $("cursor").setAttribute("d", `M${chart.x(time).toFixed(1)} ${chart.top}V${chart.bottom}`);
}

/** Decimal places of the clock: a thousandth of the run shows. */
const decimals = Math.min(Math.max(3 - Math.floor(Math.log10(end - start || 1)), 0), 12);

function seek(to) {
  time = Math.min(Math.max(to, start), end);
  draw();
}

function play() {
  if (time >= end) time = start;
  shown = performance.now();
  $("play").textContent = "Pause";
  request = requestAnimationFrame(step);
}

function pause() {
  shown = null;
  cancelAnimationFrame(request);
  $("play").textContent = "Play";
}

function step(now) {
  // A page that was hidden goes on where it was.
  const passed = Math.min(Math.max(now - shown, 0), 100) / 1000;
  shown = now;
  seek(time + passed * Number($("speed").value));
  if (time >= end) pause(); else request = requestAnimationFrame(step);
}

/** 1, 2 or 5 times a power of ten, at least as large as a number. */
function round(number) {
  const power = 10 ** Math.floor(Math.log10(number));
  return [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= 0.999 * number);
}

// Controls.

$("time").min = start;
$("time").max = end;
$("time").addEventListener("input", () => { pause(); seek(Number($("time").value)); });
// The browser's own steps are too small where every number is allowed.
$("time").addEventListener("keydown", (event) => {
  const steps = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10 };
  if (!(event.key in steps)) return;
  event.preventDefault();
  pause();
  seek(time + steps[event.key] * (end - start) / 200);
});
$("play").addEventListener("click", () => (shown === null ? play() : pause()));
document.addEventListener("keydown", (event) => {
  if (event.key !== " " || event.target.closest("button, select, input[type=checkbox]")) return;
  event.preventDefault();
  $("play").click();
});
$("traces").addEventListener("change", draw);
if (film.paths.length === 0) $("traces").parentElement.hidden = true;

// The time of the run in a second: 1, unless the run would be over at once or last for minutes.
const natural = end - start >= 4 && end - start <= 120 ? 1 : round((end - start) / 20 || 1);
for (const factor of [0.1, 0.2, 0.5, 1, 2, 5, 10]) {
  const speed = Number((factor * natural).toPrecision(1));
  $("speed").add(new Option(`${speed} / s`, speed, factor === 1, factor === 1));
}

$("save").addEventListener("click", () => {
  const { width, height } = $("picture").getBoundingClientRect();
  const style = $("scene-style").textContent;
  const file = new Blob([standalone(film, time, view, width, height, $("traces").checked, style)], { type: "image/svg+xml" });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = `${film.name}.svg`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href));
});

// The view of mechanisms in space.

function turn(azimuth, elevation) {
  const steep = Math.PI / 2;
  view = { azimuth: view.azimuth + azimuth, elevation: Math.min(Math.max(view.elevation + elevation, -steep), steep) };
  draw();
}

if (film.dimension === 3) {
  const svg = $("picture");
  svg.classList.add("turns");
  svg.setAttribute("tabindex", "0");
  /** Where the pointer that turns the view was last. */
  let pointer = null;
  svg.addEventListener("pointerdown", (event) => {
    if (!event.isPrimary) return;
    svg.setPointerCapture(event.pointerId);
    pointer = event;
  });
  svg.addEventListener("pointermove", (event) => {
    if (event.pointerId !== pointer?.pointerId) return;
    turn((pointer.clientX - event.clientX) / 150, (event.clientY - pointer.clientY) / 150);
    pointer = event;
  });
  svg.addEventListener("lostpointercapture", () => { pointer = null; });
  svg.addEventListener("keydown", (event) => {
    const turns = { ArrowLeft: [0.1, 0], ArrowRight: [-0.1, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1] };
    if (!(event.key in turns)) return;
    event.preventDefault();
    turn(...turns[event.key]);
  });
  $("turn").addEventListener("click", () => { view = firstView(film); draw(); });
} else {
  $("turn").hidden = true;
}

// The chart. What is exactly 0 has no logarithm and is left out.

const chart = { left: 46, right: 20, top: 8, bottom: 0, width: 0 };
chart.x = (at) => chart.left + (chart.width - chart.left - chart.right) * (end > start ? (at - start) / (end - start) : 0);

function raised(exponent) {
  return [...String(exponent)].map((digit) => (digit === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit])).join("");
}

/** The lines: a change that is larger than rounding has a line to itself, and all others share a grey one. */
const lines = (() => {
  const moved = film.integrals.filter(({ changes }) => changes.some((change) => change > 0));
  const own = moved.filter(({ rounding }) => !rounding);
  const small = moved.filter(({ rounding }) => rounding);
  const lines = own.map(({ name, changes }, which) => ({ name, changes, style: stroke(which) }));
  if (small.length > 0) {
    const changes = film.sampled.map((_, index) => small.reduce((most, one) => Math.max(most, one.changes[index]), 0));
    const most = changes.reduce((a, b) => Math.max(a, b)).toExponential(0);
    const name = `at rounding, up to ${most}: ${small.map(({ name }) => name).join(", ")}`;
    lines.push({ name, changes, style: "stroke: var(--soft)" });
  }
  return lines;
})();

function drawChart() {
  const { width, height } = $("chart").getBoundingClientRect();
  Object.assign(chart, { width, bottom: height - 34 });
  const exponents = film.integrals.flatMap(({ changes }) => changes.filter((change) => change > 0).map(Math.log10));
  const least = exponents.length ? Math.max(exponents.reduce((a, b) => Math.min(a, b)), -17) : -17;
  const low = Math.floor(least);
  const high = Math.max(exponents.length ? Math.ceil(exponents.reduce((a, b) => Math.max(a, b))) : 0, low + 1);
  const y = (exponent) => chart.bottom - (chart.bottom - chart.top) * (Math.max(exponent, low) - low) / (high - low);

  const parts = [];
  const stride = Math.max(Math.ceil((high - low) * 18 / (chart.bottom - chart.top)), 1);
  for (let exponent = low; exponent <= high; exponent += stride) {
    const at = y(exponent).toFixed(1);
    parts.push(`<path class="level" d="M${chart.left} ${at}H${width - chart.right}"/>`,
      `<text x="${chart.left - 6}" y="${Number(at) + 4}" text-anchor="end">10${raised(exponent)}</text>`);
  }
  const tick = round(Math.max((end - start) / Math.max((width - chart.left - chart.right) / 70, 1), Number.MIN_VALUE));
  for (let number = Math.ceil(start / tick); number * tick <= end + 1e-9 * tick; number += 1) {
    const at = chart.x(number * tick).toFixed(1);
    parts.push(`<path class="level" d="M${at} ${chart.top}V${chart.bottom}"/>`,
      `<text x="${at}" y="${chart.bottom + 15}" text-anchor="middle">${Number((number * tick).toPrecision(6))}</text>`);
  }
  parts.push(`<text x="${chart.x((start + end) / 2)}" y="${chart.bottom + 30}" text-anchor="middle">time t, in the units of the parameters</text>`);
  for (const { changes, style } of lines) {
    const points = changes.map((change, index) => [chart.x(film.sampled[index]), change > 0 ? y(Math.log10(change)) : null]);
    const line = list(points.filter(([, at]) => at !== null));
    parts.push(`<polyline class="line" points="${line}" style="${style}"/>`);
  }
  $("chart").setAttribute("viewBox", `0 0 ${width} ${height}`);
  $("chart").innerHTML = `${parts.join("")}<path id="cursor" class="cursor"/>`;
}

/** The colours repeat with dashes. */
function stroke(which) {
  return `stroke: var(--c${which % 9})${which < 9 ? "" : "; stroke-dasharray: 5 3"}`;
}

for (const { name, style } of lines) {
  const item = document.createElement("li");
  item.innerHTML = `<svg viewBox="0 0 22 8" aria-hidden="true"><path class="line" d="M0 4H22" style="${style}"/></svg>`;
  item.append(name);
  $("legend").append(item);
}
const still = film.integrals.filter(({ changes }) => changes.every((change) => change === 0));
if (still.length > 0) {
  const item = document.createElement("li");
  item.append(`0 throughout: ${still.map(({ name }) => name).join(", ")}`);
  $("legend").append(item);
}
if (film.integrals.length === 0) $("legend").textContent = "The model has no integrals.";

// Words.

function sampling({ samples, sampled, times }) {
  const chosen = samples === sampled.length ? `All ${samples}` : `${sampled.length} of ${samples}`;
  const filled = times.length - sampled.length;
  return `${chosen} samples of the run${filled > 0 ? `, and ${filled} interpolated positions between them` : ""}.`;
}

document.title = `${film.name}: an animation by fbint`;
$("name").textContent = film.name;
$("summary").textContent = film.summary.replaceAll("`", "");
$("picture").setAttribute("aria-label", `${film.name} in motion`);
$("parameters").textContent = film.parameters.length === 0 ? "No parameters." :
  `Parameters: ${film.parameters.map(([name, value]) => `${name} = ${Number(value.toPrecision(6))}`).join(", ")}.`;
$("method").textContent = `Method: ${film.method}.`;
$("sampling").textContent = sampling(film) +
  (film.dimension === 3 ? " Drag the mechanism, or use the arrow keys on it, to turn it." : "");

const resizing = new ResizeObserver(() => { drawChart(); draw(); });
resizing.observe($("stage"));
resizing.observe($("drift"));
drawChart();
draw();
// Who wants little motion starts it.
if (!matchMedia("(prefers-reduced-motion: reduce)").matches) play();
