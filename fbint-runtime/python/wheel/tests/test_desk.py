"""What a user of models from text does at the desk: steps, linear systems, derivatives, records."""

import itertools
import json
import math
import os
import subprocess

import fbint
import numpy
import pytest

CART = """
/// A pole on a cart with a motor.
#[feedback_system(
    coordinates(x, angle), velocities(v, omega), input(thrust),
    define(tip = vector![v + l * omega * angle.cos(), -l * omega * angle.sin()]),
    lagrangian = cart * v.powi(2) / 2 + m * tip.norm_squared() / 2 - m * g * l * angle.cos(),
    force(v = thrust), output(height = l * angle.cos(), power = thrust * v),
    event(fallen = angle.powi(2) - 1, rising, terminal),
    default(cart = 1, m = 0.1, l = 0.5, g = 9.81), start(x = 0, angle = 0.2, v = 0, omega = 0),
)]
struct CartPole { cart: f64, m: f64, l: f64, g: f64 }
"""

PENDULUM = """
#[feedback_system(
    coordinates(q: [2]), momenta(p: [2]),
    hamiltonian = p.norm_squared() / (2 * m) + m * g * q[1],
    constraint(length = q.norm_squared() - l.powi(2)),
    section(bottom = q[0], rising),
    default(m = 1, g = 9.81, l = 1), start(q = vector![l, 0], p = vector![0, 0]),
)]
struct Pendulum { m: f64, g: f64, l: f64 }
"""

BALL = """
#[feedback_system(
    coordinates(q), momenta(p), hamiltonian = p.powi(2) / 2 + g * q,
    event(floor = q, falling, reset(p = -p)), default(g = 8), start(q = 1, p = 0),
)]
struct Ball { g: f64 }
"""


def test_a_stepper_goes_on_as_a_run_does():
    pendulum = fbint.model(PENDULUM)()
    for method in ["rk4", "dop853", "gauss4"]:
        stepper = pendulum.stepper(method=method)
        for time in [0.5, 0.75, 1.0]:
            stepper.step(time)
        run = pendulum.run(until=1.0, method=method)
        assert stepper.t == 1.0
        numpy.testing.assert_allclose(stepper.state, [*run.q[-1], *run.p[-1]], atol=1e-8)
        numpy.testing.assert_array_equal(stepper["q"], stepper.state[:2])
        assert abs(numpy.hypot(*stepper["q"]) - 1) < 1e-13, "the constraint holds"
    one = pendulum.stepper(step=0.01)
    one.step()
    assert math.isclose(one.t, 0.01)


def test_calls_of_a_stepper_are_one_run():
    pendulum = fbint.model(PENDULUM.replace("    section(bottom = q[0], rising),\n", ""))()
    for step, calls in [(1e-2, [1] * 100), (1e-3, [1, 7, 992])]:
        stepper = pendulum.stepper(step=step)
        for count in calls:
            stepper.step(stepper.t + count * step)
        run = pendulum.run(until=1.0, step=step)
        numpy.testing.assert_array_equal(stepper.state, [*run.q[-1], *run.p[-1]])
        again = stepper.state
        stepper.step()
        stepper.state = again
        numpy.testing.assert_array_equal(stepper.state, again)
    for text in (CART, CART.replace("    event(fallen = angle.powi(2) - 1, rising, terminal),\n", "")):
        system = fbint.model(text)()
        stepper = system.stepper(step=1e-2)
        for push in [0.5, -1.0, -1.0, 0.25]:
            for _ in range(5):
                stepper.step(thrust=push)
        thrust = (numpy.array([0.0, 0.05, 0.15]), [0.5, -1.0, 0.25])
        run = system.run(until=0.2, step=1e-2, input={"thrust": thrust})
        expected = [*(run[name][-1] for name in ["x", "angle", "v", "omega"]), 0.2, run["work"][-1]]
        numpy.testing.assert_allclose(stepper.state, expected, atol=1e-13)


def test_a_stepper_that_fails_says_why():
    rising = fbint.model("""#[feedback_system(coordinates(x), momenta(p), hamiltonian = p.powi(2) / 2 - x.powi(4), start(x = 1, p = 1))]
        struct Rising;""")()
    stepper = rising.stepper(step=1e-2)
    with pytest.raises(fbint.RunFailed):
        for _ in range(100):
            stepper.step()
    # Its solution leaves every bound before t = 1.
    assert 0.3 < stepper.t < 1.5


def test_a_controller_holds_the_pole_and_a_fall_ends_the_run():
    system = fbint.model(CART)()
    stepper = system.stepper(step=1e-2)
    for _ in range(1000):
        x, angle, v, omega, *_ = stepper.state
        stepper.step(thrust=30 * angle + 5 * omega + 2 * x + 3 * v)
    assert abs(stepper["angle"]) < 1e-3 and stepper.ended_by is None
    falling = system.stepper(step=1e-3)
    falling.step(until=5.0, thrust=0.0)
    assert falling.ended_by == "fallen" and abs(abs(falling["angle"]) - 1) < 1e-9 and falling.t < 5
    assert [event.name for event in falling.events] == ["fallen"]
    before = falling.t
    falling.step(until=6.0)
    assert falling.t == before, "a run that has ended stays"
    falling.state = numpy.zeros(6)
    falling.step(until=1.0)
    assert falling.ended_by is None and falling.t == 1.0


def test_many_runs_go_side_by_side():
    system = fbint.model(CART)()
    starts = numpy.zeros((3, 6))
    thrusts = numpy.array([-1.0, 0.0, 2.0])
    many = system.stepper(start=starts)
    states = many.step(until=0.2, thrust=thrusts)
    assert states.shape == (3, 6) and many.t.shape == (3,) and many.ended_by == (None, None, None)
    for start, thrust, state in zip(starts, thrusts, states):
        alone = system.stepper(start=start)
        numpy.testing.assert_array_equal(alone.step(until=0.2, thrust=thrust), state)
        by_law = system.run(until=0.2, start={"angle": 0.0}, input={"thrust": float(thrust)})
        numpy.testing.assert_allclose(by_law.x[-1], state[0], atol=1e-12)
    assert many["angle"].shape == (3,)


def test_steps_meet_events():
    ball = fbint.model(BALL)()
    stepper = ball.stepper(method="dop853")
    stepper.step(until=0.75)
    (event,) = stepper.events
    assert event.name == "floor" and abs(event.t - 0.5) < 1e-12 and event.reset[1] == -event.state[1]
    # It bounces at 0.5 with speed 4.
    numpy.testing.assert_allclose(stepper.state, [4 * 0.25 - 4 * 0.25**2, 4 - 8 * 0.25], atol=1e-9)
    stepper.step(until=0.8)
    assert stepper.events == ()


SWINGING = """
#[feedback_system(
    coordinates(q: [2]), momenta(p: [2]), hamiltonian = p.norm_squared() / 2 + 9.81 * q[1],
    input(push = 0), force(p = vector![push, 0]), constraint(length = q.norm_squared() - 1),
    event(left = q[0], falling), event(tenth = q[0], rising, count = 10), start(q = vector![0.6, -0.8], p = vector![0, 0]),
)]
struct Swinging;
"""


def test_calls_of_a_stepper_with_events_are_one_run():
    swinging, step = fbint.model(SWINGING)(), 1 / 128
    stepper, occurred = swinging.stepper(step=step), []
    # Most calls meet no event: they go on without a record, and hand over where one is met.
    lengths = itertools.cycle([1, 2, 5, 40, 1, 1, 300, 3])
    while stepper.ended_by is None:
        stepper.step(stepper.t + next(lengths) * step)
        occurred += stepper.events
    run = swinging.run(until=30, step=step)
    assert stepper.ended_by == run.ended_by == "tenth" and stepper.t == run.t[-1]
    numpy.testing.assert_array_equal(stepper.state[:4], [*run.q[-1], *run.p[-1]])
    assert [(event.name, event.t) for event in occurred] == [(event.name, event.t) for event in run.events]
    # Inputs that a call changes are those of a table that jumps there; integrals stay where they were.
    times, pushes = [0.0, 0.5, 2.0, 2.5], [0.0, 1.0, -1.0, 0.5]
    stepper = swinging.stepper(step=step)
    for begin, end, push in zip(times, [*times[1:], 3.0], pushes):
        while stepper.t < end:
            stepper.step(min(stepper.t + 7 * step, end), push=push)
    held = swinging.run(until=3, step=step, input={"push": (times, pushes)})
    numpy.testing.assert_allclose(stepper.state[:4], [*held.q[-1], *held.p[-1]], atol=1e-12)


PENDULUM_ON_A_ROD = """
#[feedback_system(
    coordinates(q: [2]), momenta(p: [2]), hamiltonian = p.norm_squared() / 2 + 9.81 * q[1],
    constraint(length = q.norm_squared() - 1), start(q = vector![1, 0], p = vector![0, 0]),
)]
struct Rod;
"""


def test_steppers_drift_from_their_start_as_runs_do():
    rod = fbint.model(PENDULUM_ON_A_ROD)()
    for options in [{"gains": 1.0}, {"gains": "relaxation:1"}, {"method": "heun", "project": False}]:
        stepper = rod.stepper(step=1 / 64, **options)
        for _ in range(64):
            stepper.step()
        run = rod.run(1, step=1 / 64, **options)
        assert abs(run.drift["length"]) > 2e-8
        numpy.testing.assert_allclose(stepper.state, [*run.q[-1], *run.p[-1]], atol=1e-12)


BRAKED = """
#[feedback_system(
    coordinates(x), momenta(p), hamiltonian = p.powi(2) / 2,
    input(brake = -p, every = 1 / 4, delay = 1), force(p = brake), start(x = 0, p = 1),
)]
struct Braked;
"""


@pytest.mark.parametrize("method", ["rk4", "dop853", "gauss4"])
def test_samples_of_laws_and_counts_of_events_outlast_a_call(method):
    options = {"method": method} if method == "dop853" else {"method": method, "step": 1 / 64}
    braked = fbint.model(BRAKED)()
    stepper = braked.stepper(**options)
    for time in [0.125, 0.25, 0.4375, 0.5, 1.0, 1.125, 2.0]:
        stepper.step(time)
        run = braked.run(until=time, **options)
        numpy.testing.assert_allclose(stepper.state[:2], [run.x[-1], run.p[-1]], atol=1e-13)
    # What is given is not sampled.
    stepper = braked.stepper(**options)
    for time in [0.5, 1.0]:
        stepper.step(time, brake=-1.0)
    numpy.testing.assert_allclose(stepper.state[:2], [0.5, 0.0], atol=1e-12)

    counting = fbint.model(BALL.replace("falling,", "falling, count = 3,"))()
    run = counting.run(until=10, **options)
    # The last sample is the state after the reset.
    assert run.ended_by == "floor" and abs(run.t[-1] - 2.5) < 1e-12 and abs(run.p[-1] - 4) < 1e-11
    stepper, occurred = counting.stepper(**options), []
    for time in numpy.arange(0.25, 4, 0.25):
        stepper.step(time)
        occurred += [event.t for event in stepper.events]
    assert stepper.ended_by == "floor" and stepper.t == occurred[-1]
    numpy.testing.assert_allclose(occurred, [0.5, 1.5, 2.5], atol=1e-11)
    # A state that is set begins anew.
    stepper.state = [1.0, 0.0]
    stepper.step(stepper.t + 2.0)
    assert stepper.ended_by is None and len(stepper.events) == 2


def test_a_derivative_passes_neither_a_reset_nor_a_sample():
    ball = fbint.model(BALL)()
    end, by_start, _ = ball.sensitivity(until=0.4, step=0.01)
    numpy.testing.assert_allclose(end, [1 - 4 * 0.4**2, -8 * 0.4], atol=1e-12)
    numpy.testing.assert_allclose(by_start, [[1, 0.4], [0, 1]], atol=1e-12)
    with pytest.raises(ValueError, match="`floor` .* at t = 0.5"):
        ball.sensitivity(until=0.75, step=0.01)
    braked = fbint.model(BRAKED)()
    with pytest.raises(ValueError, match="sampled: give the inputs as numbers"):
        braked.sensitivity(until=1.0, step=0.01)
    end, *_ = braked.sensitivity(until=1.0, step=0.01, inputs={"brake": -1.0})
    numpy.testing.assert_allclose(end[:2], [0.5, 0.0], atol=1e-12)


def test_mistakes_of_steps_name_the_remedy():
    system = fbint.model(CART)()
    stepper = system.stepper(method="dop853")
    with pytest.raises(TypeError, match="give `until`"):
        stepper.step()
    with pytest.raises(TypeError, match="did you mean `thrust`"):
        stepper.step(1.0, thurst=1.0)
    stepper.step(0.25)
    with pytest.raises(ValueError, match="has come to t = 0.25"):
        stepper.step(0.125)
    with pytest.raises(ValueError, match=r"shape \(1,\)"):
        stepper.step(0.5, thrust=[1.0, 2.0])
    with pytest.raises(ValueError, match="shape"):
        system.stepper(start=numpy.zeros(5))


def test_linear_systems_agree_with_differences():
    system = fbint.model(CART)(cart=2.0)
    x = numpy.array([0.1, 0.3, -0.2, 0.5, 0.0, 0.0])
    A, B, C, D = system.linearise(x, {"thrust": 0.7})
    assert (A.shape, B.shape, C.shape, D.shape) == ((6, 6), (6, 1), (2, 6), (2, 1))

    def field(x, thrust):
        end = fbint.model(CART.replace("input(thrust)", f"input(thrust = {thrust!r})"))(cart=2.0)
        return end.field(x), end.outputs(x)

    h = 1e-6
    for entry in range(6):
        step = h * numpy.eye(6)[entry]
        (up, up_out), (down, down_out) = field(x + step, 0.7), field(x - step, 0.7)
        numpy.testing.assert_allclose(A[:, entry], (up - down) / (2 * h), atol=1e-8)
        numpy.testing.assert_allclose(C[:, entry], (up_out - down_out) / (2 * h), atol=1e-8)
    (up, up_out), (down, down_out) = field(x, 0.7 + h), field(x, 0.7 - h)
    numpy.testing.assert_allclose(B[:, 0], (up - down) / (2 * h), atol=1e-8)
    numpy.testing.assert_allclose(D[:, 0], (up_out - down_out) / (2 * h), atol=1e-8)
    many = system.linearise(numpy.stack([x, 2 * x]), {"thrust": 0.7})
    numpy.testing.assert_array_equal(many.A[0], A)


def test_mass_matrix_and_inverse_dynamics():
    system = fbint.model(CART)()
    angle, omega = 0.3, 0.5
    x = numpy.array([0.1, angle, -0.2, omega, 0.0, 0.0])
    m, l, g = 0.1, 0.5, 9.81
    mass = numpy.array([[1 + m, m * l * math.cos(angle)], [m * l * math.cos(angle), m * l**2]])
    numpy.testing.assert_allclose(system.mass_matrix(x), mass, rtol=1e-14)
    assert system.mass_matrix(numpy.stack([x, x])).shape == (2, 2, 2)
    a = numpy.array([0.4, -1.5])
    bias = numpy.array([-m * l * omega**2 * math.sin(angle), -m * g * l * math.sin(angle)])
    numpy.testing.assert_allclose(system.inverse_dynamics(x, a), mass @ a + bias, rtol=1e-13)
    # The declared thrust acts besides.
    numpy.testing.assert_allclose(
        system.inverse_dynamics(x, a, {"thrust": 2.0}), mass @ a + bias - [2.0, 0.0], rtol=1e-13
    )
    with pytest.raises(ValueError, match="`velocities` and a `lagrangian`"):
        fbint.model(PENDULUM)().mass_matrix(numpy.zeros(4))


def test_multipliers_are_reactions():
    pendulum = fbint.model(PENDULUM)(l=2.0)
    q, p = numpy.array([0.0, -2.0]), numpy.array([3.0, 0.0])
    multipliers = pendulum.multipliers(numpy.concatenate([q, p]))
    # At the bottom the rod carries the weight and the centripetal force: -2 l c = m g + m v^2 / l.
    numpy.testing.assert_allclose(-2 * 2.0 * multipliers[0], 9.81 + 9 / 2, rtol=1e-13)
    assert multipliers.shape == (3,) and (multipliers[2] == 0).all()


def test_states_are_projected():
    pendulum = fbint.model(PENDULUM)()
    x = pendulum.project(numpy.array([[0.6, -0.9, 0.1, 0.2], [1.0, 0.1, 0.0, 1.0]]))
    numpy.testing.assert_allclose(pendulum.integrals(x)[:, :2], 0, atol=1e-13)
    held = pendulum.project(numpy.array([0.6, -0.9, 0.1, 0.2]), held=["q[0]"])
    assert held[0] == 0.6
    with pytest.raises(ValueError, match="length"):
        pendulum.project(numpy.array([1.6, -0.9, 0.1, 0.2]), held=["q[0]"])


def test_derivatives_of_fields_and_runs_agree_with_differences():
    Pendulum = fbint.model(PENDULUM)
    pendulum = Pendulum(l=1.5)
    x = numpy.array([0.9, -1.2, 0.4, 0.3])
    by = pendulum.field_by_parameters(x)
    h = 1e-6
    for index, name in enumerate(["m", "g", "l"]):
        values = dict(pendulum.parameters)
        up, down = [Pendulum(**{**values, name: values[name] + side}).field(x) for side in (h, -h)]
        numpy.testing.assert_allclose(by[:, index], (up - down) / (2 * h), atol=1e-8)
    start = {"q": [0.9, -1.2], "p": [0.4, 0.3]}
    end, by_start, by_parameters = pendulum.sensitivity(1.0, step=0.01, start=start)
    plain = pendulum.run(until=1.0, step=0.01, start=start, gains="none")
    numpy.testing.assert_allclose(end, [*plain.q[-1], *plain.p[-1]], atol=1e-12)
    # Along the circle: a turn of the start, and the momentum along it.
    turn = numpy.array([1.2, 0.9, -0.3, 0.4])
    ends = []
    for side in (1, -1):
        c, s = math.cos(side * h), math.sin(side * h)
        turned = {name: [c * v[0] - s * v[1], s * v[0] + c * v[1]] for name, v in start.items()}
        run = pendulum.run(until=1.0, step=0.01, start=turned, gains="none")
        ends.append(numpy.array([*run.q[-1], *run.p[-1]]))
    numpy.testing.assert_allclose(by_start @ turn, (ends[0] - ends[1]) / (2 * h), atol=1e-7)
    gs = [Pendulum(l=1.5, g=9.81 + side * h).run(until=1.0, step=0.01, start=start, gains="none") for side in (1, -1)]
    difference = numpy.array([*(gs[0].q[-1] - gs[1].q[-1]), *(gs[0].p[-1] - gs[1].p[-1])]) / (2 * h)
    numpy.testing.assert_allclose(by_parameters[:, 1], difference, atol=1e-7)


def test_rodas5p_needs_no_key_in_texts():
    pendulum = fbint.model(PENDULUM)()
    stiff = pendulum.run(until=2.0, method="rodas5p", rtol=1e-8)
    exact = pendulum.run(until=2.0, method="dop853", rtol=1e-12)
    numpy.testing.assert_allclose(stiff.q[-1], exact.q[-1], atol=1e-5)
    with_key = fbint.model(PENDULUM.replace("section(", "derivatives, section("))()
    other = with_key.run(until=2.0, method="rodas5p", rtol=1e-8)
    numpy.testing.assert_allclose(stiff.q[-1], other.q[-1], atol=1e-11)
    feedback = [model.run(until=1.0, method="rodas5p", gains=5.0).q[-1] for model in (pendulum, with_key)]
    numpy.testing.assert_allclose(*feedback, atol=1e-11)
    ensembles = [
        model.ensemble(until=0.5, members=9, method="rodas5p", vary={"g": ("linspace", 9, 10)}).ends
        for model in (pendulum, with_key)
    ]
    numpy.testing.assert_allclose(*ensembles, atol=1e-10)


def test_a_section_is_a_trajectory():
    run = fbint.model(PENDULUM)().run(until=10.0, method="dop853")
    section = run.section("bottom")
    assert section.q.shape == (4, 2) and "d(energy)" not in section.keys()
    numpy.testing.assert_allclose(section.q[:, 0], 0, atol=1e-9)
    numpy.testing.assert_allclose(section.t, [event.t for event in run.events])
    with pytest.raises(ValueError, match="did you mean `bottom`"):
        run.section("botom")


def test_records_repeat_runs(tmp_path):
    pendulum = fbint.model(PENDULUM)(l=2.0)
    options = [
        dict(until=2.0, method="dop853", start={"q": [0.0, -2.0], "p": [1.0, 0.0]}),
        dict(until=1.0, t_eval=[0.1, 0.55], gains=1.0, step=0.01),
        dict(until=5.0, until_event="q[1] < -l + 0.5"),
    ]
    for index, chosen in enumerate(options):
        run = pendulum.run(**chosen)
        path = tmp_path / f"{index}.run.json"
        record = json.loads(run.record(path))
        assert record["text"] == PENDULUM and record["parameters"]["l"] == 2.0 and record["versions"]["fbint"]
        again = fbint.repeat(path)
        assert str(again) == str(run) and again.drift == run.drift
        for name in run.keys():
            assert run[name].tobytes() == again[name].tobytes(), name
        assert again.record() == run.record()
    with pytest.raises(ValueError, match="is not the record of a run"):
        fbint.repeat(tmp_path / "none.json")
    path.write_text(path.read_text().replace(json.loads(path.read_text())["code_sha256"], "0" * 64))
    with pytest.raises(ValueError, match="derives other code"):
        fbint.repeat(path)


@pytest.mark.skipif("FBINT_PROGRAM" not in os.environ, reason="the command was not built")
def test_the_command_repeats_records_of_python(tmp_path):
    run = fbint.model(PENDULUM)().run(until=2.0, method="dop853", t_eval=[0.5, 1.0, 1.5])
    run.record(tmp_path / "run.json")
    command = [os.environ["FBINT_PROGRAM"], "run", "run.json", "--out", "again.csv"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    table = numpy.genfromtxt(tmp_path / "again.csv", delimiter=",", names=True, deletechars="")
    for name in run.keys():
        numpy.testing.assert_array_equal(table[name], run[name])


def test_a_stepper_may_go_on_in_another_thread():
    from concurrent.futures import ThreadPoolExecutor

    model = fbint.model(
        "#[feedback_system(coordinates(x), momenta(p), hamiltonian = p.powi(2) / 2 + x.powi(2) / 2, start(x = 1, p = 0))] struct A;"
    )()
    here, there = model.stepper(step=1e-2), model.stepper(step=1e-2)
    with ThreadPoolExecutor(1) as pool:
        for turn in range(6):
            here.step(0.5 * (turn + 1))
            step = lambda: there.step(0.5 * (turn + 1))
            pool.submit(step).result() if turn % 2 else step()
    assert numpy.allclose(here.state, there.state, rtol=0, atol=1e-13)
    assert abs(there.state[0] - math.cos(3)) < 1e-9


def test_derivatives_pass_no_jump_of_the_field():
    text = """
    #[feedback_system(state(x), dynamics(x = if x > 1 { 2 } else { a }), default(a = 1), start(x = 0))]
    struct Cross { a: f64 }
    """
    model = fbint.model(text)()
    before = model.sensitivity(until=0.9, step=1e-2)
    assert abs(before.by_parameters[0, 0] - 0.9) < 1e-12
    with pytest.raises(ValueError, match="jumps where .* switches, at t = 1"):
        model.sensitivity(until=2, step=1e-2)
    # A spring that is met has no jump.
    spring = "#[feedback_system(state(x, v), dynamics(x = v, v = -k * (x - 1).max(0)), default(k = 2), start(x = 0, v = 1))] struct B { k: f64 }"
    met = fbint.model(spring)().sensitivity(until=1.5, step=1e-3)
    phase = 0.5 * math.sqrt(2)
    assert abs(met.by_start[0, 1] - (math.sin(phase) / math.sqrt(2) + math.cos(phase))) < 2e-3


def test_a_projection_may_be_refused():
    block = "#[feedback_system(state(x, v), dynamics(x = v, v = -x), invariant(size = x.powi(2) + v.powi(2)), start(x = 1, v = 0))] struct O;"
    oscillator = fbint.model(block)()
    ends = [oscillator.run(until=1, step=0.1, **options)["x"][-1] for options in ({"project": False}, {"gains": "none"}, {"project": None}, {})]
    assert ends[0] == ends[1] != ends[2] == ends[3]
    with_gains = [oscillator.run(until=1, step=0.1, gains=2, **options)["x"][-1] for options in ({"project": False}, {})]
    assert with_gains[0] == with_gains[1] != ends[0]


def test_given_laws_that_switch_end_steps():
    text = """
    #[feedback_system(
        coordinates(x), velocities(v), lagrangian = v.powi(2) / 2, input(u = -k * v, w), force(v = u + w), default(k = 1), start(x = 0, v = 1),
    )]
    struct Block { k: f64 }
    """
    for inputs in ({"u": "-signum(v)"}, {"u": "-signum(v)", "w": 0}, {"w": "-signum(v)", "u": 0}, {"u": "-signum(v)", "w": lambda t, x: 0.0}):
        for method in ("rk4", "dop853"):
            options = {"step": 0.3} if method == "rk4" else {"rtol": 1e-10}
            run = fbint.model(text)().run(until=2, method=method, input=inputs, **options)
            assert abs(run["x"][-1] - 0.5) < 1e-9 and abs(run["v"][-1]) < 1e-9, (inputs, method)


def test_numbers_of_inputs_are_finite():
    with pytest.raises(ValueError, match="the input `thrust` is NaN"):
        fbint.model(CART)().run(until=1, input={"thrust": math.nan})
