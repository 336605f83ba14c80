//! Crates of users that keep their derivations, and compile without algebra.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use fbint_tests::workspaces::{Member, WITH_ALGEBRA, home, target_folder, write_manifest, write_workspace};

type Outcome = Result<(), Box<dyn Error>>;

/// A package outside this workspace.
struct User {
    folder: PathBuf,
}

impl User {
    fn new(name: &str, members: &[&str]) -> Result<Self, Box<dyn Error>> {
        let user = Self { folder: Path::new(env!("CARGO_TARGET_TMPDIR")).join(name) };
        let _ = fs::remove_dir_all(&user.folder);
        write_workspace(&user.folder, &members.iter().map(|name| without_algebra(name)).collect::<Vec<_>>())?;
        members.iter().try_for_each(|member| user.write(&format!("{member}/src/lib.rs"), &spring("Spring", 2)))?;
        Ok(user)
    }

    fn write(&self, path: &str, text: &str) -> Outcome {
        let path = self.folder.join(path);
        fs::create_dir_all(path.parent().ok_or("a file lies in a folder")?)?;
        Ok(fs::write(path, text)?)
    }

    fn derivations(&self, member: &str) -> Result<Vec<PathBuf>, Box<dyn Error>> {
        let folder = self.folder.join(member).join("derivations");
        if !folder.exists() {
            return Ok(Vec::new());
        }
        let mut files: Vec<PathBuf> =
            fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
        files.sort();
        Ok(files)
    }

    /// Runs a command of a shell, as it is printed. What it says, if it fails.
    fn run(&self, command: &str) -> Result<Result<(), String>, Box<dyn Error>> {
        let output = Command::new("sh")
            .args(["-c", command])
            .current_dir(&self.folder)
            .env("CARGO_TARGET_DIR", target_folder(env!("CARGO_TARGET_TMPDIR")))
            .env("CARGO_NET_OFFLINE", "true")
            .env_remove("FBINT_DERIVATIONS")
            .output()?;
        let messages = String::from_utf8(output.stderr)?;
        Ok(if output.status.success() { Ok(()) } else { Err(messages) })
    }

    /// What a command prints.
    fn output(&self, command: &str) -> Result<String, Box<dyn Error>> {
        self.run(&format!("{command} >output"))??;
        Ok(fs::read_to_string(self.folder.join("output"))?)
    }

    fn check(&self) -> Result<Result<(), String>, Box<dyn Error>> {
        self.run("cargo check --workspace")
    }
}

/// By default there is no algebra.
fn without_algebra(name: &str) -> Member<'_> {
    Member { name, edition: "2024", runtime: "", dependencies: "" }
}

fn spring(name: &str, power: u32) -> String {
    format!(
        "/// A spring.\n#[fbint_runtime::feedback_system(\n    coordinates(x),\n    momenta(p),\n    \
         hamiltonian = p.powi(2) / (2 * m) + k * x.powi({power}) / 2,\n)]\n\
         pub struct {name} {{\n    pub m: f64,\n    pub k: f64,\n}}\n"
    )
}

/// The command that a message names.
fn command(message: &str) -> Result<String, Box<dyn Error>> {
    let rest = message.split("run `").nth(1).ok_or_else(|| format!("no command in {message}"))?;
    Ok(rest.split('`').next().ok_or("a quoted command")?.to_owned())
}

#[test]
fn the_command_that_an_error_names_mends_it() -> Outcome {
    let user = User::new("user-of-derivations", &["springs"])?;
    user.run("mkdir springs/derivations")??;
    let missing = user.check()?.expect_err("nothing is prepared");
    assert!(
        missing.contains("`derivations/` has no derivation of `Spring`, and this build of fbint has no algebra"),
        "{missing}"
    );
    assert!(missing.contains("--> springs/src/lib.rs:7:12"), "{missing}");
    user.run(&command(&missing)?)??;
    assert_eq!(user.derivations("springs")?.len(), 1);
    user.check()??;
    // The mathematics changes.
    user.write("springs/src/lib.rs", &spring("Spring", 4))?;
    let outdated = user.check()?.expect_err("it is outdated");
    assert!(outdated.contains("the derivation of `Spring` is outdated"), "{outdated}");
    user.run(&command(&outdated)?)??;
    let files = user.derivations("springs")?;
    assert_eq!(files.len(), 1, "{files:?}");
    user.check()??;
    // A file that changes is noticed, though no source has changed.
    let text = fs::read_to_string(&files[0])?;
    fs::write(&files[0], text.replace("x0", "x1"))?;
    let damaged = user.check()?.expect_err("it is damaged");
    assert!(damaged.contains("cannot be used: its checksum is that of another text"), "{damaged}");
    user.run(&command(&damaged)?)??;
    assert_eq!(fs::read_to_string(&files[0])?, text);
    user.check()??;
    // So is one that belongs to no model, where that is asked for.
    user.run("FBINT_DERIVATIONS=check cargo check")??;
    fs::copy(&files[0], files[0].with_file_name("Spring-0123456789abcdef.txt"))?;
    user.check()??;
    user.run("touch springs/src/lib.rs")??;
    let orphan = user.run("FBINT_DERIVATIONS=check cargo check")?.expect_err("an orphan");
    assert!(orphan.contains("`derivations/Spring-0123456789abcdef.txt` belongs to no model"), "{orphan}");
    user.run(&command(&orphan)?)??;
    assert_eq!(user.derivations("springs")?, files);
    let wrong = user.run("FBINT_DERIVATIONS=yes cargo check")?.expect_err("no such order");
    assert!(wrong.contains("the environment variable FBINT_DERIVATIONS is neither `write` nor `check`"), "{wrong}");
    Ok(())
}

/// A package that keeps nothing is derived without algebra, and what takes algebra to prove is named with the remedy.
#[test]
fn crates_without_derivations_need_no_algebra() -> Outcome {
    let user = User::new("user-without-derivations", &["springs"])?;
    user.check()??;
    assert!(user.derivations("springs")?.is_empty(), "nothing is kept");
    let dynamics = "dynamics(x = x, y = y, z = (x * y).ln() - x.ln() - y.ln())";
    let system = format!(
        "#[fbint_runtime::feedback_system(state(x, y, z), {dynamics}, invariant(height = z))]\npub struct System {{}}\n"
    );
    user.write("springs/src/lib.rs", &system)?;
    let open = user.check()?.expect_err("points modulo primes know nothing of logarithms of products");
    let expected = "cannot prove that `height` is conserved: d/dt = ln(x*y) - ln(x) - ln(y) is not shown to be 0";
    let remedy = "use the feature `derive` of `fbint-runtime`, whose algebra, free for non-commercial use, may prove it, rewrite it, or declare `assume height = ..`";
    assert!(open.contains(expected) && open.contains(remedy), "{open}");
    Ok(())
}

/// The members of a workspace keep their derivations apart, and a package carries them to where it cannot be written to.
#[test]
fn eight_crates_keep_their_derivations_at_once() -> Outcome {
    let members = ["one", "two", "three", "four", "five", "six", "seven", "eight"];
    let user = User::new("workspace-of-derivations", &members)?;
    for (number, member) in (0..).zip(&members) {
        user.write(
            &format!("{member}/src/lib.rs"),
            &[spring("Spring", 2 + number), spring("Other", 3 + number)].concat(),
        )?;
    }
    user.run("FBINT_DERIVATIONS=write cargo check -j8 --workspace --features fbint-runtime/derive")??;
    for member in members {
        assert_eq!(user.derivations(member)?.len(), 2, "{member}");
    }
    user.run("FBINT_DERIVATIONS=check cargo check -j8 --workspace")??;
    let list = user.output("cargo package -p one --list --allow-dirty")?;
    assert_eq!(list.lines().filter(|line| line.starts_with("derivations/")).count(), 2, "{list}");
    // A dependency is read and never written to, whatever is ordered.
    user.write("two/src/lib.rs", &spring("Spring", 9))?;
    let one = Member { dependencies: "two = { path = \"../two\" }\n", ..without_algebra("one") };
    write_manifest(&user.folder, one)?;
    let before = user.derivations("two")?;
    user.run("FBINT_DERIVATIONS=write cargo check -p one --features fbint-runtime/derive")??;
    assert_eq!(user.derivations("two")?, before);
    Ok(())
}

/// Symbolica, and what only Symbolica needs.
const ALGEBRA: [&str; 9] = [
    "append-only-vec",
    "colored",
    "graphica",
    "malachite-base",
    "malachite-nz",
    "numerica",
    "option-ext",
    "smartstring",
    "symbolica",
];

#[test]
fn without_algebra_nothing_of_it_is_depended_on() -> Outcome {
    let user = User::new("user-without-algebra", &["springs"])?;
    let packages = |features: &str| -> Result<Vec<String>, Box<dyn Error>> {
        let tree = user.output(&format!("cargo tree -p springs -e all --prefix none --no-dedupe {features}"))?;
        Ok(tree.lines().filter_map(|line| line.split_whitespace().next().map(str::to_owned)).collect())
    };
    let without = packages("")?;
    assert!(without.iter().any(|package| package == "nalgebra"), "{without:?}");
    let with = packages("--features fbint-runtime/derive")?;
    for package in ALGEBRA {
        assert!(!without.iter().any(|other| other == package), "{package}");
        assert!(with.iter().any(|other| other == package), "{package} is not a part of the algebra");
    }
    Ok(())
}

/// Cargo unifies features: README.md and the book warn of it.
#[test]
fn one_dependency_with_algebra_switches_it_on_for_the_whole_build() -> Outcome {
    let user = User::new("user-of-another-crate", &["springs", "engine"])?;
    write_manifest(&user.folder, Member { runtime: WITH_ALGEBRA, ..without_algebra("engine") })?;
    let springs = Member { dependencies: "engine = { path = \"../engine\" }\n", ..without_algebra("springs") };
    write_manifest(&user.folder, springs)?;
    let who = user.output("cargo tree -p springs -i symbolica -e all --prefix none")?;
    assert!(who.lines().any(|line| line.starts_with("springs ")), "{who}");
    for page in ["README.md", "LICENCES.md", "book/src/tutorial/crate.md"] {
        let text = fs::read_to_string(home().join(page))?;
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("Cargo unifies features"), "{page} does not say so");
    }
    Ok(())
}

/// No licence of what it depends on asks for more than attribution, and nothing is excepted.
#[test]
fn without_algebra_every_licence_is_permissive() -> Outcome {
    let user = User::new("user-of-permissive-code", &["springs"])?;
    if user.run("cargo deny --version")?.is_err() {
        println!("skipped: cargo-deny is not installed");
        return Ok(());
    }
    let settings = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deny.prepared.toml");
    user.run(&format!("cargo deny --config {} check bans licenses sources", settings.display()))?.map_err(Into::into)
}
