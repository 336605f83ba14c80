"""What the command refuses is refused with the same words; what only Python can get wrong is a TypeError that says so."""

import fractions
import itertools

import fbint_models
import numpy
import pytest

NAN = float("nan")
PENDULUM = fbint_models.SphericalPendulum

# Keywords of a run, and the arguments of the command that say the same.
REFUSED = [
    ({"until": -1}, ["--until", "-1.0"]),
    ({"until": NAN}, ["--until", "NaN"]),
    ({"until": float("inf")}, ["--until", "inf"]),
    ({"step": 0}, ["--step", "0.0"]),
    ({"step": 1e-300}, ["--step", "1e-300"]),
    ({"every": -0.5}, ["--every", "-0.5"]),
    ({"every": 1e-12, "method": "dop853"}, ["--every", "1e-12", "--method", "dop853"]),
    ({"method": "rk5"}, ["--method", "rk5"]),
    ({"method": ""}, ["--method", ""]),
    ({"method": "discrete-hamel"}, ["--method", "discrete-hamel"]),
    ({"method": "stormer-verlet"}, ["--method", "stormer-verlet"]),
    ({"method": "dop853", "step": 0.1}, ["--method", "dop853", "--step", "0.1"]),
    ({"method": "dop853", "rtol": -1.0}, ["--method", "dop853", "--rtol", "-1.0"]),
    ({"rtol": 1e-3}, ["--rtol", "1e-3"]),
    ({"atol": 1e-3}, ["--atol", "1e-3"]),
    ({"max_step": 0.1}, ["--max-step", "0.1"]),
    ({"max_steps": 100}, ["--max-steps", "100"]),
    ({"gains": -1}, ["--gains", "-1.0"]),
    ({"gains": NAN}, ["--gains", "NaN"]),
    ({"gains": 1e200}, ["--gains", "1e200"]),
    ({"gains": 1e6}, ["--gains", "1e6"]),
    ({"gains": [1.0, 2.0]}, ["--gains", "1.0,2.0"]),
    ({"gains": "relax"}, ["--gains", "relax"]),
    ({"gains": "relaxation:0"}, ["--gains", "relaxation:0"]),
    ({"gains": "bae-chang", "method": "dop853"}, ["--gains", "bae-chang", "--method", "dop853"]),
    ({"start": {"q[0]": 0.3}}, ["--start", "q[0]=0.3"]),
    ({"start": {"q": [NAN, 0, 0]}}, ["--start", "q[0]=nan", "--start", "q[1]=0", "--start", "q[2]=0"]),
    ({"start": {"q[0]": 5}, "repair": True}, ["--start", "q[0]=5", "--repair"]),
    ({"start": {"q[0]": 0}, "guess": {"q[0]": 1}}, ["--start", "q[0]=0", "--guess", "q[0]=1"]),
    ({"until_event": "q[2] <"}, ["--until-event", "q[2] <"]),
    ({"until_event": "q[1] > -5"}, ["--until-event", "q[1] > -5"]),
    ({"until_event": "hight > 1"}, ["--until-event", "hight > 1"]),
]


@pytest.mark.parametrize("keywords, arguments", REFUSED, ids=lambda case: str(case))
def test_what_the_command_refuses_is_refused_in_its_words(command, keywords, arguments):
    with pytest.raises(ValueError) as refusal:
        PENDULUM().run(**keywords)
    assert str(refusal.value) == command.refuses("run", "spherical-pendulum", *arguments)


def test_a_step_that_does_not_converge_ends_the_run_in_the_words_of_the_command(command):
    with pytest.raises(fbint_models.RunFailed, match="do not converge") as failure:
        PENDULUM().run(method="gauss4", step=10, until=20)
    arguments = ["--method", "gauss4", "--step", "10", "--until", "20"]
    assert str(failure.value) == command.refuses("run", "spherical-pendulum", *arguments)


@pytest.mark.parametrize("name, value", [("m", NAN), ("g", float("inf")), ("l", 0), ("l", 1e-300)])
def test_parameters_are_refused_in_the_words_of_the_command(command, name, value):
    with pytest.raises(ValueError) as refusal:
        PENDULUM(**{name: value}).run()
    assert str(refusal.value) == command.refuses("run", "spherical-pendulum", "-p", f"{name}={value}")


@pytest.mark.parametrize("make, arguments", [
    (lambda: PENDULUM(mass=1), ["-p", "mass=1"]),
    (lambda: PENDULUM(G=1), ["-p", "G=1"]),
    (lambda: PENDULUM().run(start={"w": 1}), ["--start", "w=1"]),
    (lambda: PENDULUM().run(guess={"q[3]": 1}), ["--guess", "q[3]=1"]),
])
def test_unknown_names_are_told_the_nearest(command, make, arguments):
    with pytest.raises(TypeError) as refusal:
        make()
    assert str(refusal.value) == command.refuses("run", "spherical-pendulum", *arguments)


HUGE = 10 ** 400

# What only Python can get wrong, the error, and what it says.
MISTAKES = [
    (lambda: PENDULUM().run(rtoll=1e-9), TypeError, "unknown keyword `rtoll`, did you mean `rtol`? known: until, method,"),
    (lambda: PENDULUM().run(100, "rk4"), TypeError, "positional"),
    (lambda: PENDULUM().run(1, until=2), TypeError, "multiple values for argument 'until'"),
    (lambda: PENDULUM(1.0), TypeError, "by their names"),
    (lambda: PENDULUM(m="heavy"), TypeError, "`m` must be a number, not str"),
    (lambda: PENDULUM(m=None), TypeError, "`m` must be a number, not NoneType"),
    (lambda: PENDULUM(m=[1, 2]), TypeError, "`m` must be a number, not list"),
    (lambda: PENDULUM(m=1j), TypeError, "`m` must be a number, not complex"),
    (lambda: PENDULUM(m=True), TypeError, "`m` must be a number, not bool"),
    (lambda: PENDULUM(m=HUGE), ValueError, "`m` is too large: it must be a finite number"),
    (lambda: PENDULUM().run(until=HUGE), ValueError, "`until` is too large: it must be a finite number"),
    (lambda: PENDULUM().run(until="10"), TypeError, "`until` must be a number, not str"),
    (lambda: PENDULUM().run(until=True), TypeError, "`until` must be a number, not bool"),
    (lambda: PENDULUM().run(method=4), TypeError, "`method` must be a str, not int"),
    (lambda: PENDULUM().run(method="\ud800"), TypeError, "`method` must be a str"),
    (lambda: PENDULUM().run(project=1), TypeError, "`project` must be a bool, not int"),
    (lambda: PENDULUM().run(repair="yes"), TypeError, "`repair` must be a bool, not str"),
    (lambda: PENDULUM().run(gains={1, 2}), TypeError, "`gains` must be a str, a number or numbers, not set"),
    (lambda: PENDULUM().run(gains=[[1], [2, 3]]), TypeError, "`gains` must be a str, a number or numbers, not list"),
    (lambda: PENDULUM().run(gains=[]), ValueError, "`gains`"),
    (lambda: PENDULUM().run(start=[0, 1, 0]), TypeError, "`start` must be a dict or a run, not list"),
    (lambda: PENDULUM().run(start={0: 1}), TypeError, "names must be str"),
    (lambda: PENDULUM().run(start={"q": [1, 2]}), ValueError, r"`q` must be an array of shape (3,), but has the shape (2,)"),
    (lambda: PENDULUM().run(start={"q": 1}), ValueError, r"`q` must be an array of shape (3,), but has the shape ()"),
    (lambda: PENDULUM().run(start={"q": [[1], [2, 3]]}), TypeError, "`q` must be an array of shape (3,): "),
    (lambda: PENDULUM().run(start={"q": [0, 1, 1j]}), TypeError, "`q` must be an array of shape (3,): "),
    (lambda: PENDULUM().run(start={"q": "abc"}), TypeError, "`q` must be an array of shape (3,): "),
    (lambda: PENDULUM().run(start={"q": [HUGE, 0, 0]}), TypeError, "`q` must be an array of shape (3,): "),
    (lambda: PENDULUM().run(start={"q": [0, 1, 0], "q[0]": 0}), TypeError,
     "`q` and `q[0]` both set the entry of the state `q[0]`: leave out one of them"),
    (lambda: PENDULUM().run(guess={"q[2]": 0, "q": [0, 1, 0]}), TypeError,
     "`q[2]` and `q` both set the entry of the state `q[2]`: leave out one of them"),
    (lambda: fbint_models.FreeRigidBody(inertia=[1, 2, 3], **{"inertia[1]": 2}), TypeError,
     "`inertia` and `inertia[1]` both set the parameter `inertia[1]`: leave out one of them"),
    (lambda: PENDULUM().run(start={"q[0]": [1]}), TypeError, "`q[0]` must be a number, not list"),
    (lambda: fbint_models.FreeRigidBody().run(start={"r": numpy.eye(2)}), ValueError,
     "`r` must be an array of shape (3, 3), but has the shape (2, 2)"),
    (lambda: PENDULUM().field([0, 1, 0]), ValueError, "`x` must be an array of shape (6,) or (k, 6), but has the shape (3,)"),
    (lambda: PENDULUM().integrals(1), ValueError, "`x` must be an array of shape (6,) or (k, 6), but has the shape ()"),
    (lambda: PENDULUM().field_jacobian([0, 1, 0]), ValueError, "`x` must be an array of shape (6,) or (k, 6), but has the shape (3,)"),
    (lambda: PENDULUM().integrals_jacobian("here"), TypeError, "`x` must be an array of shape (6,) or (k, 6): "),
    (lambda: PENDULUM().field(numpy.zeros((2, 2, 6))), ValueError, "(6,) or (k, 6), but has the shape (2, 2, 6)"),
    (lambda: PENDULUM().integrals("here"), TypeError, "`x` must be an array of shape (6,) or (k, 6): "),
    (lambda: PENDULUM().run(2, t_eval=[1, 0.5]), ValueError, "`t_eval` has 0.5 at index 1: it must be later than the one before it"),
    (lambda: PENDULUM().run(2, t_eval=[1, 3]), ValueError, "`t_eval` has 3.0 at index 1: it must not be after the end of the run"),
    (lambda: PENDULUM().run(2, t_eval=[-1]), ValueError, "`t_eval` has -1.0 at index 0: it must not be before the start of the run"),
    (lambda: PENDULUM().run(2, t_eval=[0.5, NAN]), ValueError, "`t_eval` has NaN at index 1: it must be finite"),
    (lambda: PENDULUM().run(2, t_eval=[]), ValueError, "`t_eval` has no times: give some, or leave it out"),
    (lambda: PENDULUM().run(2, t_eval=1), ValueError, "`t_eval` must be an array of shape (k,), but has the shape ()"),
    (lambda: PENDULUM().run(2, t_eval="12"), TypeError, "`t_eval` must be an array of shape (k,): "),
    (lambda: PENDULUM().run(2, t_eval=[1], every=0.1), ValueError, "`t_eval` and `every` exclude one another: give one of them"),
    (lambda: PENDULUM().run(2, dense_output=1), TypeError, "`dense_output` must be a bool, not int"),
    (lambda: PENDULUM().run(0.1)(0.05), ValueError, "give run(dense_output=True) to evaluate it at other times"),
    (lambda: PENDULUM().run(0.1, dense_output=True)([0, 0.2]), ValueError, "`t` is 0.2 at index 1: the run goes from 0.0 to 0.1"),
    (lambda: PENDULUM().run(0.1, dense_output=True)(-1), ValueError, "`t` is -1.0: the run goes from 0.0 to 0.1"),
    (lambda: PENDULUM().run(0.1, dense_output=True)(NAN), ValueError, "`t` is NaN: it must be finite"),
    (lambda: PENDULUM().run(0.1, dense_output=True)([[0]]), ValueError, "`t` must be an array of shape () or (k,), but has the shape (1, 1)"),
    (lambda: PENDULUM().run(0.1).plot(3), TypeError, "PathLike"),
    (lambda: PENDULUM().run(0.1).plot("all.svg", of=3), TypeError, "`of` must be a str or several, not int"),
    (lambda: PENDULUM().run(0.1).plot("all.svg", of=[3]), TypeError, "`of` must be a str or several, not list"),
    (lambda: fbint_models.Model(), TypeError, "make one of its subclasses"),
    (lambda: PENDULUM().run(until=0.1)["Q"], KeyError, "unknown column `Q`, did you mean `q`? known: q, p, tension, t"),
    (lambda: PENDULUM().run(until=0.1).Q, AttributeError, "unknown attribute `Q`, did you mean `q`? known: q, p, tension"),
    (lambda: setattr(PENDULUM(), "m", 2.0), AttributeError, ""),
    (lambda: setattr(PENDULUM(), "mass", 2.0), AttributeError, "mass"),
]


@pytest.mark.parametrize("mistake, error, message", MISTAKES, ids=[message for _, _, message in MISTAKES])
def test_mistakes_are_errors_of_python(mistake, error, message):
    with pytest.raises(error) as refusal:
        mistake()
    assert type(refusal.value) is error and message in str(refusal.value)


ODD = [None, True, -1, 0, 1, HUGE, -HUGE, NAN, float("inf"), 5e-324, "", "--", "=", "q", "none", "\0", "\ud800", b"x", [],
       [1], [NAN], {}, {"q": []}, {"q[0]": NAN}, {"q": [0, 0, 0]}, {"q[0]=1": 1}, {"--help": 1}, object(),
       numpy.array(1.0), numpy.array([], dtype=object), numpy.datetime64("2020"), fractions.Fraction(1, 3),
       {"m": ("normal", 1, 0)}, {"q[0]=1": ("uniform", 0, 1)}, {"q": ("linspace", 0, 1)}, {"m": ("uniform", -HUGE, NAN)},
       {"gains": ("normal", -1, 1e308)}]


def test_any_combination_of_odd_values_is_a_run_or_an_error():
    """Nothing panics: a panic would be no Exception."""
    keywords = ["until", "method", "step", "rtol", "every", "project", "gains", "start", "guess", "repair", "until_event", "t_eval",
                "dense_output"]
    runs = 0
    for keyword, value in itertools.product(keywords, ODD):
        # Steps that are large enough to come to an end.
        settings = {"until": 0.01, "step": 1e-3 if keyword not in ("rtol", "method") else None, keyword: value}
        try:
            PENDULUM().run(**settings)
            runs += 1
        except Exception:
            pass
    assert runs > 20


def test_odd_values_are_an_ensemble_a_function_a_figure_or_an_error(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = PENDULUM().run(0.01, dense_output=True)
    successes = 0
    for value in ODD:
        for act in [
            lambda: PENDULUM().ensemble(0.01, members=value), lambda: PENDULUM().ensemble(0.01, members=2, vary=value),
            lambda: PENDULUM().ensemble(0.01, members=2, seed=value), lambda: PENDULUM().ensemble(0.01, members=2, threads=value),
            lambda: run(value), lambda: run.plot("odd.svg", of=value), lambda: run.plot(value), lambda: run.animate(value),
            lambda: PENDULUM().field_jacobian(value), lambda: PENDULUM().integrals_jacobian([value] * 6),
        ]:
            try:
                act()
                successes += 1
            except Exception:
                pass
    assert successes > 10


def test_numbers_of_any_kind_are_numbers():
    for one in (1, 1.0, numpy.float32(1), numpy.int8(1), fractions.Fraction(1), numpy.array(1.0)):
        assert PENDULUM(m=one) == PENDULUM()
    assert fbint_models.FreeRigidBody(inertia=(1, 2, 3)) == fbint_models.FreeRigidBody(inertia=numpy.arange(1, 4))
