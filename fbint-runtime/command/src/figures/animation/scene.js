"use strict";
// Pictures of a mechanism: functions from a film, a time and a view to the text of an SVG.
//
// A film has, for each of its times, a frame: a list of shapes, each with its kind and its points. Between two frames points move
// along straight lines.

/** The film as it is embedded in a page: shapes that repeat are put in, and coordinates become points. */
function developed(film) {
  const dimension = film.bounds[0].length;
  const points = (numbers) => {
    const rows = [];
    for (let at = 0; at < numbers.length; at += dimension) rows.push(numbers.slice(at, at + dimension));
    return rows;
  };
  let before = [];
  const frames = film.frames.map((frame) => {
    before = frame.map((shape, place) => (shape === 0 ? before[place] : { kind: shape[0], points: points(shape.slice(1)) }));
    return before;
  });
  const [low, high] = film.bounds;
  const middle = low.map((least, axis) => (least + high[axis]) / 2);
  const half = low.map((least, axis) => (high[axis] - least) / 2);
  const far = reach(frames, film.centres ?? frames.map(() => middle));
  return { ...film, frames, dimension, middle, half: film.centres ? far.along : half, reach: far, paths: paths(frames) };
}

/** How far anything gets from the middle of its frame: along the axes, from the vertical through it, and in all. */
function reach(frames, middles) {
  const far = { along: [0, 0, 0], across: 0, inAll: 0 };
  frames.forEach((frame, index) => {
    for (const point of frame.flatMap(({ points }) => points)) {
      const [x, y, z] = point.map((coordinate, axis) => coordinate - middles[index][axis]);
      far.along = [x, y, z ?? 0].map((length, axis) => Math.max(far.along[axis], Math.abs(length)));
      far.across = Math.max(far.across, Math.hypot(x, y));
      far.inAll = Math.max(far.inAll, Math.hypot(x, y, z ?? 0));
    }
  });
  return far;
}

/** The film with the middle and the range that its picture has at a time. */
function framed(film, time) {
  const { index, next, part } = moment(film, time);
  const middle = film.centres ? between(film.centres[index], film.centres[next], part) : film.middle;
  if (!film.ranges) return { ...film, middle };
  const [range] = between([film.ranges[index]], [film.ranges[next]], part);
  return { ...film, middle, half: [range, range], reach: { across: range, inAll: range } };
}

/** Where each trace leads: a point for each frame. */
function paths(frames) {
  const traced = (frame) => frame.filter((shape) => shape.kind === "trace");
  return traced(frames[0]).map((_, which) => frames.map((frame) => traced(frame)[which]?.points[0]));
}

/** The index of the last frame until a time, and which part of the way to the next has gone by. */
function moment({ times }, time) {
  let [low, high] = [0, times.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (times[middle] <= time) low = middle; else high = middle - 1;
  }
  const next = Math.min(low + 1, times.length - 1);
  const part = next > low ? Math.min(Math.max((time - times[low]) / (times[next] - times[low]), 0), 1) : 0;
  return { index: low, next, part };
}

/** The point a part of the way from one point to another. */
function between(from, to, part) {
  return from.map((coordinate, axis) => coordinate + part * (to[axis] - coordinate));
}

/** The shapes at a time. */
function shapesAt(film, time) {
  const { index, next, part } = moment(film, time);
  return film.frames[index].map((shape, place) => {
    const after = film.frames[next][place];
    if (after === undefined || after.kind !== shape.kind || after.points.length !== shape.points.length) return shape;
    return { kind: shape.kind, points: shape.points.map((point, which) => between(point, after.points[which], part)) };
  });
}

/** A function from points of the film to x, y and nearness on a picture of this size. */
function camera({ middle, half, reach, dimension, axes }, view, width, height) {
  const margin = 16 + 0.05 * Math.min(width, height);
  const [room, rise] = [Math.max(width - 2 * margin, 1), Math.max(height - 2 * margin, 1)];
  const onto = (right, up, near) => [width / 2 + right, height / 2 - up, near];
  // What does not extend is drawn at some scale.
  const scale = (lengths) => Math.min(...lengths.map(([pixels, length]) => (length > 0 ? pixels / length : Infinity)));
  const finite = (value) => (value === Infinity ? 1 : value);
  if (dimension === 2) {
    const each = [scale([[room / 2, half[0]]]), scale([[rise / 2, half[1]]])];
    const common = finite(Math.min(...each));
    const [x, y] = axes ? each.map(finite) : [common, common];
    return (point) => onto(x * (point[0] - middle[0]), y * (point[1] - middle[1]), 0);
  }
  // Nothing leaves the picture, from wherever one looks.
  const size = finite(scale([[room / 2, reach.across], [rise / 2, reach.inAll]]));
  return (point) => {
    return onto(...turned(view, point.map((coordinate, axis) => size * (coordinate - middle[axis]))));
  };
}

/** A vector as it is seen: to the right, upwards, and towards the one who looks. */
function turned({ azimuth, elevation }, [x, y, z]) {
  const near = Math.cos(azimuth) * x + Math.sin(azimuth) * y;
  const right = Math.cos(azimuth) * y - Math.sin(azimuth) * x;
  const [sin, cos] = [Math.sin(elevation), Math.cos(elevation)];
  return [right, cos * z - sin * near, cos * near + sin * z];
}

/** Where to look from at first. */
function firstView({ view }) {
  if (!view) return { azimuth: -1.05, elevation: 0.35 };
  const [x, y, z] = view;
  return { azimuth: Math.atan2(y, x), elevation: Math.atan2(z, Math.hypot(x, y)) };
}

/** What is inside the SVG of a film at a time. */
function picture(film, time, view, width, height, hasTraces) {
  const project = camera(framed(film, time), view, width, height);
  const unit = Math.min(Math.max(Math.min(width, height) / 90, 2), 7);
  const shapes = shapesAt(film, time).filter((shape) => shape.kind !== "trace");
  const drawn = shapes.map((shape) => {
    const points = shape.points.map(project);
    return { kind: shape.kind, points, nearness: mean(points, 2) + unit * (lift[shape.kind] ?? 0) };
  });
  drawn.sort((one, other) => one.nearness - other.nearness);
  const traces = hasTraces ? film.paths.map((path, which) => trace(film, path, which, time, project)) : [];
  const marks = film.dimension === 3 ? [compass(view, height)] : film.axes ? [scales(film, width, height)] : [];
  return [...marks, ...traces, ...drawn.map((shape) => element(shape, unit, film.dimension === 3))].join("");
}

/** By how much shapes of a kind lie above others at one place. */
const lift = { guide: -1, rod: 0.5, spring: 0.5, arrow: 1, pivot: 2, point: 3 };

function mean(points, axis) {
  return points.reduce((sum, point) => sum + point[axis], 0) / Math.max(points.length, 1);
}

/** Points as attributes have them. */
function list(points) {
  return points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ");
}

function element({ kind, points }, unit, isSpatial) {
  const [x, y] = points[0].map((coordinate) => coordinate.toFixed(2));
  switch (kind) {
    case "point": return `<circle class="point" cx="${x}" cy="${y}" r="${(1.35 * unit).toFixed(1)}"/>`;
    case "pivot": return `<circle class="pivot" cx="${x}" cy="${y}" r="${unit.toFixed(1)}" stroke-width="${(0.5 * unit).toFixed(1)}"/>`;
    case "face": return `<polygon class="face" points="${list(points)}" fill-opacity="${isSpatial ? light(points) : 0.8}"/>`;
    case "rod": return `<polyline class="rod" points="${list(points)}" stroke-width="${(0.8 * unit).toFixed(1)}"/>`;
    case "spring": return spring(points, unit);
    case "guide": return `<polyline class="guide" points="${list(points)}"/>`;
    default: return arrow(kind, points, unit);
  }
}

/** Faces that look at the one who looks are the brightest. */
function light([a, b = a, c = b]) {
  const [u, v] = [b, c].map((corner) => corner.map((coordinate, axis) => coordinate - a[axis]));
  const normal = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
  return (0.35 + 0.5 * Math.abs(normal[2]) / (Math.hypot(...normal) || 1)).toFixed(2);
}

/** A zigzag, which is narrower and thinner where it is so short that its turns would touch. */
function spring([from, to], unit) {
  const turns = 6;
  const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
  const length = Math.hypot(dx, dy);
  const size = Math.min(unit, length / 16) / (length || 1);
  const end = Math.min(0.14, (3 * unit) / (length || 1));
  const at = (along, across) => [from[0] + along * dx - across * dy, from[1] + along * dy + across * dx];
  const corner = (_, half) => at(end + ((1 - 2 * end) * (half + 0.5)) / (2 * turns), (half % 2 ? -1.8 : 1.8) * size);
  const corners = Array.from({ length: 2 * turns }, corner);
  const line = list([from, at(end, 0), ...corners, at(1 - end, 0), to]);
  return `<polyline class="spring" points="${line}" stroke-width="${(0.4 * size * length).toFixed(1)}"/>`;
}

/** A line with a head, of which a short arrow has a small one. */
function arrow(kind, [from, to], unit) {
  const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
  const length = Math.hypot(dx, dy);
  const head = Math.min(2.5 * unit, 0.5 * length) / (length || 1);
  const side = (turn) => [to[0] - head * (dx + turn * dy), to[1] - head * (dy - turn * dx)];
  return `<polyline class="${kind}" points="${list([from, to, side(0.5), to, side(-0.5)])}" stroke-width="${(0.5 * unit).toFixed(1)}"/>`;
}

/** The line that a point has left until a time. */
function trace(film, path, which, time, project) {
  const { index, next, part } = moment(film, time);
  const points = path.slice(0, index + 1);
  if (path[index] && path[next]) points.push(between(path[index], path[next], part));
  const line = list(points.filter((point) => point !== undefined).map(project));
  return `<polyline class="trace" points="${line}" style="stroke: var(--c${which % 9})"/>`;
}

/** The directions of space, in a corner. */
function compass(view, height) {
  const [x, y, length] = [36, height - 36, 18];
  const arms = { x: [1, 0, 0], y: [0, 1, 0], z: [0, 0, 1] };
  return Object.entries(arms).map(([name, direction]) => {
    const [right, up] = turned(view, direction).map((part) => length * part);
    const at = (factor) => [x + factor * right, y - factor * up].map((coordinate) => coordinate.toFixed(1));
    const [[endX, endY], [textX, textY]] = [at(1), at(1.5)];
    // An arm that points at the one who looks has no room for its name.
    const text = Math.hypot(right, up) < 0.45 * length ? "" :
      `<text x="${textX}" y="${textY}" dy="4" text-anchor="middle">${name}</text>`;
    return `<line class="axis" x1="${x}" y1="${y}" x2="${endX}" y2="${endY}"/>${text}`;
  }).join("");
}

/** What is along axes without a common scale. */
function scales({ axes }, width, height) {
  return `<text x="${width - 8}" y="${height - 8}" text-anchor="end">${escaped(axes[0])} →</text>` +
    `<text x="8" y="18">${escaped(axes[1])} ↑</text>`;
}

function escaped(text) {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;");
}

/** A picture as a file of its own. */
function standalone(film, time, view, width, height, hasTraces, style) {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">` +
    `<title>${escaped(film.name)}</title><style>${style}</style><rect class="backdrop" width="${width}" height="${height}"/>` +
    `${picture(film, time, view, width, height, hasTraces)}</svg>`;
}
