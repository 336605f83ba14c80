"""Models that are declared in Python."""

import json
import math
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys

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


KEPLER = """
#[feedback_system(coordinates(q: [2]), momenta(p: [2]), hamiltonian = p.norm_squared() / 2 - mu / q.norm())]
struct Kepler { mu: f64 }
"""

DRIVEN = """
#[feedback_system(coordinates(y), momenta(p), input(u), hamiltonian = p.powi(2) / 2, force(p = u), start(y = 1, p = 2))]
struct Driven;
"""


def end_of(model):
    return model.run(until=1.0).q[-1]


def test_models_are_pickled_with_their_text():
    Oscillator = fbint.model(OSCILLATOR)
    oscillator = Oscillator(k=9)
    run = oscillator.run(until=1.0, dense_output=True)
    ensemble = oscillator.ensemble(members=3, vary={"k": ("linspace", 1, 4)}, until=1.0)
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        copied = pickle.loads(pickle.dumps((Oscillator, oscillator, run, ensemble), protocol))
        assert copied[0] is Oscillator and copied[1] == oscillator and copied[1].k == 9.0
        assert str(copied[2]) == str(run) and (copied[2](0.5) == run(0.5)).all() and copied[2]._repr_svg_()
        assert (copied[3].ends == ensemble.ends).all()


def test_other_processes_take_models():
    models = [fbint.model(OSCILLATOR)(k=k) for k in (1, 4)]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        ends = pool.map(end_of, models)
    numpy.testing.assert_allclose(ends, numpy.cos([1.0, 2.0]), atol=1e-9)


def test_classes_that_are_derived_are_pickled_by_name():
    assert pickle.loads(pickle.dumps(Derived(k=2.0))) == Derived(k=2.0)
    assert pickle.loads(pickle.dumps(Derived)) is Derived


class Derived(fbint.model(OSCILLATOR)):
    pass


def test_a_text_that_is_read_again_is_the_same_model():
    first, again = fbint.model(OSCILLATOR), fbint.model(OSCILLATOR)
    assert first is again and again.name == "oscillator" and first() == again()
    changed = fbint.model(OSCILLATOR.replace("k = 4", "k = 9"))
    assert changed.name == "oscillator" and changed(k=4) != first(k=4)
    assert str(changed().run(until=0.1)).startswith("oscillator: ")


def test_a_model_without_a_start_takes_a_complete_one():
    kepler = fbint.model(KEPLER)(mu=1)
    run = kepler.run(until=2 * math.pi, method="dop853", start={"q": [1, 0], "p": [0, 1]})
    numpy.testing.assert_allclose(run.q[-1], [1, 0], atol=1e-7)
    with pytest.raises(ValueError, match=r"nothing says where `p\[1\]` of Kepler start"):
        kepler.run(until=1, start={"q": [1, 0], "p[0]": 0})
    # The time and the work begin at 0.
    driven = fbint.model(DRIVEN.replace(", start(y = 1, p = 2)", ""))()
    assert driven.run(until=1, start={"y": 1, "p": 2}).y[-1] == pytest.approx(3.0)


def test_parameters_without_values_are_named():
    with pytest.raises(ValueError, match=r"nothing gives `mu` a value: add `default\(mu = ..\)` .* Kepler\(mu=..\)"):
        fbint.model(KEPLER)().run(until=1, start={"q": [1, 0], "p": [0, 1]})


def test_a_run_goes_on_from_the_end_of_another():
    for model in (fbint.model(OSCILLATOR)(), fbint.model(DRIVEN)()):
        name = "q" if hasattr(model.run(until=0.1), "q") else "y"
        first = model.run(until=0.5, t_eval=[0.25])
        second = model.run(until=0.5 if name == "q" else 1.0, start=first)
        assert second[name][-1] == pytest.approx(model.run(until=1.0)[name][-1], abs=1e-9)
    with pytest.raises(TypeError, match="`start` is a run of another model"):
        fbint.model(DRIVEN)().run(start=fbint.model(OSCILLATOR)().run(until=0.1))


def test_a_continued_run_says_what_begins_anew():
    Braked = fbint.model("""#[feedback_system(coordinates(x), momenta(p), hamiltonian = p.powi(2) / 2, start(x = 0, p = 1),
        input(brake = -p, every = 1 / 4, delay = 1), force(p = brake), event(turn = p, count = 3))] struct Braked;""")
    first = Braked().run(until=1.0)
    assert "`start`" not in str(first)
    anew = "`start` is the end of a run: from t = 1.0 on, "
    law, count = "the law of `brake` is sampled anew", "`turn` is counted from 0"
    assert str(Braked().run(until=2.0, start=first)).endswith(f"{anew}{law}, {count}")
    assert str(Braked().run(until=2.0, start=first, input={"brake": 0.0})).endswith(anew + count)


def test_habits_of_other_libraries_are_met_with_what_is_here():
    Oscillator = fbint.model(OSCILLATOR)
    for name, own in [("RK45", "dormand-prince"), ("DOP853", "dop853")]:
        runs = [Oscillator().run(until=1.0, method=method) for method in (name, own)]
        assert str(runs[0]) == str(runs[1])
    with pytest.raises(TypeError, match="unknown keyword `dt`: it is `step` here"):
        Oscillator().run(until=1.0, dt=0.1)
    with pytest.raises(TypeError, match="unknown keyword `tspan`: it is `until` here"):
        Oscillator().run(tspan=(0, 1))
    with pytest.raises(TypeError, match="parameters are given by their names: "):
        Oscillator(1.0)
    with pytest.raises(ValueError, match=r"`pendulum.rs` is a path, .*: open\("):
        fbint.model("pendulum.rs")


def test_inputs_that_nothing_gives_are_named():
    Driven = fbint.model(DRIVEN)
    assert "inputs: u" in Driven.__doc__
    assert str(Driven().run(until=1.0)).endswith("input `u` is 0: nothing gives it")
    assert "nothing gives" not in str(fbint.model(OSCILLATOR)().run(until=0.1))


def test_inputs_are_given_by_laws_numbers_and_tables(tmp_path):
    Cart = fbint.model("""#[feedback_system(coordinates(x), momenta(p), hamiltonian = p.powi(2) / (2 * m), input(thrust, wind = -k * x),
        force(p = thrust + wind), event(far = x - 4, rising, terminal), default(m = 2, k = 4), start(x = 1, p = 0))] struct Cart { m: f64, k: f64 }""")
    # x'' = -(4 x + 3 p) / 2 with p = 2 x', of which the roots are -1 and -2.
    run = Cart().run(3, input={"thrust": "-3*p + 0*sin(t)"})
    assert abs(run.x[-1] - (2 * math.exp(-3) - math.exp(-6))) < 1e-11
    # A mass of 2 that is pushed with a force of 2.
    pushed = Cart().run(1, input={"thrust": 2.0, "wind": "0"})
    assert abs(pushed.x[-1] - 1.5) < 1e-12
    (tmp_path / "pulse.csv").write_text("t,thrust\n0,2\n1,0\n")
    pulse = Cart().run(10, method="dop853", input={"thrust": str(tmp_path / "pulse.csv"), "wind": 0})
    # It moves by 1 each second after the first, and ends where the declaration says.
    assert abs(pulse.t[-1] - 3.5) < 1e-10 and pulse.events[0].name == "far"
    # 3 t until t = 1, and 3 from then on: p = 4.5 at t = 2.
    times, forces = numpy.array([0.0, 1.0]), [0.0, 3.0]
    for ramp in [(times, forces, "linear"), "linear(0: 0, 1: 3)"]:
        ramped = Cart().run(2, input={"thrust": ramp, "wind": 0})
        assert abs(ramped.p[-1] - 4.5) < 1e-12
    held = Cart().run(2, input={"thrust": (times, [1.0, 0.0]), "wind": 0})
    assert abs(held.p[-1] - 1) < 1e-12
    with pytest.raises(TypeError, match="linear"):
        Cart().run(1, input={"thrust": (times, forces, "cubic")})
    with pytest.raises(ValueError, match="unknown input `lift`"):
        Cart().run(1, input={"lift": "1"})


def test_a_film_follows_its_centre(tmp_path):
    text = """#[feedback_system(coordinates(q: [2]), momenta(p: [2]), hamiltonian = p.norm_squared() / 2,
        start(q = vector![0, 0], p = vector![3, 1]), draw(point(q), trace(q)), {film})] struct Runaway;"""
    page = tmp_path / "runaway.html"
    for keys in ["film(centre = q, range = 4 + p[1])", "film(view = vector![1, 0, 0])", "search(degree = 1)"]:
        fbint.model(text.replace("{film}", keys))().run(until=2).animate(page, force=True)
        film = json.loads(page.read_text().split('id="film"')[1].split(">", 1)[1].split("</script>")[0])
        if "centre" in keys:
            assert film["ranges"] == [5.0] * len(film["times"]) and "view" not in film
            for time, centre in zip(film["times"], film["centres"]):
                assert abs(centre[0] - 3 * time) < 1e-3 and abs(centre[1] - time) < 1e-3
        else:
            assert "centres" not in film and "ranges" not in film
            assert film.get("view") == ([1.0, 0.0, 0.0] if "view" in keys else None)


def test_functions_of_python_are_laws():
    Cart = fbint.model("""#[feedback_system(coordinates(x, y), momenta(p, r), time(t), hamiltonian = (p.powi(2) + r.powi(2)) / (2 * m), input(thrust, wind = -k * x),
        force(p = thrust, r = wind), default(m = 2, k = 4), start(x = 1, y = 0, p = 0, r = 0.5))] struct Cart { m: f64, k: f64 }""")
    law = "-3 * p - k * x + sin(2 * t) * y"

    def thrust(t, x):
        assert x.shape == (6,)
        return -3 * x[2] - 4 * x[0] + math.sin(2 * t) * x[1]

    for method in ["rk4", "dop853", "gauss4"]:
        given, declared = (Cart().run(2, method=method, input={"thrust": of}) for of in (thrust, law))
        for name in ["x", "y", "p", "r"]:
            numpy.testing.assert_allclose(given[name][-1], declared[name][-1], rtol=1e-12, atol=1e-12)
    calls = []
    run = Cart().run(0.01, step=1e-3, input={"thrust": lambda t, x: calls.append(t) or numpy.float64(0)})
    assert len(calls) >= 4 * 10 and run.steps == 10
    stepper, other = (Cart().stepper(input={"thrust": of}) for of in (thrust, law))
    for time in [0.5, 1.0]:
        numpy.testing.assert_allclose(stepper.step(time), other.step(time), rtol=1e-12, atol=1e-12)

    both, other = (Cart().stepper(input={"wind": of}) for of in (lambda t, x: math.cos(t), "cos(t)"))
    for push in [1.0, -2.0]:
        numpy.testing.assert_allclose(both.step(both.t + 0.5, thrust=push), other.step(other.t + 0.5, thrust=push), rtol=1e-12, atol=1e-12)
    assert abs(both["r"] - (0.5 + math.sin(1.0))) < 1e-12

    class Tired(Exception):
        pass

    def tire(t, x):
        if t > 0.5:
            raise Tired(f"at {t}")
        return 0.0

    for method in ["rk4", "dop853", "gauss4"]:
        with pytest.raises(Tired, match=r"at 0\.[5-9]"):
            Cart().run(2, method=method, input={"thrust": tire})
    stepper = Cart().stepper(input={"thrust": tire})
    stepper.step(0.25)
    with pytest.raises(Tired):
        stepper.step(1.0)
    with pytest.raises(TypeError, match="`thrust` must be a number, not str"):
        Cart().run(1, input={"thrust": lambda t, x: "much"})
    with pytest.raises(ValueError, match="unknown input `lift`"):
        Cart().run(1, input={"lift": thrust})
    with pytest.raises(TypeError, match="`thrust` is a function"):
        Cart().ensemble(1, input={"thrust": thrust})


BOUNCED = """#[feedback_system(coordinates(x), momenta(p), time(t), hamiltonian = p.powi(2) / 2,
    input(brake = -c * p, every = 0.03, delay = 1, wind, pull), force(p = brake + wind + pull - mu * p.signum()), output(effort = brake + wind),
    event(wall[i in 0..2] = x + 2 * i - 1, reset(p = -e * p)), section(middle = x, rising), draw(point(vector![x, 0])),
    default(c = 0.1, mu = 0.05, e = 0.9), start(x = 0.2, p = 3))] struct Bounced { c: f64, mu: f64, e: f64 }"""


def test_a_record_repeats_laws_events_and_tables(tmp_path):
    bounced = fbint.model(BOUNCED)(mu=0.04)
    inputs = {"wind": ([0.0, 0.5, 2.0], [1.0, -1.0, 0.25]), "pull": "0.3 * sin(2*t) - x"}
    for options in [dict(method="dop853"), dict(step=0.01), dict(method="gauss4", step=0.02)]:
        run = bounced.run(3.0, input=inputs, **options)
        assert {event.name for event in run.events} >= {"wall[0]", "wall[1]", "middle"}
        run.record(tmp_path / "run.json")
        again = fbint.repeat(tmp_path / "run.json")
        assert again.record() == run.record()
        for name in run.keys():
            assert again[name].tobytes() == run[name].tobytes(), name
        assert [(event.name, event.t) for event in again.events] == [(event.name, event.t) for event in run.events]
        (tmp_path / "run.json").unlink()


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="the system does not tell the memory")
def test_texts_that_nothing_uses_take_no_memory():
    code = '''
import gc, fbint

def resident(texts):
    for number in texts:
        pendulum = fbint.model(TEXT.replace("m * g", f"{number} * m * g"))()
        pendulum.run(until=0.01)
    gc.collect()
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmRSS:"))

before, after = resident(range(1, 21)), resident(range(21, 81))
assert after - before < 2000, f"{after - before} kB"
'''
    subprocess.run([sys.executable, "-c", f"TEXT = {PENDULUM!r}\n{code}"], check=True)


def test_a_record_does_not_keep_functions(tmp_path):
    Cart = fbint.model("""#[feedback_system(coordinates(x), momenta(p), hamiltonian = p.powi(2) / 2, input(thrust), force(p = thrust),
        start(x = 1, p = 0))] struct Cart;""")
    run = Cart().run(1, input={"thrust": lambda t, x: -x[0]})
    run.plot(tmp_path / "cart.svg")
    run.record(tmp_path / "cart.run.json")
    with pytest.raises(ValueError, match="the input `thrust` was a function"):
        fbint.repeat(tmp_path / "cart.run.json")
    copy = pickle.loads(pickle.dumps(run))
    numpy.testing.assert_array_equal(copy.x, run.x)


def test_an_input_is_given_beside_laws_that_are_sampled():
    text = """#[feedback_system(coordinates(x), momenta(p), time(t), hamiltonian = p.powi(2) / 2, input(brake = -k * p, every = 1 / 4, wind{law}),
        force(p = brake + wind), default(k = 1), start(x = 0, p = 1))] struct Braked {{ k: f64 }}"""
    Braked = fbint.model(text.format(law=""))
    for method in ["rk4", "dop853"]:
        for wind in [1.0, lambda t, x: 1.0, (numpy.array([0.0]), numpy.array([1.0]))]:
            run = Braked().run(1, method=method, input={"wind": wind})
            # p goes to p + (1 - p) / 4 in each quarter.
            assert abs(run.p[-1] - 1) < 1e-13
        slower = Braked().run(1, method=method, input={"wind": "2 * t"})
        p = 1.0
        for quarter in range(4):
            p += -p / 4 + ((quarter + 1) / 4) ** 2 - (quarter / 4) ** 2
        assert abs(slower.p[-1] - p) < 1e-12


def test_switches_and_sampled_laws_are_part_of_texts():
    Rubbed = fbint.model("""#[feedback_system(coordinates(x), momenta(p), hamiltonian = (p.powi(2) + x.powi(2)) / 2, force(p = -p.signum()),
        start(x = 5.5, p = 0))] struct Rubbed;""")
    for method in ["rk4", "dop853"]:
        run = Rubbed().run(30, method=method)
        assert abs(run.x[-1] - 0.5) < 1e-8 and abs(run.p[-1]) < 1e-12
    Braked = fbint.model("""#[feedback_system(coordinates(x), momenta(p), hamiltonian = p.powi(2) / 2, input(brake = -k * p, every = 1 / 4),
        force(p = brake), default(k = 1), start(x = 0, p = 1))] struct Braked { k: f64 }""")
    for options in [{"method": "dop853"}, *({"method": of, "step": 1 / 32} for of in ["rk4", "gauss4", "gauss8", "gauss16"])]:
        run = Braked().run(1, **options)
        assert abs(run.p[-1] - 0.75**4) < 1e-14


def test_control_characters_of_a_text_are_shown():
    Escapes = fbint.model("/// \x1b]0;owned\x07 the title.\n" + OSCILLATOR)
    assert "\x1b" not in Escapes.__doc__ and "␛]0;owned␇ the title." in Escapes.__doc__


# The interruption comes as soon as a thread reads the text, which takes seconds.
INTERRUPTED = """
import os, signal, threading
import fbint

chain = " + ".join(f"v[{i}] * v[{j}] * (a[{i}] - a[{j}]).cos()" for i in range(7) for j in range(i)) + " + v.norm_squared() * 9"
text = f"#[feedback_system(coordinates(a: [7]), velocities(v: [7]), lagrangian = {chain})] struct Chain;"
def threads():
    return len(os.listdir("/proc/self/task"))

def interrupt():
    before = threads()
    begun.set()
    while threads() == before:
        pass
    os.kill(os.getpid(), signal.SIGINT)

begun = threading.Event()
threading.Thread(target=interrupt).start()
begun.wait()
try:
    fbint.model(text)
    print("swallowed")
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lists threads")
def test_ctrl_c_interrupts_a_derivation():
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("interrupted\n", "")


LONG = """
import fbint

term = lambda number, entry: f"({number} * q[{entry}]).sin() * q[{(entry + number) % 24}].cos()"
constraint = lambda number: f"c{number} = " + " + ".join(term(number, entry) for entry in range(24))
constraints = ", ".join(constraint(number) for number in range(1, 21))
keys = "coordinates(q: [24]), momenta(p: [24]), hamiltonian = p.norm_squared() / 2"
try:
    fbint.model(f"#[feedback_system({keys}, constraint({constraints}))] struct Dense;")
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals as on Unix")
def test_a_long_derivation_says_where_it_is():
    with subprocess.Popen(
        [sys.executable, "-c", LONG], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        line = process.stderr.readline()
        process.send_signal(signal.SIGINT)
        assert process.stdout.read() == "interrupted\n"
    assert line.startswith("<text>: still ") and line.endswith(" after 1 s; Ctrl-C interrupts\n"), line


def test_an_array_without_memory_is_a_memory_error():
    oscillator = fbint.model(OSCILLATOR)()
    with pytest.raises(MemoryError):
        oscillator.field(numpy.broadcast_to(numpy.zeros(2, dtype=numpy.float32), (1 << 44, 2)))


def test_a_figure_replaces_no_file_of_others(tmp_path):
    run = fbint.model(OSCILLATOR)().run(until=0.1)
    for path, write in ((tmp_path / "a.svg", run.plot), (tmp_path / "a.html", run.animate)):
        path.write_text("precious")
        with pytest.raises(ValueError, match="not written by fbint; give another name, or replace it with `force`"):
            write(path)
        assert path.read_text() == "precious"
        write(path, force=True)
        write(path)
