//! Events, sections, laws and drawings of texts: what a crate has, a text has.

use std::ops::ControlFlow;

use fbint_catalogue::{AnyModel, Camera, Drawing, Entry, Feedback, FlatModel, Plan, Position, Run};
use fbint_runtime::{Method, Settings};
use fbint_text::{TextModel, entries, models};

const BALL: &str = "#[feedback_system(
    coordinates(q: [2]), momenta(p: [2]),
    hamiltonian = p.norm_squared() / (2 * m) + m * g * q[1],
    event(floor = q[1] - r, falling, reset(p = vector![p[0], -e * p[1]])),
    event(top = p[1], falling, count = 2),
    section(gate[i in 1..3] = q[0] - i / 2, rising, when = p[1] < 0),
    draw(rod(vector![0, 0], vector![1, 0]), circle(q, r), trace(q)),
    default(m = 2, g = 10, e = 1 / 2, r = 1 / 8),
    start(q = vector![0, 9 / 8], p = vector![2, 0]),
)]
struct Ball { m: f64, g: f64, e: f64, r: f64 }";

const TROLLEY: &str = "#[feedback_system(
    coordinates(x), momenta(p),
    hamiltonian = p.powi(2) / (2 * m),
    input(thrust = -k * x - d * rate(x), wind),
    force(p = thrust + wind),
    output(effort = thrust),
    default(m = 2, k = 4, d = 6), start(x = 1, p = 0),
)]
struct Trolley { m: f64, k: f64, d: f64 }";

fn model(text: &str) -> Box<dyn AnyModel> {
    let entries: Vec<Entry> = entries(text, &mut |_| ControlFlow::Continue(())).unwrap();
    (entries[0].load)()
}

fn run(model: &dyn AnyModel, method: Method, until: f64) -> Run {
    let plan = Plan::new(Settings::new(method, until), Feedback::None);
    model.run(&model.start().unwrap(), &plan, None, &mut |_| ControlFlow::Continue(())).unwrap()
}

/// The last sample is the state at the end, after the reset, however the run is sampled.
#[test]
fn a_run_that_a_reset_ends_has_it_in_its_last_sample() {
    let model = model(
        "#[feedback_system(coordinates(y), momenta(p), hamiltonian = p.powi(2) / 2 + 10 * y,
            event(floor = y, falling, count = 2, reset(p = -p / 2)), start(y = 0.2, p = 0))] struct Ball;",
    );
    // It falls for 0.2 s, flies for 0.2 s, and leaves with a quarter of its speed.
    for method in [Method::Rk4 { h: 1e-2 }, Method::Rk4 { h: 0.03 }, Method::Dop853 { rtol: 1e-12, atol: None }] {
        let run = run(&*model, method, 5.0);
        let last = run.trajectory.last().unwrap();
        assert_eq!((last.time, &last.state), (run.time, &run.state), "{method:?}");
        assert!((run.time - 0.4).abs() < 1e-12 && (run.state[1] - 0.5).abs() < 1e-11, "{method:?}: {:?}", run.state);
    }
}

/// The keys `event`, `section`, `draw` and `film` add functions of their own, and change none of the others.
#[test]
fn what_is_seen_of_a_model_changes_no_function() {
    let text = |seen: &str| {
        format!(
            "#[feedback_system(
                coordinates(q: [2]), momenta(p: [2]), hamiltonian = p.norm_squared() / (2 * m) + m * g * q[1] * (1 + q[0].powi(2)),
                constraint(length = q.norm_squared() - 1), {seen} default(m = 2, g = 10), start(q = vector![0, 1], p = vector![2, 0]),
            )]
            struct Bob {{ m: f64, g: f64 }}"
        )
    };
    let keys = "event(floor = q[1], falling, reset(p = -p)), section(gate = q[0], rising, when = p[1] < 0),
        draw(rod(vector![0, 0], q), trace(q)), film(range = 2),";
    let [seen, unseen] = [keys, ""].map(|keys| models(&text(keys)).unwrap().remove(0));
    assert!(seen.facts().events.len() == 2 && unseen.facts().events.is_empty() && unseen.facts().shapes.is_empty());
    let programs = |model: &TextModel| {
        let functions = model.declared().programs.functions();
        functions.map(|(function, program)| format!("{}\n{program}", function.name)).collect::<Vec<_>>()
    };
    assert_eq!(programs(&seen), programs(&unseen));
    let field = |model: &TextModel| {
        let source = model.source().to_owned();
        let begin = source.find("fn vector_field(").expect("the function is printed");
        source[begin..].split("\n    }").next().map(str::to_owned)
    };
    assert_eq!(field(&seen), field(&unseen));
}

#[test]
fn a_text_bounces_and_ends() {
    let model = model(BALL);
    for method in [Method::Rk4 { h: 1e-2 }, Method::Dop853 { rtol: 1e-13, atol: None }] {
        let run = run(&*model, method, 5.0);
        let fall = 0.2_f64.sqrt();
        // Falls, a flight of half the speed, and half of one of a quarter.
        let exact = [("floor", fall), ("top", 1.5 * fall), ("floor", 2.0 * fall), ("top", 2.25 * fall)];
        let events: Vec<_> = run.events.iter().filter(|event| !event.name.starts_with("gate")).collect();
        assert_eq!(events.len(), exact.len(), "{events:?}");
        for (event, (name, time)) in events.iter().zip(exact) {
            assert!(event.name == name && (event.time - time).abs() < 1e-12, "{event:?}, {name} at {time}");
        }
        assert_eq!(run.end(), Some("top"));
        // It passes the first gate after half a second, while it rises, and the second one too late.
        assert!(run.events.iter().all(|event| !event.name.starts_with("gate")));
    }
}

#[test]
fn a_text_follows_its_law_and_its_outputs_know_it() {
    let model = model(TROLLEY);
    assert_eq!(model.open_inputs(), ["wind"]);
    let run = run(&*model, Method::Rk4 { h: 1e-3 }, 3.0);
    let (slow, fast) = ((-3.0_f64).exp(), (-6.0_f64).exp());
    assert!((run.state[0] - (2.0 * slow - fast)).abs() < 1e-12, "{:?}", run.state);
    let effort = model.outputs(&run.state);
    assert!((effort[0] + 4.0 * run.state[0] + 3.0 * run.state[1]).abs() < 1e-14, "{effort:?}");
}

/// A step over the wall ends where the energy is not defined, and is cut at the event before that.
#[test]
fn an_event_turns_a_run_back_before_its_energy_is_not_defined() {
    let model = model(
        "#[feedback_system(coordinates(x), momenta(p), hamiltonian = p.powi(2) / 2 - s * x.ln(),
            event(wall = x - 0.01, falling, reset(p = -p)), default(s = 0.001), start(x = 0.93, p = -1))] struct Wall { s: f64 }",
    );
    let exact = run(&*model, Method::Dop853 { rtol: 1e-12, atol: Some(1e-12) }, 1.5).state;
    for (method, error) in
        [(Method::Rk4 { h: 0.1 }, 1e-3), (Method::Rk4 { h: 0.01 }, 1e-5), (Method::Heun { h: 0.1 }, 1e-2)]
    {
        let end = run(&*model, method, 1.5).state;
        let is_close = |(end, exact): (&f64, &f64)| (end - exact).abs() < error;
        assert!(end.iter().zip(&exact).all(is_close), "{method:?}: {end:?} is not {exact:?}");
    }
}

/// A film without a drawing shows the coordinates.
#[test]
fn a_film_is_part_of_the_drawing() {
    let filmed = |keys: &str| {
        let text = format!(
            "#[feedback_system(coordinates(q: [3]), momenta(p: [3]), hamiltonian = p.norm_squared() / 2, {keys}, default(r = 2),
                start(q = vector![0, 0, 0], p = vector![0, 0, 0]))] struct Filmed {{ r: f64 }}"
        );
        model(&text).drawing(&[0.5, 1.0, -2.0, 0.0, 0.0, 3.0])
    };
    let everything =
        filmed("draw(point(q)), film(centre = q + vector![0, 0, p[2]], range = 3 * r, view = vector![1, -1, 0])");
    let camera =
        Camera { centre: Some(Position::Space([0.5, 1.0, 1.0])), range: Some(6.0), view: Some([1.0, -1.0, 0.0]) };
    assert_eq!((everything.shapes.len(), everything.camera), (1, camera));
    let alone = filmed("film(range = r), film(centre = 2 * q)");
    let kinds: Vec<&str> = alone.shapes.iter().map(|shape| shape.kind).collect();
    let camera = Camera { centre: Some(Position::Space([1.0, 2.0, -4.0])), range: Some(2.0), view: None };
    assert_eq!((kinds, alone.camera), (vec!["point", "trace"], camera));
}

#[test]
fn films_have_a_centre_a_range_and_a_view() {
    for (film, expected) in [
        (
            "film(center = q)",
            "a film has no `center`\nhelp: did you mean `centre`? it has a `centre`, a `range` and a `view`",
        ),
        ("film(range = q)", "the range of a `film` is a number, and this is a vector of 2"),
        ("film(centre = 1)", "the centre of a `film` is a point, a vector of 2 or 3, and this is a scalar"),
        ("film(view = q)", "the view of a `film` is a direction in space, a vector of 3, and this is a vector of 2"),
        ("film(range = 1), film(range = 2)", "the film has a range already"),
        ("input(u), force(p = u * q), film(range = u)", "this `film` contains the input `u`"),
        ("film(range)", "film"),
    ] {
        let text = format!(
            "#[feedback_system(coordinates(q: [2]), momenta(p: [2]), hamiltonian = p.norm_squared(), {film})] struct Filmed;"
        );
        let mistakes = entries(&text, &mut |_| ControlFlow::Continue(())).unwrap_err();
        let message = &mistakes.list()[0].message;
        assert!(message.contains(expected), "{film}: {message}");
    }
}

#[test]
fn unknown_shapes_and_variables_come_with_a_remedy() {
    for (keys, expected) in [
        ("draw(rodd(q, 2 * q))", "there is no shape `rodd`\nhelp: did you mean `rod`? shapes are `"),
        ("draw(blob(q))", "there is no shape `blob`\nhelp: shapes are `"),
        ("event(floor = q[1], reset(pp = -p))", "the state has no variable `pp`\nhelp: did you mean `p`?"),
        ("event(floor = q[1], reset(momentum = -p))", "the state has no variable `momentum`\nhelp: it has q, p"),
    ] {
        let text = format!(
            "#[feedback_system(coordinates(q: [2]), momenta(p: [2]), hamiltonian = p.norm_squared(), {keys})] struct Drawn;"
        );
        let mistakes = entries(&text, &mut |_| ControlFlow::Continue(())).unwrap_err();
        let message = &mistakes.list()[0].message;
        assert!(message.starts_with(expected), "{keys}: {message}");
    }
}

#[test]
fn a_text_is_drawn_as_it_says() {
    let drawing: Drawing = model(BALL).drawing(&[0.5, 1.0, 0.0, 0.0]);
    let kinds: Vec<&str> = drawing.shapes.iter().map(|shape| shape.kind).collect();
    assert_eq!(kinds, ["rod", "guide", "trace"]);
    let circle: Vec<&[f64]> = drawing.shapes[1].positions.iter().map(|position| position.coordinates()).collect();
    assert!(circle.iter().all(|at| ((at[0] - 0.5).hypot(at[1] - 1.0) - 0.125).abs() < 1e-15));
    assert_eq!(drawing.shapes[2].positions[0].coordinates(), [0.5, 1.0]);
}
