//! What people write who know other languages and tools: one mistake each, where it is found, and one remedy.

use super::common;

/// The attribute, the source text at fault, the message.
type Habit = (&'static str, &'static str, &'static str);

const SPRING: &str = "coordinates(x), velocities(v), lagrangian = m * v.powi(2) / 2 - k * x.powi(2) / 2";

fn check(habits: &[Habit], declaration: impl Fn(&str) -> (String, &'static str)) {
    let mut failures = Vec::new();
    for (habit, culprit, message) in habits {
        let (attribute, item) = declaration(habit);
        let (_, model, messages) = common::read(&attribute, item);
        if model.is_some() || messages != [(message.to_string(), culprit.to_string())] {
            failures.push(format!("{habit}: {messages:#?}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn habits_in_entries_have_one_remedy() {
    check(ENTRIES, |entry| (format!("{SPRING}, {entry}"), "struct S { m: f64, k: f64 }"));
}

#[test]
fn habits_in_variables_have_one_remedy() {
    check(VARIABLES, |attribute| {
        (attribute.replace("LAGRANGIAN", "lagrangian = v.powi(2) / 2 - x.powi(2) / 2"), "struct S;")
    });
}

/// In an entry beside a spring.
#[rustfmt::skip]
const ENTRIES: &[Habit] = &[
    ("event(hit = x, falling, reset(v *= -1))", "*",
        "expected a single `=` after `v`\nhelp: write `v = -v`"),
    ("event(hit = x, falling, reset(v *= -k))", "*",
        "expected a single `=` after `v`\nhelp: write `v = v * (-k)`"),
    ("event(hit = x, falling, reset(v -= 2 * v))", "-",
        "expected a single `=` after `v`\nhelp: write `v = v - (2 * v)`"),
    ("event(hit = x, falling, reset(v += 1))", "+",
        "expected a single `=` after `v`\nhelp: write `v = v + 1`"),
    ("event(hit = x, falling, reset(v == -v))", "=",
        "expected a single `=` after `v`\nhelp: write `v = -v`"),
    ("event(hit = x, falling, reset(v: -v))", ":",
        "expected a single `=` after `v`\nhelp: write `v = -v`"),
    ("event(hit = x, falling, reset(v -> -v))", "-",
        "expected a single `=` after `v`\nhelp: write `v = -v`"),
    ("event(hit = x, falling, reset(v := -v))", ":",
        "expected a single `=` after `v`\nhelp: write `v = -v`"),
    ("event(hit = x, falling, reset(v[0] = -v))", "[",
        "`reset` gives all of `v` at once\nhelp: write `v = ..`"),
    ("event(hit = x, falling, reset(-v))", "-",
        "`reset` needs a name for this: `reset(p = -p)`"),
    ("event(hit = x, falling, reset = -v)", "reset",
        "an event takes `rising` or `falling`, `terminal`, `count = 3`, `when = condition` and `reset(p = ..)`; another event is another `event(..)`\nhelp: write `reset(p = ..)`, with the name of what changes"),
    ("event(hit = x, direction = -1)", "direction",
        "an event takes `rising` or `falling`, `terminal`, `count = 3`, `when = condition` and `reset(p = ..)`; another event is another `event(..)`\nhelp: write `falling`"),
    ("event(hit = x, direction = 1)", "direction",
        "an event takes `rising` or `falling`, `terminal`, `count = 3`, `when = condition` and `reset(p = ..)`; another event is another `event(..)`\nhelp: write `rising`"),
    ("event(hit = x, terminal = true)", "terminal",
        "an event takes `rising` or `falling`, `terminal`, `count = 3`, `when = condition` and `reset(p = ..)`; another event is another `event(..)`\nhelp: write `terminal`"),
    ("event(hit = x, stop)", "stop",
        "an event takes `rising` or `falling`, `terminal`, `count = 3`, `when = condition` and `reset(p = ..)`; another event is another `event(..)`\nhelp: write `terminal`"),
    ("event(hit = x, if = v < 0)", "if",
        "an event takes `rising` or `falling`, `terminal`, `count = 3`, `when = condition` and `reset(p = ..)`; another event is another `event(..)`\nhelp: write `when = v < 0`"),
    ("events(hit = x)", "events",
        "there is no key `events`\nhelp: write `event(name = expression, falling, reset(p = ..))`"),
    ("dt = 0.01", "dt",
        "there is no key `dt`: a run has these settings, and a model has none of them\nhelp: give it to the run"),
    ("input(u = -x, period = 0.01), force(v = u)", "period",
        "nothing uses the input `period`\nhelp: the time between samples of all laws is `every = 0.01`"),
    ("input(u = -x, rate = 100), force(v = u)", "rate",
        "nothing uses the input `rate`\nhelp: the time between samples of all laws is `every = 1 / 100`"),
    ("input(u = -x, hz = 50 * k), force(v = u)", "hz",
        "nothing uses the input `hz`\nhelp: the time between samples of all laws is `every = 1 / (50 * k)`"),
    ("force(x = -k * v)", "x",
        "`x` is not a velocity\nhelp: write `v = ..`"),
    ("force(v += -k * v)", "+",
        "expected a single `=` after `v`\nhelp: write `v = -k * v`"),
    ("force(v = max(x, 0, 1))", "max",
        "`max` is a method\nhelp: write `x.max(0).max(1)`"),
    ("output(e = energy)", "energy",
        "`energy` is the integral of `lagrangian`, which has no value here: a run records it\nhelp: write the kinetic plus the potential energy"),
    ("output(e = lagrangian)", "lagrangian",
        "unknown name `lagrangian`: it is a key\nhelp: name its expression with `define` and use that name in both places"),
    ("time(t), output(e = m.sin(t))", "sin",
        "`sin` takes no argument, not 1\nhelp: write `t.sin()`"),
    ("output(a = 30 * deg)", "deg",
        "unknown name `deg`: angles are in radians\nhelp: write `90 * PI / 180` for 90 degrees"),
    ("force(v = if x > 0 { k } elif x < -1 { 0 } else { 1 })", "elif",
        "the next case is written `else if`"),
    ("force(v = if x > 0 then k else 0)", "then",
        "cases are written `if x > 0 { a } else { b }`, as in Rust"),
    ("force(v = if(x > 0, k, 0))", "if",
        "cases are written `if x > 0 { a } else { b }`, as in Rust"),
    ("force(v = if 0 < x < 1 { k } else { 0 })", "<",
        "this is not an expression: comparison operators cannot be chained\nhelp: join two of them, as in `0 < x && x < 1`"),
    ("force(v = (x + 1).log(10))", "log",
        "there is no method `log` here: the natural logarithm is `ln`\nhelp: write `(x + 1).ln() / 10.ln()`"),
    ("force(v = x.sin_cos())", "sin_cos",
        "there is no method `sin_cos` here\nhelp: write `x.sin()` and `x.cos()`"),
    ("force(v = x.x())", "x",
        "`x` is an entry and no method\nhelp: drop the parentheses"),
    ("force(v = interp(x, k))", "interp",
        "there is no function `interp` here: a table belongs to a run\nhelp: declare an `input`, and give it the table"),
    ("output(a = zeros(2))", "zeros",
        "`zeros` takes 2 arguments, not 1\nhelp: write `zeros(3, 1)` for a vector of 3"),
    ("input(a = -x, b = 2 * a), force(v = a + b)", "2 * a",
        "the law of `b` contains the input `a`: it is a function of the state, the time and the parameters\nhelp: name what both have in common by `define`"),
    ("constraint(x == k)", "=",
        "an equation is declared by a name and the difference of its sides\nhelp: write `name = x - k`"),
    ("event(when x < 0)", "when",
        "`event` needs a name, and a function that passes 0\nhelp: write `name = x, falling`"),
    ("event(bounce if x >= k + m, reset(v = -v))", "bounce",
        "`event` needs a name, and a function that passes 0\nhelp: write `bounce = x - (k + m), rising`"),
    ("event(x == 0)", "x",
        "`event` needs a name, and a function that passes 0\nhelp: write `name = x`"),
    ("section(at x - k)", "at",
        "`section` needs a name, and a function that passes 0\nhelp: write `name = x - k`"),
    ("output(a = vector![x, v][end])", "end",
        "there is no `end` here: entries are counted from 0\nhelp: write `vector![x, v][1]`"),
    ("define(w = vector![x, v, k]), output(a = w[last - 1])", "last",
        "there is no `last` here: entries are counted from 0\nhelp: write `w[1]`"),
    ("output(a = vector![x, v].last())", "last",
        "there is no method `last` here: an entry is taken by its index, counted from 0\nhelp: write `q[0]`"),
    ("output(a = S(1) / 2)", "S",
        "there is no function `S` here: numbers are exact as they are written\nhelp: write `1`"),
    ("output(a = sympy.sympify(\"0.1\") * x)", "sympy",
        "there is no `sympy` here: numbers are exact as they are written\nhelp: write `0.1`"),
    ("output(a = S.Half * x)", "S.Half",
        "there is no `S` here\nhelp: write `1 / 2`"),
    ("output(a = gradient(x, x.sin()))", "x",
        "the function comes first, and then what it is differentiated by\nhelp: write `gradient(x.sin(), x)`"),
    ("output(a = gradient(x.sin()))", "gradient",
        "`gradient` takes 2 arguments, not 1\nhelp: write `gradient(f, x)` for the derivatives of f by the entries of x"),
    ("input(u = vector![x, v]), force(v = u[0])", "vector![x, v]",
        "the law of `u` is a vector of 2, and `u` is a scalar\nhelp: write `u: [2] = vector![x, v]`"),
    ("input(u = 2 * vector![x, v]), force(v = u)", "2 * vector![x, v]",
        "the law of `u` is a vector of 2, and `u` is a scalar: they must have the same shape\nhelp: write `u: [2] = ..`"),
    ("output(a = der(x))", "der",
        "there is no function `der` here\nhelp: write `rate(x)`"),
    ("define(w = der(x))", "der",
        "there is no function `der` here\nhelp: write `rate(x)`"),
    ("output(a = diff(x.sin(), x))", "diff",
        "there is no function `diff` here\nhelp: write `gradient(x.sin(), x)`"),
    ("time(t), output(a = diff(x.sin() * t, t))", "diff",
        "there is no function `diff` here\nhelp: write `rate(x.sin() * t)`"),
    ("definition(a = x)", "definition",
        "there is no key `definition`\nhelp: write `define(name = expression)`"),
    ("% a spring", "%",
        "a comment begins with `//`"),
    ("start(x: 1, v = 0)", ":",
        "expected a single `=` after `x`\nhelp: write `x = 1`"),
];

/// In the variables of a spring.
#[rustfmt::skip]
const VARIABLES: &[Habit] = &[
    ("coordinates(x), velocities(v: [1]), LAGRANGIAN", "v",
        "the velocity `v` is a vector of 1, and its coordinate `x` is a scalar\nhelp: write `v`"),
    ("coordinates(x: [2]), velocities(v: [1, 2]), lagrangian = v.norm_squared() / 2 - x.norm_squared()", "v",
        "the velocity `v` is a row vector of 2, and its coordinate `x` is a vector of 2\nhelp: write `v: [2]`"),
    ("coordinates(x), momenta(p: [1]), hamiltonian = p.powi(2) / 2 + x.powi(2)", "p",
        "the momentum `p` is a vector of 1, and its coordinate `x` is a scalar\nhelp: write `p`"),
    ("coordinates(x), lagrangian = rate(x).powi(2) / 2 - x.powi(2) / 2", "S",
        "the model `S` lacks `velocities`\nhelp: add something like `velocities(v)`"),
    ("coordinates(r: [3, 3]), hamiltonian = r.norm_squared()", "S",
        "the model `S` lacks `momenta`\nhelp: add something like `momenta(p: [3, 3])`"),
    ("coordinates(x), velocities(v = x), LAGRANGIAN", "= x",
        "this is not a shape: `v` is a scalar, `v: [3]` a vector, `v: [3, 8]` a matrix, with integer literals as sizes, and from 1 to 10000 entries\nhelp: write `v`: a velocity is the rate of the coordinate at its place"),
    ("coordinates(x), velocities(v = 0), LAGRANGIAN", "= 0",
        "this is not a shape: `v` is a scalar, `v: [3]` a vector, `v: [3, 8]` a matrix, with integer literals as sizes, and from 1 to 10000 entries\nhelp: where it starts is declared by `start(v = 0)`"),
    ("coordinates(x), velocities(der(x)), lagrangian = rate(x).powi(2) / 2 - x.powi(2) / 2", "(x)",
        "this is not a shape: `der` is a scalar, `der: [3]` a vector, `der: [3, 8]` a matrix, with integer literals as sizes, and from 1 to 10000 entries\nhelp: write `v`: a velocity is the rate of the coordinate at its place"),
    ("coordinates(x[2]), velocities(v: [2]), lagrangian = v.norm_squared()", "[2]",
        "this is not a shape: `x` is a scalar, `x: [3]` a vector, `x: [3, 8]` a matrix, with integer literals as sizes, and from 1 to 10000 entries\nhelp: write `x: [2]`"),
    ("coordinates(x: [f64; 2]), velocities(v: [2]), lagrangian = v.norm_squared()", ": [f64; 2]",
        "this is not a shape: `x` is a scalar, `x: [3]` a vector, `x: [3, 8]` a matrix, with integer literals as sizes, and from 1 to 10000 entries\nhelp: write `x: [2]`"),
];
