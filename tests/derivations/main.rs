//! Derivations that are kept as text: what is read back is what was written, and nothing else is believed.
#![allow(missing_docs)]

use std::time::Instant;

use fbint_macros_core::{algebra, prepared};
use fbint_tests::compiler::Declaration;

#[test]
fn what_is_written_is_read_back_and_believed() {
    for declaration in [Declaration::shipped(), Declaration::others()].concat() {
        let problem = declaration.elaborate().problem;
        let derived =
            algebra::prepare(&problem).unwrap_or_else(|obstacle| panic!("{}: {obstacle:?}", declaration.name));
        let start = Instant::now();
        let text = prepared::write(&problem, None, &derived, "");
        let written = start.elapsed();
        let start = Instant::now();
        let read =
            prepared::read(&text, &problem).unwrap_or_else(|damage| panic!("{}: {damage}\n{text}", declaration.name));
        let reading = start.elapsed();
        assert_eq!(prepared::write(&problem, None, &read, ""), text, "{}", declaration.name);
        let start = Instant::now();
        assert_eq!(prepared::contradiction(&problem, &read), None, "{}\n{text}", declaration.name);
        println!(
            "{} {} B, written {written:?} read {reading:?} believed {:?}",
            declaration.name,
            text.len(),
            start.elapsed()
        );
        assert_eq!(format!("{:?}", derived.derivation), format!("{:?}", read.derivation), "{}", declaration.name);
    }
}
