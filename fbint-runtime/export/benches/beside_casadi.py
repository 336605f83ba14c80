"""The C of fbint beside the C of CasADi for the same equations, as a table in Markdown.

    cargo build --locked --release -p fbint
    python3 -m venv target/casadi && target/casadi/bin/pip install casadi==3.8.2
    FBINT_PROGRAM=target/release/fbint target/casadi/bin/python fbint-runtime/export/benches/beside_casadi.py

Each system is a Lagrangian: fbint gets it as a text, CasADi as an expression whose derivatives it takes. CasADi solves for the
accelerations by each of its symbolic solvers; the fastest counts. Both are compiled into one program, which evaluates them in turns; the
least time counts. The program ends with an error if the accelerations differ by more than rounding.
"""

import os
import pathlib
import subprocess
import tempfile

import casadi

FLAGS = ["-std=gnu99", "-O3", "-march=native"]
SOLVERS = ["qr", "ldl", "symbolicqr", "lsqr"]

PROGRAM = """
#include <math.h>
#include <stdio.h>
#include <time.h>
#include "NAME.h"

int of_casadi(const double **arguments, double **results, long long int *integers, double *numbers, int memory);

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(void)
{
    enum { TURNS = 300, COUNT = 5000, N = NAME_STATES };
    static double numbers[100000];
    static long long int integers[1000];
    NAME_parameters parameters;
    static NAME_system system;
    double x[N], rates[N + 1], accelerations[N], least[2] = { 1e9, 1e9 };
    const double *arguments[1] = { x };
    double *results[1] = { accelerations };
    int turn, i;
    NAME_default_parameters(&parameters);
    NAME_prepare(&parameters, &system);
    for (i = 0; i < N; ++i) {
        x[i] = 0.3 + 0.1 * i;
    }
    for (turn = 0; turn < TURNS; ++turn) {
        double begun = now(), time;
        for (i = 0; i < COUNT; ++i) {
            NAME_vector_field(&system, x, rates);
            x[0] = 0.3 + 1e-12 * rates[N - 1];
        }
        time = now() - begun;
        least[0] = time < least[0] ? time : least[0];
        begun = now();
        for (i = 0; i < COUNT; ++i) {
            of_casadi(arguments, results, integers, numbers, 0);
            x[0] = 0.3 + 1e-12 * accelerations[N / 2 - 1];
        }
        time = now() - begun;
        least[1] = time < least[1] ? time : least[1];
    }
    NAME_vector_field(&system, x, rates);
    of_casadi(arguments, results, integers, numbers, 0);
    for (i = 0; i < N / 2; ++i) {
        if (fabs(rates[N / 2 + i] - accelerations[i]) > 1e-9 * (1 + fabs(accelerations[i]))) {
            return 1;
        }
    }
    printf("%.17g %.17g\\n", least[0] * 1e9 / COUNT, least[1] * 1e9 / COUNT);
    return 0;
}
"""


def pendulums(count):
    """Point masses one below the other on rods, in the angles of the rods: the text, and the Lagrangian of CasADi."""
    text = f"""
    #[feedback_system(
        coordinates(a: [{count}]), velocities(w: [{count}]),
        define(
            x[i in 0..{count}] = (0..i + 1).map(|k| a[k].sin()).sum(),
            y[i in 0..{count}] = -(0..i + 1).map(|k| a[k].cos()).sum(),
        ),
        lagrangian = (0..{count}).map(|i| (rate(x[i]).powi(2) + rate(y[i]).powi(2)) / 2 - 9.81 * y[i]).sum(),
        start(a = a0, w = w0),
    )]
    struct Pendulums {{}}
    """
    zeros = ", ".join(["0"] * count)
    text = text.replace("a0", f"vector![{zeros}]").replace("w0", f"vector![{zeros}]")

    def lagrangian(a, w):
        x, y, total = 0, 0, 0
        for i in range(count):
            x, y = x + casadi.sin(a[i]), y - casadi.cos(a[i])
            rates = [casadi.jtimes(place, a, w) for place in (x, y)]
            total += (rates[0] ** 2 + rates[1] ** 2) / 2 - 9.81 * y
        return total

    return f"{count} pendulums", "pendulums", text, count, lagrangian


def cart_and_pole():
    text = """
    #[feedback_system(
        coordinates(x, a), velocities(v, w),
        lagrangian = v.powi(2) / 2 + 0.1 * (rate(vector![x + 0.5 * a.sin(), 0.5 * a.cos()])).norm_squared() / 2
            - 0.1 * 9.81 * 0.5 * a.cos(),
        start(x = 0, a = 0, v = 0, w = 0),
    )]
    struct CartAndPole {}
    """

    def lagrangian(q, v):
        tip = casadi.vertcat(q[0] + 0.5 * casadi.sin(q[1]), 0.5 * casadi.cos(q[1]))
        rate = casadi.jtimes(tip, q, v)
        return v[0] ** 2 / 2 + 0.1 * casadi.dot(rate, rate) / 2 - 0.1 * 9.81 * 0.5 * casadi.cos(q[1])

    return "cart and pole", "cart_and_pole", text, 2, lagrangian


def accelerations(count, lagrangian, solver):
    """A function of CasADi from positions and velocities to accelerations."""
    x = casadi.SX.sym("x", 2 * count)
    q, v = x[:count], x[count:]
    # The Lagrangian is taken of symbols of its own, because slices of a vector are none.
    places, rates = casadi.SX.sym("q", count), casadi.SX.sym("v", count)
    of = lagrangian(places, rates)
    momenta = casadi.gradient(of, rates)
    mass = casadi.jacobian(momenta, rates)
    force = casadi.gradient(of, places) - casadi.jtimes(momenta, places, rates)
    if solver == "ldl":
        d, unit, order = casadi.ldl(mass)
        result = casadi.ldl_solve(force, d, unit, order)
    else:
        result = casadi.solve(mass, force, solver)
    inner = casadi.Function("inner", [places, rates], [casadi.densify(result)])
    return casadi.Function("of_casadi", [x], [inner(q, v)])


def compared(folder, prefix, function):
    """Nanoseconds of an evaluation by fbint and by CasADi."""
    function.generate("of_casadi.c")
    os.replace("of_casadi.c", folder / "of_casadi.c")
    program = PROGRAM.replace("NAME_STATES", f"{prefix.upper()}_STATES").replace("NAME", prefix)
    (folder / "turns.c").write_text(program, encoding="utf-8")
    files = ["turns.c", "of_casadi.c", f"{prefix}.c"]
    subprocess.run(["cc", *FLAGS, "-o", "turns", *files, "-lm"], cwd=folder, check=True)
    printed = subprocess.run([folder / "turns"], check=True, stdout=subprocess.PIPE, text=True).stdout
    return [float(number) for number in printed.split()]


def main():
    fbint = str(pathlib.Path(os.environ["FBINT_PROGRAM"]).resolve())
    print("| | fbint, ns | CasADi, ns | solver | fbint / CasADi |\n|---|---|---|---|---|")
    for name, prefix, text, count, lagrangian in [cart_and_pole(), *map(pendulums, [2, 3, 4, 6])]:
        with tempfile.TemporaryDirectory() as created:
            folder = pathlib.Path(created)
            (folder / "model.rs").write_text(text, encoding="utf-8")
            subprocess.run([fbint, "export", "model.rs", "--c", "."], cwd=folder, check=True, stdout=subprocess.DEVNULL)
            results = []
            for solver in SOLVERS:
                try:
                    function = accelerations(count, lagrangian, solver)
                except RuntimeError:
                    continue
                results.append((*compared(folder, prefix, function), solver))
            mine = min(ours for ours, *_ in results)
            _, theirs, solver = min(results, key=lambda result: result[1])
            print(f"| {name} | {mine:.1f} | {theirs:.1f} | {solver} | {mine / theirs:.2f} |")


if __name__ == "__main__":
    main()
