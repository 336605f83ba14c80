"""A notebook with a model in a cell, run as Jupyter runs it."""

import pathlib

import nbclient
import nbformat
import pytest


@pytest.fixture(scope="module")
def outputs():
    """What each cell of code shows, by its name."""
    notebook = nbformat.read(pathlib.Path(__file__).with_name("pendulum.ipynb"), as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not any(cell.outputs for cell in cells), "a notebook is kept without outputs"
    nbclient.NotebookClient(notebook, kernel_name="python3").execute()
    return {cell.id: cell.outputs for cell in cells}


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
