//! The descriptions of an FMU: `modelDescription.xml`, and `buildDescription.xml` of FMI 3.0.

use std::io;

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, Event};

use crate::fmu::{Kind, STEP, UNTIL, Variable, Version};
use crate::{Export, File};

type Xml = Writer<Vec<u8>>;
type Attributes = Vec<(&'static str, String)>;

/// An element, with what `content` writes inside it.
fn element(
    xml: &mut Xml,
    name: &str,
    attributes: Attributes,
    content: impl FnOnce(&mut Xml) -> io::Result<()>,
) -> io::Result<()> {
    let attributes = attributes.iter().map(|(name, value)| (*name, value.as_str()));
    xml.create_element(name).with_attributes(attributes).write_inner_content(content).map(drop)
}

/// An element with nothing inside it.
fn empty(xml: &mut Xml, name: &str, attributes: Attributes) -> io::Result<()> {
    let attributes = attributes.iter().map(|(name, value)| (*name, value.as_str()));
    xml.create_element(name).with_attributes(attributes).write_empty().map(drop)
}

/// A document with its outermost element.
fn document(
    name: &str,
    attributes: Attributes,
    content: impl FnOnce(&mut Xml) -> io::Result<()>,
) -> io::Result<Vec<u8>> {
    let mut xml = Writer::new_with_indent(Vec::new(), b' ', 2);
    xml.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    element(&mut xml, name, attributes, content)?;
    Ok(xml.into_inner())
}

impl Export<'_> {
    /// `modelDescription.xml`
    pub(crate) fn description(&self, version: Version, token: &str, variables: &[Variable]) -> io::Result<Vec<u8>> {
        let is_two = version == Version::Two;
        let (number, key) = if is_two { ("2.0", "guid") } else { ("3.0", "instantiationToken") };
        let mut about = vec![
            ("fmiVersion", number.to_owned()),
            ("modelName", self.model.name.clone()),
            (key, token.to_owned()),
            ("description", permitted(&self.model.summary)),
            ("generationTool", format!("fbint {}", env!("CARGO_PKG_VERSION"))),
            ("variableNamingConvention", "flat".to_owned()),
        ];
        if is_two {
            about.push(("numberOfEventIndicators", self.watched().to_string()));
        }
        document("fmiModelDescription", about, |xml| {
            let varies = ("canHandleVariableCommunicationStepSize", "true".to_owned());
            // The sides of event functions are those at the end of the last step. FMI 2.0 has this where it is not denied.
            let notices = ("needsCompletedIntegratorStep", (self.watched() > 0).to_string());
            let notices = (!is_two).then_some(notices);
            for (kind, more) in [("ModelExchange", notices), ("CoSimulation", Some(varies))] {
                let abilities = self.abilities(version).into_iter().chain(more).collect();
                match version {
                    Version::Two => element(xml, kind, abilities, |xml| {
                        element(xml, "SourceFiles", vec![], |xml| {
                            let names = ["fmu.c".to_owned(), format!("{}.c", self.prefix)];
                            names.into_iter().try_for_each(|name| empty(xml, "File", vec![("name", name)]))
                        })
                    })?,
                    Version::Three => empty(xml, kind, abilities)?,
                }
            }
            let from = self.start_time();
            let experiment = [("startTime", from), ("stopTime", from + UNTIL), ("stepSize", STEP)];
            empty(xml, "DefaultExperiment", experiment.map(|(name, value)| (name, double(value))).into())?;
            element(xml, "ModelVariables", vec![], |xml| {
                let mut variables = variables.iter().enumerate();
                variables.try_for_each(|(reference, variable)| variable.describe(xml, version, reference))
            })?;
            element(xml, "ModelStructure", vec![], |xml| structure(xml, version, variables))
        })
    }

    /// The identifier of the FMU, and what it can do.
    fn abilities(&self, version: Version) -> Attributes {
        let abilities: &[&str] = match version {
            Version::Two => &["canGetAndSetFMUstate", "canSerializeFMUstate", "providesDirectionalDerivative"],
            Version::Three => &[
                "canGetAndSetFMUState",
                "canSerializeFMUState",
                "providesDirectionalDerivatives",
                "providesAdjointDerivatives",
            ],
        };
        let identifier = ("modelIdentifier", self.prefix.clone());
        [identifier].into_iter().chain(abilities.iter().map(|name| (*name, "true".to_owned()))).collect()
    }

    /// `buildDescription.xml` of FMI 3.0.
    pub(crate) fn build_description(&self, sources: &[File]) -> io::Result<Vec<u8>> {
        document("fmiBuildDescription", vec![("fmiVersion", "3.0".to_owned())], |xml| {
            element(xml, "BuildConfiguration", vec![("modelIdentifier", self.prefix.clone())], |xml| {
                element(xml, "SourceFileSet", vec![("language", "C99".to_owned())], |xml| {
                    let mut names = sources.iter().map(|file| &file.name).filter(|name| name.ends_with(".c"));
                    names.try_for_each(|name| empty(xml, "SourceFile", vec![("name", name.clone())]))
                })
            })
        })
    }
}

impl Variable {
    fn describe(&self, xml: &mut Xml, version: Version, reference: usize) -> io::Result<()> {
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
        let mut attributes = vec![
            ("name", self.name.clone()),
            ("valueReference", reference.to_string()),
            ("causality", causality.to_owned()),
            ("variability", variability.to_owned()),
        ];
        attributes.extend(initial.map(|initial| ("initial", initial.to_owned())));
        let mut numbers = Vec::new();
        if matches!(self.kind, Kind::State | Kind::Parameter | Kind::Input | Kind::Step | Kind::Tolerance) {
            numbers.push(("start", double(self.start)));
        }
        // The first state is the second variable. FMI 2.0 counts variables from 1, FMI 3.0 has references, which begin with 0.
        let first_state = if version == Version::Two { 2 } else { 1 };
        if let Kind::Derivative { of } = self.kind {
            numbers.push(("derivative", (first_state + of).to_string()));
        }
        match version {
            Version::Two => element(xml, "ScalarVariable", attributes, |xml| empty(xml, "Real", numbers)),
            Version::Three => empty(xml, "Float64", [attributes, numbers].concat()),
        }
    }
}

/// Which variables are outputs, derivatives and event indicators. Lists are left out where they have no entries.
fn structure(xml: &mut Xml, version: Version, variables: &[Variable]) -> io::Result<()> {
    let of = |is_meant: fn(Kind) -> bool| -> Vec<usize> {
        let places = variables.iter().enumerate().filter(|(_, one)| is_meant(one.kind));
        places.map(|(place, _)| place).collect()
    };
    let outputs = of(|kind| kind == Kind::Output);
    let derivatives = of(|kind| matches!(kind, Kind::Derivative { .. }));
    // In the order of the variables, as FMI 2.0 asks.
    let unknowns = [&derivatives[..], &outputs].concat();
    match version {
        Version::Two => {
            let lists = [("Outputs", outputs), ("Derivatives", derivatives), ("InitialUnknowns", unknowns)];
            lists.into_iter().filter(|(_, places)| !places.is_empty()).try_for_each(|(list, places)| {
                element(xml, list, vec![], |xml| {
                    places.iter().try_for_each(|place| empty(xml, "Unknown", vec![("index", (place + 1).to_string())]))
                })
            })
        }
        Version::Three => {
            let lists = [
                ("Output", outputs),
                ("ContinuousStateDerivative", derivatives),
                ("InitialUnknown", unknowns),
                ("EventIndicator", of(|kind| kind == Kind::Event)),
            ];
            lists.into_iter().try_for_each(|(name, places)| {
                places.iter().try_for_each(|place| empty(xml, name, vec![("valueReference", place.to_string())]))
            })
        }
    }
}

/// A number as XML Schema writes it.
fn double(number: f64) -> String {
    if number.is_infinite() { if number > 0.0 { "INF" } else { "-INF" }.to_owned() } else { format!("{number:?}") }
}

/// A text without the characters that XML has no way to write, and in one line.
fn permitted(text: &str) -> String {
    text.replace(|character: char| character.is_control() || matches!(character, '\u{fffe}' | '\u{ffff}'), " ")
}
