//! Type stubs, for editors and type checkers.

use fbint_command::names::extent;
use fbint_command::request::method_names;
use pyo3::prelude::*;

use crate::{COMMON_NAMES, contents, model};

/// The stubs of a module that reads models from text.
const MODEL: [&str; 2] = if cfg!(feature = "text") {
    ["model", "def model(text: str, name: str | None = None) -> type[Any]: ...\n"]
} else {
    ["", ""]
};

/// The stub of exports, where there are any.
const EXPORT: &str = "    def export(
        self,
        *,
        c: str | PathLike[str] | None = None,
        fmu: str | PathLike[str] | None = None,
        casadi: str | PathLike[str] | None = None,
        fmi: Literal[2, 3] = 3,
        start: dict[str, Any] | Run | None = None,
        guess: dict[str, Any] | Run | None = None,
        repair: bool = False,
        force: bool = False,
    ) -> list[str]: ...
";

/// The stubs of every module; `{names}` stands for all names in it, and `{methods}` for the names of the methods.
const COMMON: &str = include_str!("stubs.pyi");

/// The type stubs of this module, to keep next to pyproject.toml in a file of its name with the ending .pyi.
#[pyfunction]
pub(crate) fn stubs(py: Python<'_>) -> PyResult<String> {
    let contents = contents(py)?;
    let [name, definition] = MODEL;
    let name = Some(name).filter(|name| !name.is_empty());
    let entries = contents.models.iter().map(|source| &source.entry);
    let models = entries.clone().map(|entry| entry.type_name);
    let common = COMMON
        .replace("{names}", &quoted(COMMON_NAMES.into_iter().chain(name).chain(models)))
        .replace("{model}", definition)
        .replace("{export}", if cfg!(feature = "export") { EXPORT } else { "" })
        .replace("{methods}", &quoted(method_names()));
    let mut stubs = format!("# Written by {}.stubs().\n\n{common}", contents.name);
    for entry in entries {
        let model = (entry.load)();
        let [mut keywords, mut others, mut properties] = [const { String::new() }; 3];
        let attributes = model::properties(py, &*model)?;
        for declared in model.facts().parameters {
            let name = declared.name;
            let [given, read] = match &*extent(declared) {
                [] => ["float", "float"],
                _ => ["ArrayLike", "NDArray[numpy.float64]"],
            };
            if model::is_free(py, name)? {
                keywords += &format!(", {name}: {given} = ...");
            } else {
                ", **parameters: ArrayLike".clone_into(&mut others);
            }
            if attributes.iter().any(|own| own == name) {
                properties += &format!("    @property\n    def {name}(self) -> {read}: ...\n");
            }
        }
        let keywords = if keywords.is_empty() { keywords } else { format!(", *{keywords}") };
        let name = entry.type_name;
        stubs += &format!("\nclass {name}(Model):\n    name: ClassVar[str]\n    __signature__: ClassVar[Signature]\n");
        stubs += &format!("    def __new__(cls{keywords}{others}) -> {name}: ...\n{properties}");
    }
    Ok(stubs)
}

fn quoted<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ")
}
