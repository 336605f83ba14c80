"""A motor swings the pole of a cart up and holds it there: IPOPT plans with the dynamics and derivatives of fbint.

fbint export cart-pole --casadi cart_pole
cc -O2 -shared -fPIC cart_pole/cart_pole.c cart_pole/cart_pole_casadi.c -o cart_pole.so -lm
python swing_up.py
"""

import casadi
import numpy

FIELD = casadi.external("f", "./cart_pole.so")  # the rates of x, angle, v, omega, the time and the work
PARAMETERS = numpy.array([1.0, 0.1, 0.5, 9.81, 0.1])  # cart, m, l, g, friction
HANGING, UPRIGHT = numpy.array([0.0, numpy.pi, 0.0, 0.0]), numpy.zeros(4)
SOLVER = {"print_time": False}, {"print_level": 0, "sb": "yes"}


def step(x, u, h, parameters=PARAMETERS):
    """A step of RK4 while the thrust is held. Neither the time nor the work has a say in the rates."""
    rates = lambda x: FIELD(casadi.vertcat(x, 0, 0), u, parameters)[:4]
    k1 = rates(x)
    k2 = rates(x + h / 2 * k1)
    k3 = rates(x + h / 2 * k2)
    k4 = rates(x + h * k3)
    return x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


def horizon(count, h, most):
    """A problem of optimal control: its states, its thrusts, and the state where it begins."""
    problem = casadi.Opti()
    x, u, start = problem.variable(4, count + 1), problem.variable(1, count), problem.parameter(4)
    problem.subject_to(x[:, 0] == start)
    for k in range(count):
        problem.subject_to(x[:, k + 1] == step(x[:, k], u[k], h))
    problem.subject_to(problem.bounded(-most, u, most))
    problem.solver("ipopt", *SOLVER)
    return problem, x, u, start


# The swing-up: 2 s, the least thrust in the mean of its square.
count, h = 60, 2.0 / 60
problem, x, u, start = horizon(count, h, 10.0)
problem.subject_to(x[:, count] == UPRIGHT)
problem.minimize(h * casadi.sumsqr(u))
problem.set_value(start, HANGING)
problem.set_initial(x, numpy.linspace(HANGING, UPRIGHT, count + 1).T)
plan = problem.solve()
thrusts = plan.value(u)
print(f"planned: {plan.stats()['iter_count']} iterations, at most {abs(thrusts).max():.2f} N")

# Model-predictive control: every 50 ms the thrust is planned anew for the next second. The tip of the plant is a fifth heavier than
# the plan believes, and the pole is pushed after a second.
count, h = 20, 0.05
problem, x, u, start = horizon(count, h, 10.0)
problem.minimize(casadi.sumsqr(x[:, 1:]) + 100 * casadi.sumsqr(x[:, count]) + 0.01 * casadi.sumsqr(u))
state, thrust = casadi.MX.sym("state", 4), casadi.MX.sym("thrust")
end = state
for _ in range(10):
    end = step(end, thrust, h / 10, PARAMETERS * [1, 1.2, 1, 1, 1])
plant = casadi.Function("plant", [state, thrust], [end])
now = numpy.array([0.5, 0.2, 0.0, 0.0])
for tick in range(100):
    problem.set_value(start, now)
    solution = problem.solve()
    problem.set_initial(solution.value_variables())
    now = numpy.array(plant(now, solution.value(u)[0])).ravel()
    if tick == 20:
        now[3] += 1.0
print(f"held: x = {now[0]:.4f} m, angle = {now[1]:.4f} after 5 s")
