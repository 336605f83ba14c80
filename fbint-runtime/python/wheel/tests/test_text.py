"""Models that are declared in Python."""

import math

import fbint
import numpy
import pytest

PENDULUM = """
/// A point mass on a circle under gravity.
#[feedback_system(
    coordinates(q: [2]),
    momenta(p: [2]),
    hamiltonian = p.norm_squared() / (2 * m) + m * g * q[1],
    constraint(length = q.norm_squared() - l.powi(2)),
    default(m = 1, g = 1, l = 1),
    start(q = vector![l, 0], p = vector![0, 0]),
)]
pub struct PlanarPendulum { pub m: f64, pub g: f64, pub l: f64 }
"""

OSCILLATOR = """
#[feedback_system(coordinates(q), momenta(p), hamiltonian = (p.powi(2) + k * q.powi(2)) / 2, default(k = 4), start(q = 1, p = 0))]
struct Oscillator { k: f64 }
"""


def test_a_text_is_a_class_with_runs():
    Pendulum = fbint.model(PENDULUM)
    assert Pendulum.__name__ == "PlanarPendulum" and "under gravity" in Pendulum.__doc__
    pendulum = Pendulum(l=2.0)
    assert (pendulum.m, pendulum.l) == (1.0, 2.0)
    # 4 K(1/2) sqrt(l / g).
    period = 7.416298709205487 * math.sqrt(2.0)
    run = pendulum.run(until=period, method="dop853", rtol=1e-12)
    numpy.testing.assert_allclose(run.q[-1], [2.0, 0.0], atol=1e-9)
    assert run.drift["length"] < 1e-12 and run.drift["energy"] < 1e-12


def test_its_equations_are_shown_in_a_notebook():
    pendulum = fbint.model(PENDULUM)()
    assert "length = q[0]^2 + q[1]^2 - l^2" in pendulum.equations
    assert pendulum._repr_latex_().startswith("$")


def test_ensembles_run():
    ensemble = fbint.model(OSCILLATOR)().ensemble(members=64, vary={"k": ("uniform", 1, 4)}, until=1.0)
    exact = numpy.cos(numpy.sqrt(ensemble.drawn["k"]))
    numpy.testing.assert_allclose(ensemble.ends[:, ensemble.names.index("q")], exact, atol=1e-9)


def test_equal_names_do_not_get_mixed_up():
    other = OSCILLATOR.replace("k = 4", "k = 9")
    first, second = fbint.model(OSCILLATOR)(), fbint.model(other)()
    assert (first.k, second.k) == (4.0, 9.0)
    ends = [oscillator.run(until=1.0).q[-1] for oscillator in (first, second)]
    numpy.testing.assert_allclose(ends, [math.cos(2.0), math.cos(3.0)], atol=1e-9)


def test_one_of_several_models_is_named():
    with pytest.raises(ValueError, match="several models: give name, one of 'planar-pendulum', 'oscillator'"):
        fbint.model(PENDULUM + OSCILLATOR)
    assert fbint.model(PENDULUM + OSCILLATOR, name="oscillator").__name__ == "Oscillator"


def test_mistakes_are_shown_at_their_places():
    with pytest.raises(ValueError) as refusal:
        fbint.model(PENDULUM.replace("l.powi(2)", "r.powi(2)").replace("m * g * q[1]", "m * g * q[2]"))
    message = str(refusal.value)
    for words in ["--> <text>:6:", "--> <text>:7:", "`r`", "^"]:
        assert words in message, message
