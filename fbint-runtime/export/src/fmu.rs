//! Functional Mock-up Units of FMI 2.0 and 3.0, for model exchange and co-simulation.

use std::collections::BTreeSet;
use std::io::{Cursor, Write as _};
use std::path::Path;
use std::process::Command;
use std::{fs, io};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use crate::{Export, File};

const COMMON: &str = include_str!("../templates/fmu.c");
const FMI: &str = include_str!("../templates/fmi.c");
const FMI2: &str = include_str!("../templates/fmi2.c");
const FMI3: &str = include_str!("../templates/fmi3.c");
/// The longest step of a co-simulation by default, which is also the default step of runs.
pub(crate) const STEP: f64 = 1e-3;
/// The end of a simulation by default.
pub(crate) const UNTIL: f64 = 10.0;
/// The comment by which fbint recognises its archives.
const COMMENT: &str = "written by fbint";

/// A version of the Functional Mock-up Interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// FMI 2.0
    Two,
    /// FMI 3.0
    Three,
}

/// An FMU.
#[derive(Clone, Debug)]
pub struct Fmu {
    /// The archive.
    pub archive: Vec<u8>,
    /// Why it has no binary for this platform, if it has none.
    pub without_binary: Option<String>,
}

/// The kinds of variables, in the order of value references.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Time,
    State,
    Derivative {
        of: usize,
    },
    Parameter,
    Input,
    Output,
    Integral,
    /// The function of an event or a switch.
    Event,
    Occurrences,
    Step,
    Tolerance,
}

pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) start: f64,
}

impl Export<'_> {
    /// The model as an FMU: its description, its sources and, where a C compiler is found, a library for this platform.
    ///
    /// # Errors
    ///
    /// If the archive would be larger than an archive can be.
    pub fn fmu(&self, version: Version) -> io::Result<Fmu> {
        let model = self.with_derivatives();
        self.of(&model).fmu_of(version)
    }

    /// See [`fmu`](Self::fmu).
    fn fmu_of(&self, version: Version) -> io::Result<Fmu> {
        let variables = self.variables();
        let token = self.token(&variables);
        let sources = self.fmu_sources(version, &token);
        let description = self.description(version, &token, &variables)?;
        let mut files = vec![("modelDescription.xml".to_owned(), description)];
        if version == Version::Three {
            files.push(("sources/buildDescription.xml".to_owned(), self.build_description(&sources)?));
        }
        let library = library(&sources, &self.prefix);
        let without_binary = library.as_ref().err().cloned();
        if let (Ok(library), Some(folder)) = (library, folder(version)) {
            files.push((format!("binaries/{folder}/{}{}", self.prefix, std::env::consts::DLL_SUFFIX), library));
        }
        files.extend(sources.into_iter().map(|file| (format!("sources/{}", file.name), file.text.into_bytes())));
        Ok(Fmu { archive: archive(&files)?, without_binary })
    }

    /// The header and the source of the model, without what no FMU calls: much of it are derivatives.
    fn library_of_fmu(&self) -> [File; 2] {
        self.library(Some(&[COMMON, FMI3].concat()))
    }

    /// The C of an FMU.
    fn fmu_sources(&self, version: Version, token: &str) -> Vec<File> {
        let (is_two, mut values) = (version == Version::Two, self.sizes());
        let names = [
            ("fmi", ["fmi2", "fmi3"]),
            ("boolean", ["int", "bool"]),
            ("byte", ["char", "uint8_t"]),
            ("FMUState", ["FMUstate", "FMUState"]),
            ("Deserialize", ["DeSerialize", "Deserialize"]),
            ("Derivatives", ["Derivatives", "ContinuousStateDerivatives"]),
        ];
        values.extend(names.map(|(name, [two, three])| (name, if is_two { two } else { three }.to_owned())));
        values.push(("token", token.to_owned()));
        values.push(("step", format!("{STEP:?}")));
        let text = self.filled(&[COMMON, FMI, if is_two { FMI2 } else { FMI3 }].concat(), &values);
        let [header, source] = self.library_of_fmu();
        vec![File { name: "fmu.c".to_owned(), text }, header, source]
    }

    /// Every variable, in the order of value references.
    fn variables(&self) -> Vec<Variable> {
        let [states, parameters, inputs, outputs, integrals, events] = self.names().map(|(_, names)| names);
        let mut taken = BTreeSet::new();
        let mut variables: Vec<Variable> = Vec::new();
        let mut add = |name: &str, kind: Kind, start: f64| {
            let mut name = name.to_owned();
            while !taken.insert(name.clone()) {
                name.push('_');
            }
            variables.push(Variable { name, kind, start });
        };
        let start = |place: usize| self.start.get(place).copied().unwrap_or(0.0);
        let parameter = |place: usize| self.parameters.get(place).copied().unwrap_or(0.0);
        add("time", Kind::Time, self.start_time());
        states.iter().enumerate().for_each(|(place, name)| add(name, Kind::State, start(place)));
        for (place, name) in states.iter().enumerate() {
            add(&format!("der({name})"), Kind::Derivative { of: place }, 0.0);
        }
        parameters.iter().enumerate().for_each(|(place, name)| add(name, Kind::Parameter, parameter(place)));
        inputs.iter().for_each(|name| add(name, Kind::Input, 0.0));
        outputs.iter().for_each(|name| add(name, Kind::Output, 0.0));
        integrals.iter().for_each(|name| add(name, Kind::Integral, 0.0));
        events.iter().for_each(|name| add(name, Kind::Event, 0.0));
        self.model.switches.iter().for_each(|switch| add(&format!("switch({switch})"), Kind::Event, 0.0));
        events.iter().for_each(|name| add(&format!("occurrences({name})"), Kind::Occurrences, 0.0));
        add("longest step", Kind::Step, STEP);
        add("tolerance", Kind::Tolerance, 0.0);
        variables
    }

    /// The token by which a library recognises its description: a checksum of the sources and the names.
    fn token(&self, variables: &[Variable]) -> String {
        let [header, source] = self.library_of_fmu();
        let names: String = variables.iter().map(|variable| format!("{},", variable.name)).collect();
        let texts = [&header.text, &source.text, &names, &self.model.name];
        let [a, b, c, d] = texts.map(|text| crc32fast::hash(text.as_bytes()));
        format!("{{{a:08x}-{:04x}-{:04x}-{:04x}-{:04x}{d:08x}}}", b >> 16, b & 0xffff, c >> 16, c & 0xffff)
    }
}

/// The folder of libraries for this platform, if FMI has a name for it.
fn folder(version: Version) -> Option<&'static str> {
    let (system, processor) = (std::env::consts::OS, std::env::consts::ARCH);
    Some(match (version, system, processor) {
        (Version::Two, "linux", "x86_64") => "linux64",
        (Version::Two, "macos", _) => "darwin64",
        (Version::Three, "linux", "x86_64") => "x86_64-linux",
        (Version::Three, "linux", "aarch64") => "aarch64-linux",
        (Version::Three, "macos", "aarch64") => "aarch64-darwin",
        (Version::Three, "macos", "x86_64") => "x86_64-darwin",
        _ => return None,
    })
}

/// The shared library of sources, or why there is none.
fn library(sources: &[File], prefix: &str) -> Result<Vec<u8>, String> {
    let unwritten = |error: io::Error| format!("its sources cannot be written to a temporary folder: {error}");
    let folder = tempfile::tempdir().map_err(unwritten)?;
    for file in sources {
        fs::write(folder.path().join(&file.name), &file.text).map_err(unwritten)?;
    }
    compiled(sources, prefix, folder.path())
}

fn compiled(sources: &[File], prefix: &str, folder: &Path) -> Result<Vec<u8>, String> {
    let name = format!("{prefix}{}", std::env::consts::DLL_SUFFIX);
    let mut compiler = Command::new("cc");
    compiler.args(["-std=c99", "-O2", "-ffp-contract=off", "-fPIC", "-shared", "-fvisibility=hidden", "-o", &name]);
    // Products and sums are rounded as in this program.
    if cfg!(all(target_arch = "x86_64", target_feature = "fma")) {
        compiler.arg("-mfma");
    }
    compiler.args(sources.iter().map(|file| &file.name).filter(|name| name.ends_with(".c"))).arg("-lm");
    let output = compiler.current_dir(folder).output().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => "the C compiler `cc` is not installed".to_owned(),
        _ => format!("the C compiler `cc` cannot be run: {error}"),
    })?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr);
        return Err(format!("the C compiler `cc` refuses its sources: {}", message.lines().next().unwrap_or_default()));
    }
    fs::read(folder.join(name)).map_err(|error| format!("the C compiler `cc` wrote no library: {error}"))
}

/// An archive of files, as they are and without a date, so that equal models have equal archives.
fn archive(files: &[(String, Vec<u8>)]) -> io::Result<Vec<u8>> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default();
    let options = options.compression_method(CompressionMethod::Stored).last_modified_time(DateTime::default());
    archive.set_comment(COMMENT)?;
    for (path, bytes) in files {
        archive.start_file(&**path, options)?;
        archive.write_all(bytes)?;
    }
    Ok(archive.finish()?.into_inner())
}
