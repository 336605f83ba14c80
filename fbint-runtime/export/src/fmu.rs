//! Functional Mock-up Units of FMI 2.0 and 3.0, for model exchange and co-simulation.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::{fs, io};

use crate::archive::archive;
use crate::{Error, Export, File};

const COMMON: &str = include_str!("../templates/fmu.c");
const FMI: &str = include_str!("../templates/fmi.c");
const FMI2: &str = include_str!("../templates/fmi2.c");
const FMI3: &str = include_str!("../templates/fmi3.c");
/// The longest step of a co-simulation by default, which is also the default step of runs.
const STEP: f64 = 1e-3;
/// The end of a simulation by default.
const UNTIL: f64 = 10.0;

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
enum Kind {
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

struct Variable {
    name: String,
    kind: Kind,
    start: f64,
}

impl Export<'_> {
    /// The model as an FMU: its description, its sources and, where a C compiler is found, a library for this platform.
    ///
    /// # Errors
    ///
    /// If the archive would be too large.
    pub fn fmu(&self, version: Version) -> Result<Fmu, Error> {
        let model = self.with_derivatives();
        self.of(&model).fmu_of(version)
    }

    /// See [`fmu`](Self::fmu).
    fn fmu_of(&self, version: Version) -> Result<Fmu, Error> {
        let variables = self.variables();
        let token = self.token(&variables);
        let sources = self.fmu_sources(version, &token);
        let description = self.description(version, &token, &variables);
        let mut files = vec![("modelDescription.xml".to_owned(), description.into_bytes())];
        if version == Version::Three {
            files.push(("sources/buildDescription.xml".to_owned(), self.build_description(&sources).into_bytes()));
        }
        let library = library(&sources, &self.prefix);
        let without_binary = library.as_ref().err().cloned();
        if let (Ok(library), Some(folder)) = (library, folder(version)) {
            files.push((format!("binaries/{folder}/{}{}", self.prefix, std::env::consts::DLL_SUFFIX), library));
        }
        files.extend(sources.into_iter().map(|file| (format!("sources/{}", file.name), file.text.into_bytes())));
        Ok(Fmu { archive: archive(&files).map_err(|_| Error::TooLarge)?, without_binary })
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
        let symbols = &self.model.derivation.symbols;
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
        self.state_names().iter().enumerate().for_each(|(place, name)| add(name, Kind::State, start(place)));
        for (place, name) in self.state_names().iter().enumerate() {
            add(&format!("der({name})"), Kind::Derivative { of: place }, 0.0);
        }
        for (place, symbol) in symbols.parameters().enumerate() {
            add(&symbols[symbol].name, Kind::Parameter, parameter(place));
        }
        symbols.inputs().for_each(|symbol| add(&symbols[symbol].name, Kind::Input, 0.0));
        self.model.derivation.outputs.iter().for_each(|output| add(&output.name, Kind::Output, 0.0));
        self.each_integral().for_each(|integral| add(&integral.name, Kind::Integral, 0.0));
        let events = &self.model.scenery.events;
        events.iter().for_each(|event| add(&event.name, Kind::Event, 0.0));
        self.model.switches.iter().for_each(|switch| add(&format!("switch({switch})"), Kind::Event, 0.0));
        events.iter().for_each(|event| add(&format!("occurrences({})", event.name), Kind::Occurrences, 0.0));
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

    /// `modelDescription.xml`
    fn description(&self, version: Version, token: &str, variables: &[Variable]) -> String {
        let (is_two, name) = (version == Version::Two, escaped(&self.model.name));
        let (number, key, states) =
            if is_two { ("2.0", "guid", "FMUstate") } else { ("3.0", "instantiationToken", "FMUState") };
        let derivatives = if is_two {
            "providesDirectionalDerivative=\"true\""
        } else {
            "providesDirectionalDerivatives=\"true\" providesAdjointDerivatives=\"true\""
        };
        let common = format!(
            "modelIdentifier=\"{}\" canGetAndSet{states}=\"true\" canSerialize{states}=\"true\" {derivatives}",
            self.prefix
        );
        let sources = if is_two { self.source_files() } else { String::new() };
        let mut xml = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fmiModelDescription fmiVersion=\"{number}\" modelName=\"{name}\" \
             {key}=\"{token}\" description=\"{}\" generationTool=\"fbint {}\" variableNamingConvention=\"flat\"{}>\n",
            escaped(&self.model.summary),
            env!("CARGO_PKG_VERSION"),
            if is_two { format!(" numberOfEventIndicators=\"{}\"", self.watched()) } else { String::new() },
        );
        for (kind, more) in
            [("ModelExchange", ""), ("CoSimulation", " canHandleVariableCommunicationStepSize=\"true\"")]
        {
            let _ = writeln!(xml, "  <{kind} {common}{more}>{sources}</{kind}>");
        }
        let from = self.start_time();
        let _ = writeln!(
            xml,
            "  <DefaultExperiment startTime=\"{from:?}\" stopTime=\"{:?}\" stepSize=\"{STEP:?}\"/>\n  <ModelVariables>",
            from + UNTIL
        );
        for (reference, variable) in variables.iter().enumerate() {
            xml.push_str(&if is_two { variable.two(reference) } else { variable.three(reference) });
        }
        xml.push_str("  </ModelVariables>\n  <ModelStructure>\n");
        xml.push_str(&structure(version, variables));
        xml.push_str("  </ModelStructure>\n</fmiModelDescription>\n");
        xml
    }

    fn source_files(&self) -> String {
        format!("<SourceFiles><File name=\"fmu.c\"/><File name=\"{}.c\"/></SourceFiles>", self.prefix)
    }

    /// `buildDescription.xml` of FMI 3.0.
    fn build_description(&self, sources: &[File]) -> String {
        let files = sources.iter().filter(|file| file.name.ends_with(".c"));
        let files: String = files.map(|file| format!("<SourceFile name=\"{}\"/>", file.name)).collect();
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<fmiBuildDescription fmiVersion=\"3.0\">\n  <BuildConfiguration \
             modelIdentifier=\"{}\">\n    <SourceFileSet language=\"C99\">{files}</SourceFileSet>\n  \
             </BuildConfiguration>\n</fmiBuildDescription>\n",
            self.prefix
        )
    }
}

impl Variable {
    /// Causality, variability and initial.
    fn attributes(&self) -> String {
        let (causality, variability, initial) = match self.kind {
            Kind::Time => ("independent", "continuous", None),
            Kind::State => ("local", "continuous", Some("exact")),
            Kind::Derivative { .. } | Kind::Integral | Kind::Event => ("local", "continuous", Some("calculated")),
            Kind::Occurrences => ("local", "discrete", Some("calculated")),
            Kind::Parameter => ("parameter", "tunable", Some("exact")),
            Kind::Step | Kind::Tolerance => ("parameter", "fixed", Some("exact")),
            Kind::Input => ("input", "continuous", None),
            Kind::Output => ("output", "continuous", Some("calculated")),
        };
        let initial = initial.map_or(String::new(), |initial| format!(" initial=\"{initial}\""));
        format!("causality=\"{causality}\" variability=\"{variability}\"{initial}")
    }

    fn start(&self) -> String {
        let has_start = matches!(self.kind, Kind::State | Kind::Parameter | Kind::Input | Kind::Step | Kind::Tolerance);
        if has_start { format!(" start=\"{:?}\"", self.start) } else { String::new() }
    }

    fn two(&self, reference: usize) -> String {
        // Variables are counted from 1, and the time is the first.
        let derivative = match self.kind {
            Kind::Derivative { of } => format!(" derivative=\"{}\"", of + 2),
            _ => String::new(),
        };
        format!(
            "    <ScalarVariable name=\"{}\" valueReference=\"{reference}\" {}><Real{}{derivative}/></ScalarVariable>\n",
            escaped(&self.name),
            self.attributes(),
            self.start()
        )
    }

    fn three(&self, reference: usize) -> String {
        let derivative = match self.kind {
            Kind::Derivative { of } => format!(" derivative=\"{}\"", of + 1),
            _ => String::new(),
        };
        format!(
            "    <Float64 name=\"{}\" valueReference=\"{reference}\" {}{}{derivative}/>\n",
            escaped(&self.name),
            self.attributes(),
            self.start()
        )
    }
}

/// Which variables are outputs and derivatives.
fn structure(version: Version, variables: &[Variable]) -> String {
    let of = |is_meant: fn(Kind) -> bool| variables.iter().enumerate().filter(move |(_, one)| is_meant(one.kind));
    let outputs: Vec<usize> = of(|kind| kind == Kind::Output).map(|(place, _)| place).collect();
    let derivatives: Vec<usize> = of(|kind| matches!(kind, Kind::Derivative { .. })).map(|(place, _)| place).collect();
    let unknowns = [&outputs[..], &derivatives].concat();
    let indicators: Vec<usize> = of(|kind| kind == Kind::Event).map(|(place, _)| place).collect();
    let lists = [
        ("Output", "Outputs", &outputs),
        ("ContinuousStateDerivative", "Derivatives", &derivatives),
        ("InitialUnknown", "InitialUnknowns", &unknowns),
        ("EventIndicator", "", &indicators),
    ];
    let mut text = String::new();
    for (single, list, places) in lists {
        let listed: String = match version {
            Version::Two => places.iter().map(|place| format!("<Unknown index=\"{}\"/>", place + 1)).collect(),
            Version::Three => places.iter().map(|place| format!("<{single} valueReference=\"{place}\"/>")).collect(),
        };
        match version {
            _ if places.is_empty() => {}
            // Their number is an attribute.
            Version::Two if list.is_empty() => {}
            Version::Two => text.push_str(&format!("    <{list}>{listed}</{list}>\n")),
            Version::Three => text.push_str(&format!("    {listed}\n")),
        }
    }
    text
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

/// A text as the value of an attribute.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            control if control.is_control() => escaped.push(' '),
            other => escaped.push(other),
        }
    }
    escaped
}
