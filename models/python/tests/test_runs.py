"""Runs are those of the command, bit by bit."""

import copy
import gc
import inspect
import json
import pickle
import re

import fbint_models
import numpy
import pytest

MODELS = [
    value for value in vars(fbint_models).values()
    if inspect.isclass(value) and issubclass(value, fbint_models.Model) and value is not fbint_models.Model
]

# A model, its parameters and the keywords of a run, and the arguments of the command that say the same.
CASES = [
    ("SphericalPendulum", {}, {"until": 20, "method": "dop853", "rtol": 1e-12},
     ["--until", "20", "--method", "dop853", "--rtol", "1e-12"]),
    ("SphericalPendulum", {"m": 2, "l": 1.5}, {"until": 1.0, "method": "euler", "step": 1e-2, "gains": 5},
     ["-p", "m=2", "-p", "l=1.5", "--until", "1", "--method", "euler", "--step", "1e-2", "--gains", "5"]),
    ("SphericalPendulum", {}, {"until": 1, "gains": [1, 2, 3, 4.5], "project": True, "every": 0.1},
     ["--until", "1", "--gains", "1,2,3,4.5", "--project", "--every", "0.1"]),
    ("SphericalPendulum", {}, {"until": 1, "gains": "none", "step": numpy.float64(1) / 3 / 100},
     ["--until", "1", "--gains", "none", "--step", "0.003333333333333333"]),
    ("SphericalPendulum", {}, {"start": {"q[0]": 0.3}, "repair": True, "until": 1},
     ["--start", "q[0]=0.3", "--repair", "--until", "1"]),
    ("SphericalPendulum", {}, {"start": {"q": [0, 0.6, -0.8], "p": numpy.zeros(3)}, "until": 1},
     ["--start", "q[0]=0", "--start", "q[1]=0.6", "--start", "q[2]=-0.8", "--until", "1",
      "--start", "p[0]=0", "--start", "p[1]=0", "--start", "p[2]=0"]),
    ("PlanarPendulum", {}, {"guess": {"q": [0.6, -0.7]}, "until": 1},
     ["--guess", "q[0]=0.6", "--guess", "q[1]=-0.7", "--until", "1"]),
    ("PlanarPendulum", {}, {"until_event": "q[0] < 0", "method": "dormand-prince", "atol": 1e-10},
     ["--until-event", "q[0] < 0", "--method", "dormand-prince", "--atol", "1e-10"]),
    ("FreeRigidBody", {"inertia": [1, 2, 4]}, {"until": 1, "gains": "relaxation:0.1"},
     ["-p", "inertia[0]=1", "-p", "inertia[1]=2", "-p", "inertia[2]=4", "--until", "1", "--gains", "relaxation:0.1"]),
]


@pytest.mark.parametrize("model, parameters, keywords, arguments", CASES)
def test_runs_are_those_of_the_command(command, model, parameters, keywords, arguments):
    model = getattr(fbint_models, model)
    same(command, model(**parameters).run(**keywords), model.name, arguments)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_every_model_runs(command, model):
    same(command, model().run(until=0.02), model.name, ["--until", "0.02"])


def test_there_is_every_model_of_the_command(command):
    listed = command.succeeds("list").split("\n\n")[0]
    names = [line for line in listed.splitlines() if not line.startswith(" ")]
    assert [model.name for model in MODELS] == names
    assert all(model in vars(fbint_models).values() for model in MODELS)


def same(command, run, name, arguments):
    """A run in Python and what the command does agree in every bit and every word."""
    printed, columns, record = command.run(name, *arguments)
    assert run.keys() == [column for column, _ in columns]
    for column, values in columns:
        assert numpy.array_equal(bits(run[column]), bits(values)), column
    assert run.t is run["t"]
    assert run.drift == {integral: drift["max"] for integral, drift in record["drift"].items()}
    assert (run.steps, run.evaluations) == (record["steps"], record["evaluations"])
    assert run.ended_by == record.get("ended_by")
    files = printed.index("trajectory: run.csv")
    # The command says on stderr that nothing gives an input.
    said = [line for line in str(run).splitlines() if not line.endswith(": nothing gives it")]
    assert "\n".join(said) == printed[:files].rstrip("\n")


def bits(values):
    return numpy.ascontiguousarray(values).view(numpy.uint64)


def test_arrays_have_the_shapes_of_the_declaration():
    run = fbint_models.FreeRigidBody().run(until=0.1, every=0.05)
    shapes = {"t": (3,), "r": (3, 3, 3), "omega": (3, 3), "r[(0, 1)]": (3,), "d(energy)": (3,)}
    for name, shape in shapes.items():
        array = run[name]
        assert (array.shape, array.dtype) == (shape, numpy.float64), name
        assert array.flags.c_contiguous and array is run[name]
    assert run.r is run["r"] and run.t is run["t"] and {"r", "omega", "drift"} <= set(dir(run))
    for row in range(3):
        for column in range(3):
            assert numpy.array_equal(run.r[:, row, column], run[f"r[({row}, {column})]"])
    # Rotations, in which rows and columns differ.
    assert numpy.allclose(numpy.einsum("sij,skj->sik", run.r, run.r), numpy.eye(3), atol=1e-12)
    assert not numpy.allclose(run.r[-1], run.r[-1].T)


def test_the_end_may_be_given_without_its_name():
    pendulum = fbint_models.SphericalPendulum()
    assert numpy.array_equal(pendulum.run(0.1).q, pendulum.run(until=0.1).q) and pendulum.run(0.1).t[-1] == 0.1


def test_arrays_are_read_only_and_outlive_their_run():
    run = fbint_models.SphericalPendulum().run(until=0.1)
    arrays = {name: run[name] for name in ["q", *run.keys()]}
    copies = {name: array.copy() for name, array in arrays.items()}
    for array in arrays.values():
        assert not array.flags.writeable
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 5
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.flags.writeable = True
    del run
    gc.collect()
    assert all(numpy.array_equal(arrays[name], copies[name]) for name in arrays)


def test_runs_can_be_pickled_and_copied():
    dense = fbint_models.SphericalPendulum().run(0.1, method="dop853", dense_output=True)
    assert numpy.array_equal(pickle.loads(pickle.dumps(dense))([0.01, 0.07]), dense([0.01, 0.07]))
    for run in (fbint_models.FreeRigidBody().run(0.1), fbint_models.PlanarPendulum().run(until_event="q[0] < 0"), dense):
        for same in (pickle.loads(pickle.dumps(run)), copy.copy(run), copy.deepcopy(run)):
            assert type(same) is type(run) and same.keys() == run.keys() and dir(same) == dir(run)
            for name in {*run.keys(), "q" if "q" in run else "r"}:
                assert numpy.array_equal(bits(same[name]), bits(run[name])) and not same[name].flags.writeable, name
            for fact in ["drift", "steps", "evaluations", "ended_by"]:
                assert getattr(same, fact) == getattr(run, fact), fact
            assert repr(same.events) == repr(run.events) and all(not event.state.flags.writeable for event in same.events)
            assert (str(same), repr(same)) == (str(run), repr(run))


def test_a_run_that_fails_can_be_pickled():
    """As it comes from a process of a pool."""
    with pytest.raises(fbint_models.RunFailed) as failure:
        fbint_models.SphericalPendulum().run(method="euler", step=1, gains="none", until=100)
    same = pickle.loads(pickle.dumps(failure.value))
    assert str(same) == str(failure.value)
    assert numpy.array_equal(bits(same.trajectory.q), bits(failure.value.trajectory.q))


def test_the_field_and_the_integrals_are_functions_of_arrays():
    body = fbint_models.FreeRigidBody(inertia=[1, 2, 4])
    run = body.run(1.0, every=0.25)
    states = numpy.hstack([run[name].reshape(5, -1) for name in body.start()])
    rates = body.field(states)
    assert rates.shape == (5, 12) and numpy.array_equal(rates[3], body.field(states[3]))
    for r, omega, rate in zip(run.r, run.omega, rates):
        hat = numpy.cross(numpy.eye(3), omega)
        assert numpy.allclose(rate[:9].reshape(3, 3), r @ hat, rtol=0, atol=1e-12)
        assert numpy.allclose(body.inertia * rate[9:], numpy.cross(body.inertia * omega, omega), rtol=0, atol=1e-12)
    values = body.integrals(states)
    assert values.shape == (5, len(run.drift)) and numpy.array_equal(values[3], body.integrals(states[3]))
    energy = list(run.drift).index("energy")
    assert numpy.allclose(values[:, energy], run.omega**2 @ body.inertia / 2, rtol=1e-12)
    assert numpy.array_equal(values[:, energy] - values[0, energy], run["d(energy)"])
    assert (body.field(states[:0]).shape, body.integrals(states[:0]).shape) == ((0, 12), (0, len(run.drift)))


def states(model, run):
    """The samples of a run in the order in which the field takes them."""
    return numpy.hstack([run[name].reshape(run.t.size, -1) for name in model.start()])


def slopes(function, x):
    """Derivatives by the state from differences of fourth order, the last index that of the entry."""
    columns = []
    for entry, value in enumerate(x):
        step = numpy.zeros(x.size)
        step[entry] = 1e-4 * max(abs(value), 1)
        near, far = (function(x + n * step) - function(x - n * step) for n in (1, 2))
        columns.append((8 * near - far) / (12 * step[entry]))
    return numpy.stack(columns, axis=-1)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_jacobians_are_the_derivatives_of_fields_and_integrals(model):
    model = model()
    x = states(model, model.run(0.3, t_eval=[0.1, 0.3]))
    for function, jacobian in [(model.field, model.field_jacobian(x)), (model.integrals, model.integrals_jacobian(x))]:
        assert jacobian.shape == (2, function(x).shape[1], x.shape[1])
        expected = slopes(function, x[1])
        assert numpy.allclose(jacobian[1], expected, rtol=0, atol=1e-7 * max(1, abs(expected).max()))
    for jacobian in (model.field_jacobian, model.integrals_jacobian):
        assert numpy.array_equal(jacobian(x)[0], jacobian(x[0])) and jacobian(x[:0]).shape == (0, *jacobian(x[0]).shape)


# Canonical systems, of which only the first has no constraints.
@pytest.mark.parametrize("model", ["PerturbedKepler", "SphericalPendulum", "PlanarPendulum", "FourBar", "Chain4"])
def test_the_jacobian_of_a_canonical_field_is_hamiltonian_along_the_constraints(model):
    """omega(J u, v) + omega(u, J v) = 0 for all u and v that the constraints allow."""
    model = getattr(fbint_models, model)()
    run = model.run(0.7)
    x = states(model, run)[-1]
    omega = numpy.kron([[0, 1], [-1, 0]], numpy.eye(x.size // 2))
    invariants = ("energy", "angular_momentum", "vertical_momentum")
    rows = model.integrals_jacobian(x)[[not name.startswith(invariants) for name in run.drift]]
    allowed = numpy.linalg.svd(rows)[2][len(rows):].T
    assert allowed.shape == (x.size, x.size - len(rows)) and (len(rows) == 0) == (type(model).__name__ == "PerturbedKepler")
    jacobian = model.field_jacobian(x)
    change = jacobian.T @ omega + omega @ jacobian
    assert numpy.allclose(allowed.T @ change @ allowed, 0, rtol=0, atol=1e-10)
    # Elsewhere it need not be, and is not where there are constraints.
    assert (abs(change).max() > 0.1) == (len(rows) > 0)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_integrals_do_not_change_along_the_field(model):
    model = model()
    x = states(model, model.run(0.2))[-1]
    rates = model.field(x)
    assert abs(model.integrals_jacobian(x) @ rates).max(initial=0) < 1e-8 * max(1, abs(rates).max())


# The method and its options; how far its dense output is from the samples between its steps, and how many steps it takes.
DENSE = [
    ({"method": "dop853", "rtol": 1e-10}, 1e-12),
    ({"method": "dormand-prince", "rtol": 1e-10}, 1e-12),
    ({"method": "rk4", "step": 1e-2}, 1e-8),
    ({"method": "midpoint", "step": 1e-3, "gains": 5}, 1e-7),
]


@pytest.mark.parametrize("keywords, bound", DENSE, ids=lambda case: str(case))
def test_samples_are_at_the_times_that_are_given(keywords, bound):
    pendulum = fbint_models.SphericalPendulum()
    times = numpy.array([0.1 + 0.2, 0.5001, 1.2345678])
    run, plain = (pendulum.run(2, **keywords, **more) for more in ({"t_eval": times, "dense_output": True}, {}))
    assert run.t.tolist() == times.tolist() and run.q.shape == (3, 3) and run.tension.shape == (3,)
    assert (run.drift, run.steps) == (plain.drift, plain.steps)
    # With the start and the end, if they are among the times.
    ends = pendulum.run(2, t_eval=[0, 2], **keywords)
    assert ends.t.tolist() == [0, 2] and numpy.array_equal(ends.q, plain.q[[0, -1]])
    # The run as a function of time, which is that of the samples.
    states = numpy.hstack([run.q, run.p])
    assert run(times).shape == (3, 6) and run(times[1]).shape == (6,) and run([]).shape == (0, 6)
    assert numpy.array_equal(run(times)[1], run(times[1]))
    assert numpy.allclose(run(times), states, rtol=0, atol=bound)
    assert numpy.allclose(run([2, 0]), numpy.hstack([ends.q, ends.p])[::-1], rtol=0, atol=1e-15)


def test_a_function_of_time_solves_the_equations():
    """Its derivative is the field, also for a matrix, whose entries have the order of arrays."""
    body = fbint_models.FreeRigidBody(inertia=[1, 2, 4])
    run = body.run(3, method="dop853", rtol=1e-11, dense_output=True)
    times, h = numpy.linspace(0.1, 2.9, 40), 1e-4
    slopes = (run(times + h) - run(times - h)) / (2 * h)
    assert numpy.allclose(slopes, body.field(run(times)), rtol=0, atol=1e-7)
    assert numpy.allclose(run(times)[:, :9].reshape(-1, 3, 3), body.run(3, method="dop853", rtol=1e-11, t_eval=times).r, atol=1e-12)


def test_a_run_that_is_ended_by_an_event_is_sampled_and_evaluated_until_then():
    keywords = {"until_event": "q[0] < 0", "method": "dop853", "t_eval": [0.1, 0.2, 9.5], "dense_output": True}
    pendulum = fbint_models.PlanarPendulum()
    run, whole = pendulum.run(**keywords), pendulum.run(until_event="q[0] < 0", method="dop853")
    end = whole.t[-1]
    assert run.ended_by and run.t.tolist() == [0.1, 0.2] and numpy.allclose(run(end)[:2], whole.q[-1], rtol=0, atol=1e-9)
    with pytest.raises(ValueError, match=rf"`t` is 9.5: the run goes from 0.0 to {end}"):
        run(9.5)


# A model and the keywords of a run, the arguments of the command that say the same, and panels.
DRAWN = [
    ("SphericalPendulum", {"method": "dop853"}, ["--method", "dop853"], "q[0],q[1]"),
    ("FreeRigidBody", {"until": 1}, ["--until", "1"], ["t,r[(0, 1)]", "drift"]),
    ("PlanarPendulum", {"until_event": "q[0] < 0", "method": "dormand-prince"},
     ["--until-event", "q[0] < 0", "--method", "dormand-prince"], ["d(energy)"]),
    # Whose state has the time.
    ("DrivenPendulum", {"until": 5, "method": "dop853", "every": 0.25}, ["--until", "5", "--method", "dop853", "--every", "0.25"],
     "angle,p"),
]


@pytest.mark.parametrize("model, keywords, arguments, panels", DRAWN)
def test_figures_and_animations_are_those_of_the_command(command, model, keywords, arguments, panels):
    model = getattr(fbint_models, model)
    run, folder = model().run(**keywords), command.folder
    of = [f"--of={panel}" for panel in ([panels] if isinstance(panels, str) else panels)]
    command.succeeds("run", model.name, *arguments, "--plot", "all.svg", "--animate", "film.html")
    command.succeeds("run", model.name, *arguments, "--plot", "some.svg", *of)
    for drawn in (run, pickle.loads(pickle.dumps(run))):
        drawn.plot(folder / "all-here.svg")
        drawn.plot(str(folder / "some-here.svg"), of=panels)
        drawn.animate(folder / "film-here.html")
        assert run._repr_svg_() == (folder / "all.svg").read_text(encoding="utf-8")
        for name in ["all.svg", "some.svg", "film.html"]:
            here = name.replace(".", "-here.")
            assert (folder / here).read_bytes() == (folder / name).read_bytes(), name


def test_a_figure_of_times_of_ones_own_has_no_others(command):
    run = fbint_models.SphericalPendulum().run(2, method="dop853", t_eval=numpy.linspace(0, 2, 9))
    run.plot(command.folder / "few.svg", of="q[0]")
    path = max(re.findall(r'<path[^>]* d="([^"]*)"', (command.folder / "few.svg").read_text(encoding="utf-8")), key=len)
    assert len(re.findall("[ML]", path)) == 9


@pytest.mark.parametrize("name, arguments, draw", [
    ("all.pdf", ["--plot", "all.pdf"], lambda run, path: run.plot(path)),
    ("no/all.svg", ["--plot", "no/all.svg"], lambda run, path: run.plot(path)),
    ("all.svg", ["--plot", "all.svg", "--of", "Q"], lambda run, path: run.plot(path, of="Q")),
    ("all.svg", ["--plot", "all.svg", "--of", "q[0],drift"], lambda run, path: run.plot(path, of=["q[0],drift"])),
    ("film.svg", ["--animate", "film.svg"], lambda run, path: run.animate(path)),
])
def test_what_the_command_does_not_draw_is_refused_in_its_words(command, monkeypatch, name, arguments, draw):
    run = fbint_models.SphericalPendulum().run(0.1)
    monkeypatch.chdir(command.folder)
    with pytest.raises(ValueError) as refusal:
        draw(run, name)
    assert str(refusal.value) == command.refuses("run", "spherical-pendulum", "--until", "0.1", *arguments)
    assert not (command.folder / name).exists()


def test_what_occurs_is_among_the_events_of_a_run():
    pendulum = fbint_models.PlanarPendulum()
    run = pendulum.run(until_event="q[0] < 0", method="dop853", rtol=1e-12)
    ((name, t, state, reset),) = run.events
    assert name == run.ended_by == "q[0] < 0.0" and reset is None
    assert t == run.t[-1] and numpy.array_equal(state, states(pendulum, run)[-1]) and abs(state[0]) < 1e-12
    assert not state.flags.writeable and pendulum.run(0.1).events == ()
    # A matrix has the order of arrays here, too.
    body = fbint_models.FreeRigidBody()
    run = body.run(until_event="r[(0, 1)] > 0.1")
    assert numpy.array_equal(run.events[0].state, states(body, run)[-1])


def test_a_trajectory_is_a_mapping():
    run = fbint_models.SphericalPendulum().run(until=0.1)
    table = dict(run)
    assert list(table) == run.keys() == list(run) and len(run) == len(table)
    assert "q[0]" in run and "q" in run and "Q" not in run
    assert run.tension.shape == run.t.shape and run["tension"] is run.tension


def test_starts_are_arrays_that_a_run_takes():
    pendulum = fbint_models.SphericalPendulum(l=2)
    start = pendulum.start()
    assert {name: array.tolist() for name, array in start.items()} == {"q": [0, 2, 0], "p": [1, 0, 1]}
    assert numpy.array_equal(pendulum.run(until=1, start=start).q, pendulum.run(until=1).q)


def test_a_run_that_fails_keeps_its_samples(command):
    arguments = ["run", "spherical-pendulum", "--method", "euler", "--step", "1", "--gains", "none", "--until", "100"]
    with pytest.raises(fbint_models.RunFailed, match="blew up") as failure:
        fbint_models.SphericalPendulum().run(method="euler", step=1, gains="none", until=100)
    assert isinstance(failure.value, RuntimeError)
    message = command.refuses(*arguments, "--out", "failed.csv")
    assert str(failure.value) == re.sub("; the trajectory until then is in .*", "", message)
    rows = (command.folder / "failed.csv").read_text().splitlines()
    trajectory = failure.value.trajectory
    assert rows[0].split(",") == trajectory.keys()
    assert [float(text) for text in rows[-1].split(",")] == [values[-1] for values in dict(trajectory).values()]
    assert len(rows) - 1 == trajectory.t.size




def test_a_run_past_a_singular_point_warns(command):
    """What the command calls doubtful is a warning: crank, coupler and rocker are in line on the way."""
    size = {"la": 1, "lb": 2, "lc": 1, "ln": 2}
    start = {"a[0]": 0.6, "a[1]": 0.8, "b[0]": 2.6, "b[1]": 0.8}
    arguments = [f"-p{name}={length}" for name, length in size.items()]
    arguments += [f"--start={name}={value}" for name, value in start.items()]
    printed, _, _ = command.run("four-bar", *arguments, "--gains", "none", "--repair")
    doubt = next(line for line in printed.splitlines() if line.startswith("doubtful: "))
    with pytest.warns(RuntimeWarning) as warnings:
        fbint_models.FourBar(**size).run(start=start, gains="none", repair=True)
    assert [str(warning.message) for warning in warnings] == [
        doubt.removeprefix("doubtful: ").replace("--step or --rtol", "`step` or `rtol`")
    ]
