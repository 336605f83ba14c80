//! Editors: the macro lives for hours in the toolchain's `rust-analyzer-proc-macro-srv`, where its standard output is the
//! protocol and a crash is never repaired.
//!
//! Models are expanded many times by one server, which must continue to answer, print nothing but answers, and not grow.
//! The protocol is the server's own: JSON, one message a line, token trees flattened into arrays of numbers. It is internal to
//! the toolchain, so that a server that is missing or that speaks another version is skipped, with a message.

use std::collections::VecDeque;
use std::error::Error;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::LazyLock;

use fbint_tests::amount;
use fbint_tests::workspaces::{Member, WITH_ALGEBRA, home, target_folder, write_workspace};
use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};
use quote::ToTokens;
use serde_json::{Value, json};

type Outcome = Result<(), Box<dyn Error>>;

/// Their declarations are what is expanded.
const MODELS: [&str; 5] = ["spherical_pendulum", "planar_pendulum", "four_bar", "free_rigid_body", "euler_top"];
/// Expansions before that: every model several times, so that caches and the allocator's arenas have their size.
const WARM_UP: usize = 60;
/// Growth allowed for every hundred expansions.
const GROWTH: u64 = 1 << 20;
/// How often that is tried. What leaks grows each time; an arena that the allocator takes for good shows once.
const ROUNDS: usize = 3;
/// Versions of the protocol that [`flat`] writes: literals with kind and suffix, identifiers with rawness.
const VERSIONS: std::ops::RangeInclusive<u64> = 5..=7;

#[test]
fn expands_without_end_without_growing_and_without_a_word() -> Outcome {
    let declarations = declarations()?;
    let Some(mut server) = Server::start(&library()?, true)? else { return Ok(()) };
    // After as many, the server's memory is compared with what it was.
    let expansions = amount(100, 200);
    for index in 0..WARM_UP {
        server.expand(&declarations[index % declarations.len()])?;
    }
    let mut least = u64::MAX;
    for _ in 0..ROUNDS {
        let before = server.memory()?;
        for index in 0..expansions {
            server.expand(&declarations[index % declarations.len()])?;
        }
        let grown = server.memory()?.saturating_sub(before);
        println!("{expansions} expansions: from {} KiB by {} KiB", before >> 10, grown >> 10);
        least = least.min(grown);
        if least <= GROWTH * (expansions as u64 / 100) {
            break;
        }
    }
    assert_eq!(server.noise, [""; 0], "these lines are not part of the protocol");
    assert!(
        least <= GROWTH * (expansions as u64 / 100),
        "{expansions} expansions took {least} bytes, each of {ROUNDS} times"
    );
    server.stop()
}

/// Without the vendor's switch its banner may appear, a frame with text, once, and nothing else.
#[test]
fn prints_nothing_but_the_banner_of_symbolica() -> Outcome {
    let declarations = declarations()?;
    let Some(mut server) = Server::start(&library()?, false)? else { return Ok(()) };
    for declaration in &declarations {
        server.expand(declaration)?;
    }
    let top = server.noise.iter().filter(|line| line.starts_with('┌')).count();
    let framed = server.noise.iter().all(|line| line.starts_with(['┌', '│', '├', '└']));
    assert!(top <= 1 && framed, "this is not a banner: {:#?}", server.noise);
    server.stop()
}

/// A mistake is answered with an expansion that holds the message, and the server continues.
#[test]
fn survives_mistaken_models() -> Outcome {
    let Some(mut server) = Server::start(&library()?, true)? else { return Ok(()) };
    let item: TokenStream = "pub struct Mistaken { pub k: f64 }".parse()?;
    for (attribute, culprit) in [
        ("", "coordinates"),
        ("coordinates(q), momenta(p), hamiltonian = p.powi(2) / 2 + k * r", "`r`"),
        ("coordinates(q), momenta(p), hamiltonian = p.powi(2) / 2 + k * q.powi(2) / 0", "division by zero"),
    ] {
        let answer = server.answer(attribute.parse()?, item.clone())?;
        let text = answer["text"].to_string();
        assert!(text.contains("compile_error") && text.contains(culprit), "{attribute}: {text}");
    }
    server.expand(&declarations()?[0])?;
    assert_eq!(server.noise, [""; 0], "these lines are not part of the protocol");
    server.stop()
}

/// A macro without algebra, for models with prepared derivations.
#[test]
fn expands_prepared_models_without_algebra() -> Outcome {
    let has_symbolica = |library: &Path| -> Result<bool, Box<dyn Error>> {
        Ok(fs::read(library)?.windows(SYMBOLICA.len()).any(|window| window == SYMBOLICA))
    };
    let prepared = library_of("user-of-the-macro-alone", "")?;
    assert!(!has_symbolica(&prepared)? && has_symbolica(&library()?)?);
    let Some(mut server) = Server::start(&prepared, true)? else { return Ok(()) };
    server.package = home().join("models");
    for declaration in declarations()? {
        server.expand(&declaration)?;
    }
    assert_eq!(server.noise, [""; 0], "these lines are not part of the protocol");
    server.stop()
}

/// A name that every library with Symbolica in it contains.
const SYMBOLICA: &[u8] = b"symbolica::";

/// What stands in the attribute, and the struct below it.
struct Declaration {
    attribute: TokenStream,
    item: TokenStream,
}

/// The declarations in the models' sources that no macro writes.
fn declarations() -> Result<Vec<Declaration>, Box<dyn Error>> {
    let folder = home().join("models/src");
    let mut declarations = Vec::new();
    for model in MODELS {
        let file = syn::parse_file(&fs::read_to_string(folder.join(model).with_extension("rs"))?)?;
        for item in file.items {
            let syn::Item::Struct(mut item) = item else { continue };
            let position = item.attrs.iter().position(|attribute| attribute.path().is_ident("feedback_system"));
            let Some(position) = position else { continue };
            let attribute = item.attrs.remove(position).meta.require_list()?.tokens.clone();
            declarations.push(Declaration { attribute, item: item.into_token_stream() });
        }
    }
    assert!(declarations.len() >= MODELS.len(), "a file without a model");
    Ok(declarations)
}

/// A server, the macro's library, and the lines that were no answers.
struct Server {
    process: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
    library: PathBuf,
    /// The folder of the package that the models are said to be in.
    package: PathBuf,
    noise: Vec<String>,
}

impl Server {
    /// `None` where the toolchain has no such server, or one of another version; it says so.
    fn start(library: &Path, hide_banner: bool) -> Result<Option<Self>, Box<dyn Error>> {
        let Some(program) = program()? else { return Ok(None) };
        let mut command = Command::new(program);
        command.env("RUST_ANALYZER_INTERNALS_DO_NOT_USE", "this is unstable").env_remove("SYMBOLICA_HIDE_BANNER");
        if hide_banner {
            command.env("SYMBOLICA_HIDE_BANNER", "1");
        }
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let requests = process.stdin.take().ok_or("the server reads from a pipe")?;
        let answers = BufReader::new(process.stdout.take().ok_or("the server writes into a pipe")?);
        let (library, package) = (library.to_owned(), Path::new(env!("CARGO_MANIFEST_DIR")).to_owned());
        let mut server = Self { process, requests, answers, library, package, noise: Vec::new() };
        let version = server.ask(&json!({ "ApiVersionCheck": {} }))?["ApiVersionCheck"].as_u64();
        if version.is_none_or(|version| !VERSIONS.contains(&version)) {
            println!("skipped: the server speaks version {version:?} of its protocol, not one of {VERSIONS:?}");
            server.stop()?;
            return Ok(None);
        }
        Ok(Some(server))
    }

    /// Expands a model that is right.
    fn expand(&mut self, declaration: &Declaration) -> Outcome {
        let answer = self.answer(declaration.attribute.clone(), declaration.item.clone())?;
        let texts = answer["text"].as_array().ok_or("an expansion is a tree")?;
        let mentions = |name: &str| texts.iter().any(|text| text == name);
        if mentions("compile_error") || !mentions("FeedbackSystem") || !mentions("feedback_field") {
            return Err(format!("no model: {texts:?}").into());
        }
        Ok(())
    }

    /// The tree that the macro gives back.
    fn answer(&mut self, attribute: TokenStream, item: TokenStream) -> Result<Value, Box<dyn Error>> {
        let mut answer = self.ask(&json!({ "ExpandMacro": {
            "lib": self.library,
            "macro_name": "feedback_system",
            "macro_body": flat(item),
            "attributes": flat(attribute),
            "env": [["CARGO_MANIFEST_DIR", self.package]],
            "current_dir": null,
            "has_global_spans": { "def_site": 0, "call_site": 0, "mixed_site": 0 },
            "span_data_table": [0, 0, 0, 0, 0],
        } }))?;
        let mut tree = answer["ExpandMacro"]["Ok"].take();
        if tree.is_null() {
            tree = answer["ExpandMacroExtended"]["Ok"]["tree"].take();
        }
        if tree.is_null() { Err(format!("the server answered {answer}").into()) } else { Ok(tree) }
    }

    /// The next line that is a message; others are kept as noise.
    fn ask(&mut self, request: &Value) -> Result<Value, Box<dyn Error>> {
        writeln!(self.requests, "{request}").map_err(|error| self.dead(&error.to_string()))?;
        self.requests.flush()?;
        loop {
            let mut line = String::new();
            if self.answers.read_line(&mut line)? == 0 {
                return Err(self.dead("it closed its output").into());
            }
            match serde_json::from_str(&line) {
                Ok(answer @ Value::Object(_)) => return Ok(answer),
                _ => self.noise.push(line.trim_end().to_owned()),
            }
        }
    }

    fn dead(&mut self, reason: &str) -> String {
        format!("the server died, {:?}: {reason}; printed before: {:#?}", self.process.wait(), self.noise)
    }

    /// Resident memory in bytes, where the system tells; elsewhere 0.
    fn memory(&self) -> Result<u64, Box<dyn Error>> {
        let path = format!("/proc/{}/status", self.process.id());
        if !Path::new(&path).exists() {
            println!("memory is not measured: {path} does not exist");
            return Ok(0);
        }
        let status = fs::read_to_string(path)?;
        let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).ok_or("a process has memory")?;
        Ok(resident.trim().trim_end_matches(" kB").parse::<u64>()? << 10)
    }

    /// Ends its input, at which it must leave in peace.
    fn stop(self) -> Outcome {
        let Self { mut process, requests, .. } = self;
        drop(requests);
        let status = process.wait()?;
        if status.success() { Ok(()) } else { Err(format!("the server ended with {status}").into()) }
    }
}

fn program() -> Result<Option<PathBuf>, Box<dyn Error>> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).args(["--print", "sysroot"]).output()?;
    let name = format!("rust-analyzer-proc-macro-srv{}", std::env::consts::EXE_SUFFIX);
    let program = Path::new(String::from_utf8(output.stdout)?.trim()).join("libexec").join(name);
    if program.exists() {
        return Ok(Some(program));
    }
    println!("skipped: {} does not exist", program.display());
    Ok(None)
}

/// The library of the macro with algebra, which is there already: this test depends on it.
fn library() -> Result<PathBuf, Box<dyn Error>> {
    static LIBRARY: LazyLock<Result<PathBuf, String>> =
        LazyLock::new(|| library_of("user-of-the-macro", WITH_ALGEBRA).map_err(|error| error.to_string()));
    Ok(LIBRARY.clone()?)
}

/// The library of the macro as cargo builds it for a crate with these settings for its dependency on the runtime.
fn library_of(user: &str, runtime: &str) -> Result<PathBuf, Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(user);
    write_workspace(&folder, &[Member { name: "user", edition: "2024", runtime, dependencies: "" }])?;
    fs::write(folder.join("user/src/lib.rs"), "")?;
    let output = Command::new(env!("CARGO"))
        .args(["check", "--offline", "--message-format=json"])
        .current_dir(&folder)
        .env("CARGO_TARGET_DIR", target_folder(env!("CARGO_TARGET_TMPDIR")))
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let messages = String::from_utf8(output.stdout)?;
    messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .find(|message| message["reason"] == "compiler-artifact" && message["target"]["name"] == "fbint_macros")
        .and_then(|message| message["filenames"].as_array()?.first()?.as_str().map(PathBuf::from))
        .ok_or_else(|| "cargo names no library of the macro".into())
}

/// A token tree as the protocol has it: tokens sorted by kind, and for each group the range of its children, each
/// child its index and in the two lowest bits its kind.
fn flat(stream: TokenStream) -> Value {
    const SPAN: usize = 0;
    const NO_SUFFIX: usize = u32::MAX as usize;
    let (mut groups, mut literals, mut puncts, mut idents) = (vec![[0; 5]], Vec::new(), Vec::new(), Vec::new());
    let (mut children, mut texts) = (Vec::new(), Vec::new());
    let mut waiting = VecDeque::from([stream]);
    let mut group = 0;
    while let Some(stream) = waiting.pop_front() {
        groups[group][3] = children.len();
        for tree in stream {
            children.push(match tree {
                TokenTree::Group(inner) => {
                    let kind = match inner.delimiter() {
                        Delimiter::None => 0,
                        Delimiter::Parenthesis => 1,
                        Delimiter::Brace => 2,
                        Delimiter::Bracket => 3,
                    };
                    groups.push([SPAN, SPAN, kind, 0, 0]);
                    waiting.push_back(inner.stream());
                    (groups.len() - 1) << 2
                }
                TokenTree::Literal(literal) => {
                    let (kind, text) = literal_kind(&literal.to_string());
                    texts.push(text);
                    literals.push([SPAN, texts.len() - 1, kind, NO_SUFFIX]);
                    (literals.len() - 1) << 2 | 1
                }
                TokenTree::Punct(punct) => {
                    puncts.push([SPAN, punct.as_char() as usize, usize::from(punct.spacing() == Spacing::Joint)]);
                    (puncts.len() - 1) << 2 | 2
                }
                TokenTree::Ident(ident) => {
                    let text = ident.to_string();
                    let raw = text.strip_prefix("r#");
                    texts.push(raw.unwrap_or(&text).to_owned());
                    idents.push([SPAN, texts.len() - 1, usize::from(raw.is_some())]);
                    (idents.len() - 1) << 2 | 3
                }
            });
        }
        groups[group][4] = children.len();
        group += 1;
    }
    json!({
        "subtree": groups.concat(),
        "literal": literals.concat(),
        "punct": puncts.concat(),
        "ident": idents.concat(),
        "token_tree": children,
        "text": texts,
    })
}

/// The protocol's number of a literal's kind, and its text without quotes. Models have strings (their documentation) and numbers.
fn literal_kind(text: &str) -> (usize, String) {
    match text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
        Some(text) => (5, text.to_owned()),
        None if text.contains('.') => (4, text.to_owned()),
        None => (3, text.to_owned()),
    }
}
