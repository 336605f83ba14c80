//! Names for the values of a program, after what they compute, so that a change of one value leaves the other names alone.
//!
//! A name is a digit and then digits and letters: as much of a hash as tells the values of the program apart, but at least three characters.
//! As little as that takes is hashed: the operation and those operands that are inputs; where several values share that, the hashes of their
//! operands; and so on. Numbers, which change most, are not hashed: values that differ in numbers alone are counted.

use std::hash::Hasher;

use siphasher::sip::SipHasher24;

use super::builder::LookUp;
use super::instructions::{Input, Instruction, Program, Value};

/// The fewest characters of a name.
const SHORTEST: usize = 3;

/// A name for each value of a program, whose inputs have names.
pub(crate) fn names(program: &Program, input: impl Fn(Input) -> String) -> Vec<String> {
    let mut kinds = Kinds { input, known: LookUp::default() };
    let kinds: Vec<u64> = program.instructions.iter().map(|instruction| kinds.of(instruction)).collect();
    // The names of prepared numbers are hashes, too.
    let known = |value: Value| match program.instructions[value.index()] {
        Instruction::Input(Input::Prepared(_) | Input::Change(_)) => 1,
        ref other if other.computes() => 0,
        _ => kinds[value.index()],
    };
    let values = || (0..kinds.len()).map(Value::at);
    let mut hashes: Vec<u64> = values().map(|value| refined(program, value, kinds[value.index()], known)).collect();
    let mut classes = counted(&hashes);
    while classes.len() < hashes.len() {
        let refine = |value: Value| match hashes[value.index()] {
            hash if classes[&hash] > 1 => refined(program, value, hash, |operand| hashes[operand.index()]),
            hash => hash,
        };
        hashes = values().map(refine).collect();
        let count = classes.len();
        classes = counted(&hashes);
        if classes.len() == count {
            break;
        }
    }
    shortened(&numbered(&hashes))
}

/// A name for each result, whatever its numerical factor and its sign: a changed factor leaves the names alone.
pub(crate) fn names_but_for_factors(program: &Program, input: impl Fn(Input) -> String) -> Vec<String> {
    let is_number = |value: &Value| matches!(program.instructions[value.index()], Instruction::Constant(_));
    let (mut kinds, mut hashes) = (Kinds { input, known: LookUp::default() }, Vec::new());
    for (index, instruction) in program.instructions.iter().enumerate() {
        hashes.push(match *instruction {
            Instruction::Mul(a, b) if is_number(&a) => hashes[b.index()],
            Instruction::Mul(a, b) | Instruction::Div(a, b) if is_number(&b) => hashes[a.index()],
            Instruction::Neg(a) => hashes[a.index()],
            _ => refined(program, Value::at(index), kinds.of(instruction), |operand| hashes[operand.index()]),
        });
    }
    let results: Vec<u64> = program.outputs.iter().map(|value| hashes[value.index()]).collect();
    shortened(&numbered(&results))
}

/// Hashes of instructions without their operands, in words that do not depend on the machine.
struct Kinds<F> {
    input: F,
    known: LookUp<Instruction, u64>,
}

impl<F: Fn(Input) -> String> Kinds<F> {
    fn of(&mut self, instruction: &Instruction) -> u64 {
        let bare = match instruction {
            Instruction::Constant(_) => Instruction::Constant(0),
            other => other.clone().map(|_| Value::at(0)),
        };
        *self.known.entry(bare).or_insert_with_key(|bare| {
            let text = match bare {
                Instruction::Constant(_) => "number".to_owned(),
                Instruction::Input(of) => (self.input)(*of),
                other => format!("{other:?}"),
            };
            let mut hasher = SipHasher24::new();
            hasher.write(text.as_bytes());
            hasher.finish()
        })
    }
}

/// A hash together with the operands' hashes, sorted where their order does not matter.
fn refined(program: &Program, value: Value, hash: u64, of: impl Fn(Value) -> u64) -> u64 {
    let instruction = &program.instructions[value.index()];
    let mut words: Vec<u64> = [hash].into_iter().chain(instruction.operands().map(of)).collect();
    if let Instruction::Add(..) | Instruction::Mul(..) | Instruction::MulAdd(..) = instruction {
        words[1..3].sort_unstable();
    }
    mixed(&words)
}

fn mixed(numbers: &[u64]) -> u64 {
    let mut hasher = SipHasher24::new();
    numbers.iter().for_each(|number| hasher.write_u64(number.to_le()));
    hasher.finish()
}

/// The number of values that share each hash.
fn counted(hashes: &[u64]) -> LookUp<u64, usize> {
    hashes.iter().fold(LookUp::default(), |mut classes, &hash| {
        *classes.entry(hash).or_default() += 1;
        classes
    })
}

/// Values that compute the same but for numbers are counted, in the program's order.
fn numbered(hashes: &[u64]) -> Vec<u64> {
    let mut met = LookUp::<u64, u64>::default();
    let number = |&hash: &u64| {
        let count = met.entry(hash).or_default();
        *count += 1;
        if *count == 1 { hash } else { mixed(&[hash, *count]) }
    };
    hashes.iter().map(number).collect()
}

/// The shortest beginnings that differ.
fn shortened(hashes: &[u64]) -> Vec<String> {
    let spelled: Vec<String> = hashes.iter().map(|&hash| spelled(hash)).collect();
    let mut sorted: Vec<(&str, usize)> = spelled.iter().map(String::as_str).zip(0..).collect();
    sorted.sort_unstable();
    let mut lengths = vec![SHORTEST; hashes.len()];
    for pair in sorted.windows(2) {
        let [(one, first), (other, second)] = pair else { continue };
        let alike = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
        [first, second].into_iter().for_each(|&place| lengths[place] = lengths[place].max(alike + 1));
    }
    spelled.iter().zip(lengths).map(|(name, length)| name[..length.min(name.len())].to_owned()).collect()
}

/// A digit, and eleven digits and letters.
fn spelled(hash: u64) -> String {
    let rest = std::iter::successors(Some(hash / 10), |rest| Some(rest / 36)).take(11);
    let digits = [hash % 10].into_iter().chain(rest.map(|rest| rest % 36));
    digits.filter_map(|digit| char::from_digit(digit as u32, 36)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::derivation::table::Id;
    use crate::expression::Symbol;

    fn named(instructions: Vec<Instruction>) -> Vec<String> {
        let program = Program { instructions, outputs: Vec::new() };
        names(&program, |input| format!("{input:?}"))
    }

    fn input(place: usize) -> Instruction {
        Instruction::Input(Input::State(Symbol::at(place)))
    }

    #[test]
    fn a_changed_operation_renames_itself_alone() {
        let [a, b, c, d] = [0, 1, 2, 3].map(Value::at);
        let program = |number: f64, changed: Instruction| {
            let number = Instruction::constant(number);
            named(vec![input(0), number, changed, Instruction::Add(a, c), Instruction::Sqrt(d)])
        };
        let before = program(2.0, Instruction::Mul(a, b));
        assert_eq!(program(3.0, Instruction::Mul(b, a)), before);
        let after = program(2.0, Instruction::Div(a, b));
        let kept: Vec<bool> = before.iter().zip(&after).map(|(before, after)| before == after).collect();
        assert_eq!(kept, [true, true, false, true, true]);
        assert!(before.iter().all(|name| name.len() == 3 && name.as_bytes()[0].is_ascii_digit()), "{before:?}");
    }

    #[test]
    fn all_differ_however_alike_they_are() {
        let roots = (0..1000).map(|place| Instruction::Sqrt(Value::at(place)));
        let names = named([input(0)].into_iter().chain(roots).chain([Instruction::Sqrt(Value::at(0))]).collect());
        let different: std::collections::BTreeSet<&String> = names.iter().collect();
        assert_eq!(different.len(), names.len());
    }
}
