//! Random declarations that are valid by construction.
//!
//! A kinetic energy is a positive multiple of every squared momentum and of squares of sums, so that H_pp is positive definite.
//! Constraint i is coordinate i plus something small of others, so that constraints are independent. Invariants are functions
//! of the momentum of a coordinate that occurs nowhere, of the energy, or of a Casimir. Every function used is defined for
//! entries in (0.5, 1.5).
//!
//! A declaration is made from a row of numbers that are read one by one, 0 after the last one: the smaller they are and
//! the fewer, the simpler it is, which is how failures shrink.

use std::ops::RangeInclusive;

use fbint_tests::compiler::Declaration;
use proc_macro2::{TokenStream, TokenTree};

/// A declaration in parts that can be exchanged.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    /// `coordinates(q: [2]), momenta(p: [2])`
    pub(crate) state: String,
    /// `poisson = hat(x)` where the state is not canonical.
    pub(crate) poisson: Option<String>,
    /// `dynamics(x = ..)` instead of a Hamiltonian.
    pub(crate) dynamics: Option<String>,
    /// The terms of H.
    pub(crate) energy: Vec<String>,
    /// What is done to H: `2 * H`, with `H` for the sum of the terms.
    pub(crate) hamiltonian: String,
    /// Whether H has a name, by which an invariant refers to it.
    pub(crate) named: bool,
    pub(crate) defines: Vec<(String, String)>,
    pub(crate) holonomic: Vec<(String, String)>,
    pub(crate) phase: Vec<(String, String)>,
    pub(crate) invariants: Vec<(String, String)>,
    pub(crate) outputs: Vec<(String, String)>,
}

/// Names that a struct has a field for where they occur.
const PARAMETERS: [&str; 4] = ["m", "g", "k", "l"];

/// How many constraints are holonomic and how many are not. Where they left no freedom, X would vanish.
const CONSTRAINTS: [(usize, usize); 5] = [(0, 0), (1, 0), (2, 0), (0, 2), (1, 2)];

/// Reads decisions from a row of numbers.
pub(crate) struct Choices<'a>(pub(crate) std::slice::Iter<'a, u16>);

impl Choices<'_> {
    fn pick(&mut self, count: usize) -> usize {
        self.0.next().map_or(0, |&choice| usize::from(choice) % count)
    }

    fn chance(&mut self) -> bool {
        self.pick(2) == 1
    }

    fn one_of<'a>(&mut self, texts: &'a [String]) -> &'a str {
        &texts[self.pick(texts.len())]
    }
}

impl Model {
    /// Any kind of system.
    pub(crate) fn any(choices: &mut Choices) -> Self {
        match choices.pick(6) {
            0..=3 => Self::canonical(choices, 0..=3),
            4 => Self::lie_poisson(choices),
            _ => Self::given(choices),
        }
    }

    /// A system with a Hamiltonian.
    pub(crate) fn with_hamiltonian(choices: &mut Choices) -> Self {
        if choices.pick(5) < 4 { Self::canonical(choices, 0..=3) } else { Self::lie_poisson(choices) }
    }

    /// Coordinates and momenta with a number of declared constraints.
    pub(crate) fn canonical(choices: &mut Choices, constraints: RangeInclusive<usize>) -> Self {
        let n = 1 + usize::from(*constraints.start() > 0) + choices.pick(if *constraints.start() > 0 { 2 } else { 3 });
        let vector = choices.chance();
        let entries = |letter: &str| (0..n).map(|i| format!("{letter}[{i}]")).collect::<Vec<_>>();
        let letters = |prefix: &str| ["u", "v", "w"][..n].iter().map(|letter| format!("{prefix}{letter}")).collect();
        let (q, p): (Vec<String>, Vec<String>) =
            if vector { (entries("q"), entries("p")) } else { (letters(""), letters("p")) };
        let state = match vector {
            true => format!("coordinates(q: [{n}]), momenta(p: [{n}])"),
            false => format!("coordinates({}), momenta({})", q.join(", "), p.join(", ")),
        };
        let cyclic = n > 1 && choices.chance();
        let seen = &q[..if cyclic { n - 1 } else { n }];
        let mut energy: Vec<String> = p.iter().map(|p| format!("{p}.powi(2) / (2 * m)")).collect();
        energy.push(format!("g * {}", seen[0]));
        for _ in 0..choices.pick(3) {
            energy.push(kinetic(choices, seen, &p));
        }
        for _ in 0..choices.pick(4) {
            energy.push(potential(choices, seen));
        }
        let mut model = Self { state, energy, ..Self::empty() };
        let kinds = CONSTRAINTS.into_iter().filter(|(holonomic, phase)| {
            holonomic + phase / 2 < n
                && holonomic + phase / 2 <= seen.len()
                && constraints.contains(&(holonomic + phase))
        });
        let kinds: Vec<(usize, usize)> = kinds.collect();
        let kind = kinds[choices.pick(kinds.len())];
        model.constrain(choices, seen, &p, kind);
        model.observe(choices, &q, &p, vector);
        if cyclic {
            let momentum = &p[n - 1];
            let invariants = [
                momentum.clone(),
                format!("k * {momentum}.powi(2)"),
                format!("{momentum}.sin()"),
                format!("{momentum} / m"),
            ];
            model.invariants.push(("momentum".to_owned(), choices.one_of(&invariants).to_owned()));
        }
        model.name_energy(choices);
        model
    }

    fn empty() -> Self {
        Self {
            state: String::new(),
            poisson: None,
            dynamics: None,
            energy: Vec::new(),
            hamiltonian: "H".to_owned(),
            named: false,
            defines: Vec::new(),
            holonomic: Vec::new(),
            phase: Vec::new(),
            invariants: Vec::new(),
            outputs: Vec::new(),
        }
    }

    fn constrain(&mut self, choices: &mut Choices, q: &[String], p: &[String], (holonomic, phase): (usize, usize)) {
        if q[0] == "q[0]" && q.len() == 3 && holonomic == 2 && choices.chance() {
            self.holonomic.push(("rod[i in 0..2]".to_owned(), "q[i] + (i + 1) * q[2].sin() / 5 - l".to_owned()));
        } else {
            for i in 0..holonomic {
                let others: Vec<String> =
                    q.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, q)| q.clone()).collect();
                let bend = if others.is_empty() { format!("{}.powi(3)", q[i]) } else { small(choices, &others) };
                self.holonomic.push((format!("rod{i}"), format!("{} + {bend} / 8 - l / {}", q[i], 2 + i)));
            }
        }
        if phase > 0 {
            let (q0, p0, q1, p1) = (&q[holonomic], &p[holonomic], &q[0], &p[0]);
            self.phase.push(("place".to_owned(), format!("{q0} + {q1}.sin() / 6 - l / 4")));
            self.phase.push(("motion".to_owned(), format!("{p0} + {q0} * {p1} / 7")));
        }
    }

    fn observe(&mut self, choices: &mut Choices, q: &[String], p: &[String], vector: bool) {
        if let Some((name, _)) = self.holonomic.first().or(self.phase.first())
            && choices.chance()
        {
            let name = if name.starts_with("rod[") { "rod[1]" } else { name };
            let force = format!("-2 * l * multiplier({name}) * {}", choices.one_of(q));
            self.outputs.push(("force".to_owned(), force));
        }
        if choices.chance() {
            let output = match vector {
                true => (format!("impulse[i in 0..{}]", q.len()), "p[i] * k + q[i].cos()".to_owned()),
                false => ("speed".to_owned(), format!("{} / m + {}", choices.one_of(p), choices.one_of(q))),
            };
            self.outputs.push(output);
        }
    }

    /// Gives H a name and its square as an invariant, perhaps.
    fn name_energy(&mut self, choices: &mut Choices) {
        if choices.pick(3) == 2 {
            self.named = true;
            self.invariants.push(("squared".to_owned(), "form.powi(2) / 16".to_owned()));
        }
    }

    /// x' = J grad H with J = hat(x).
    fn lie_poisson(choices: &mut Choices) -> Self {
        let x: Vec<String> = (0..3).map(|i| format!("x[{i}]")).collect();
        let mut energy: Vec<String> =
            x.iter().zip(["m", "k", "1"]).map(|(x, inertia)| format!("{x}.powi(2) / (2 * {inertia})")).collect();
        for _ in 0..choices.pick(4) {
            energy.push(potential(choices, &x));
        }
        let mut model = Self {
            state: "state(x: [3])".to_owned(),
            poisson: Some("poisson = hat(x)".to_owned()),
            energy,
            ..Self::empty()
        };
        model.add_casimir(choices);
        model.name_energy(choices);
        model
    }

    /// x' = x cross A x with a diagonal A, which keeps |x|^2 and x . A x.
    fn given(choices: &mut Choices) -> Self {
        let rates: [String; 4] =
            ["x.cross(&turn)", "k * x.cross(&turn)", "turn.cross(&x) / 3", "hat(x) * turn * m.sin()"]
                .map(str::to_owned);
        let mut model = Self {
            state: "state(x: [3])".to_owned(),
            dynamics: Some(format!("dynamics(x = {})", choices.one_of(&rates))),
            defines: vec![("turn".to_owned(), "vector![x[0] / m, x[1] * k, x[2]]".to_owned())],
            ..Self::empty()
        };
        model.add_casimir(choices);
        if choices.chance() {
            model.invariants.push(("form".to_owned(), "x.dot(&turn) / 2".to_owned()));
        }
        model
    }

    fn add_casimir(&mut self, choices: &mut Choices) {
        match choices.pick(4) {
            0 => self.invariants.push(("casimir".to_owned(), "x.norm_squared()".to_owned())),
            1 => self.invariants.push(("casimir".to_owned(), "g * x.norm()".to_owned())),
            2 => self.holonomic.push(("sphere".to_owned(), "x.norm_squared() - l.powi(2)".to_owned())),
            _ => {
                self.holonomic.push(("sphere".to_owned(), "x.norm() / l - 1".to_owned()));
                self.outputs.push(("angle".to_owned(), "x[0].atan2(x[1])".to_owned()));
            }
        }
    }

    /// The declaration, its parameters in alphabetical order.
    pub(crate) fn declaration(&self) -> Declaration {
        let attribute: TokenStream = self.attribute().parse().expect("a declaration is made of tokens");
        let used: Vec<&str> = PARAMETERS.into_iter().filter(|name| occurs(&attribute, name)).collect();
        let fields: Vec<String> = used.iter().map(|name| format!("{name}: f64")).collect();
        let item = format!("struct S {{ {} }}", fields.join(", ")).parse().expect("a struct");
        Declaration { name: "S".to_owned(), attribute, item }
    }

    fn attribute(&self) -> String {
        let sum = self.energy.join(" + ");
        let mut entries = vec![self.state.clone()];
        entries.extend(self.poisson.clone());
        entries.extend(self.dynamics.clone());
        if self.dynamics.is_none() {
            let energy = if self.named { "form".to_owned() } else { format!("({sum})") };
            entries.push(format!("hamiltonian = {}", self.hamiltonian.replace('H', &energy)));
        }
        if self.named {
            entries.push(format!("define(form = {sum})"));
        }
        for (key, list) in [
            ("define", &self.defines),
            ("constraint", &self.holonomic),
            ("phase_constraint", &self.phase),
            ("invariant", &self.invariants),
            ("output", &self.outputs),
        ] {
            entries.extend(list.iter().map(|(name, value)| format!("{key}({name} = {value})")));
        }
        entries.join(", ")
    }
}

/// A kinetic energy that is nowhere negative.
fn kinetic(choices: &mut Choices, q: &[String], p: &[String]) -> String {
    let (a, b, x) = (choices.one_of(p).to_owned(), choices.one_of(p).to_owned(), choices.one_of(q).to_owned());
    let all = [
        format!("(1 + {x}.powi(2)) * {a}.powi(2) / 2"),
        format!("{a}.powi(2) / (2 * m * (2 + {x}.cos()))"),
        format!("({a} + k * {b} / 3).powi(2) / (2 * m)"),
        format!("({a} - {x} * {b}).powi(2) / 5"),
        format!("(1 + {a}.powi(2)).sqrt()"),
    ];
    choices.one_of(&all).to_owned()
}

/// A potential of the supported functions.
fn potential(choices: &mut Choices, q: &[String]) -> String {
    let (a, b) = (choices.one_of(q).to_owned(), choices.one_of(q).to_owned());
    let all = [
        format!("k * {a}.powi(2) / 2"),
        format!("m * g * {a}"),
        format!("{a} * {b} / 4"),
        format!("g * {a}.cos()"),
        format!("({a} * {b}).sin() / 3"),
        format!("({a} - k * {b}).exp() / 5"),
        format!("(1 + {a}.powi(2) + {b}.powi(2)).sqrt()"),
        format!("k * (2 + {a} * {b}).ln()"),
        format!("{a}.atan2(2 + {b}.powi(2))"),
        format!("({a} / 3).tanh() * {b}"),
        format!("{a}.sinh() / 4 - ({b} / 2).cosh()"),
        format!("({a} / 4).atan() + ({b} / 4).asin()"),
        format!("({a} / 4).acos() * k"),
        format!("({a} / 4).tan()"),
        format!("(1 + {a}.powi(2)).powf(k)"),
        format!("{a}.powf(3 / 2) - 0.125 * {b}.powi(-2)"),
        format!("({a} + 5).abs() * PI / 7"),
        format!("(2 + {a}).recip()"),
        format!("(0..3).map(|i| (i + 1) * {a} * {b}.powi(2) / 9).sum()"),
    ];
    choices.one_of(&all).to_owned()
}

/// Something whose derivative is at most about 2.
fn small(choices: &mut Choices, q: &[String]) -> String {
    let (a, b) = (choices.one_of(q).to_owned(), choices.one_of(q).to_owned());
    let all =
        [a.clone(), format!("{a}.sin()"), format!("{a} * {b}"), format!("{a}.powi(2) / 2"), format!("(k * {a}).cos()")];
    choices.one_of(&all).to_owned()
}

fn occurs(tokens: &TokenStream, name: &str) -> bool {
    tokens.clone().into_iter().any(|token| match token {
        TokenTree::Group(group) => occurs(&group.stream(), name),
        TokenTree::Ident(ident) => ident == name,
        _ => false,
    })
}
