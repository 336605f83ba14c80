"""The Python of the documents runs, and a crate that is made from what the README of `fbint-python` says has a module of its own."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from conftest import ROOT

README = ROOT / "fbint-runtime" / "python" / "README.md"


def blocks(path, language):
    return re.findall(rf"^```{language}\n(.*?)^```", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def python(*arguments, **settings):
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, **settings)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_example_of_the_readme_prints_what_it_says(tmp_path):
    (example,) = blocks(ROOT / "README.md", "python")
    expected = re.findall(r"# (.+)$", example, re.MULTILINE)
    assert expected and python("-c", example, cwd=tmp_path).splitlines() == expected


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
    (user / "src" / "lib.rs").write_text(source)

    def install():
        target = os.environ.get("CARGO_TARGET_DIR", str(ROOT / "target"))
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        surroundings = {**os.environ, "PATH": path, "CARGO_TARGET_DIR": target, "CARGO_NET_OFFLINE": "true"}
        surroundings.pop("FBINT_DERIVATIONS", None)
        pip = ["-m", "pip", "install", "--quiet", "--no-build-isolation", "--no-deps", "--upgrade", "--target", "site", "."]
        python(*pip, cwd=user, env=surroundings)

    install()
    site = {**os.environ, "PYTHONPATH": str(user / "site")}
    (example,) = blocks(README, "python")
    check = "assert run.q.shape == (run.t.size, 2) and table['t'] is run.t and run.drift['energy'] < 1e-12"
    assert python("-c", example + check, cwd=tmp_path, env=site).startswith("pendulum: DOP853, projected after each step")

    # Its stubs, which the wheel then has.
    (stubs,) = [line for line in README.read_text(encoding="utf-8").splitlines() if ".pyi` writes" in line]
    program = re.search(r'python -c "(.*)" > pendulums.pyi', stubs)[1]
    (user / "pendulums.pyi").write_text(python("-c", program, cwd=tmp_path, env=site))
    install()
    (tmp_path / "use.py").write_text("from pendulums import Pendulum\nlength: float = Pendulum(l=2).l\n")
    python("-m", "mypy", "--strict", "--cache-dir", "cache", "use.py", cwd=tmp_path, env={**site, "MYPYPATH": str(user / "site")})
