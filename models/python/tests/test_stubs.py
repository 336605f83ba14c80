"""The type stubs are those of this module, and say of it what is so."""

import re
import subprocess
import sys
from pathlib import Path

import fbint_models

from conftest import installed

STUBS = Path(__file__).resolve().parents[1] / "fbint_models.pyi"

USE = """
import numpy
from fbint_models import FreeRigidBody, SphericalPendulum

pendulum = SphericalPendulum(m=1, l=2.0)
run = pendulum.run(until=1, method="dop853", rtol=1e-9, start={"q": [0, 2, 0]}, gains=[1, 2, 3, 4])
largest: float = max(run.drift.values())
times: list[float] = [event.t for event in run.events if event.reset is None]
ensemble = pendulum.ensemble(members=3, vary={"g": ("uniform", 9, 10)})
(ensemble.ends - ensemble.statistics.mean[-1]) @ ensemble.statistics.max[0], ensemble.drawn["g"].sum(), ensemble.errors[0].upper()
run.plot("all.svg", of=["q[0],q[1]", "drift"])
numpy.linalg.eigvals(pendulum.field_jacobian([0, 0, -2, 0, 0, 0])) @ pendulum.integrals_jacobian(run(0.5)).T
pendulum.run(t_eval=numpy.linspace(0, 10, 5), dense_output=True)(1.5)[0].item()
reveal_type(pendulum.m)
reveal_type(run.q)
reveal_type(FreeRigidBody(inertia=[1, 2, 3]).inertia)
SphericalPendulum(mass=1)
pendulum.run(method="rk5")
pendulum.run(rtoll=1)
pendulum.ensemble(vary={"g": ("uni", 9, 10)})
"""


def mypy(*arguments):
    return subprocess.run([sys.executable, "-m", *arguments], capture_output=True, text=True)


def test_the_stubs_are_current():
    """`python -c "import fbint_models; print(fbint_models.stubs(), end='')" > models/python/fbint_models.pyi` makes them so."""
    stubs = fbint_models.stubs()
    # Models from text, which a library that is built beside the module of the wheel has, too.
    if hasattr(fbint_models, "model"):
        without, count = re.subn(r'"model", |^def model\(.*\n', "", stubs, flags=re.MULTILINE)
        assert count == 2
        stubs = without
    assert STUBS.read_text(encoding="utf-8") == stubs


@installed
def test_the_wheel_is_typed():
    package = Path(fbint_models.__file__).parent
    assert (package / "py.typed").exists() and (package / "__init__.pyi").read_text(encoding="utf-8") == fbint_models.stubs()


@installed
def test_the_stubs_say_what_there_is(tmp_path):
    # The library inside the package, and what PyO3 makes an attribute be found by.
    (tmp_path / "allowed").write_text("fbint_models.fbint_models\nfbint_models.Trajectory.__getattr__\n")
    done = mypy("mypy.stubtest", "--ignore-disjoint-bases", "--allowlist", str(tmp_path / "allowed"), "fbint_models")
    assert done.returncode == 0, done.stdout


@installed
def test_types_are_known_and_mistakes_are_found(tmp_path):
    (tmp_path / "use.py").write_text(USE)
    done = mypy("mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), str(tmp_path / "use.py"))
    lines = [line.split(": ", 1)[1] for line in done.stdout.splitlines() if ": " in line]
    revealed = [line for line in lines if "Revealed" in line]
    assert [word in line for word, line in zip(["float", "ndarray", "ndarray"], revealed)] == [True] * 3, done.stdout
    errors = [line for line in lines if line.startswith("error")]
    assert len(errors) == 4 and all(word in "".join(errors) for word in ["mass", "rk5", "rtoll", "uni"]), errors
