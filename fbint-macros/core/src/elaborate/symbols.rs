//! The unknowns of a model, entry by entry, and how they are written. What a symbol is, its [`Role`], is decided here and nowhere else.

use syn::Ident;

use crate::derivation::table::Table;
use crate::derivation::{Declared, IntegralId, Role, SymbolInfo, Symbols};
use crate::expression::Symbol;
use crate::syntax::{Declaration, Formalism, Shape, Variable, plain};

/// The place of a symbol in the declaration.
#[derive(Clone, Debug)]
pub struct VariableEntry {
    /// The variable that it is an entry of.
    pub variable: Ident,
    /// The entry.
    pub entry: EntryIndex,
}

/// A variable as a part of expressions.
#[derive(Clone, Debug)]
pub(super) struct SymbolicVariable {
    pub(super) shape: Shape,
    pub(super) kind: VariableKind,
    /// Its entries, column by column.
    pub(super) symbols: Vec<Symbol>,
}

/// The kind of a variable, as far as it decides where it may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VariableKind {
    Momentum,
    Velocity,
    Other,
}

/// The symbols of the state and of the parameters, and those that stand for something in expressions.
#[derive(Clone, Debug, Default)]
pub(super) struct SymbolTable {
    pub(super) symbols: Symbols,
    pub(super) places: Table<Symbol, VariableEntry>,
    pub(super) coordinates: Vec<SymbolicVariable>,
    pub(super) momenta: Vec<SymbolicVariable>,
    /// Of all velocities, also of those that are put to zero.
    pub(super) velocities: Vec<SymbolicVariable>,
    pub(super) states: Vec<SymbolicVariable>,
    pub(super) time: Vec<SymbolicVariable>,
    pub(super) parameters: Vec<SymbolicVariable>,
    pub(super) inputs: Vec<SymbolicVariable>,
}

impl SymbolTable {
    pub(super) fn of(declaration: &Declaration) -> Self {
        let mut unknowns = Self::default();
        let of_coordinates = if declaration.formalism == Formalism::Lagrangian { Role::Position } else { Role::State };
        unknowns.coordinates = unknowns.entries(&declaration.coordinates, of_coordinates);
        unknowns.momenta = unknowns.entries(&declaration.momenta, Role::State);
        let (vanishing, free): (Vec<Variable>, Vec<Variable>) =
            declaration.velocities.iter().cloned().partition(|velocity| declaration.vanishing_by(velocity).is_some());
        let mut free = unknowns.entries(&free, Role::Velocity).into_iter();
        unknowns.states = unknowns.entries(&declaration.states, Role::State);
        unknowns.time = unknowns.entries(declaration.time.as_slice(), Role::Time);
        unknowns.entries(declaration.work.as_slice(), Role::Work);
        unknowns.parameters = unknowns.entries(&declaration.parameters, Role::Parameter);
        unknowns.inputs = unknowns.entries(&declaration.inputs, Role::Input);
        let mut vanishing = unknowns.entries(&vanishing, Role::Velocity).into_iter();
        let velocities =
            declaration.velocities.iter().filter_map(|velocity| match declaration.vanishing_by(velocity) {
                Some(_) => vanishing.next().inspect(|velocity| unknowns.vanish(&velocity.symbols)),
                None => free.next(),
            });
        unknowns.velocities = velocities.collect();
        unknowns.momenta.iter_mut().for_each(|momentum| momentum.kind = VariableKind::Momentum);
        unknowns.velocities.iter_mut().for_each(|velocity| velocity.kind = VariableKind::Velocity);
        let of = |variables: &[SymbolicVariable]| -> Vec<Symbol> {
            variables.iter().flat_map(|variable| variable.symbols.iter().copied()).collect()
        };
        for (coordinate, momentum) in of(&unknowns.coordinates).into_iter().zip(of(&unknowns.momenta)) {
            unknowns.symbols[coordinate].role = Role::Coordinate { momentum };
            unknowns.symbols[momentum].role = Role::Momentum { coordinate };
        }
        unknowns
    }

    fn entries(&mut self, variables: &[Variable], role: Role) -> Vec<SymbolicVariable> {
        let mut unknown = |variable: &Variable| {
            let name = plain(&variable.name);
            let symbol = |entry: EntryIndex| {
                let latex = latex(&name, entry);
                self.places.push(VariableEntry { variable: variable.name.clone(), entry });
                self.symbols.push(SymbolInfo { name: format!("{name}{entry}"), latex, role })
            };
            let symbols = EntryIndex::all(variable.shape).into_iter().map(symbol).collect();
            SymbolicVariable { shape: variable.shape, kind: VariableKind::Other, symbols }
        };
        variables.iter().map(&mut unknown).collect()
    }
}

impl SymbolTable {
    /// Makes velocities vanishing ones, each with a symbol for its reaction.
    fn vanish(&mut self, velocities: &[Symbol]) {
        for &velocity in velocities {
            let SymbolInfo { name, latex, .. } = &self.symbols[velocity];
            let (name, latex) = (format!("c[{name}]"), format!("c_{{{latex}}}"));
            let reaction = self.symbols.push(SymbolInfo { name, latex, role: Role::Reaction { of: velocity } });
            self.symbols[velocity].role = Role::Vanishing { reaction };
        }
    }

    /// Adds symbols that stand for the rates of coordinates, or for the momenta of velocities.
    pub(super) fn stand_in(&mut self, of: &[Symbol], is_rate: bool) {
        for &of in of {
            let SymbolInfo { name, latex, .. } = &self.symbols[of];
            let info = match is_rate {
                true => SymbolInfo {
                    name: format!("rate({name})"),
                    latex: format!("\\dot{{{latex}}}"),
                    role: Role::Rate { of },
                },
                false => SymbolInfo {
                    name: format!("momentum({name})"),
                    latex: format!("\\partial L / \\partial {latex}"),
                    role: Role::Conjugate { of },
                },
            };
            self.symbols.push(info);
        }
    }
}

/// The symbol for the rate that a velocity would have without reactions.
pub(super) fn acceleration(symbols: &Symbols, of: Symbol) -> SymbolInfo {
    let SymbolInfo { name, latex, .. } = &symbols[of];
    SymbolInfo { name: format!("a[{name}]"), latex: format!("a_{{{latex}}}"), role: Role::Acceleration { of } }
}

/// The symbol for the change of a velocity's rate by a unit of the reaction that keeps an integral.
pub(super) fn response(symbols: &Symbols, of: Symbol, to: IntegralId, integral: &Declared) -> SymbolInfo {
    let SymbolInfo { name, latex, .. } = &symbols[of];
    SymbolInfo {
        name: format!("w[{name}, {}]", integral.name),
        latex: format!("w_{{{latex},{}}}", integral.latex),
        role: Role::Response { of, to },
    }
}

/// The multiplier of a constraint of this name.
pub(super) fn multiplier(constraint: IntegralId, name: &str, latex: &str) -> SymbolInfo {
    SymbolInfo { name: format!("c[{name}]"), latex: format!("c_{{{latex}}}"), role: Role::Multiplier(constraint) }
}

/// The place of an entry in its quantity, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryIndex {
    /// The quantity is a scalar.
    Scalar,
    /// The component of a vector.
    Index(usize),
    /// The row and the column in a matrix.
    RowColumn(usize, usize),
}

impl EntryIndex {
    /// The entries of a quantity in their order, column by column.
    pub fn all(shape: Shape) -> Vec<Self> {
        match shape {
            Shape::Scalar => vec![Self::Scalar],
            Shape::Vector(length) => (0..length).map(Self::Index).collect(),
            Shape::Matrix { rows, columns } => {
                (0..columns).flat_map(|column| (0..rows).map(move |row| Self::RowColumn(row, column))).collect()
            }
        }
    }
}

impl std::fmt::Display for EntryIndex {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Scalar => Ok(()),
            Self::Index(index) => write!(formatter, "[{index}]"),
            Self::RowColumn(row, column) => write!(formatter, "[({row}, {column})]"),
        }
    }
}

/// Single letters and Greek names stand as they are, longer names are set as one word; trailing digits, what follows an
/// underscore, and the entry become subscripts: `m1` is `m_{1}`, `omega[2]` is `\omega_{2}`, `p_theta` is `p_{\theta}`, `pa` is
/// `\mathit{pa}`.
fn latex(name: &str, entry: EntryIndex) -> String {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = &name[stem.len()..];
    let trimmed = stem.trim_matches('_');
    let (base, subscript) = trimmed.split_once('_').unwrap_or((trimmed, ""));
    let mut subscripts = Vec::new();
    let head = match letter(base) {
        Some(head) => {
            if !subscript.is_empty() {
                let words = || format!("\\mathrm{{{}}}", subscript.replace('_', "\\_"));
                subscripts.push(greek(subscript).unwrap_or_else(words));
            }
            head
        }
        None => format!("\\mathit{{{}}}", trimmed.replace('_', "\\_")),
    };
    if !digits.is_empty() {
        subscripts.push(digits.to_owned());
    }
    match entry {
        EntryIndex::Scalar => {}
        EntryIndex::Index(index) => subscripts.push(index.to_string()),
        EntryIndex::RowColumn(row, column) => subscripts.push(format!("{row},{column}")),
    }
    if subscripts.is_empty() { head } else { format!("{head}_{{{}}}", subscripts.join(",")) }
}

/// The command of a name that is one letter, Latin or Greek.
fn letter(name: &str) -> Option<String> {
    greek(name).or_else(|| (name.chars().count() == 1).then(|| name.to_owned()))
}

/// The command of a Greek letter.
fn greek(name: &str) -> Option<String> {
    const GREEK: [&str; 34] = [
        "alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu", "nu",
        "xi", "pi", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega", "Gamma", "Delta", "Theta",
        "Lambda", "Xi", "Pi", "Sigma", "Upsilon", "Phi", "Psi", "Omega",
    ];
    GREEK.contains(&name).then(|| format!("\\{name}"))
}
