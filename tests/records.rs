//! States and inputs as records for files.

use fbint_runtime::{FeedbackSystem, feedback_system};
use nalgebra::{matrix, vector};
use serde_json::{json, to_string, to_value};

#[feedback_system(
    state(a, x: [2], r: [2, 3]),
    input(push: [2], pull),
    dynamics(a = pull - a, x = push - x, r = -r),
)]
struct Decay;

#[test]
fn records_are_written_by_the_names_of_their_variables() -> Result<(), serde_json::Error> {
    let state = DecayState { a: 1.0, x: vector![2.0, 3.0], r: matrix![4.0, 5.0, 6.0; 7.0, 8.0, 9.0], time: 0.5 };
    let expected = json!({ "a": 1.0, "x": [2.0, 3.0], "r": [[4.0, 5.0, 6.0], [7.0, 8.0, 9.0]], "time": 0.5 });
    assert_eq!(to_value(state)?, expected);
    let input = json!({ "push": [0.5, -0.5], "pull": 2.0 });
    assert_eq!(to_value(DecayInput { push: vector![0.5, -0.5], pull: 2.0 })?, input);
    let text = to_string(&state)?;
    let places = Decay.facts().variables.iter().map(|variable| text.find(&format!("\"{}\":", variable.name)));
    assert!(places.is_sorted_by(|before, after| before.is_some() && before < after), "{text}");
    Ok(())
}
