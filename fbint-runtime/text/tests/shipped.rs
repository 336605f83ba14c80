//! The shipped models, and their texts, cut out of their files.

use std::fs;
use std::path::{Path, PathBuf};

use fbint_catalogue::padded::{self, Padded, Visitor};
use fbint_catalogue::{FlatModel, Model};
use fbint_runtime::{Entries, FeedbackSystem, GeneratedSystem};
use syn::spanned::Spanned;

/// Calls a macro with all shipped models: what a test of each is called, and the struct.
macro_rules! every_model {
    ($then:ident) => {
        $then! {
            balanced_sleigh ::models::BalancedSleigh, cart_pendulum ::models::CartPendulum, cart_pole ::models::CartPole,
            chain4 ::models::Chain4, chain8 ::models::Chain8, chain16 ::models::Chain16, chain32 ::models::Chain32,
            chaplygin_sleigh ::models::ChaplyginSleigh, degenerate_pendulum ::models::DegeneratePendulum,
            driven_four_bar ::models::DrivenFourBar, driven_pendulum ::models::DrivenPendulum, euler_top ::models::EulerTop,
            four_bar ::models::FourBar, four_bar_in_angles ::models::FourBarInAngles, free_rigid_body ::models::FreeRigidBody, hamel_pendulum ::models::HamelPendulum,
            heisenberg_system ::models::HeisenbergSystem, held_sleigh ::models::HeldSleigh,
            kapitza_pendulum ::models::KapitzaPendulum, kepler ::models::Kepler, knife_edge ::models::KnifeEdge,
            nonholonomic_oscillator ::models::NonholonomicOscillator, perturbed_kepler ::models::PerturbedKepler,
            planar_pendulum ::models::PlanarPendulum, roller_racer ::models::RollerRacer, rolling_disk ::models::RollingDisk,
            rotating_hoop ::models::RotatingHoop, spherical_pendulum ::models::SphericalPendulum,
            spherical_pendulum_cpv22 ::models::SphericalPendulumCpv22, suslov_problem ::models::SuslovProblem,
        }
    };
}
pub(crate) use every_model;

/// A model from text with the parameters of a struct, and where the struct starts.
pub(crate) fn as_struct<S: GeneratedSystem + Model, const N: usize, const M: usize>(
    system: &S,
    mut model: Padded<N, M>,
) -> (Padded<N, M>, [f64; N]) {
    for index in 0..S::FACTS.parameter_names.len() {
        *model.parameter_mut(index).expect("a parameter") = system.parameter(index).expect("a parameter");
    }
    let start: S::Vector<f64> = Model::start(system).expect("a start").into();
    (model, Entries::from_fn(|entry| start.as_ref().get(entry).copied().unwrap_or(0.0)))
}

/// A shipped model: its name, and its attribute and struct.
pub(crate) struct Shipped {
    pub(crate) name: String,
    pub(crate) text: String,
}

/// All of them.
pub(crate) fn all() -> Vec<Shipped> {
    let folder = package().join("src");
    let mut shipped: Vec<Shipped> = files(&folder).iter().flat_map(|file| in_file(file)).collect();
    shipped.extend([4, 8, 16, 32].map(|links| chain(&folder.join("chain.rs"), links)));
    assert_eq!(shipped.len(), 30, "{:?}", shipped.iter().map(|model| &model.name).collect::<Vec<_>>());
    shipped
}

/// The one of this name.
pub(crate) fn named(name: &str) -> Shipped {
    all().into_iter().find(|model| model.name == name).unwrap_or_else(|| panic!("no shipped model `{name}`"))
}

/// The most entries and integrals of the models here.
pub(crate) const LONGEST: [usize; 2] = [192, 72];

/// The visitor's result for a model, in vectors that are long enough for the longest, too.
pub(crate) fn visit<V: Visitor>(model: Box<dyn FlatModel>, visitor: V) -> V::Output {
    if padded::fits(model.facts()) {
        return padded::visit(model, visitor).expect("a model that fits");
    }
    visitor.visit::<{ LONGEST[0] }, { LONGEST[1] }>(Padded::new(model))
}

/// The folder of their package.
pub(crate) fn package() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models")
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("the folder of the models");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("a file of the models").path()).collect();
    paths.sort();
    let inner = |path: &PathBuf| if path.is_dir() { files(path) } else { vec![path.clone()] };
    paths.iter().flat_map(inner).collect()
}

/// The models that a source file declares.
pub(crate) fn in_file(path: &Path) -> Vec<Shipped> {
    let text = fs::read_to_string(path).expect("a file of the models");
    let file = syn::parse_file(&text).expect("the file is Rust");
    let structs = file.items.into_iter().filter_map(|item| match item {
        syn::Item::Struct(item) => Some(item),
        _ => None,
    });
    let declares =
        |item: &syn::ItemStruct| item.attrs.iter().any(|attribute| attribute.path().is_ident("feedback_system"));
    let models = structs.filter(declares);
    models
        .map(|item| Shipped { name: item.ident.to_string(), text: text[item.span().byte_range()].to_owned() })
        .collect()
}

/// What the macro in the file of the chains has of a chain of so many links.
fn chain(path: &Path, links: usize) -> Shipped {
    let text = fs::read_to_string(path).expect("the file of the chains");
    let name = format!("Chain{links}");
    let (_, arguments) = text.split_once(&format!("chain!({name}, ")).expect("a call of the macro");
    let (arguments, _) = arguments.split_once(");").expect("the end of the call");
    let (_, summary) = arguments.rsplit_once(", ").expect("a summary");
    let (_, text) = text.split_once("=> {").expect("a macro");
    let (text, _) = text.split_once("impl $name").expect("a declaration in the macro");
    let text = text.replace("$name", &name).replace("$n", &links.to_string()).replace("$summary", summary);
    Shipped { name, text }
}
