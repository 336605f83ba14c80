//! Functions for CasADi and acados.

use fbint_macros_core::program::{
    GeneratedFunction, INTEGRALS_DERIVATIVES, OUTPUTS_DERIVATIVES, VECTOR_FIELD_DERIVATIVES,
};

use crate::{Export, File};

const TEMPLATE: &str = include_str!("../templates/casadi.c");

/// A function of CasADi: its name and its derivatives.
struct Function {
    name: &'static str,
    derivatives: &'static GeneratedFunction,
}

const FUNCTIONS: [Function; 3] = [
    Function { name: "f", derivatives: &VECTOR_FIELD_DERIVATIVES },
    Function { name: "g", derivatives: &OUTPUTS_DERIVATIVES },
    Function { name: "F", derivatives: &INTEGRALS_DERIVATIVES },
];

impl Export<'_> {
    /// The model as functions of x, u and p: `f`, the rates, `g`, the outputs, and `F`, the integrals, with Jacobians and products with
    /// them in either direction. All files are compiled into one library, which `casadi.external` loads.
    pub fn casadi(&self) -> Vec<File> {
        let model = self.with_derivatives();
        self.of(&model).casadi_of()
    }

    /// See [`casadi`](Self::casadi).
    fn casadi_of(&self) -> Vec<File> {
        let entries = FUNCTIONS.iter().map(|function| self.entries(&self.model.programs[function.derivatives]).len());
        let room = entries.max().unwrap_or_default().max(1).to_string();
        let functions = FUNCTIONS.iter().map(|function| self.casadi_function(function)).collect();
        let mut values = vec![("functions", functions), ("entries_room", room)];
        values.extend(self.sizes());
        let name = format!("{}_casadi.c", self.prefix);
        let [header, source] = self.library(None);
        vec![File { name, text: self.filled(TEMPLATE, &values) }, header, source]
    }

    /// A function, with the sparsities of the blocks of its Jacobian, and where its entries are in them.
    fn casadi_function(&self, Function { name, derivatives }: &Function) -> String {
        let entries = self.entries(&self.model.programs[*derivatives]);
        let (parameters, rows) = (self.places.parameters.len(), self.rows(derivatives.returns));
        // By x, u and p; columns are counted in the order x, p, u.
        let blocks = [(0, self.states), (self.states + parameters, self.inputs), (self.states, parameters)];
        let (mut places, mut text) = (vec![(0, 0); entries.len()], String::new());
        for (block, (label, (first, columns))) in ["x", "u", "p"].iter().zip(blocks).enumerate() {
            let mut inside: Vec<(usize, usize, usize)> = entries
                .iter()
                .enumerate()
                .filter_map(|(entry, (row, column, _))| {
                    let column = column.checked_sub(first).filter(|column| *column < columns)?;
                    Some((column, *row, entry))
                })
                .collect();
            inside.sort_unstable();
            inside.iter().enumerate().for_each(|(order, (.., entry))| places[*entry] = (block, order));
            let starts = (0..=columns).map(|column| inside.iter().filter(|(own, ..)| *own < column).count());
            let numbers = [rows, columns].into_iter().chain(starts).chain(inside.iter().map(|(_, row, _)| *row));
            text.push_str(&table("casadi_int", &format!("{name}_by_{label}"), numbers));
        }
        text.push_str(&table("int", &format!("{name}_blocks"), places.iter().map(|(block, _)| *block)));
        text.push_str(&table("int", &format!("{name}_order"), places.iter().map(|(_, order)| *order)));
        let source = derivatives.name.trim_end_matches("_derivatives");
        let count = entries.len();
        text + &*format!(
            "static const function of_{name} = {{\n    model_{source}, model_{source}_derivatives, model_{source}_tangent, model_{source}_adjoint, \
             {rows}, {count},\n    {name}_blocks, {name}_order, {{ {rows}, 1, 1 }}, {{ {name}_by_x, {name}_by_u, {name}_by_p }}\n}};\n\n"
        )
    }
}

/// A table of numbers, which ends with a 0 that does not count.
fn table(of: &str, name: &str, numbers: impl Iterator<Item = usize>) -> String {
    let numbers: String = numbers.map(|number| format!("{number}, ")).collect();
    format!("static const {of} {name}[] = {{ {numbers}0 }};\n")
}
