//! The folder of a package: what is found in it, what is written to it, and what is said of what cannot be used.

use std::fs;
use std::path::PathBuf;

use fbint_macros_core::prepared::{BuildEnvironment, FORMAT, Order};
use fbint_tests::compiler::Declaration;

use super::mutations::sealed;

const OSCILLATOR: &str = "#[feedback_system(coordinates(x), momenta(p), \
    hamiltonian = p.powi(2) / (2 * m) + k * x.powi(2) / 2)] pub struct Oscillator { pub m: f64, pub k: f64 }";

/// A package of this test's own, with a source file.
struct Package(PathBuf);

impl Package {
    fn new(name: &str, source: &str) -> Self {
        let package = Self(std::env::temp_dir().join(format!("fbint-derivations-{name}-{}", std::process::id())));
        let _ = fs::remove_dir_all(&package.0);
        fs::create_dir_all(package.0.join("src")).expect("a folder");
        package.declare(source);
        package
    }

    fn declare(&self, source: &str) {
        fs::write(self.0.join("src/lib.rs"), source).expect("a source file");
    }

    fn folder(&self) -> PathBuf {
        self.0.join("derivations")
    }

    fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder()).into_iter().flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("a name")).collect();
        names.sort();
        names
    }

    /// The only file.
    fn file(&self) -> PathBuf {
        let files = self.files();
        assert_eq!(files.len(), 1, "{files:?}");
        self.folder().join(&files[0])
    }

    /// What a declaration expands to.
    fn expand(&self, declaration: &str, order: Order) -> Result<String, String> {
        let environment = BuildEnvironment {
            package: Some(self.0.clone()),
            name: "springs".to_owned(),
            source: Some(self.0.join("src/lib.rs")),
            order: Ok(order),
            ..BuildEnvironment::nowhere()
        };
        let text = Declaration::one(declaration).expand_in(&environment).to_string();
        match text.split_once("compile_error ! { \"") {
            Some((_, error)) => Err(error.split_once("\" }").expect("a message").0.to_owned()),
            None => Ok(text),
        }
    }
}

impl Drop for Package {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn kept(expansion: &str) -> bool {
    expansion.contains("include_bytes")
}

#[test]
fn nothing_is_written_unless_it_is_ordered() {
    let package = Package::new("unordered", OSCILLATOR);
    for order in [Order::Use, Order::Check] {
        assert!(!kept(&package.expand(OSCILLATOR, order).expect("a derivation")));
        assert!(!package.folder().exists());
    }
}

#[test]
fn what_is_written_is_used_and_kept_current() {
    let package = Package::new("current", OSCILLATOR);
    let derived = package.expand(OSCILLATOR, Order::Write).expect("a derivation");
    let first = package.file();
    let text = fs::read_to_string(&first).expect("a file");
    assert!(text.contains("model Oscillator\nsource src/lib.rs\n# Energy of Oscillator\n#   H = "), "{text}");
    let used = package.expand(OSCILLATOR, Order::Use).expect("a derivation");
    assert!(kept(&used) && used.starts_with(&derived));
    package.expand(OSCILLATOR, Order::Check).expect("it is current");
    // A file that fits is not taken for current by who orders it to be.
    let older = sealed(&text.replace("(* 1/2 (+", "(* 1/4 2 (+"));
    assert_ne!(older, text);
    fs::write(&first, &older).expect("a file");
    assert!(kept(&package.expand(OSCILLATOR, Order::Use).expect("a derivation")));
    let error = package.expand(OSCILLATOR, Order::Check).unwrap_err();
    assert!(error.contains("is not what is derived from this declaration"), "{error}");
    package.expand(OSCILLATOR, Order::Write).expect("a derivation");
    assert_eq!(fs::read_to_string(&first).expect("a file"), text);
    // Names, comments and formatting do not matter.
    let renamed = OSCILLATOR.replace("k:", "stiffness:").replace("k *", "/* Hooke */ stiffness  *").replace("x", "q");
    assert!(kept(&package.expand(&renamed, Order::Check).expect("it is current")));
    // The mathematics does.
    let changed = OSCILLATOR.replace("x.powi(2)", "x.powi(4)");
    package.declare(&changed);
    assert!(!kept(&package.expand(&changed, Order::Use).expect("algebra")));
    let error = package.expand(&changed, Order::Check).unwrap_err();
    assert!(error.starts_with("the derivation of `Oscillator` is outdated: `derivations/Oscillator-"), "{error}");
    let command = "FBINT_DERIVATIONS=write cargo check --all-targets -p springs --features fbint-runtime/derive";
    assert!(error.ends_with(&format!("run `{command}`")), "{error}");
    package.expand(&changed, Order::Write).expect("a derivation");
    assert_ne!(package.file(), first);
    package.expand(&changed, Order::Check).expect("it is current");
}

#[test]
fn a_renamed_model_finds_its_derivation() {
    let package = Package::new("renamed", OSCILLATOR);
    package.expand(OSCILLATOR, Order::Write).expect("a derivation");
    let renamed = OSCILLATOR.replace("Oscillator", "Spring");
    package.declare(&renamed);
    assert!(kept(&package.expand(&renamed, Order::Use).expect("a derivation")));
    package.expand(&renamed, Order::Write).expect("a derivation");
    assert!(package.file().ends_with(&package.files()[0]) && package.files()[0].starts_with("Spring-"));
}

#[test]
fn what_belongs_to_no_model_is_found_and_removed() {
    let spring = OSCILLATOR.replace("Oscillator", "Spring").replace("/ 2)]", "/ 3)]");
    let package = Package::new("orphans", &format!("{OSCILLATOR}\n{spring}"));
    package.expand(OSCILLATOR, Order::Write).expect("a derivation");
    package.expand(&spring, Order::Write).expect("a derivation");
    assert_eq!(package.files().len(), 2);
    // What is not a derivation belongs to somebody else.
    fs::write(package.folder().join("notes.txt"), "Springs.\n").expect("a file");
    package.expand(OSCILLATOR, Order::Check).expect("all belong to a model");
    package.declare(OSCILLATOR);
    let error = package.expand(OSCILLATOR, Order::Check).unwrap_err();
    assert!(error.starts_with("`derivations/Spring-") && error.contains("belongs to no model"), "{error}");
    package.expand(OSCILLATOR, Order::Write).expect("a derivation");
    assert_eq!(package.files().len(), 2, "{:?}", package.files());
    assert!(package.files()[0].starts_with("Oscillator-") && package.files()[1] == "notes.txt");
}

/// Two models of one name, such as those that a feature switches between, keep a file each.
#[test]
fn models_of_one_name_do_not_remove_each_other() {
    let other = OSCILLATOR.replace("/ 2)]", "/ 3)]");
    let package = Package::new("twins", &format!("{OSCILLATOR}\n{other}"));
    for declaration in [OSCILLATOR, &other, OSCILLATOR] {
        package.expand(declaration, Order::Write).expect("a derivation");
    }
    assert_eq!(package.files().len(), 2);
    package.expand(&other, Order::Check).expect("both are current");
}

/// What a macro declares is not counted in the sources, so that nothing of it is taken for a former declaration.
#[test]
fn models_of_one_name_from_a_macro_do_not_remove_each_other() {
    let other = OSCILLATOR.replace("/ 2)]", "/ 3)]");
    let by_macro = OSCILLATOR.replace("/ 2)]", "/ $n)]");
    let of_this_name =
        format!("macro_rules! m {{ ($m:ident, $n:literal) => {{ mod $m {{ {by_macro} }} }} }} m!(a, 2); m!(b, 3);");
    let of_any_name = of_this_name.replace("struct Oscillator", "struct $m").replace("(a,", "(Oscillator,");
    for (name, source) in [("macro", of_this_name), ("named-by-macro", of_any_name)] {
        let package = Package::new(name, &source);
        for declaration in [OSCILLATOR, &other, OSCILLATOR] {
            package.expand(declaration, Order::Write).expect("a derivation");
        }
        assert_eq!(package.files().len(), 2, "{name}");
        package.expand(&other, Order::Check).expect("both are current");
    }
}

/// A file of derivations that says that its model is declared outside of the package belongs to no model of the package.
#[test]
fn sources_outside_of_the_package_are_not_read() {
    let package = Package::new("sources", OSCILLATOR);
    let elsewhere = Package::new("sources-elsewhere", "struct Spring;");
    package.expand(OSCILLATOR, Order::Write).expect("a derivation");
    let own = fs::read_to_string(package.file()).expect("a file");
    let outside = elsewhere.0.join("src/lib.rs");
    let folder = elsewhere.0.file_name().expect("a name").to_str().expect("a path in Unicode").to_owned();
    let mut sources = vec![outside.to_str().expect("a path in Unicode").to_owned(), format!("../{folder}/src/lib.rs")];
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(&outside, package.0.join("src/link.rs")).expect("a link");
        // Nobody writes to it, so that whoever reads it waits for ever.
        let pipe = std::process::Command::new("mkfifo").arg(package.0.join("src/pipe.rs")).status();
        assert!(pipe.expect("mkfifo").success());
        sources.extend(["src/link.rs".to_owned(), "src/pipe.rs".to_owned()]);
    }
    for source in sources {
        let text = own.replace("model Oscillator", "model Spring").replace("src/lib.rs", &source);
        fs::write(package.folder().join("Spring-0123456789abcdef.txt"), text).expect("a file");
        let error = package.expand(OSCILLATOR, Order::Check).unwrap_err();
        assert!(error.contains("`derivations/Spring-0123456789abcdef.txt` belongs to no model"), "{source}: {error}");
    }
    package.expand(OSCILLATOR, Order::Write).expect("a derivation");
    package.file();
}

#[test]
fn a_damaged_file_is_an_error_until_it_is_written_anew() {
    let package = Package::new("damaged", OSCILLATOR);
    package.expand(OSCILLATOR, Order::Write).expect("a derivation");
    let file = package.file();
    let text = fs::read_to_string(&file).expect("a file");
    let with_format = |format: &str| text.replace(&format!("derivation {FORMAT}"), &format!("derivation {format}"));
    let other = |format: u32, by: &str| {
        let reason = format!("it has format {format}, and this version of fbint reads {FORMAT}: {by} one wrote it");
        (with_format(&format.to_string()), reason)
    };
    let of_another_text = || "its checksum is that of another text".to_owned();
    let cases = [
        (String::new(), "it is not a derivation".to_owned()),
        other(FORMAT + 1, "a newer"),
        other(FORMAT - 1, "an older"),
        (with_format("x"), "it is not a derivation".to_owned()),
        (text[..text.len() / 2].to_owned(), of_another_text()),
        (text.replace("x0", "x1"), of_another_text()),
    ];
    for (damaged, reason) in cases {
        fs::write(&file, &damaged).expect("a file");
        for order in [Order::Use, Order::Check] {
            let error = package.expand(OSCILLATOR, order).unwrap_err();
            assert!(
                error.contains("cannot be used: ") && error.contains(&reason) && error.contains("run `"),
                "{error}"
            );
            assert_eq!(fs::read_to_string(&file).expect("a file"), damaged);
        }
        package.expand(OSCILLATOR, Order::Write).expect("a derivation");
        assert_eq!(fs::read_to_string(&file).expect("a file"), text);
    }
    fs::write(&file, text.replace('\n', "\r\n")).expect("a file");
    assert!(kept(&package.expand(OSCILLATOR, Order::Use).expect("line endings do not matter")));
    fs::write(&file, [0xff, 0xfe]).expect("a file");
    let error = package.expand(OSCILLATOR, Order::Use).unwrap_err();
    assert!(error.contains("cannot be read: "), "{error}");
}

#[test]
fn what_is_not_a_file_or_not_a_folder_is_not_followed() {
    let package = Package::new("links", OSCILLATOR);
    package.expand(OSCILLATOR, Order::Write).expect("a derivation");
    let file = package.file();
    let refused = |reason: &str| {
        for order in [Order::Use, Order::Check] {
            let error = package.expand(OSCILLATOR, order).unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
    };
    fs::remove_file(&file).expect("a file");
    fs::create_dir(&file).expect("a folder");
    refused("it is not a file");
    assert!(package.expand(OSCILLATOR, Order::Write).unwrap_err().contains("cannot be written"));
    fs::remove_dir(&file).expect("a folder");
    fs::remove_dir(package.folder()).expect("a folder");
    fs::write(package.folder(), "").expect("a file");
    refused("`derivations` is a file: it has to be a folder of the package");
    fs::remove_file(package.folder()).expect("a file");
    #[cfg(unix)]
    linked(&package, &refused);
}

/// A link out of the package is neither read nor written through.
#[cfg(unix)]
fn linked(package: &Package, refused: &dyn Fn(&str)) {
    let elsewhere = Package::new("elsewhere", OSCILLATOR);
    elsewhere.expand(OSCILLATOR, Order::Write).expect("a derivation");
    let before = fs::read_to_string(elsewhere.file()).expect("a file");
    std::os::unix::fs::symlink(elsewhere.folder(), package.folder()).expect("a link");
    refused("`derivations` is a symbolic link");
    assert!(package.expand(OSCILLATOR, Order::Write).unwrap_err().contains("symbolic link"));
    fs::remove_file(package.folder()).expect("a link");
    fs::create_dir(package.folder()).expect("a folder");
    let name = elsewhere.file().file_name().expect("a name").to_owned();
    std::os::unix::fs::symlink(elsewhere.file(), package.folder().join(&name)).expect("a link");
    refused("it is a symbolic link");
    // Writing puts a file in the place of the link.
    package.expand(OSCILLATOR, Order::Write).expect("a derivation");
    assert!(fs::symlink_metadata(package.folder().join(name)).expect("a file").is_file());
    assert_eq!(fs::read_to_string(elsewhere.file()).expect("a file"), before);
}

#[test]
fn an_order_that_is_none_is_refused() {
    let order = Err(fbint_macros_core::prepared::FileError::Access("FBINT_DERIVATIONS is neither".to_owned()));
    let environment = BuildEnvironment { order, ..BuildEnvironment::nowhere() };
    let text = Declaration::one(OSCILLATOR).expand_in(&environment).to_string();
    assert!(text.contains("compile_error") && text.contains("FBINT_DERIVATIONS is neither"), "{text}");
}

/// Eight processes and threads that write the same file leave a whole one.
#[test]
fn many_may_write_at_once() {
    let package = Package::new("many", OSCILLATOR);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| package.expand(OSCILLATOR, Order::Write).expect("a derivation"));
        }
    });
    assert!(package.file().exists());
    package.expand(OSCILLATOR, Order::Check).expect("it is current");
}
