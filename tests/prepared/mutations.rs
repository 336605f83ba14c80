//! Files that were changed, by accident or with intent.

use fbint_macros_core::derivation::{ConstraintMatrix, Derivation, Hamel, Prepared, Problem};
use fbint_macros_core::expression::Expression;
use fbint_macros_core::numbers::points::sample_points;
use fbint_macros_core::prepared::{read, verify_kept, write};
use fbint_tests::compiler::{Declaration, solved_field};
use fbint_tests::{Random, amount};

/// Changes of the files of these, which have fields of different kinds.
const CHANGES: usize = 2_000;
const OF_EACH_KIND: [&str; 3] = ["FourBar", "FreeRigidBody", "ChaplyginSleigh"];
/// Changes of each shipped model's file with a checksum that is made anew, where it has so many bytes.
const SEALED: usize = 300;
const BYTES: usize = 5_000;

#[test]
fn a_changed_file_is_refused() {
    let mut random = Random::new(1);
    for declaration in Declaration::shipped() {
        let (problem, text) = (declaration.elaborate().problem, declaration.shipped_file());
        let is_chosen = OF_EACH_KIND.contains(&&declaration.name[..]);
        for _ in 0..if is_chosen { CHANGES } else { amount(100, CHANGES) } {
            let changed = changed(&text, &mut random);
            assert!(changed == text || read(&changed, &problem).is_err(), "{}:\n{changed}", declaration.name);
        }
    }
}

/// Who makes the checksum anew may change the form of the mathematics, but nothing that it says.
#[test]
fn a_forged_file_is_refused_or_says_the_same() {
    let mut random = Random::new(2);
    for declaration in Declaration::shipped() {
        let (problem, text) = (declaration.elaborate().problem, declaration.shipped_file());
        let genuine = read(&text, &problem).expect("a derivation");
        let (mut refused, mut same) = (0, 0);
        let most = amount(SEALED / 10, SEALED);
        for _ in 0..(most * BYTES / text.len()).clamp(most / 15, most) {
            let forged = sealed(&changed(&text, &mut random));
            match read(&forged, &problem) {
                Ok(prepared) if verify_kept(&problem, prepared.clone()).is_ok() => {
                    assert_same(&problem, &genuine, &prepared, &forged);
                    same += 1;
                }
                _ => refused += 1,
            }
        }
        println!("{}: {refused} forgeries refused, {same} of another form", declaration.name);
    }
}

/// Claims and brackets are equal, and every expression has the value that it has in the genuine file.
fn assert_same(problem: &Problem, genuine: &Prepared, forged: &Prepared, text: &str) {
    assert_eq!(genuine.claims, forged.claims, "{text}");
    assert_eq!(genuine.involution.pairs, forged.involution.pairs, "{text}");
    let [ours, theirs] = [genuine, forged].map(|prepared| values(&prepared.derivation));
    assert_eq!(ours.len(), theirs.len(), "{}: {text}", problem.name);
    for (a, b) in ours.iter().zip(&theirs) {
        assert!(a == b || (a - b).abs() <= 1e-9 * (a.abs() + b.abs()) || a.is_nan(), "{a} became {b}:\n{text}");
    }
}

/// Everything that is derived, at some points.
fn values(derivation: &Derivation) -> Vec<f64> {
    let mut values = Vec::new();
    for point in sample_points().take(3) {
        let value = |expression: &Expression| point.evaluate(expression);
        for integral in derivation.integrals.rows() {
            values.push(value(&integral.value));
            let states = derivation.symbols.states();
            values.extend(states.map(|state| integral.gradient.get(&state).map_or(0.0, value)));
        }
        if let Some(ConstraintMatrix { c, with_energy, .. }) = derivation.constraint_matrix() {
            values.extend(c.iter().flatten().chain(&with_energy).map(value));
        }
        // What linear systems they take may have another form.
        values.extend(solved_field(derivation, |symbol| point.symbol(symbol)));
        if let Some(Hamel { lagrangian, momenta, forces, brackets, .. }) = &derivation.hamel {
            let coefficients = brackets.iter().flat_map(|bracket| &bracket.coefficients);
            values.push(value(lagrangian));
            values.extend(momenta.iter().chain(forces).chain(coefficients).map(|(_, entry)| value(entry)));
        }
    }
    values
}

/// The text with its checksum made anew, as `write` makes it.
pub(crate) fn sealed(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let content: String = lines[..lines.len().saturating_sub(1)].iter().flat_map(|line| [line, "\n"]).collect();
    let checksum = fbint_macros_core::prepared::checksum(&content);
    format!("{content}end {checksum}\n")
}

/// One change somewhere among the lines that are read.
fn changed(text: &str, random: &mut Random) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let first = lines.iter().position(|line| line.starts_with("integral") || line.starts_with("t0")).unwrap_or(0);
    let line = |random: &mut Random| first + random.index(text.lines().count() - first);
    let at = line(random);
    match random.index(8) {
        0 => {
            let other = line(random);
            lines.swap(at, other);
        }
        1 => {
            lines.remove(at);
        }
        2 => lines.insert(at, lines[line(random)].clone()),
        3 => {
            // One entry for another.
            let value = lines[line(random)].split_once(" = ").map(|(_, value)| value.to_owned());
            if let (Some((name, _)), Some(value)) = (lines[at].split_once(" = "), value) {
                lines[at] = format!("{name} = {value}");
            }
        }
        4 => {
            let (from, to) = [
                ("everywhere", "on constraints"),
                ("on constraints", "everywhere"),
                ("open", "everywhere"),
                ("holonomic", "general"),
                ("(+", "(*"),
                ("(*", "(+"),
                ("sin", "cos"),
                ("cos", "sin"),
                ("-1", "1"),
                ("x0", "x1"),
                ("x2", "x0"),
                ("1/2", "1/3"),
            ][random.index(12)];
            let places: Vec<usize> = (first..lines.len()).filter(|&line| lines[line].contains(from)).collect();
            if let Some(&place) = places.get(random.index(places.len().max(1))) {
                lines[place] = lines[place].replacen(from, to, 1);
            }
        }
        5 => {
            // A number for another.
            let digits: Vec<usize> =
                lines[at].char_indices().filter(|(_, c)| c.is_ascii_digit()).map(|(i, _)| i).collect();
            if let Some(&digit) = digits.get(random.index(digits.len().max(1))) {
                lines[at].replace_range(digit..=digit, &random.index(10).to_string());
            }
        }
        _ => {
            // Any byte.
            let mut bytes = lines[at].clone().into_bytes();
            let place = random.index(bytes.len().max(1));
            match random.index(3) {
                0 if !bytes.is_empty() => bytes[place] = b' ' + random.index(95) as u8,
                1 if !bytes.is_empty() => {
                    bytes.remove(place);
                }
                _ => bytes.insert(place.min(bytes.len()), b' ' + random.index(95) as u8),
            }
            lines[at] = String::from_utf8(bytes).expect("ASCII");
        }
    }
    lines.into_iter().flat_map(|line| [line, "\n".to_owned()]).collect()
}

#[test]
fn another_models_file_is_refused() {
    let shipped = Declaration::shipped();
    for (one, other) in shipped.iter().zip(shipped.iter().cycle().skip(1)) {
        let problem = one.elaborate().problem;
        let text = other.shipped_file();
        assert!(read(&text, &problem).is_err());
        // With the head of the file that it replaces.
        let own = one.shipped_file();
        let head: String = own.lines().take(3).flat_map(|line| [line, "\n"]).collect();
        let body: String = text.lines().skip(3).flat_map(|line| [line, "\n"]).collect();
        let forged = read(&sealed(&format!("{head}{body}")), &problem);
        assert!(forged.is_err() || forged.is_ok_and(|forged| verify_kept(&problem, forged).is_err()), "{}", one.name);
    }
}

/// A claim that was never proved, in a file that is right otherwise.
#[test]
fn what_is_not_conserved_is_not_believed_to_be() {
    let declaration = |invariant: &str| {
        Declaration::one(&format!(
            "#[feedback_system(coordinates(q: [2]), momenta(p: [2]), hamiltonian = p.norm_squared() / 2 - k / q.norm(), \
             invariant({invariant}))] struct Planet {{ k: f64 }}"
        ))
    };
    let right = declaration("l = q[0] * p[1] - q[1] * p[0]").kept();
    let wrong = declaration("assume l = q[0] * p[1] + q[1] * p[0]");
    let problem = wrong.elaborate().problem;
    let prepared = fbint_macros_core::algebra::prepare(&problem).expect("a derivation");
    let text = write(&problem, None, &prepared, "");
    let claim = text.lines().find(|line| line.starts_with("claim 1 = ")).expect("a claim");
    assert!(right.contains("claim 1 = everywhere\n"), "{right}");
    for grade in ["everywhere", "on constraints"] {
        let forged = sealed(&text.replace(claim, &format!("claim 1 = {grade}")));
        let forged = read(&forged, &problem).expect("a file in the right form");
        let contradiction = verify_kept(&problem, forged).expect_err("a contradiction");
        assert_eq!(contradiction, "what it says of the conservation of `l` is not so");
    }
}

/// Files that unfold to more than any memory holds, nest deeper than any stack, or have numbers without end; and what is no expression.
#[test]
fn hostile_files_are_refused_soon() {
    let declaration = Declaration::of_system("PlanarPendulum");
    let (problem, text) = (declaration.elaborate().problem, declaration.shipped_file());
    let refusal = |lines: &str, value: &str| {
        let value = format!("{lines}integral 0 = {value}");
        let line = text.lines().find(|line| line.starts_with("integral 0 = ")).expect("an integral");
        match read(&sealed(&text.replace(line, &value)), &problem) {
            Ok(forged) => verify_kept(&problem, forged).expect_err("a contradiction"),
            Err(damage) => damage,
        }
    };
    let doubled: String = (0..60)
        .map(|i| if i == 0 { "t0 = (+ x0 x0)\n".to_owned() } else { format!("t{i} = (+ t{0} t{0})\n", i - 1) })
        .collect();
    let deep = format!("{}x0{}", "(sin ".repeat(100_000), ")".repeat(100_000));
    let endless = format!("(+ x0 {})", "9".repeat(1_000_000));
    let not_understood = [(&doubled[..], "t59"), ("", &deep), ("", &endless)];
    let others = ["(+ x0 x99)", "(+ x0 t0)", "(+ x0", "(+ x0 x1))", "(frobnicate x0)", "(+ x0)", "(^ x0 x1)", ""];
    for (lines, value) in not_understood.into_iter().chain(others.map(|value| ("", value))) {
        let refusal = refusal(lines, value);
        assert!(refusal.contains("is not understood, or has too large an expression"), "{refusal}");
    }
    assert!(refusal("", "(^ x0 123456789012345678901234567890)").contains("no state was found"));
}
