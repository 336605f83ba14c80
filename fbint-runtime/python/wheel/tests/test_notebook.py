"""The notebooks of the examples, run as Jupyter runs them."""

import pathlib
import re

import nbclient
import nbformat
import pytest

EXAMPLES = pathlib.Path(__file__).resolve().parents[4] / "examples"


def executed(name):
    """What each cell of code shows, by its name."""
    notebook = nbformat.read(EXAMPLES / name, as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not any(cell.outputs for cell in cells), "a notebook is kept without outputs"
    nbclient.NotebookClient(notebook, kernel_name="python3").execute()
    return {cell.id: cell.outputs for cell in cells}


@pytest.fixture(scope="module")
def outputs():
    return executed("pendulum.ipynb")


def test_a_model_and_its_equations_are_cells(outputs):
    assert outputs["model"] == []
    [equations] = outputs["equations"]
    latex = equations.data["text/latex"]
    assert equations.output_type == "execute_result" and latex.startswith("$"), latex
    for words in [r"\dot", "q_", "length"]:
        assert words in latex, latex


def test_runs_and_ensembles_run_in_a_cell(outputs):
    printed = {name: "".join(output.text for output in outputs[name]) for name in ("run", "ensemble")}
    assert printed == {"run": "2 True True\n", "ensemble": "16 True\n"}


def test_a_mistake_is_shown_at_its_place(outputs):
    [mistake] = outputs["mistake"]
    assert (mistake.output_type, mistake.ename) == ("error", "ValueError")
    line = "#[feedback_system(coordinates(x), momenta(p), hamiltonian = p.powi(2) / 2 + k * x.powi(2))]"
    shown = mistake.evalue.splitlines()
    place = next(number for number, text in enumerate(shown) if text.endswith(f"| {line}"))
    assert shown[place + 1].index("^") == shown[place].index("k * x"), mistake.evalue
    assert "^" in "".join(mistake.traceback) and "unknown name `k`" in mistake.evalue


def test_an_orbit_is_missed_by_less_when_it_is_projected():
    outputs = executed("orbit.ipynb")
    [equations], [figure] = outputs["model"], outputs["figure"]
    assert "perihelion" in equations.data["text/latex"] and figure.data["image/svg+xml"].rstrip().endswith("</svg>")
    [error], [work] = outputs["error"], outputs["work"]
    plain, projected = map(float, re.fullmatch(r"plain (\S+), projected (\S+)\n", error.text).groups())
    assert projected < 1e-4 < 1e-3 < plain
    ratio = re.fullmatch(r"rtol 1e-\d+: (\S+) times the evaluations\n", work.text)
    assert float(ratio[1]) > 1.5
