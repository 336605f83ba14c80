"""Taylor's method beside heyoka: times and errors on one machine, as a table in Markdown.

    python3 -m venv target/rivals
    target/rivals/bin/pip install heyoka==7.13.2
    target/rivals/bin/python fbint-runtime/benches/taylor.py

It builds the bench `taylor` beside it for this machine, and runs it and heyoka in turns, problem by problem. A time is the least of all turns:
by the clock, or the mean time that the thread had a processor if that is less. The least of heyoka's modes is shown beside its default. Errors
are distances from solutions in 113 bits by heyoka. Compile times do not count.
"""

import glob
import math
import os
import subprocess
import time

import heyoka
import numpy

ROUNDS = 4
# The least time that a run is repeated for in each turn.
SECONDS = 0.1
MODES = {"default": {}, "fast_math": {"fast_math": True}, "compact_mode": {"compact_mode": True}}
# Compiled for minutes in this mode, or slower in it than in the default by far.
LONG = {("planets", "fast_math"), ("fput", "fast_math")}


def bench():
    """The path of the bench, built for this machine."""
    command = "cargo bench --locked --no-run -p fbint-runtime --no-default-features --features std,lanes,ensemble --bench taylor"
    target = ["--target", "x86_64-unknown-linux-gnu"]
    environment = {**os.environ, "RUSTFLAGS": "-C target-cpu=native"}
    subprocess.run(command.split() + target, env=environment, check=True)
    return max(glob.glob("target/x86_64-unknown-linux-gnu/release/deps/taylor-*[!.d]"), key=os.path.getmtime)


def turn(path, name):
    """What the bench says of a problem: the start, the end of the time, and rows (tolerance, steps, seconds, end)."""
    environment = {**os.environ, "RAYON_NUM_THREADS": "1"}
    output = subprocess.run([path, "--bench", name], env=environment, check=True, stdout=subprocess.PIPE, text=True)
    start, until, rows = None, None, []
    for line in output.stdout.splitlines():
        _, tolerance, steps, number, state = line.split("\t")
        state = [float(entry) for entry in state.strip("[]").split(",")]
        if tolerance == "start":
            start, until = state, float(number)
        else:
            rows.append((float(tolerance), int(steps), float(number), state))
    return start, until, rows


def pendulum(start):
    a, p = heyoka.make_vars("a", "p")
    return [(a, p), (p, -9.81 * heyoka.sin(a))], start


def henon_heiles(start):
    x, y, u, v = heyoka.make_vars("x", "y", "u", "v")
    return [(x, u), (y, v), (u, -x - 2.0 * x * y), (v, -y - x * x + y * y)], start


def kepler(start):
    x, y, u, v = heyoka.make_vars("x", "y", "u", "v")
    cube = (x * x + y * y) ** -1.5
    return [(x, u), (y, v), (u, -x * cube), (v, -y * cube)], start


def double_pendulum(start):
    q, p = heyoka.make_vars("a", "b"), heyoka.make_vars("p", "r")
    between = q[0] - q[1]
    kinetic = (p[0] ** 2 + 2.0 * p[1] ** 2 - 2.0 * p[0] * p[1] * heyoka.cos(between)) / (
        2.0 * (1.0 + heyoka.sin(between) ** 2)
    )
    energy = kinetic - 2.0 * 9.81 * heyoka.cos(q[0]) - 9.81 * heyoka.cos(q[1])
    return heyoka.hamiltonian(energy, list(q), list(p)), start


def spherical(start):
    """The field of Dirac."""
    q, p = heyoka.make_vars("x", "y", "z"), heyoka.make_vars("u", "v", "w")
    square, along, speed = [heyoka.sum([a * b for a, b in zip(*pair)]) for pair in [(q, q), (q, p), (p, p)]]
    share, force = along / square, (speed - q[2]) / square
    rates = [p[i] - share * q[i] for i in range(3)]
    forces = [share * p[i] - force * q[i] - (1.0 if i == 2 else 0.0) for i in range(3)]
    return [*zip(q, rates), *zip(p, forces)], start


def planets(start):
    g = 2.95912208286e-4
    m = [1.00000597682, 0.000954786104043, 0.000285583733151, 0.0000437273164546, 0.0000517759138449, 1.0 / 1.3e8]
    q, p = numpy.array(start[:18]).reshape(6, 3), numpy.array(start[18:]).reshape(6, 3)
    v = p / numpy.array(m)[:, None]
    return heyoka.model.nbody(6, masses=m, Gconst=g), list(numpy.hstack([q, v]).ravel())


def fput(start):
    q = heyoka.make_vars(*[f"q{i}" for i in range(32)])
    p = heyoka.make_vars(*[f"p{i}" for i in range(32)])
    stretch = [q[0], *[q[i + 1] - q[i] for i in range(31)], -q[31]]
    tension = [s + s * s * 0.25 for s in stretch]
    return [*zip(q, p), *[(p[i], tension[i + 1] - tension[i]) for i in range(32)]], start


PROBLEMS = {
    "pendulum": pendulum,
    "henon-heiles": henon_heiles,
    "kepler": kepler,
    "double pendulum": double_pendulum,
    "spherical": spherical,
    "planets": planets,
    "fput": fput,
}


def coordinates(name, state):
    """Those that both have: heyoka has bodies one after the other with their velocities."""
    state = numpy.array(state)
    return state.reshape(6, 6)[:, :3].ravel() if name == "planets" else state[: len(state) // 2]


def timed(run):
    """The time of a run, as the bench measures it, and its result."""
    least, turns, taken, before = math.inf, 0, 0.0, time.thread_time()
    while taken < SECONDS or turns < 5:
        began = time.perf_counter()
        result = run()
        seconds = time.perf_counter() - began
        least, taken, turns = min(least, seconds), taken + seconds, turns + 1
    return min(least, (time.thread_time() - before) / turns), result


def runner(integrator, start, until):
    def run():
        integrator.time = 0.0
        integrator.state[:] = start
        return integrator.propagate_until(until)[3]

    return run


def exact(system, start, until):
    real = heyoka.real128
    start = numpy.array(start, dtype=real)
    integrator = heyoka.taylor_adaptive(system, start, tol=real(1e-30), fp_type=real, compact_mode=True)
    integrator.propagate_until(real(until))
    return integrator.state


def error(name, state, solution, is_own):
    own = numpy.array(state[: len(state) // 2]) if is_own else coordinates(name, state)
    return max(abs(float(heyoka.real128(float(a)) - b)) for a, b in zip(own, coordinates(name, solution)))


def row(name, path):
    """The best times of a problem: of the bench and of each mode of heyoka, by tolerance."""
    start, until, _ = turn(path, name)
    system, start = PROBLEMS[name](start)
    solution = exact(system, start, until)
    modes = {mode: settings for mode, settings in MODES.items() if (name, mode) not in LONG}
    runs = {
        (tolerance, mode): heyoka.taylor_adaptive(system, start, tol=tolerance, **settings)
        for tolerance in [1e-15, 1e-9]
        for mode, settings in modes.items()
    }
    best, own = {key: math.inf for key in runs}, {}
    steps = {}
    for _ in range(ROUNDS):
        for tolerance, count, seconds, end in turn(path, name)[2]:
            least = min(seconds, own.get(tolerance, (math.inf,))[0])
            own[tolerance] = (least, count, error(name, end, solution, True))
        for key, integrator in runs.items():
            seconds, steps[key] = timed(runner(integrator, start, until))
            best[key] = min(best[key], seconds)
    for tolerance, own_tolerance in [(1e-15, 1e-15), (1e-9, 1e-9), (1e-9, 3e-11)]:
        seconds, count, own_error = own[own_tolerance]
        default = best[tolerance, "default"]
        mode = min(modes, key=lambda mode: best[tolerance, mode])
        its_error = error(name, runs[tolerance, "default"].state, solution, False)
        numbers = [
            f"{steps[tolerance, 'default']}, {count}",
            f"{1e9 * default / steps[tolerance, 'default']:.0f}",
            f"{1e9 * seconds / count:.0f}",
            f"{seconds / default:.2f}",
            f"{seconds / best[tolerance, mode]:.2f} ({mode})",
            f"{its_error:.1e}, {own_error:.1e}",
        ]
        tolerances = f"{tolerance:.0e}" if own_tolerance == tolerance else f"{tolerance:.0e}, fbint {own_tolerance:.0e}"
        print(f"| {name}, {tolerances} | {' | '.join(numbers)} |", flush=True)


def variations(path):
    """Hénon and Heiles with all first derivatives by the start."""
    start, _, _ = turn(path, "henon-heiles")
    x, y, u, v = heyoka.make_vars("x", "y", "u", "v")
    system = heyoka.var_ode_sys(henon_heiles(start)[0], heyoka.var_args.vars, order=1)
    integrator = heyoka.taylor_adaptive(system, start, tol=1e-15)
    first, theirs, own, end = integrator.state.copy(), math.inf, math.inf, None
    for _ in range(ROUNDS):
        (_, _, seconds, end), = turn(path, "variations")[2]
        own = min(own, seconds)
        theirs = min(theirs, timed(runner(integrator, first, 100.0))[0])
    # The derivatives of an entry follow one another in heyoka, those along a direction in the bench.
    of_heyoka = integrator.state[4:].reshape(4, 4).T.ravel()
    distance = max(abs(a - b) for a, b in zip(end[4:], of_heyoka)) / max(map(abs, of_heyoka))
    print(f"| henon-heiles with 16 variations, 1e-15 | {own / theirs:.2f} of {1e3 * theirs:.3g} ms, distance {distance:.1e} |")


def members(path, name):
    """A member of an ensemble beside heyoka's batch mode, with four members."""
    start, until, _ = turn(path, name)
    system, start = PROBLEMS[name](start)
    batch = numpy.array([[entry + 1e-3 * member / 4 * (place == 0) for member in range(4)] for place, entry in enumerate(start)])
    integrator = heyoka.taylor_adaptive_batch(system, batch.copy(), tol=1e-15)

    def run():
        integrator.set_time(0.0)
        integrator.state[:] = batch
        integrator.propagate_until([until] * 4)

    own, theirs = math.inf, math.inf
    for _ in range(ROUNDS):
        (_, _, seconds, _), = turn(path, f"{name}, members")[2]
        own, theirs = min(own, seconds), min(theirs, timed(run)[0] / 4)
    print(f"| {name}, a member of an ensemble, 1e-15 | {own / theirs:.2f} of {1e3 * theirs:.3g} ms |", flush=True)


def main():
    path = bench()
    print("| | steps: heyoka, fbint | heyoka, ns/step | fbint, ns/step | ratio | of the best mode | errors |")
    print("|---|---|---|---|---|---|---|")
    for name in PROBLEMS:
        row(name, path)
    variations(path)
    for name in ["pendulum", "henon-heiles", "kepler"]:
        members(path, name)


if __name__ == "__main__":
    main()
