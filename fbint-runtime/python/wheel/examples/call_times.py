"""The time that a call from Python takes besides the steps of the method: a stepper's `step`, and `run`.

    python3 -m venv target/calls
    target/calls/bin/pip install ./fbint-runtime/python/wheel
    target/calls/bin/python fbint-runtime/python/wheel/examples/call_times.py

A step takes the difference of calls with many steps and with one, divided by the number of steps between them. A call takes what
one with a single step takes beyond that step. Each time is the least of several, or the time that the thread had a processor if that is
less.
"""

import time

import fbint

MODELS = {
    "pendulum": """
        #[feedback_system(
            coordinates(q: [2]), momenta(p: [2]),
            hamiltonian = p.norm_squared() / (2 * m) + m * g * q[1],
            constraint(length = q.norm_squared() - l.powi(2)),
            default(m = 1, g = 9.81, l = 1), start(q = vector![l, 0], p = vector![0, 0]),
        )]
        struct Pendulum { m: f64, g: f64, l: f64 }
    """,
    "cart and pole, thrust": """
        #[feedback_system(
            coordinates(x, angle), velocities(v, omega), input(thrust),
            define(tip = vector![v + l * omega * angle.cos(), -l * omega * angle.sin()]),
            lagrangian = cart * v.powi(2) / 2 + m * tip.norm_squared() / 2 - m * g * l * angle.cos(),
            force(v = thrust),
            default(cart = 1, m = 0.1, l = 0.5, g = 9.81), start(x = 0, angle = 0.2, v = 0, omega = 0),
        )]
        struct CartPole { cart: f64, m: f64, l: f64, g: f64 }
    """,
    "cart and pole, thrust, event": """
        #[feedback_system(
            coordinates(x, angle), velocities(v, omega), input(thrust),
            define(tip = vector![v + l * omega * angle.cos(), -l * omega * angle.sin()]),
            lagrangian = cart * v.powi(2) / 2 + m * tip.norm_squared() / 2 - m * g * l * angle.cos(),
            force(v = thrust), event(far = x.powi(2) - 1e6, rising, terminal),
            default(cart = 1, m = 0.1, l = 0.5, g = 9.81), start(x = 0, angle = 0.2, v = 0, omega = 0),
        )]
        struct WatchedCartPole { cart: f64, m: f64, l: f64, g: f64 }
    """,
}
STEP, STEPS = 1e-3, 1000


def least(call, calls, times=7):
    """The least time of a call in microseconds, from several rows of calls."""
    call()
    best = float("inf")
    for _ in range(times):
        begin, begin_of_thread = time.perf_counter(), time.thread_time()
        for _ in range(calls):
            call()
        taken = min(time.perf_counter() - begin, time.thread_time() - begin_of_thread)
        best = min(best, taken / calls)
    return 1e6 * best


def besides_steps(call, calls):
    """The time of a step, and what a call with one takes besides."""
    one, many = least(lambda: call(1), calls), least(lambda: call(1 + STEPS), max(calls // 100, 3))
    step = (many - one) / STEPS
    return step, one - step


def main():
    print("| | a step, µs | `step`, µs | `step` with an input, µs | `run`, µs |")
    print("|---|---|---|---|---|")
    for name, text in MODELS.items():
        model = fbint.model(text)()
        stepper = model.stepper(method="rk4", step=STEP)
        step, call = besides_steps(lambda n: stepper.step(stepper.t + n * STEP), 2000)
        thrust = "-"
        if "thrust" in name:
            driven = model.stepper(method="rk4", step=STEP)
            push = iter(range(1, 1 << 60))
            _, thrust = besides_steps(lambda n: driven.step(driven.t + n * STEP, thrust=1e-9 * next(push)), 2000)
            thrust = f"{thrust:.2f}"
        _, run = besides_steps(lambda n: model.run(until=n * STEP, method="rk4", step=STEP), 200)
        print(f"| {name} | {step:.2f} | {call:.2f} | {thrust} | {run:.0f} |")


main()
