"""What the tests share: the command, with which the module is compared."""

import csv
import json
import os
import re
import subprocess
from pathlib import Path

import numpy
import pytest

ROOT = Path(__file__).resolve().parents[3]

# Of tests that need what pip installs, and not the library alone.
installed = pytest.mark.skipif("FBINT_PROGRAM" in os.environ, reason="the module was not installed by pip")


class Command:
    """The command `fbint` of this tree, in a folder of its own."""

    def __init__(self, program, folder):
        self.program = program
        self.folder = folder

    def __call__(self, *arguments):
        done = subprocess.run([self.program, *arguments], cwd=self.folder, capture_output=True, text=True)
        return done.returncode, done.stdout, done.stderr

    def succeeds(self, *arguments):
        code, out, err = self(*arguments)
        assert code == 0, err
        return out

    def run(self, model, *arguments):
        """What a run prints, its table by the names of its columns, and its record."""
        printed = self.succeeds("run", model, "--out", "run.csv", *arguments)
        with open(self.folder / "run.csv", newline="", encoding="utf-8") as file:
            names, *rows = csv.reader(file)
        columns = list(zip(names, numpy.array([[float(text) for text in row] for row in rows]).T))
        return printed, columns, json.loads((self.folder / "run.run.json").read_text(encoding="utf-8"))

    def refuses(self, *arguments):
        """The message, with options spelled as keywords."""
        code, _, err = self(*arguments)
        assert code == 2 and err.startswith("error: "), (code, err)
        message = re.sub(r"'--([a-z-]+) <[^']*>'|--([a-z-]+)", keyword, err.removeprefix("error: ").rstrip("\n"))
        return message


def keyword(option):
    return "`" + (option[1] or option[2]).replace("-", "_") + "`"


@pytest.fixture(scope="session")
def program():
    # The one that is there already, where there is one that was built like the module.
    if built := os.environ.get("FBINT_PROGRAM"):
        return Path(built)
    # With the module, so that the models are not compiled once more with the features that the command alone asks for.
    packages = ["-p", "fbint", "-p", "fbint-models", "--bin", "fbint"]
    subprocess.run(["cargo", "build", "--quiet", "--locked", "--release", *packages], cwd=ROOT, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return target / "release" / ("fbint.exe" if os.name == "nt" else "fbint")


@pytest.fixture
def command(program, tmp_path):
    return Command(program, tmp_path)
