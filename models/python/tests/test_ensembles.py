"""Ensembles are those of the command, bit by bit."""

import csv
import inspect
import os
import pickle
import re
import subprocess
import sys

import fbint_models
import numpy
import pytest

# A model, its parameters and the keywords of an ensemble, and the arguments of the command that say the same.
CASES = [
    ("SphericalPendulum", {"m": 2}, {"until": 1, "members": 20, "vary": {"g": ("uniform", 9, 10), "q[0]": ("normal", 0, 0.01)}},
     ["-p", "m=2", "--until", "1", "--members", "20", "--vary", "g=uniform:9,10", "--vary", "q[0]=normal:0,0.01"]),
    # More than one block, and other times and another seed.
    ("PlanarPendulum", {}, {"until": 0.1, "members": 2500, "vary": {"g": ("normal", 9.8, 0.1)}, "seed": 7, "every": 0.05, "step": 0.01},
     ["--until", "0.1", "--members", "2500", "--vary", "g=normal:9.8,0.1", "--seed", "7", "--every", "0.05", "--step", "0.01"]),
    ("FreeRigidBody", {}, {"until": 1, "members": 7, "vary": {"gains": ("linspace", 1, 2)}, "method": "dop853", "threads": 2},
     ["--until", "1", "--members", "7", "--vary", "gains=linspace:1,2", "--method", "dop853", "--threads", "2"]),
    # Some of whose rods are too short.
    ("FourBar", {}, {"until": 0.1, "members": 9, "vary": {"ln": ("linspace", 1, 8)}, "repair": True},
     ["--until", "0.1", "--members", "9", "--vary", "ln=linspace:1,8", "--repair"]),
]


def table(path):
    """The columns of a table by their names, NaN where there is nothing, and texts as they are."""
    with open(path, newline="", encoding="utf-8") as file:
        names, *rows = csv.reader(file)
    return {name: [row[index] for row in rows] for index, name in enumerate(names)}


def numbers(texts):
    return numpy.array([float(text) if text else numpy.nan for text in texts])


def same(left, right):
    return left.shape == right.shape and numpy.array_equal(left, right, equal_nan=True)


@pytest.mark.parametrize("model, parameters, keywords, arguments", CASES)
def test_ensembles_are_those_of_the_command(command, model, parameters, keywords, arguments):
    model = getattr(fbint_models, model)(**parameters)
    names, ends, drawn, errors, statistics = model.ensemble(**keywords)
    command.succeeds("ensemble", model.name, *arguments, "--out", "statistics.csv", "--ends", "ends.csv")
    rows = table(command.folder / "ends.csv")
    assert list(rows) == ["member", *(f"drawn({name})" for name in drawn), *names, "error"]
    assert all(same(drawn[name], numbers(rows[f"drawn({name})"])) for name in keywords["vary"])
    assert same(ends, numpy.stack([numbers(rows[name]) for name in names], axis=1))
    assert errors == {member: error for member, error in enumerate(rows["error"]) if error}
    assert (errors != {}) == (model.name == "four-bar") and numpy.isnan(ends).all(axis=1).sum() == len(errors)

    columns = table(command.folder / "statistics.csv")
    assert same(statistics.t, numbers(columns["t"])) and statistics.members.tolist() == [int(text) for text in columns["members"]]
    for what in ["mean", "variance", "min", "max"]:
        assert same(getattr(statistics, what), numpy.stack([numbers(columns[f"{what}({name})"]) for name in names], axis=1))


def test_an_ensemble_takes_the_options_of_the_command(command):
    """All that do not name files, with the same defaults; parameters are those of the model."""
    page = command.succeeds("ensemble", "--help").split("Examples:")[0]
    options = dict(re.findall(r"^ +(?:-\w, )?--([a-z-]+)(.*(?:\n(?! +(?:-\w, )?--).*)*)", page, re.MULTILINE))
    for file in ["out", "ends", "samples", "plot", "of", "checkpoint", "parameter", "help", "force"]:
        del options[file]
    keywords = dict(inspect.signature(fbint_models.Model.ensemble).parameters)
    del keywords["self"]
    assert set(keywords) == {option.replace("-", "_") for option in options}
    defaults = {option: found[1] for option, text in options.items() if (found := re.search(r"\[default: (.*)\]", text))}
    assert {name: str(word.default).removesuffix(".0") for name, word in keywords.items() if word.default not in (None, False)} == defaults


def test_ends_are_those_of_runs_and_nothing_can_be_changed():
    ensemble = fbint_models.SphericalPendulum().ensemble(1, members=3, vary={"g": ("uniform", 9, 10)}, step=0.01)
    for g, end in zip(ensemble.drawn["g"], ensemble.ends):
        run = fbint_models.SphericalPendulum(g=g).run(1, step=0.01)
        assert [run[name][-1] for name in ensemble.names] == end.tolist()
    assert ensemble.statistics.t.shape == (101,) and ensemble.statistics.max.shape == (101, len(ensemble.names))
    arrays = [ensemble.ends, ensemble.drawn["g"], *ensemble.statistics]
    assert not any(array.flags.writeable for array in arrays)
    again = pickle.loads(pickle.dumps(ensemble))
    assert type(again) is fbint_models.Ensemble and same(again.statistics.variance, ensemble.statistics.variance)


# Keywords of an ensemble, and the arguments of the command that say the same.
REFUSED = [
    ({"members": 0}, ["--members", "0"]),
    ({"seed": -1}, ["--seed", "-1"]),
    ({"threads": 0}, ["--threads", "0"]),
    ({"vary": {"Q": ("uniform", 1, 2)}}, ["--vary", "Q=uniform:1.0,2.0"]),
    ({"vary": {"g": ("uni", 1, 2)}}, ["--vary", "g=uni:1.0,2.0"]),
    ({"vary": {"g": ("normal", 1, -2)}}, ["--vary", "g=normal:1.0,-2.0"]),
    ({"vary": {"g": ("uniform", 1, float("inf"))}}, ["--vary", "g=uniform:1.0,inf"]),
    ({"vary": {"q[0]": ("uniform", 1, 2)}, "start": {"q[0]": 1}, "repair": True},
     ["--vary", "q[0]=uniform:1.0,2.0", "--start", "q[0]=1", "--repair"]),
    ({"vary": {"gains": ("uniform", 1, 2)}, "gains": 2}, ["--vary", "gains=uniform:1.0,2.0", "--gains", "2"]),
    ({"until": -1}, ["--until", "-1.0"]),
    ({"every": 0}, ["--every", "0.0"]),
    ({"step": 1, "method": "euler", "gains": "none", "until": 100, "members": 3},
     ["--step", "1", "--method", "euler", "--gains", "none", "--until", "100", "--members", "3"]),
]


@pytest.mark.parametrize("keywords, arguments", REFUSED, ids=lambda case: str(case))
def test_what_the_command_refuses_is_refused_in_its_words(command, keywords, arguments):
    with pytest.raises(ValueError) as refusal:
        fbint_models.SphericalPendulum().ensemble(**keywords)
    assert str(refusal.value) == command.refuses("ensemble", "spherical-pendulum", *arguments)


# What only Python can get wrong, and what it says.
MISTAKES = [
    ({"memberz": 3}, "unknown keyword `memberz`, did you mean `members`? known: until, method,"),
    ({"until_event": "q[0] < 0"}, "unknown keyword `until_event`"),
    ({"members": 1.5}, "`members` must be an int, not float"),
    ({"seed": True}, "`seed` must be an int, not bool"),
    ({"vary": ["g"]}, "`vary` must be a dict, not list"),
    ({"vary": {1: ("uniform", 1, 2)}}, "names must be str"),
    ({"vary": {"g": 9.81}}, "`g` must be a distribution with two numbers, such as ('uniform', 9, 10), not float"),
    ({"vary": {"g": ("uniform", 9)}}, "`g` must be a distribution with two numbers, such as ('uniform', 9, 10), not tuple"),
    ({"vary": {"g": ("uniform", "9", 10)}}, "`g` must be a distribution with two numbers, such as ('uniform', 9, 10), not tuple"),
]


@pytest.mark.parametrize("keywords, message", MISTAKES, ids=[message for _, message in MISTAKES])
def test_mistakes_are_errors_of_python(keywords, message):
    with pytest.raises(TypeError) as refusal:
        fbint_models.SphericalPendulum().ensemble(**keywords)
    assert message in str(refusal.value)


# The ensemble would take years, whatever its members are integrated by. That another thread comes to its end and sends the signal shows
# that an ensemble lets others run.
INTERRUPTED = """
import os, signal, sys, threading
import fbint_models

signal.signal(signal.SIGINT, signal.default_int_handler)
pendulum = fbint_models.SphericalPendulum()
method = {"rk4": {"step": 1e-4}, "dop853": {"method": "dop853"}, "one by one": {"method": "dop853", "gains": "relaxation:0.1"}}
begun = threading.Event()

def interrupt():
    begun.wait()
    pendulum.run(until=1)
    pendulum.ensemble(until=0.1, members=3)
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=interrupt).start()
try:
    begun.set()
    pendulum.ensemble(until=1e9, members=5000, **method[sys.argv[1]])
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.skipif(os.name != "posix", reason="signals are sent in another way")
@pytest.mark.parametrize("method", ["rk4", "dop853", "one by one"])
def test_ctrl_c_interrupts_an_ensemble(method):
    done = subprocess.run([sys.executable, "-c", INTERRUPTED, method], capture_output=True, text=True)
    assert (done.stdout, done.stderr, done.returncode) == ("interrupted\n", "", 0)
