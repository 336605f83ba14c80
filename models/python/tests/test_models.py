"""Models as objects: their help, their equations, copies, and the threads that run them."""

import copy
import importlib.metadata
import inspect
import os
import pickle
import pydoc
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import fbint_models
import numpy
import pytest

from conftest import installed


def test_help_says_what_a_model_is_and_takes(command):
    text = pydoc.plain(pydoc.render_doc(fbint_models.FreeRigidBody))
    assert "FreeRigidBody(*, inertia=[3.0, 2.0, 1.0])" in text
    listed = command.succeeds("list").splitlines()
    summary = listed[listed.index("free-rigid-body") + 1].strip()
    assert summary.endswith(".") and summary in text
    for line in ["parameters: inertia: [3]", "state: r: [3, 3], omega: [3]", "spatial_momentum: [3]", "until_event: "]:
        assert line in text, line
    assert "outputs: tension" in fbint_models.SphericalPendulum.__doc__


def test_a_run_takes_the_options_of_the_command(command):
    """All that do not name files, with the same defaults; parameters are those of the model. Two keywords are of Python alone."""
    page = command.succeeds("run", "--help").split("Examples:")[0]
    options = dict(re.findall(r"^ +(?:-\w, )?--([a-z-]+)(.*(?:\n(?! +(?:-\w, )?--).*)*)", page, re.MULTILINE))
    for file in ["out", "plot", "of", "animate", "checkpoint", "checkpoint-every", "parameter", "help", "force", "section"]:
        del options[file]
    keywords = dict(inspect.signature(fbint_models.Model.run).parameters)
    del keywords["self"]
    assert set(keywords) == {option.replace("-", "_") for option in options} | {"t_eval", "dense_output"}
    defaults = {option: found[1] for option, text in options.items() if (found := re.search(r"\[default: (.*)\]", text))}
    assert defaults == {"until": "10", "method": "rk4"}
    assert {name: word.default for name, word in keywords.items() if word.default not in (None, False)} == {
        "until": float(defaults["until"]), "method": defaults["method"],
    }


@installed
def test_the_module_has_the_version_of_its_package():
    assert fbint_models.__version__ == importlib.metadata.version("fbint-models")


def test_equations_are_those_of_the_command(command):
    for model in (fbint_models.SphericalPendulum, fbint_models.ChaplyginSleigh):
        shown = {form: command.succeeds("show", model.name, f"--{form}").rstrip("\n") for form in ["equations", "latex", "rust"]}
        assert {form: getattr(model(), form) for form in shown} == shown
        in_notebook = re.sub(r"\\paragraph\{(.*)\}", r"$\\textbf{\1}$", shown["latex"])
        assert model()._repr_latex_() == in_notebook and "paragraph" not in in_notebook
    # Nobody reads a megabyte of equations.
    assert fbint_models.Chain32()._repr_latex_() is None and len(fbint_models.Chain32().latex) > 100_000


def test_models_are_values():
    body = fbint_models.FreeRigidBody(inertia=[1, 2, 4])
    assert repr(body) == "FreeRigidBody(inertia=[1.0, 2.0, 4.0])" and eval(repr(body), vars(fbint_models)) == body
    for same in (pickle.loads(pickle.dumps(body)), copy.copy(body), copy.deepcopy(body)):
        assert same == body and hash(same) == hash(body) and same.inertia.tolist() == [1, 2, 4]
    assert body != fbint_models.FreeRigidBody() and body != 1
    assert body.parameters["inertia"].tolist() == [1, 2, 4]
    # What is read is a copy.
    body.inertia[0] = 5
    assert body.inertia.tolist() == [1, 2, 4]
    assert repr(fbint_models.SphericalPendulum().run(until=0.1)).startswith("<Run of spherical-pendulum: RK4, ")


def test_a_subclass_is_a_model():
    class Heavy(fbint_models.SphericalPendulum):
        """A pendulum of the planet Jupiter."""

        def __new__(cls):
            return super().__new__(cls, g=24.79)

    assert Heavy().g == 24.79
    expected = fbint_models.SphericalPendulum(g=24.79).run(until=0.1)
    assert numpy.array_equal(Heavy().run(until=0.1).q, expected.q)


def test_runs_in_threads_are_the_runs_of_one():
    pendulums = [fbint_models.SphericalPendulum(l=length) for length in numpy.linspace(0.5, 2, 8)]
    with ThreadPoolExecutor(4) as threads:
        together = list(threads.map(lambda pendulum: pendulum.run(until=5).q, pendulums))
    for pendulum, q in zip(pendulums, together):
        assert numpy.array_equal(pendulum.run(until=5).q, q)


# The run of the main thread would take years. That another thread sends the signal, and that a run in a third goes on, shows that
# a run lets others run.
INTERRUPTED = """
import os, signal, threading
import fbint_models

# A shell that runs the tests in the background has switched it off.
signal.signal(signal.SIGINT, signal.default_int_handler)
pendulum = fbint_models.SphericalPendulum()
forever = {"until": 1e9, "step": 1e-4, "every": 1e6}
begun = threading.Barrier(3)

def run():
    begun.wait()
    pendulum.run(**forever)

def interrupt():
    begun.wait()
    # A run that is not the first to be interrupted shows that others come to their ends meanwhile.
    pendulum.run(until=1)
    os.kill(os.getpid(), signal.SIGINT)

other = threading.Thread(target=run, daemon=True)
other.start()
threading.Thread(target=interrupt).start()
try:
    begun.wait()
    pendulum.run(**forever)
except KeyboardInterrupt:
    print("interrupted", other.is_alive(), flush=True)
os._exit(0)
"""


@pytest.mark.skipif(os.name != "posix", reason="signals are sent in another way")
def test_ctrl_c_interrupts_a_run_and_no_other():
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True)
    assert (done.stdout, done.stderr, done.returncode) == ("interrupted True\n", "", 0)
