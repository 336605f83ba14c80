"""The implicit methods beside heyoka, SciPy and pydiffsol: times and errors of one run on one machine, as tables in Markdown.

    python3 -m venv target/rivals
    target/rivals/bin/pip install heyoka==7.13.2 pydiffsol==0.6.2 scipy==1.17.1
    target/rivals/bin/python fbint-runtime/benches/implicit.py

It runs the bench `implicit` beside it, built for this machine, before the others and after them. The time of a run is the least of
several by the clock, or the mean time that the thread had a processor, if that is less. Errors are distances from solutions in 113 bits by heyoka, or published ones. The equations of others are
written with the same numbers as those of the bench, and what they compile before they run is not counted.
"""

import math
import os
import subprocess
import time
import warnings

import heyoka
import numpy
import pydiffsol
from scipy.integrate import solve_ivp

# The coarsest tolerance of heyoka that counts as full precision.
TOLERANCE = 1e-15
# Errors at which stiff solvers are compared.
GOALS = [1e-3, 1e-5, 1e-7]
# The least time that a run is repeated for.
SECONDS = 0.25


def bench():
    """Runs of the bench: by problem, the start, the end and the rows (method, setting, steps, seconds, end)."""
    command = "cargo bench --locked -p fbint-runtime --no-default-features --features std,lanes --bench implicit"
    target = ["--target", "x86_64-unknown-linux-gnu"]
    environment = {**os.environ, "RUSTFLAGS": "-C target-cpu=native"}
    output = subprocess.run(command.split() + target, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    return read(output.stdout)


def read(output):
    problems = {}
    for line in output.splitlines():
        name, method, setting, steps, seconds, state = line.split("\t")
        state = numpy.array([float(entry) for entry in state.strip("[]").split(",")])
        if method == "start":
            problems[name] = {"until": float(setting), "start": state, "rows": []}
        else:
            problems[name]["rows"].append((method, float(setting), float(steps), float(seconds), state))
    return problems


def merged(first, second):
    """The rows of two benches with the lesser times."""
    for name, problem in first.items():
        pairs = zip(problem["rows"], second[name]["rows"])
        problem["rows"] = [(*a[:3], min(a[3], b[3]), a[4]) for a, b in pairs]
    return first


def timed(run):
    """The time of a run, as the bench measures it, and what the last gives. `run` returns a time by the clock and a result."""
    least, turns, taken, before = math.inf, 0, 0.0, time.thread_time()
    while taken < SECONDS:
        seconds, result = run()
        least, taken, turns = min(least, seconds), taken + seconds, turns + 1
    return min(least, (time.thread_time() - before) / turns), result


# Problems that are not stiff, as heyoka takes them.


def planets(start):
    g = 2.95912208286e-4
    m = [1.00000597682, 0.000954786104043, 0.000285583733151, 0.0000437273164546, 0.0000517759138449, 1.0 / 1.3e8]
    q, p = start[:18].reshape(6, 3), start[18:].reshape(6, 3)
    v = p / numpy.array(m)[:, None]
    return heyoka.model.nbody(6, masses=m, Gconst=g), numpy.hstack([q, v]).ravel()


def henon_heiles(start):
    x, y, u, v = heyoka.make_vars("x", "y", "u", "v")
    return [(x, u), (y, v), (u, -x - 2.0 * x * y), (v, -y - x * x + y * y)], start


def kepler(start):
    x, y, u, v = heyoka.make_vars("x", "y", "u", "v")
    cube = (x * x + y * y) ** -1.5
    return [(x, u), (y, v), (u, -x * cube), (v, -y * cube)], start


def fput(start):
    q = heyoka.make_vars(*[f"q{i}" for i in range(32)])
    p = heyoka.make_vars(*[f"p{i}" for i in range(32)])
    stretch = [q[0], *[q[i + 1] - q[i] for i in range(31)], -q[31]]
    tension = [s + s * s * 0.25 for s in stretch]
    return [*zip(q, p), *[(p[i], tension[i + 1] - tension[i]) for i in range(32)]], start


TAYLOR = {"planets": planets, "henon-heiles": henon_heiles, "kepler": kepler, "fput": fput}


def by_heyoka(name, problem, rows):
    """Appends heyoka's rows, and returns the exact end for its formulation."""
    system, start = TAYLOR[name](problem["start"])
    for label, is_accurate in [("heyoka", False), ("heyoka, high_accuracy", True)]:
        integrator = heyoka.taylor_adaptive(system, list(start), tol=TOLERANCE, high_accuracy=is_accurate)

        def run():
            integrator.time = 0.0
            integrator.state[:] = start
            began = time.perf_counter()
            outcome = integrator.propagate_until(problem["until"])
            return time.perf_counter() - began, (outcome[3], integrator.state.copy())

        seconds, (steps, end) = timed(run)
        rows.append((label, TOLERANCE, steps, seconds, end))
    exact = heyoka.taylor_adaptive(
        system, numpy.array(start, dtype=heyoka.real128), tol=heyoka.real128(1e-32), fp_type=heyoka.real128
    )
    exact.propagate_until(heyoka.real128(problem["until"]))
    return exact.state.copy()


def error_of(end, exact):
    return max(abs(float(heyoka.real128(float(a)) - b)) for a, b in zip(end, exact))


def table_of_taylor(problems):
    print("| | method | h, tolerance | steps | ms | error | time / heyoka |")
    print("|---|---|---|---|---|---|---|")
    for name in TAYLOR:
        problem, others = problems[name], []
        exact = by_heyoka(name, problem, others)
        if name == "planets":
            # heyoka has bodies one after the other with their velocities, the bench positions and momenta.
            exact = exact.reshape(6, 6)[:, :3].ravel()
            others = [(*row[:4], row[4].reshape(6, 6)[:, :3].ravel()) for row in others]
        rows = [(*row[:4], error_of(row[4][: len(exact)], exact)) for row in [*others, *problem["rows"]]]
        goal, to_beat = rows[0][4], rows[0][3]
        shown = rows[:2]
        for method in ["taylor", "gauss16", "gauss8", "dop853"]:
            own = [row for row in rows if row[0] == method]
            good = [row for row in own if row[4] <= goal]
            shown.append(min(good, key=lambda row: row[3]) if good else min(own, key=lambda row: row[4]))
        for method, setting, steps, seconds, error in shown:
            ratio = seconds / to_beat
            step = "" if steps == 0 else f"{steps:.0f}"
            print(f"| {name} | {method} | {setting:.4g} | {step} | {1e3 * seconds:.3g} | {error:.1e} | {ratio:.2f} |")
        for method, setting, steps, seconds, error in rows:
            print(f"<!-- {name} {method} {setting:.4g} {steps:.0f} {1e3 * seconds:.3g} ms {error:.1e} -->")


# Stiff problems: right sides for SciPy, and in DiffSL.


def of_spring(k):
    def rates(_, x):
        r = math.hypot(x[0], x[1])
        pull = k * (r - 1.0) / r
        return [x[2], x[3], -pull * x[0], -9.81 - pull * x[1]]

    text = f"""
        u_i {{ x = 1, y = 0, px = 0, py = 0 }}
        r {{ sqrt(x * x + y * y) }}
        pull {{ {k:.17g} * (r - 1) / r }}
        F_i {{ px, py, -pull * x, -9.81 - pull * y }}
    """
    return rates, text


def robertson(_, x):
    a, b = 0.04 * x[0], 1e4 * x[1] * x[2]
    c = 3e7 * x[1] ** 2
    return [-a + b, a - b - c, c]


ROBERTSON = """
    u_i { ya = 1, yb = 0, yc = 0 }
    F_i { -0.04 * ya + 1e4 * yb * yc, 0.04 * ya - 1e4 * yb * yc - 3e7 * yb * yb, 3e7 * yb * yb }
"""


def hires(_, y):
    return [
        -1.71 * y[0] + 0.43 * y[1] + 8.32 * y[2] + 0.0007,
        1.71 * y[0] - 8.75 * y[1],
        -10.03 * y[2] + 0.43 * y[3] + 0.035 * y[4],
        8.32 * y[1] + 1.71 * y[2] - 1.12 * y[3],
        -1.745 * y[4] + 0.43 * y[5] + 0.43 * y[6],
        -280.0 * y[5] * y[7] + 0.69 * y[3] + 1.71 * y[4] - 0.43 * y[5] + 0.69 * y[6],
        280.0 * y[5] * y[7] - 1.81 * y[6],
        -280.0 * y[5] * y[7] + 1.81 * y[6],
    ]


HIRES = """
    u_i { ya = 1, yb = 0, yc = 0, yd = 0, ye = 0, yf = 0, yg = 0, yh = 0.0057 }
    F_i {
        -1.71 * ya + 0.43 * yb + 8.32 * yc + 0.0007,
        1.71 * ya - 8.75 * yb,
        -10.03 * yc + 0.43 * yd + 0.035 * ye,
        8.32 * yb + 1.71 * yc - 1.12 * yd,
        -1.745 * ye + 0.43 * yf + 0.43 * yg,
        -280 * yf * yh + 0.69 * yd + 1.71 * ye - 0.43 * yf + 0.69 * yg,
        280 * yf * yh - 1.81 * yg,
        -280 * yf * yh + 1.81 * yg,
    }
"""


def van_der_pol(_, x):
    return [x[1], 1e6 * ((1.0 - x[0] ** 2) * x[1] - x[0])]


VAN_DER_POL = """
    u_i { x = 2, rate = 0 }
    F_i { rate, 1e6 * ((1 - x * x) * rate - x) }
"""


def cart_pole(_, s):
    """The mass matrix is [[1, c], [c, 1]] with c = cos(theta) / 2; the last entry is the work."""
    x, theta, v, w = s[:4]
    c, push = math.cos(theta) / 2.0, -1e5 * v - 1e5 * x
    a, b = push + w * w * math.sin(theta) / 2.0, math.sin(theta) - w
    determinant = 1.0 - c * c
    return [v, w, (a - c * b) / determinant, (b - c * a) / determinant, push * v - w * w]


CART_POLE = """
    u_i { place = 0.1, theta = 0.3, rate = 0, turn = 0, work = 0 }
    half { cos(theta) / 2 }
    push { -1e5 * rate - 1e5 * place }
    along { push + turn * turn * sin(theta) / 2 }
    about { sin(theta) - turn }
    det { 1 - half * half }
    F_i {
        rate,
        turn,
        (along - half * about) / det,
        (about - half * along) / det,
        push * rate - turn * turn,
    }
"""

def feedback(_, x):
    """A pendulum on a sphere, whose constraints, energy and vertical momentum are held with gains of 1e4."""
    q, p, k = x[:3], x[3:], 1e4
    square, along, speed = q @ q, q @ p, p @ p
    force = (q[2] - speed) / square
    length, rate = k * (square - 1.0), k * 2.0 * along
    energy, turn = k * (speed / 2.0 + q[2] - 1.0), k * (q[0] * p[1] - q[1] * p[0] + 1.0)
    of_q = 2.0 * length * q + 2.0 * rate * p + numpy.array([turn * p[1], -turn * p[0], energy])
    of_p = 2.0 * rate * q + energy * p + numpy.array([-turn * q[1], turn * q[0], 0.0])
    up = numpy.array([0.0, 0.0, 1.0])
    return numpy.concatenate([p - along / square * q - of_q, force * q + along / square * p - up - of_p])


FEEDBACK = """
    u_i { x = 0, y = 1, z = 0, px = 1, py = 0, pz = 1 }
    square { x * x + y * y + z * z }
    share { (x * px + y * py + z * pz) / square }
    speed { px * px + py * py + pz * pz }
    force { (z - speed) / square }
    length { 2e4 * (square - 1) }
    rate { 4e4 * share * square }
    energy { 1e4 * (speed / 2 + z - 1) }
    turn { 1e4 * (x * py - y * px + 1) }
    F_i {
        px - share * x - length * x - rate * px - turn * py,
        py - share * y - length * y - rate * py + turn * px,
        pz - share * z - length * z - rate * pz - energy,
        force * x + share * px - rate * x - energy * px + turn * y,
        force * y + share * py - rate * y - energy * py - turn * x,
        force * z + share * pz - 1 - rate * z - energy * pz,
    }
"""

STIFF = {
    "spring 1e4": (*of_spring(1e4), 1.0),
    "spring 1e6": (*of_spring(1e6), 1.0),
    "spring 1e8": (*of_spring(1e8), 1.0),
    "robertson": (robertson, ROBERTSON, 1e-10),
    "hires": (hires, HIRES, 1e-3),
    "van der pol": (van_der_pol, VAN_DER_POL, 1.0),
    "feedback 1e4": (feedback, FEEDBACK, 1.0),
    "cart-pole": (cart_pole, CART_POLE, 1.0),
}

# Taylor series in 40 and 60 digits; F. Mazzia and C. Magherini, Test Set for Initial Value Problem Solvers, release 2.4 (2008).
EXACT = {
    "spring 1e4": [0.7871633793412879, -0.6196905748220117, 2.147759695750123, 2.740865996674751],
    "spring 1e6": [0.7935027808726204, -0.6085960545263756, 2.102888866994014, 2.741932206587685],
    "spring 1e8": [0.7935655612626993, -0.6084850516915559, 2.102442386276691, 2.7419353602363157],
    "robertson": [0.2083340149701255e-7, 0.8333360770334713e-13, 0.999999979166505],
    "hires": [
        0.7371312573325668e-3,
        0.1442485726316185e-3,
        0.5888729740967575e-4,
        0.1175651343283149e-2,
        0.2386356198831331e-2,
        0.6238968252742796e-2,
        0.2849998395185769e-2,
        0.2850001604814231e-2,
    ],
    "van der pol": [0.1706167732170483e1, -0.8928097010247975],
    "feedback 1e4": [
        0.6072100708555574,
        0.7894137639126496,
        0.0901212471998275,
        0.845377135534333,
        -0.5478296054007279,
        -0.8972055103278143,
    ],
}


def exact_cart_pole(problem):
    """By a Taylor series in 113 bits, of steps that are as short as the damper asks for."""
    x, theta, v, w, work = heyoka.make_vars("x", "theta", "v", "w", "work")
    c, push = heyoka.cos(theta) / 2.0, -1e5 * v - 1e5 * x
    a, b = push + w * w * heyoka.sin(theta) / 2.0, heyoka.sin(theta) - w
    d = 1.0 - c * c
    system = [(x, v), (theta, w), (v, (a - c * b) / d), (w, (b - c * a) / d), (work, push * v - w * w)]
    start = numpy.array(problem["start"], dtype=heyoka.real128)
    exact = heyoka.taylor_adaptive(system, start, tol=heyoka.real128(1e-30), fp_type=heyoka.real128)
    exact.propagate_until(heyoka.real128(problem["until"]))
    print("<!-- cart-pole:", ", ".join(str(entry) for entry in exact.state), "-->")
    return [float(entry) for entry in exact.state]


def relative(end, exact):
    """The largest error of an entry relative to it, or to a thousandth of the largest if that is more."""
    least = 1e-3 * max(map(abs, exact)) if max(map(abs, exact)) > 1e3 * min(map(abs, exact)) and len(exact) != 3 else 0.0
    return max(abs(a - b) / max(abs(b), least) for a, b in zip(end, exact))


def by_scipy(problem, rates, scale):
    for digits in range(3, 10):
        rtol = 10.0**-digits

        def run():
            began = time.perf_counter()
            solution = solve_ivp(
                rates, (0.0, problem["until"]), problem["start"], method="Radau", rtol=rtol, atol=scale * rtol
            )
            return time.perf_counter() - began, solution.y[:, -1]

        yield ("Radau", rtol, 0, *timed(run))


def by_pydiffsol(problem, text, scale):
    ode = pydiffsol.Ode(text)
    for digits in range(6, 23):
        ode.rtol, ode.atol = 10.0 ** (-digits / 2.0), scale * 10.0 ** (-digits / 2.0)

        def run():
            began = time.perf_counter()
            solution = ode.solve(numpy.array([]), problem["until"])
            return time.perf_counter() - began, solution.ys[:, -1]

        try:
            yield ("pydiffsol BDF", ode.rtol, 0, *timed(run))
        except Exception as error:  # What it says differs from version to version.
            print(f"<!-- pydiffsol at {ode.rtol:.1e}: {error} -->")


def time_to(rows, goal):
    """The least time to an error: of a run that is better, or between those of neighbouring tolerances, in logarithms."""
    best = min((row[3] for row in rows if row[4] <= goal), default=math.inf)
    ordered = sorted(rows, key=lambda row: row[1], reverse=True)
    for loose, tight in zip(ordered, ordered[1:]):
        if loose[4] >= goal >= tight[4]:
            share = math.log(loose[4] / goal) / math.log(loose[4] / tight[4])
            best = min(best, math.exp((1 - share) * math.log(loose[3]) + share * math.log(tight[3])))
    return best


def table_of_stiff(problems):
    print("| | error | Rodas5P, ms | Radau, ms | pydiffsol BDF, ms | Radau / Rodas5P | BDF / Rodas5P |")
    print("|---|---|---|---|---|---|---|")
    for name, (rates, text, scale) in STIFF.items():
        problem = problems[name]
        exact = EXACT.get(name) or exact_cart_pole(problem)
        rows = [*problem["rows"], *by_scipy(problem, rates, scale), *by_pydiffsol(problem, text, scale)]
        rows = [(*row[:4], relative(row[4], exact)) for row in rows]
        for row in rows:
            print(f"<!-- {name} {row[0]} {row[1]:.1e} {row[2]:.0f} steps {1e3 * row[3]:.4g} ms {row[4]:.1e} -->")
        for goal in GOALS:
            own, radau, bdf = (
                time_to([row for row in rows if row[0] == method], goal)
                for method in ["rodas5p", "Radau", "pydiffsol BDF"]
            )
            cells = [f"{1e3 * seconds:.3g}" if seconds < math.inf else "" for seconds in [own, radau, bdf]]
            ratios = [f"{seconds / own:.2g}" if max(seconds, own) < math.inf else "" for seconds in [radau, bdf]]
            print(f"| {name} | {goal:.0e} | {' | '.join([*cells, *ratios])} |")


def main():
    warnings.filterwarnings("ignore")
    problems = merged(bench(), bench())
    table_of_taylor(problems)
    print()
    table_of_stiff(problems)


if __name__ == "__main__":
    main()
