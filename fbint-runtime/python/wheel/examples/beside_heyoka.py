"""Models from text beside heyoka, a Taylor method compiled for each problem: from the text to a first result, and the time of a run.

    python3 -m venv target/beside
    target/beside/bin/pip install heyoka==7.13.2 ./fbint-runtime/python/wheel
    target/beside/bin/python fbint-runtime/python/wheel/examples/beside_heyoka.py

Both are given the Hamiltonian, derive the equations, and compile them. A first result is the state at the hundredth part of the end, in
a process that has imported the module and has not yet used it: the least processor time of several such processes, with nothing kept on
disk, and again with what the ones before have kept, which is heyoka's compiled code. The time of a run is
the least of several calls, or the mean time that the thread had a processor if that is less. Errors are the largest of coordinates,
against heyoka's solution in 113 bits. The run of fbint is the fastest that errs by no more than heyoka does in one of its modes, which
differ in nothing but how they round. Runs of fbint are the default ones, which keep the energy and say how far it moved.
"""

import importlib
import math
import os
import subprocess
import sys
import tempfile
import time

TOLERANCES = [1e-15, 1e-9]
# The methods of fbint, and how the table names them.
METHODS = {"dop853": "fbint, DOP853", "gauss8": "fbint, Gauss 8", "gauss16": "fbint, Gauss 16", "taylor": "fbint, Taylor"}
# How heyoka compiles: everything written out, functions of its parts, or sums in any order.
MODES = {"heyoka": {}, "heyoka, compact_mode": {"compact_mode": True}, "heyoka, fast_math": {"fast_math": True}}
# Processes that look for a first result, and the least time that a run is repeated for.
PROCESSES = 5
SECONDS = 0.1

G = 2.95912208286e-4
MASSES = [1.00000597682, 0.000954786104043, 0.000285583733151, 0.0000437273164546, 0.0000517759138449, 1.0 / 1.3e8]
POSITIONS = [
    [0.0, 0.0, 0.0],
    [-3.5023653, -3.8169847, -1.5507963],
    [9.0755314, -3.0458353, -1.6483708],
    [8.3101420, -16.2901086, -7.2521278],
    [11.4707666, -25.7294829, -10.8169456],
    [-15.5387357, -25.2225594, -3.1902382],
]
VELOCITIES = [
    [0.0, 0.0, 0.0],
    [0.00565429, -0.00412490, -0.00190589],
    [0.00168318, 0.00483525, 0.00192462],
    [0.00354178, 0.00137102, 0.00055029],
    [0.00288930, 0.00114527, 0.00039677],
    [0.00276725, -0.00170702, -0.00136504],
]


class Problem:
    """A Hamiltonian: its text, the end, the longest step of a method with a fixed step, the start, and by heyoka's expressions the energy,
    or else the equations."""

    def __init__(self, text, until, longest, coordinates, start, energy=None, equations=None):
        self.text, self.until, self.longest = text, until, longest
        self.coordinates, self.start = coordinates, start
        self.equations = equations or (lambda heyoka, q, p: heyoka.hamiltonian(energy(heyoka, q, p), q, p))


def declared(declaration):
    return f"#[feedback_system({declaration})] struct Problem;"


def pendulum():
    text = declared("coordinates(a), momenta(p), hamiltonian = p.powi(2) / 2 - 9.81 * a.cos(), start(a = 2, p = 0)")
    energy = lambda heyoka, q, p: p[0] ** 2 / 2.0 - 9.81 * heyoka.cos(q[0])
    return Problem(text, 100.0, 0.8, ["a"], [2.0, 0.0], energy)


def henon_heiles():
    start = [0.0, 0.1, 0.4894300177759109, 0.0]
    text = declared(
        "coordinates(x, y), momenta(p, r), hamiltonian = (p.powi(2) + r.powi(2) + x.powi(2) + y.powi(2)) / 2"
        f" + x.powi(2) * y - y.powi(3) / 3, start(x = {start[0]}, y = {start[1]}, p = {start[2]}, r = {start[3]})"
    )

    def energy(heyoka, q, p):
        squares = p[0] ** 2 + p[1] ** 2 + q[0] ** 2 + q[1] ** 2
        return squares / 2.0 + q[0] ** 2 * q[1] - q[1] ** 3 / 3.0

    return Problem(text, 1000.0, 0.8, ["x", "y"], start, energy)


def kepler():
    start = [0.5, 0.0, 0.0, math.sqrt(3.0)]
    text = declared(
        "coordinates(x, y), momenta(p, r), hamiltonian = (p.powi(2) + r.powi(2)) / 2 - 1 / (x.powi(2) + y.powi(2)).sqrt(),"
        f" start(x = {start[0]}, y = {start[1]}, p = {start[2]}, r = {start[3]!r})"
    )
    energy = lambda heyoka, q, p: (p[0] ** 2 + p[1] ** 2) / 2.0 - (q[0] ** 2 + q[1] ** 2) ** -0.5
    return Problem(text, 200.0 * math.pi, 0.4, ["x", "y"], start, energy)


def double_pendulum():
    text = declared(
        "coordinates(a, b), momenta(p, r),"
        " hamiltonian = (p.powi(2) + 2 * r.powi(2) - 2 * p * r * (a - b).cos()) / (2 * (1 + (a - b).sin().powi(2)))"
        " - 2 * 9.81 * a.cos() - 9.81 * b.cos(), start(a = 1, b = 0.5, p = 0, r = 0)"
    )

    def energy(heyoka, q, p):
        between = q[0] - q[1]
        kinetic = (p[0] ** 2 + 2.0 * p[1] ** 2 - 2.0 * p[0] * p[1] * heyoka.cos(between)) / (
            2.0 * (1.0 + heyoka.sin(between) ** 2)
        )
        return kinetic - 2.0 * 9.81 * heyoka.cos(q[0]) - 9.81 * heyoka.cos(q[1])

    return Problem(text, 20.0, 0.4, ["a", "b"], [1.0, 0.5, 0.0, 0.0], energy)


def fput():
    """Masses in a row between springs that are not linear (Fermi, Pasta, Ulam and Tsingou)."""
    count = 32
    mode = [math.sin(math.pi * (i + 1) / (count + 1)) for i in range(count)]
    names = [f"q{i}" for i in range(count)]
    ends = ["0", *names, "0"]
    stretches = [f"({after} - {before})" for before, after in zip(ends, ends[1:])]
    momenta = [f"p{i}" for i in range(count)]
    kinetic = " + ".join(f"{name}.powi(2) / 2" for name in momenta)
    potential = " + ".join(f"{stretch}.powi(2) / 2 + {stretch}.powi(3) / 12" for stretch in stretches)
    start = ", ".join([f"{name} = {entry!r}" for name, entry in zip(names, mode)] + [f"{name} = 0" for name in momenta])
    text = declared(
        f"coordinates({', '.join(names)}), momenta({', '.join(momenta)}), hamiltonian = {kinetic} + {potential}, start({start})"
    )

    def energy(heyoka, q, p):
        stretches = [q[0], *[after - before for before, after in zip(q, q[1:])], -q[-1]]
        springs = [stretch**2 / 2.0 + stretch**3 / 12.0 for stretch in stretches]
        return heyoka.sum([entry**2 / 2.0 for entry in p] + springs)

    return Problem(text, 1000.0, 0.4, names, mode + [0.0] * count, energy)


def spherical():
    """A pendulum on a sphere, by the field of Dirac."""
    text = declared(
        "coordinates(q: [3]), momenta(p: [3]), hamiltonian = p.norm_squared() / 2 + q[2],"
        " constraint(length = q.norm_squared() - 1), start(q = vector![0, 1, 0], p = vector![1, 0, 1])"
    )

    def equations(heyoka, q, p):
        square, along, speed = [heyoka.sum([a * b for a, b in zip(*pair)]) for pair in [(q, q), (q, p), (p, p)]]
        share, force = along / square, (speed - q[2]) / square
        rates = [p[i] - share * q[i] for i in range(3)]
        forces = [share * p[i] - force * q[i] - (1.0 if i == 2 else 0.0) for i in range(3)]
        return [*zip(q, rates), *zip(p, forces)]

    return Problem(text, 100.0, 0.8, ["q"], [0.0, 1.0, 0.0, 1.0, 0.0, 1.0], equations=equations)


def vector(numbers):
    return f"vector![{', '.join(f'{number!r}' for number in numbers)}]"


def planets():
    bodies = range(6)
    kinetic = [f"p{i}.norm_squared() / (2 * {MASSES[i]!r})" for i in bodies]
    pairs = [(i, j) for j in bodies for i in range(j)]
    potential = [f"- {G!r} * {MASSES[i]!r} * {MASSES[j]!r} / (q{i} - q{j}).norm()" for i, j in pairs]
    momenta = [[MASSES[i] * rate for rate in VELOCITIES[i]] for i in bodies]
    start = [f"q{i} = {vector(POSITIONS[i])}, p{i} = {vector(momenta[i])}" for i in bodies]
    text = declared(
        f"coordinates({', '.join(f'q{i}: [3]' for i in bodies)}), momenta({', '.join(f'p{i}: [3]' for i in bodies)}),"
        f" hamiltonian = {' + '.join(kinetic)} {' '.join(potential)}, start({', '.join(start)})"
    )

    def energy(heyoka, q, p):
        square = lambda entries: heyoka.sum([entry**2 for entry in entries])
        terms = [square(p[3 * i : 3 * i + 3]) / (2.0 * MASSES[i]) for i in bodies]
        for i, j in pairs:
            between = [q[3 * i + axis] - q[3 * j + axis] for axis in range(3)]
            terms.append(-G * MASSES[i] * MASSES[j] / heyoka.sqrt(square(between)))
        return heyoka.sum(terms)

    flat = [entry for body in [*POSITIONS, *momenta] for entry in body]
    return Problem(text, 200_000.0, 1_600.0, [f"q{i}" for i in bodies], flat, energy)


PROBLEMS = {
    "pendulum": pendulum(),
    "Hénon-Heiles": henon_heiles(),
    "Kepler, e = 0.5": kepler(),
    "double pendulum": double_pendulum(),
    "spherical pendulum, Dirac": spherical(),
    "outer planets": planets(),
    "FPUT of 32": fput(),
}


class OfHeyoka:
    """A problem as heyoka takes it."""

    def __init__(self, name, **settings):
        import heyoka

        problem = PROBLEMS[name]
        self.count = len(problem.start) // 2
        coordinates, momenta = ([heyoka.expression(f"{kind}{i}") for i in range(self.count)] for kind in "qp")
        system = problem.equations(heyoka, coordinates, momenta)
        number = settings.get("fp_type", float)
        self.integrator = heyoka.taylor_adaptive(system, [number(entry) for entry in problem.start], **settings)
        self.start = self.integrator.state.copy()

    def run(self, until):
        self.integrator.time = type(until)(0.0)
        self.integrator.state[:] = self.start
        outcome = self.integrator.propagate_until(until)
        return outcome[3], self.integrator.state[: self.count].copy()


class OfText:
    """A problem as fbint takes it."""

    def __init__(self, name):
        import fbint

        self.system = fbint.model(PROBLEMS[name].text)()
        self.coordinates = PROBLEMS[name].coordinates

    def run(self, until, **settings):
        run = self.system.run(until=until, every=until, **settings)
        ends = [getattr(run, coordinate)[-1] for coordinate in self.coordinates]
        return run.steps, [entry for end in ends for entry in (end if hasattr(end, "__len__") else [end])]


def first(name, module, mode):
    """The processor time to a first result, in this process."""
    until = PROBLEMS[name].until / 100.0
    # fbint imports NumPy when it first returns an array, heyoka when it is imported itself.
    importlib.import_module("numpy")
    importlib.import_module(module)
    began = time.process_time()
    if module == "fbint":
        OfText(name).run(until, method="dop853", rtol=1e-9)
    else:
        OfHeyoka(name, tol=1e-9, **MODES[mode]).run(until)
    return time.process_time() - began


def least_first(name, module, mode="heyoka"):
    """The processor time to a first result, with nothing kept on disk and with what was kept."""
    command = [sys.executable, __file__, name, module, mode]

    def taken(folder):
        environment = {**os.environ, "XDG_CACHE_HOME": folder}
        output = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout
        return float(output)

    def fresh():
        with tempfile.TemporaryDirectory() as folder:
            return taken(folder)

    with tempfile.TemporaryDirectory() as folder:
        taken(folder)
        again = min(taken(folder) for _ in range(PROCESSES))
    return min(fresh() for _ in range(PROCESSES)), again


def timed(run):
    """The time of a run, and what it gives."""
    result = run()
    least, turns, taken, before = math.inf, 0, 0.0, time.thread_time()
    while taken < SECONDS:
        began = time.perf_counter()
        result = run()
        seconds = time.perf_counter() - began
        least, taken, turns = min(least, seconds), taken + seconds, turns + 1
    return min(least, (time.thread_time() - before) / turns), result


def ladder(longest):
    """The settings of the methods of fbint that are tried."""
    tolerances = [{"method": "dop853", "rtol": 10.0 ** (-power / 2)} for power in range(10, 29)]
    tolerances += [{"method": "taylor", "rtol": 10.0**-power} for power in range(8, 16)]
    steps = [longest / 2 ** (power / 2) for power in range(15)]
    return tolerances + [{"method": method, "step": step} for method in ["gauss8", "gauss16"] for step in steps]


def table():
    import heyoka

    print("| | method | h, tolerance | first result, ms | again, ms | steps | run, ms | error | time / heyoka |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name, problem in PROBLEMS.items():
        until = problem.until
        real = heyoka.real128
        exact = OfHeyoka(name, tol=real(1e-32), fp_type=real, compact_mode=True).run(real(until))[1]
        error_of = lambda end: max(abs(float(real(float(entry)) - place)) for entry, place in zip(end, exact))
        firsts = {mode: least_first(name, "heyoka", mode) for mode in MODES}
        first_of_text = least_first(name, "fbint")
        model = OfText(name)
        own = [timed_row(model, until, setting, error_of) for setting in ladder(problem.longest)]
        for tolerance in TOLERANCES:
            rows = []
            for mode, settings in MODES.items():
                other = OfHeyoka(name, tol=tolerance, **settings)
                seconds, (steps, end) = timed(lambda: other.run(until))
                rows.append((mode, tolerance, steps, seconds, error_of(end)))
            goal = rows[0][3]
            allowed = max(row[4] for row in rows)
            good = [row for row in own if row[4] <= allowed]
            rows.append(min(good, key=lambda row: row[3]) if good else min(own, key=lambda row: row[4]))
            for method, setting, steps, seconds, error in rows:
                nothing_kept, again = firsts.get(method, first_of_text)
                numbers = [digits(number) for number in [setting, 1e3 * nothing_kept, 1e3 * again, steps, 1e3 * seconds]]
                row = [f"{name}, t = {until:,g}", METHODS.get(method, method), *numbers, f"{error:.1e}", f"{seconds / goal:.2f}"]
                print(f"| {' | '.join(row)} |", flush=True)


def digits(number):
    return f"{number:.3g}" if number < 1000 else f"{number:,.0f}"


def timed_row(model, until, setting, error_of):
    try:
        seconds, (steps, end) = timed(lambda: model.run(until, **setting))
    except (ValueError, RuntimeError):
        # A step that is too long.
        return (setting["method"], math.nan, 0, math.inf, math.inf)
    return (setting["method"], setting.get("rtol") or setting["step"], steps, seconds, error_of(end))


if __name__ == "__main__":
    if sys.argv[1:]:
        print(first(*sys.argv[1:4]))
    else:
        table()
