//! Type stubs, for editors and type checkers.

use fbint_command::names::groups;
use fbint_command::request::method_names;
use pyo3::prelude::*;

use crate::{contents, model};

/// What every module has; `{methods}` stands for the names of the methods.
const COMMON: &str = include_str!("stubs.pyi");

/// The type stubs of this module, to keep in a file of its name with the ending .pyi beside pyproject.toml.
#[pyfunction]
pub(crate) fn stubs(py: Python<'_>) -> PyResult<String> {
    let contents = contents(py)?;
    let methods: Vec<String> = method_names().iter().map(|name| format!("\"{name}\"")).collect();
    let common = COMMON.replace("{methods}", &methods.join(", "));
    let mut stubs = format!("# Written by {}.stubs().\n\n{common}", contents.name);
    for entry in &contents.models {
        let model = (entry.load)();
        let names: Vec<&str> = model.parameters().iter().map(|parameter| parameter.0).collect();
        let [mut keywords, mut properties] = [String::new(), String::new()];
        let attributes = model::properties(py, &*model)?;
        for group in groups(&names) {
            let [given, read] = match &*group.array().dimensions {
                [] => ["float", "float"],
                _ => ["ArrayLike", "NDArray[numpy.float64]"],
            };
            if model::is_free(py, group.base)? {
                keywords += &format!(", {}: {given} = ...", group.base);
            }
            if attributes.contains(&group.base) {
                properties += &format!("    @property\n    def {}(self) -> {read}: ...\n", group.base);
            }
        }
        let keywords = if keywords.is_empty() { keywords } else { format!(", *{keywords}") };
        stubs += &format!(
            "\nclass {0}(Model):\n    name: ClassVar[str]\n    def __new__(cls{keywords}) -> {0}: ...\n{properties}",
            entry.type_name
        );
    }
    Ok(stubs)
}
