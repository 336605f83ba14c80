"""A crate made as the README of `fbint-python` says has a Python module of its own models."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT

README = ROOT / "fbint-runtime" / "python" / "README.md"


# Models of one's own with events and with an input, beside the one of the README.
WITH_EVENTS_AND_INPUTS = '''
use fbint_command::{Controller, Error, Event};

/// A ball that bounces.
#[feedback_system(coordinates(height), momenta(p), hamiltonian = p.powi(2) / 2 + g * height)]
pub struct Ball { pub g: f64 }

impl Default for Ball {
    fn default() -> Self {
        Self { g: 10.0 }
    }
}

impl Model for Ball {
    fn start(&self) -> Result<BallState, Error> {
        Ok(BallState { height: 0.2, p: 0.0 })
    }

    fn events(&self) -> Vec<Event<'_, BallState>> {
        let floor = Event::new("floor", |_, ball: &BallState| ball.height).falling();
        let top = Event::new("top", |_, ball: &BallState| ball.p).falling();
        let end = Event::new("end", |t, _: &BallState| t - 3.0).rising().terminal();
        vec![floor.reset(|_, ball| BallState { p: -0.9 * ball.p, ..*ball }), top, end]
    }
}

/// A servo whose motor holds an angle against a weight.
#[feedback_system(
    coordinates(angle),
    momenta(p),
    hamiltonian = p.powi(2) / 2 + g * angle.cos(),
    input(torque),
    force(p = torque),
    output(given = torque),
)]
pub struct Servo { pub g: f64 }

impl Default for Servo {
    fn default() -> Self {
        Self { g: 9.81 }
    }
}

impl Model for Servo {
    fn start(&self) -> Result<ServoState, Error> {
        Ok(ServoState { angle: 0.0, p: 0.0, time: 0.0, work: 0.0 })
    }

    fn input(&self) -> Option<Controller<Self>> {
        let g = self.g;
        Some(Controller::new(move |_: f64, at: &ServoState| ServoInput {
            torque: -g * at.angle.sin() - 4.0 * (at.angle - 1.0) - 4.0 * at.p,
        }))
    }
}

'''

EVENTS_AND_INPUTS = '''
import numpy, pickle
from pendulums import Ball, Event, Servo

ball = Ball()
run = ball.run(10, method="dop853", dense_output=True)
assert run.ended_by == "end" and run.t[-1] == 3 and (run.events[-1].t, run.events[-1].reset) == (3, None)
# It falls for 0.2 and flies for 0.36, 0.324, ..
floor = [event for event in run.events if event.name == "floor"]
times = 0.2 + numpy.concatenate([[0], numpy.cumsum(0.36 * 0.9 ** numpy.arange(len(floor) - 1))])
assert numpy.allclose([event.t for event in floor], times, rtol=0, atol=1e-10) and len(floor) == 15
for event in floor:
    assert isinstance(event, Event) and numpy.allclose(event.reset, [0, -0.9 * event.state[1]], rtol=0, atol=1e-10)
    assert numpy.allclose(run(event.t), event.reset, rtol=0, atol=1e-9) and numpy.allclose(run(event.t - 1e-9), event.state, atol=1e-7)
tops = numpy.array([event.state for event in run.events if event.name == "top"])
assert numpy.allclose(tops[:, 0], 0.2 * 0.81 ** numpy.arange(1, len(tops) + 1), rtol=0, atol=1e-10)
(ended,) = ball.run(1, until_event="p < -1.5").events
assert ended.name == "p < -1.5" and abs(ended.t - 0.15) < 1e-12 and ended.reset is None
assert repr(pickle.loads(pickle.dumps(run)).events) == repr(run.events)

# Each ends after its own time.
ends = ball.ensemble(0.8, members=3, vary={"g": ("linspace", 9, 10)}).ends
assert numpy.isclose(ends[2, 0], ball.run(0.8).height[-1], rtol=0, atol=1e-12) and ends.shape == (3, 3)

servo = Servo()
run = servo.run(2, method="dop853", rtol=1e-11, every=0.1)
assert numpy.allclose(run.angle, 1 - (1 + 2 * run.t) * numpy.exp(-2 * run.t), rtol=0, atol=1e-9)
assert numpy.allclose(run.given, -9.81 * numpy.sin(run.angle) - 4 * (run.angle - 1) - 4 * run.p)
assert [event.name for event in servo.run(5, until_event="given < 0").events] == ["given < 0.0"]
# The rates have the input of the state, and the Jacobian holds it.
x = [0.3, 0.1, 0.0, 0.0]
assert numpy.isclose(servo.field(x)[1], -4 * (0.3 - 1) - 4 * 0.1)
assert numpy.isclose(servo.field_jacobian(x)[1, 0], 9.81 * numpy.cos(0.3))
'''


def blocks(path, language):
    return re.findall(rf"^```{language}\n(.*?)^```", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def python(*arguments, **settings):
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, **settings)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.skipif("FBINT_THOROUGH" not in os.environ, reason="cargo compiles all that the module depends on")
def test_from_cargo_new_to_a_module_of_ones_own(tmp_path):
    """It has the versions and the profiles of this workspace, so that what was compiled before is used again."""
    user = tmp_path / "pendulums"
    subprocess.run(["cargo", "new", "--quiet", "--lib", "--vcs", "none", str(user)], check=True)
    manifest, project = blocks(README, "toml")
    manifest = manifest.replace("../fbint", str(ROOT)).split("[profile.dev]")[0].removeprefix("# Cargo.toml\n")
    assert manifest.split("[dependencies]\n")[1].strip().count("\n") == 1, "two dependencies are enough"
    text = (user / "Cargo.toml").read_text().replace("[dependencies]\n", manifest)
    (user / "Cargo.toml").write_text(text)
    shutil.copy(ROOT / "Cargo.lock", user)
    shutil.copytree(ROOT / ".cargo", user / ".cargo")
    (user / "pyproject.toml").write_text(project)
    (source,) = blocks(README, "rust")
    source, last, rest = source.partition("fbint_python::module!(pendulums: Pendulum")
    (user / "src" / "lib.rs").write_text(source + WITH_EVENTS_AND_INPUTS + last + ", Ball, Servo" + rest)

    def install():
        target = os.environ.get("CARGO_TARGET_DIR", str(ROOT / "target"))
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        surroundings = {**os.environ, "PATH": path, "CARGO_TARGET_DIR": target, "CARGO_NET_OFFLINE": "true"}
        surroundings.pop("FBINT_DERIVATIONS", None)
        pip = ["-m", "pip", "install", "--quiet", "--no-build-isolation", "--no-deps", "--upgrade", "--target", "site", "."]
        python(*pip, cwd=user, env=surroundings)

    install()
    site = {**os.environ, "PYTHONPATH": str(user / "site")}
    _, example = blocks(README, "python")
    example = "from pendulums import Pendulum\n" + example
    check = "assert run.q.shape == (run.t.size, 2) and table['t'] is run.t and run.drift['energy'] < 1e-12\n"
    check += "assert (ensemble.ends.shape, ensemble.statistics.mean.shape, ensemble.errors) == ((100, 7), (101, 7), {})\n"
    check += "assert len(ensemble.names) == 7 and run(numpy.linspace(0, 20, 50)).shape == (50, 4)"
    assert python("-c", example + check, cwd=tmp_path, env=site).startswith("pendulum: DOP853, projected after each step")
    python("-c", EVENTS_AND_INPUTS, cwd=tmp_path, env=site)

    # Its stubs, which the wheel then has.
    (stubs,) = [line for line in README.read_text(encoding="utf-8").splitlines() if ".pyi` writes" in line]
    program = re.search(r'python -c "(.*)" > pendulums.pyi', stubs)[1]
    (user / "pendulums.pyi").write_text(python("-c", program, cwd=tmp_path, env=site))
    install()
    (tmp_path / "use.py").write_text("from pendulums import Pendulum\nlength: float = Pendulum(l=2).l\n")
    python("-m", "mypy", "--strict", "--cache-dir", "cache", "use.py", cwd=tmp_path, env={**site, "MYPYPATH": str(user / "site")})
