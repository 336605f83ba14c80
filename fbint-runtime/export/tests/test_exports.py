"""Exports in the tools that they are for: FMUs in FMPy, functions and their derivatives in CasADi."""

import csv
import json
import os
import pathlib
import shutil
import subprocess
import sys

import numpy
import pytest

PENDULUM = """
/// A point mass on a circle under gravity, pushed from the side.
#[feedback_system(
    coordinates(q: [2]), momenta(p: [2]), hamiltonian = p.norm_squared() / (2 * m) + m * g * q[1],
    constraint(length = q.norm_squared() - l.powi(2)), input(u), force(p = vector![u, 0]),
    output(tension = -2 * l * multiplier(length)), default(m = 1.5, g = 9.81, l = 0.8),
    start(q = vector![l, 0], p = vector![0, 0]), derivatives,
)]
struct Pendulum { m: f64, g: f64, l: f64 }
"""
STATE = ["q[0]", "q[1]", "p[0]", "p[1]", "work"]

pytestmark = pytest.mark.skipif(
    "FBINT_PROGRAM" not in os.environ or shutil.which("cc") is None, reason="no command, or no C compiler"
)


@pytest.fixture
def fbint(tmp_path):
    (tmp_path / "pendulum.rs").write_text(PENDULUM, encoding="utf-8")

    def run(*arguments):
        command = [os.environ["FBINT_PROGRAM"], *arguments]
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True)
        return tmp_path

    return run


def table(folder):
    """The states of a run."""
    with open(folder / "run.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return numpy.array([[float(row[name]) for name in STATE] for row in rows])


def unpacked(fmpy, path):
    folder = fmpy.extract(str(path))
    return folder, fmpy.read_model_description(folder, validate=True)


# A ball on a floor, pulled by a law, until its fifth impact.
BALL = """
#[feedback_system(
    coordinates(q), momenta(p), hamiltonian = p.powi(2) / (2 * m) + m * g * q,
    input(u = -k * q), force(p = u), output(height = q), default(m = 1, g = 9.81, k = 0.5), start(q = 1, p = 0),
    event(floor = q, falling, when = p < 0, reset(p = -0.9 * p), count = 5),
    section(top = p),
)]
struct Ball { m: f64, g: f64, k: f64 }
"""


@pytest.fixture
def ball(fbint, tmp_path):
    """The record of a run of the ball that ends by its event."""
    (tmp_path / "ball.rs").write_text(BALL, encoding="utf-8")
    fbint("run", "ball.rs", "--method", "dop853", "--rtol", "1e-12", "--out", "ball.csv")
    return json.loads((tmp_path / "ball.run.json").read_text(encoding="utf-8"))


def simulated(fmpy, path, kind, names, **settings):
    result = fmpy.simulate_fmu(str(path), fmi_type=kind, output=["time", *names], **settings)
    return {name: numpy.array([row[name] for row in result]) for name in ["time", *names]}


@pytest.mark.parametrize("version", ["2", "3"])
@pytest.mark.parametrize("kind", ["ModelExchange", "CoSimulation"])
def test_events_reset_and_end(fbint, ball, version, kind):
    fmpy = pytest.importorskip("fmpy")
    from fmpy.validation import validate_fmu

    folder = fbint("export", "ball.rs", "--fmu", "b.fmu", "--fmi", version)
    assert validate_fmu(str(folder / "b.fmu")) == []
    names = ["q", "p", "occurrences(floor)", "occurrences(top)", "u", "height"]
    found = simulated(fmpy, folder / "b.fmu", kind, names, stop_time=5.0, output_interval=0.01, relative_tolerance=1e-10)
    # The fifth impact ends both. FMPy leaves out what it does in model exchange, and in FMI 3.0 it gives the end of the communication step.
    is_exchange = kind == "ModelExchange"
    assert -1e-6 < found["time"][-1] - ball["time"] < 0.0101
    assert found["occurrences(floor)"][-1] == (4 if is_exchange else 5) and found["occurrences(top)"][-1] == 4
    assert abs(found["p"][-1] * (-0.9 if is_exchange else 1) - ball["state"]["p"]) < 1e-6
    assert found["q"].min() > -1e-9
    assert abs(found["u"] + 0.5 * found["q"]).max() < 1e-15 and (found["height"] == found["q"]).all()


# A ball that is thrown up from the floor: its event function is 0 where it begins.
THROWN = """
#[feedback_system(
    coordinates(q), momenta(p), hamiltonian = p.powi(2) / 2 + g * q, default(g = 9.81), start(q = 0, p = 2),
    event(floor = q, falling, reset(p = -0.8 * p)), section(up = q, rising),
)]
struct Thrown { g: f64 }
"""


@pytest.mark.parametrize("version", ["2", "3"])
@pytest.mark.parametrize("kind", ["ModelExchange", "CoSimulation"])
def test_events_may_begin_at_zero(fbint, tmp_path, version, kind):
    fmpy = pytest.importorskip("fmpy")
    (tmp_path / "thrown.rs").write_text(THROWN, encoding="utf-8")
    folder = fbint("export", "thrown.rs", "--fmu", "t.fmu", "--fmi", version)
    found = simulated(fmpy, folder / "t.fmu", kind, ["q", "p"], stop_time=0.6, output_interval=0.05, relative_tolerance=1e-12)
    # The first flight takes 2 v / g, and the next begins with 0.8 v.
    v, g = 2.0, 9.81
    later = 0.6 - 2 * v / g
    assert abs(found["q"][-1] - (0.8 * v * later - g * later**2 / 2)) < 1e-9
    assert abs(found["p"][-1] - (0.8 * v - g * later)) < 1e-9


@pytest.mark.parametrize("version", ["2", "3"])
def test_laws_apply_until_inputs_are_set(fbint, tmp_path, version):
    fmpy = pytest.importorskip("fmpy")
    (tmp_path / "ball.rs").write_text(BALL, encoding="utf-8")
    folder = fbint("export", "ball.rs", "--fmu", "b.fmu", "--fmi", version)
    signal = numpy.array([(0.0, 2.0), (10.0, 2.0)], dtype=[("time", float), ("u", float)])
    settings = {"stop_time": 0.3, "output_interval": 0.1}
    for kind in ["ModelExchange", "CoSimulation"]:
        for given in [{"input": signal}, {"start_values": {"u": 2.0}}]:
            q = simulated(fmpy, folder / "b.fmu", kind, ["q"], **settings, **given)["q"][-1]
            assert abs(q - (1 - (9.81 - 2.0) * 0.3**2 / 2)) < 1e-4, (kind, given)


# A mass on a spring with friction, at which it comes to rest, until a motor breaks it loose.
RUBBED = """
#[feedback_system(
    coordinates(x), momenta(p), time(t), hamiltonian = (p.powi(2) + k * x.powi(2)) / 2, input(u),
    force(p = u - mu * p.signum() + if t > 10 && !(t > 11) { push } else { 0 }),
    section(middle = x - mu), default(mu = 0.3, push = 1.5, k = 1), start(x = 2, p = 0),
)]
struct Rubbed { mu: f64, push: f64, k: f64 }
"""
OF_RUBBED = ["x", "p", "t", "work"]


@pytest.mark.parametrize("version", ["2", "3"])
def test_switches_are_those_of_runs(fbint, tmp_path, version):
    """Sides are held and changed where importers find the events, and within the steps of a co-simulation."""
    fmpy = pytest.importorskip("fmpy")
    from fmpy.validation import validate_fmu

    (tmp_path / "rubbed.rs").write_text(RUBBED, encoding="utf-8")
    folder = fbint("export", "rubbed.rs", "--fmu", "r.fmu", "--fmi", version)
    assert validate_fmu(str(folder / "r.fmu")) == []
    settings = ["--until", "13", "--every", "0.1", "--input", "u=0", "--out", "run.csv", "--force"]
    steps, exact = ["--step", "1e-3"], ["--method", "dop853", "--rtol", "1e-13"]
    for kind, method, tolerance in [("CoSimulation", steps, 1e-11), ("ModelExchange", exact, 1e-9)]:
        fbint("run", "rubbed.rs", *method, *settings)
        with open(folder / "run.csv", newline="", encoding="utf-8") as file:
            expected = {float(row["t"]): [float(row[name]) for name in OF_RUBBED] for row in csv.DictReader(file)}
        found = simulated(
            fmpy, folder / "r.fmu", kind, ["x", "p", "t", "work"], stop_time=13.0, output_interval=0.1, relative_tolerance=1e-13
        )
        at_rest = (found["time"] > 9.5) & (found["time"] < 9.9)
        assert abs(found["p"][at_rest]).max() < 1e-12 and numpy.ptp(found["x"][at_rest]) < 1e-12
        assert numpy.ptp(found["x"][found["time"] > 9.9]) > 0.1
        for time, state in expected.items():
            # It has states at the events besides.
            place = abs(found["time"] - time).argmin()
            own = [found[name][place] for name in OF_RUBBED]
            assert abs(numpy.array(own) - state).max() < tolerance, (kind, time)


def test_event_indicators_have_derivatives(fbint, tmp_path):
    """Of an event, exact ones; of a switch, too, but by parameters; of all, by differences where the motion slides."""
    fmpy = pytest.importorskip("fmpy")
    from fmpy.fmi3 import FMU3Model

    (tmp_path / "rubbed.rs").write_text(RUBBED, encoding="utf-8")
    place, description = unpacked(fmpy, fbint("export", "rubbed.rs", "--fmu", "r.fmu") / "r.fmu")
    of = {variable.name: variable.valueReference for variable in description.modelVariables}
    identifier = description.modelExchange.modelIdentifier
    fmu = FMU3Model(guid=description.guid, unzipDirectory=place, modelIdentifier=identifier, instanceName="one")
    fmu.instantiate()
    fmu.enterInitializationMode()
    fmu.exitInitializationMode()
    knowns = ["x", "p", "mu", "k", "u"]

    def rows(unknowns):
        return numpy.array([fmu.getDirectionalDerivative([of[name] for name in unknowns], [of[known]], [1.0]) for known in knowns]).T

    def of_adjoints(unknowns):
        return numpy.array([fmu.getAdjointDerivative([of[name]], [of[known] for known in knowns], [1.0], len(knowns)) for name in unknowns])

    unknowns = ["middle", "switch(p)", "der(p)"]
    # It moves to the left: friction pushes to the right.
    fmu.setFloat64([of["x"], of["p"]], [1.5, -0.5])
    fmu.getFloat64([of["der(p)"]])
    exact = [[1, 0, -1, 0, 0], [0, -1, 0, 0, 0], [-1, 0, 1, -1.5, 1]]
    assert abs(rows(unknowns) - exact).max() < 1e-9
    assert (of_adjoints(unknowns) == rows(unknowns)).all()
    # At rest, where friction holds the spring: w (1 - w) for the weight w = (mu - k x + u) / (2 mu) of the positive side.
    x, mu = 0.1, 0.3
    fmu.setFloat64([of["x"], of["p"]], [x, 0.0])
    fmu.updateDiscreteStates()
    w, by_x = (mu - x) / (2 * mu), -1 / (2 * mu)
    slope = (1 - 2 * w) * by_x
    sliding = [[1, 0, -1, 0, 0], [slope, 0, -slope * x / mu, slope * x, -slope], [0, 0, 0, 0, 0]]
    assert abs(rows(unknowns) - sliding).max() < 1e-8
    assert (of_adjoints(unknowns) == rows(unknowns)).all()
    fmu.freeInstance()
    shutil.rmtree(place)


# A pendulum on a rod that a digital controller pushes, which sees it late.
SAMPLED = """
#[feedback_system(
    coordinates(q: [2]), momenta(p: [2]), hamiltonian = p.norm_squared() / (2 * m) + m * g * q[1],
    constraint(length = q.norm_squared() - l.powi(2)), force(p = vector![u, 0]),
    input(u = -k * p[0], every = period, delay = 1),
    default(m = 1.5, g = 9.81, l = 1, k = 2, period = 0.0125), start(q = vector![l, 0], p = vector![0, 0]),
)]
struct Sampled { m: f64, g: f64, l: f64, k: f64, period: f64 }
"""


@pytest.mark.parametrize("version", ["2", "3"])
def test_sampled_laws_are_those_of_runs(fbint, tmp_path, version):
    fmpy = pytest.importorskip("fmpy")
    (tmp_path / "sampled.rs").write_text(SAMPLED, encoding="utf-8")
    folder = fbint("export", "sampled.rs", "--fmu", "s.fmu", "--fmi", version)
    settings = ["--until", "2", "--every", "0.02", "--out", "run.csv", "--force"]
    fbint("run", "sampled.rs", "--step", "1e-3", *settings)
    found = simulated(fmpy, folder / "s.fmu", "CoSimulation", STATE, stop_time=2.0, output_interval=0.02)
    found = numpy.array([found[name] for name in STATE]).T
    # FMPy adds up its times, which makes steps of other sizes.
    assert abs(found - table(folder)).max() < 1e-12
    fbint("run", "sampled.rs", "--method", "dop853", "--rtol", "1e-13", *settings)
    found = simulated(fmpy, folder / "s.fmu", "ModelExchange", STATE, stop_time=2.0, output_interval=0.02, relative_tolerance=1e-13)
    # It has states at the samples besides.
    wanted = numpy.isclose(found["time"][:, None], 0.02 * numpy.arange(101), rtol=0, atol=1e-9).argmax(axis=0)
    found = numpy.array([found[name] for name in STATE]).T[wanted]
    assert abs(found - table(folder)).max() < 1e-9


@pytest.mark.parametrize("version", ["2", "3"])
def test_co_simulation_keeps_a_tolerance(fbint, version):
    """Communication steps of a tenth of a second, whatever the method needs; all integrals are held."""
    fmpy = pytest.importorskip("fmpy")
    folder = fbint("export", "pendulum.rs", "--fmu", "p.fmu", "--fmi", version)
    fbint("run", "pendulum.rs", "--method", "dop853", "--rtol", "1e-13", "--until", "10", "--every", "0.1", "--out", "run.csv")
    expected = table(folder)
    for tolerance, error in [(1e-4, 1e-2), (1e-8, 1e-5), (1e-12, 1e-8)]:
        found = simulated(
            fmpy, folder / "p.fmu", "CoSimulation", [*STATE, "length", "energy_balance"],
            stop_time=10.0, output_interval=0.1, start_values={"tolerance": tolerance},
        )
        states = numpy.array([found[name] for name in STATE]).T
        assert abs(states - expected).max() < error, tolerance
        assert abs(found["length"]).max() < 1e-12 and numpy.ptp(found["energy_balance"]) < 1e-12


@pytest.mark.parametrize("version", ["2", "3"])
def test_fmus_are_valid_and_simulate(fbint, version):
    fmpy = pytest.importorskip("fmpy")
    from fmpy.validation import validate_fmu

    folder = fbint("export", "pendulum.rs", "--fmu", "p.fmu", "--fmi", version)
    fbint("run", "pendulum.rs", "--method", "dop853", "--rtol", "1e-13", "--until", "1", "--every", "0.1", "--out", "run.csv")
    assert validate_fmu(str(folder / "p.fmu")) == []
    expected = table(folder)
    for kind, tolerance in [("ModelExchange", 1e-9), ("CoSimulation", 1e-9)]:
        found = fmpy.simulate_fmu(
            str(folder / "p.fmu"), fmi_type=kind, stop_time=1.0, output_interval=0.1, relative_tolerance=1e-13, output=STATE
        )
        found = numpy.array([[row[name] for name in STATE] for row in found])
        assert abs(found - expected).max() < tolerance, kind


def shipped():
    """The models of the command with FBINT_THOROUGH, else two of them."""
    if "FBINT_THOROUGH" not in os.environ or "FBINT_PROGRAM" not in os.environ:
        return ["four-bar", "rolling-disk"]
    told = subprocess.run([os.environ["FBINT_PROGRAM"], "list"], check=True, capture_output=True, text=True).stdout
    return [line for line in told.splitlines() if line and not line.startswith(" ")]


@pytest.mark.parametrize("model", shipped())
def test_shipped_models_are_fmus(fbint, model):
    fmpy = pytest.importorskip("fmpy")
    from fmpy.validation import validate_fmu

    for version in ["2", "3"]:
        folder = fbint("export", model, "--fmu", "m.fmu", "--fmi", version)
        path = folder / "m.fmu"
        assert validate_fmu(str(path)) == []
        variables = fmpy.read_model_description(str(path)).modelVariables
        states = [one.name for one in variables if (one.causality, one.initial) == ("local", "exact")]
        given = [part for one in variables if one.causality == "input" for part in ["--input", f"{one.name}=0"]]
        exact, steps = ["--method", "dop853", "--rtol", "1e-13"], ["--step", "1e-3"]
        for kind, method, tolerance in [("ModelExchange", exact, 1e-9), ("CoSimulation", steps, 1e-12)]:
            fbint("run", model, *method, *given, "--until", "0.2", "--every", "0.2", "--out", "run.csv", "--force")
            with open(folder / "run.csv", newline="", encoding="utf-8") as file:
                *_, expected = csv.DictReader(file)
            settings = {"stop_time": 0.2, "output_interval": 0.005, "relative_tolerance": 1e-13}
            found = simulated(fmpy, path, kind, states, **settings)
            for name in states:
                # A table has no column for the time besides the first.
                end, wanted = found[name][-1], float(expected.get(name, found[name][-1]))
                assert abs(end - wanted) < tolerance * (1 + abs(end)), (version, kind, name)


@pytest.mark.parametrize("version", ["2", "3"])
def test_another_tool_has_the_states_of_the_run(fbint, version):
    """Ecos, an engine of co-simulation in C++, which gives the input a constant."""
    try:
        import ecospy
    except (ImportError, OSError) as error:
        pytest.skip(f"no Ecos: {error}")

    folder = fbint("export", "pendulum.rs", "--fmu", "p.fmu", "--fmi", version)
    fbint("run", "pendulum.rs", "--step", "1e-3", "--until", "1", "--every", "1", "--input", "u=1", "--out", "run.csv")
    with ecospy.EcosSimulationStructure() as structure:
        structure.add_model("pendulum", str(folder / "p.fmu"))
        structure.add_parameter_set("given", {"pendulum::u": 1.0})
        with ecospy.EcosSimulation(structure=structure, step_size=1e-3) as simulation:
            simulation.init(parameter_set="given")
            simulation.step(1000)
            found = [simulation.get_real(f"pendulum::{name}") for name in STATE]
    # Ecos adds up its times.
    assert abs(numpy.array(found) - table(folder)[-1]).max() < 1e-12


def test_co_simulation_has_the_bits_of_runs(fbint):
    pytest.importorskip("fmpy")
    import fmpy
    from fmpy.fmi2 import FMU2Slave

    folder = fbint("export", "pendulum.rs", "--fmu", "p.fmu", "--fmi", "2")
    fbint("run", "pendulum.rs", "--step", "1e-3", "--until", "0.5", "--every", "0", "--out", "run.csv")
    expected = table(folder)
    place, description = unpacked(fmpy, folder / "p.fmu")
    references = {variable.name: variable.valueReference for variable in description.modelVariables}
    identifier = description.coSimulation.modelIdentifier
    fmu = FMU2Slave(guid=description.guid, unzipDirectory=place, modelIdentifier=identifier, instanceName="one")
    fmu.instantiate()
    fmu.setupExperiment(startTime=0.0)
    fmu.enterInitializationMode()
    fmu.exitInitializationMode()
    for step in range(500):
        fmu.doStep(currentCommunicationPoint=step * 1e-3, communicationStepSize=1e-3)
        found = fmu.getReal([references[name] for name in STATE])
        assert found == list(expected[step + 1]), step
    fmu.terminate()
    fmu.freeInstance()
    shutil.rmtree(place)


def library(folder):
    sources = [str(path) for path in folder.glob("*.c")]
    path = folder / "library.so"
    flags = ["-std=c99", "-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC"]
    subprocess.run(["cc", *flags, *sources, "-o", str(path), "-lm"], check=True)
    return str(path)


def parts(point):
    """x, u and p."""
    return point[:6], point[6], point[7:]


def test_casadi_has_functions_and_derivatives(fbint):
    casadi = pytest.importorskip("casadi")
    path = library(fbint("export", "pendulum.rs", "--casadi", "casadi") / "casadi")
    x, u, p = casadi.MX.sym("x", 6), casadi.MX.sym("u"), casadi.MX.sym("p", 3)
    every = casadi.vertcat(x, u, p)
    at = numpy.array([0.6, -0.8, 0.3, 0.2, 0.0, 0.1, 0.7, 1.2, 9.81, 1.1])
    for name in ["f", "g", "F"]:
        function = casadi.external(name, path)
        value = function(x, u, p)
        directions, weights = casadi.MX.sym("v", 10), casadi.MX.sym("w", value.shape[0])
        of = casadi.Function(
            "of",
            [x, u, p, directions, weights],
            [
                value,
                casadi.jacobian(value, every),
                casadi.jtimes(value, every, directions),
                casadi.jtimes(value, every, weights, True),
            ],
        )
        v, w = numpy.arange(1.0, 11.0), numpy.arange(1.0, 1.0 + value.shape[0])

        def evaluated(point):
            return [numpy.array(result) for result in of(point[:6], point[6], point[7:], v, w)]

        _, jacobian, forward, backward = evaluated(at)
        step = 1e-6 * numpy.eye(10)
        columns = [(evaluated(at + one)[0] - evaluated(at - one)[0])[:, 0] / 2e-6 for one in step]
        assert abs(jacobian - numpy.array(columns).T).max() < 1e-7 * (1 + abs(jacobian).max()), name
        assert numpy.allclose(forward[:, 0], jacobian @ v, rtol=1e-13, atol=1e-13), name
        assert numpy.allclose(backward[:, 0], jacobian.T @ w, rtol=1e-13, atol=1e-13), name
        weights = casadi.DM(w)
        hessian, gradient = casadi.hessian(casadi.dot(weights, value), every)
        second = casadi.Function("second", [x, u, p], [hessian, gradient])
        differences = [
            (numpy.array(second(*parts(at + one))[1]) - numpy.array(second(*parts(at - one))[1]))[:, 0] / 2e-6 for one in step
        ]
        found = numpy.array(second(*parts(at))[0])
        assert abs(found - numpy.array(differences)).max() < 1e-6 * (1 + abs(found).max()), name


def test_casadi_optimises_with_exact_derivatives(fbint):
    """The pendulum is brought to rest above its lowest point by pushing: a problem of IPOPT with the exported field."""
    casadi = pytest.importorskip("casadi")
    field = casadi.external("f", library(fbint("export", "pendulum.rs", "--casadi", "casadi") / "casadi"))
    count, h, p = 20, 0.05, numpy.array([1.5, 9.81, 0.8])
    problem = casadi.Opti()
    x, u = problem.variable(6, count + 1), problem.variable(count)
    problem.subject_to(x[:, 0] == numpy.array([0.0, -0.8, 0.0, 0.0, 0.0, 0.0]))
    for k in range(count):
        middle = (x[:, k] + x[:, k + 1]) / 2
        problem.subject_to(x[:, k + 1] == x[:, k] + h * field(middle, u[k], p))
    problem.subject_to(x[0, count] == 0.4)
    problem.subject_to(x[2:4, count] == 0)
    problem.minimize(casadi.sumsqr(u))
    problem.set_initial(x, numpy.tile(numpy.array([[0.0, -0.8, 0.0, 0.0, 0.0, 0.0]]).T, count + 1))
    problem.solver("ipopt", {"print_time": False}, {"print_level": 0})
    found = problem.solve()
    end = found.value(x)[:, -1]
    assert abs(end[0] - 0.4) < 1e-7 and abs(end[0] ** 2 + end[1] ** 2 - 0.64) < 1e-6, end


WELL = """
/// A point in a well, pushed from the side.
#[feedback_system(
    coordinates(q), momenta(p), hamiltonian = p.powi(2) / (2 * m) - k * q.cos(), input(u), force(p = u),
    default(m = 1.5, k = 2), start(q = 0, p = 0),
)]
struct Well { m: f64, k: f64 }
"""


@pytest.fixture
def well(fbint, tmp_path):
    """The folder with the functions of a model in a well."""
    (tmp_path / "well.rs").write_text(WELL, encoding="utf-8")
    return fbint("export", "well.rs", "--casadi", "casadi") / "casadi"


@pytest.mark.parametrize("method", ["cvodes", "idas"])
def test_integrators_of_casadi_have_sensitivities(well, method):
    """They take derivatives of products with Jacobians."""
    casadi = pytest.importorskip("casadi")
    field = casadi.external("f", library(well))
    x, u, p = casadi.MX.sym("x", 4), casadi.MX.sym("u"), casadi.MX.sym("p", 2)
    system = {"x": x, "p": casadi.vertcat(u, p), "ode": field(x, u, p)}
    integrator = casadi.integrator("flow", method, system, 0, 0.5, {"abstol": 1e-12, "reltol": 1e-12})
    every = casadi.vertcat(x, u, p)
    end = integrator(x0=x, p=casadi.vertcat(u, p))["xf"]
    weights = casadi.DM([1, -2, 0, 3])
    flow = casadi.Function("flow", [x, u, p], [end, casadi.jacobian(end, every), casadi.gradient(casadi.dot(weights, end), every)])
    at = numpy.array([0.4, -0.3, 0.0, 0.1, 0.7, 1.5, 2.0])

    def evaluated(point):
        return [numpy.array(result) for result in flow(point[:4], point[4], point[5:])]

    _, jacobian, gradient = evaluated(at)
    columns = [(evaluated(at + one)[0] - evaluated(at - one)[0])[:, 0] / 2e-4 for one in 1e-4 * numpy.eye(7)]
    assert abs(jacobian - numpy.array(columns).T).max() < 1e-6
    assert abs(gradient[:, 0] - jacobian.T @ numpy.array(weights)[:, 0]).max() < 1e-6


def test_acados_gets_the_rates_of_sensitivities(well):
    casadi = pytest.importorskip("casadi")
    path = library(well)
    of_acados, field = casadi.external("expl_vde_forw", path), casadi.external("f", path)
    random = numpy.random.default_rng(5)
    x, Sx, Su, u, p = random.normal(size=4), random.normal(size=(4, 4)), random.normal(size=4), 0.7, [1.5, 2.0]
    symbols = [casadi.MX.sym("x", 4), casadi.MX.sym("u")]
    by_x, by_u = (casadi.Function("j", symbols, [casadi.jacobian(field(*symbols, p), by)])(x, u) for by in symbols)
    for found, expected in zip(of_acados(x, Sx, Su, u, p), [field(x, u, p), by_x @ Sx, by_x @ Su + by_u]):
        assert abs(numpy.array(found - expected)).max() < 1e-14


def test_acados_finds_the_optimum_of_ipopt(well):
    """Twenty steps of RK4, with the cost of `acados.c`; acados has to be installed in `ACADOS_INSTALL_DIR`."""
    casadi = pytest.importorskip("casadi")
    acados = os.environ.get("ACADOS_INSTALL_DIR") or pytest.skip("ACADOS_INSTALL_DIR is not set")
    sources = [str(path) for path in [pathlib.Path(__file__).with_name("acados.c"), *well.glob("*.c")]]
    includes = [f"-I{acados}/include{folder}" for folder in ["", "/blasfeo/include", "/hpipm/include"]]
    libraries = [f"-L{acados}/lib", "-lacados", "-lhpipm", "-lblasfeo", "-lm"]
    program = str(well / "acados")
    subprocess.run(["cc", "-std=c99", "-Dcasadi_int=int", *includes, *sources, "-o", program, *libraries], check=True)
    environment = {**os.environ, "LD_LIBRARY_PATH": f"{acados}/lib"}
    told = subprocess.run([program], env=environment, check=True, capture_output=True, text=True).stdout
    found = numpy.array([float(line) for line in told.split()[-20:]])
    field = casadi.external("f", library(well))
    problem, h, p = casadi.Opti(), 0.1, [1.5, 2.0]
    x, u = problem.variable(4, 21), problem.variable(20)
    problem.subject_to(x[:, 0] == 0)
    for k in range(20):
        first = field(x[:, k], u[k], p)
        second = field(x[:, k] + h / 2 * first, u[k], p)
        third = field(x[:, k] + h / 2 * second, u[k], p)
        last = field(x[:, k] + h * third, u[k], p)
        problem.subject_to(x[:, k + 1] == x[:, k] + h / 6 * (first + 2 * second + 2 * third + last))
    problem.minimize(10 * casadi.sumsqr(x[0, :] - 1) + casadi.sumsqr(x[1, :]) + 0.1 * casadi.sumsqr(u))
    problem.solver("ipopt", {"print_time": False}, {"print_level": 0, "tol": 1e-10})
    assert abs(found - problem.solve().value(u)).max() < 1e-8


def test_the_example_swings_a_pole_up_and_holds_it(fbint, tmp_path):
    """The commands that the example names."""
    pytest.importorskip("casadi")
    example = pathlib.Path(__file__).parents[3] / "examples/casadi/swing_up.py"
    shutil.copy(example, tmp_path)
    commands = [line.split() for line in example.read_text(encoding="utf-8").split('"""')[1].splitlines()[2:]]
    (_, *export), compiler, (_, *program) = commands
    fbint(*export)
    subprocess.run(compiler, cwd=tmp_path, check=True)
    told = subprocess.run([sys.executable, *program], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    planned, held = told.splitlines()[-2:]
    assert "at most 10.00 N" in planned and int(planned.split()[1]) < 100, told
    x, angle = (float(held.split(name + " = ")[1].split()[0].rstrip(",")) for name in ["x", "angle"])
    assert abs(x) < 0.01 and abs(angle) < 0.01, told


def test_python_exports_models_of_texts_and_compiled_ones(tmp_path):
    fbint = pytest.importorskip("fbint")
    pendulum = fbint.model(PENDULUM)(m=2.0)
    told = pendulum.export(c=tmp_path / "c", fmu=tmp_path / "p.fmu", casadi=tmp_path / "casadi", fmi=2, start={"q": [0, -0.8]})
    assert any("p.fmu" in line for line in told)
    source = (tmp_path / "c" / "pendulum.c").read_text(encoding="utf-8")
    assert "parameters->m = R(2.0);" in source and "x[1] = R(-0.8);" in source
    for keywords, message in [({}, "nothing is to be"), ({"cc": "c"}, "cc"), ({"c": "c", "fmi": 1}, "2 or 3")]:
        with pytest.raises((TypeError, ValueError), match=message):
            pendulum.export(**keywords)
    models = pytest.importorskip("fbint_models")
    models.FourBar().export(c=tmp_path / "bars")
    assert (tmp_path / "bars" / "four_bar.c").exists()
