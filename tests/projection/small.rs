//! Motions near equilibria, whose energy is below the rounding of what is conserved: there a projection has nothing to say, and leaves them
//! as exact as plain steps.

use catalogue::comparison::RecordedRun;
use fbint_catalogue::AnyModel;
use fbint_runtime::{Error, GaussStages, Method, Settings};
use fbint_tests::amount;

use crate::comparison::{ALLOWED, alone};
use crate::pairs::{Place, shipped};
use crate::systems::CartesianPendulum;

const AMPLITUDES: [f64; 7] = [1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10];
/// What rounding, and the move of the start onto the constraints, may add to an error: in units of the amplitude, and in roundings of the
/// largest entry.
const OF_AMPLITUDE: f64 = 1e-10;
const ROUNDINGS: f64 = 4096.0;
/// What the default may add under error control: in units of the amplitude, and of the tolerance. Steps grow with the accuracy that is asked
/// for, until the energy of the motion is above its rounding.
const OF_CONTROLLED: f64 = 1e-2;
const OF_TOLERANCE: f64 = 1.0;
/// The least number of pairs.
const PAIRS: usize = 1_600;

/// Steps of a fixed size for two units of time at most, and two tolerances.
fn methods() -> Vec<(Method, f64)> {
    let mut methods = Vec::new();
    for (h, until) in [(1e-3, 0.2), (1e-2, 2.0)] {
        let fixed = [Method::Euler { h }, Method::Midpoint { h }, Method::Heun { h }, Method::Rk4 { h }];
        methods.extend(fixed.map(|method| (method, until)));
    }
    for rtol in [1e-6, 1e-9] {
        methods.push((Method::DormandPrince { rtol, atol: Some(rtol) }, 1.0));
        methods.push((Method::Dop853 { rtol, atol: Some(rtol) }, 1.0));
    }
    methods
}

/// The end of a run.
fn end(system: &dyn AnyModel, start: &[f64], settings: &Settings) -> Result<Vec<f64>, Error> {
    Ok(RecordedRun::of(system, start, settings)?.states.pop().unwrap_or_default())
}

/// Where plain and default runs of every method end, against the truth: what is lost, in words; and the number of pairs.
fn compare(place: &Place, start: &[f64], amplitude: f64, skip: usize, every: usize) -> (usize, Vec<String>) {
    let (system, projection) = (&*place.system, place.system.default_projection());
    let (mut pairs, mut losses) = (0, Vec::new());
    for (method, until) in methods().into_iter().skip(skip % every).step_by(every) {
        let added = match method.tolerances() {
            Some((rtol, _)) => (OF_CONTROLLED * amplitude).min(OF_TOLERANCE * rtol),
            None => OF_AMPLITUDE * amplitude,
        };
        let until = until * place.unit;
        let settings = Settings { projection: None, ..Settings::new(method, until) };
        // Collocation of order 16, whose sums are compensated.
        let truth = |steps: f64| {
            let method = Method::Gauss { stages: GaussStages::Eight, h: until / steps };
            end(system, start, &Settings { method, ..settings })
        };
        let runs = [truth(40.0), truth(32.0), end(system, start, &settings)];
        let [Ok(truth), Ok(coarser), Ok(plain)] = runs else { continue };
        pairs += 1;
        let default = match end(system, start, &Settings { projection, ..settings }) {
            Ok(default) => default,
            Err(error) => {
                losses.push(format!("{}, {amplitude:e}, {method:?}: {error}", place.name));
                continue;
            }
        };
        let error_of =
            |state: &[f64]| -> Vec<f64> { state.iter().zip(&truth).map(|(x, truth)| (x - truth).abs()).collect() };
        let (plain, default, uncertain) = (error_of(&plain), error_of(&default), error_of(&coarser));
        let size_of = |entry: usize| truth[entry].abs().max(start[entry].abs());
        // Entries that are 0 at the equilibrium are compared with one another, and so are the others.
        let is_small = |entry: usize| size_of(entry) < 1e3 * amplitude;
        for entry in 0..truth.len() {
            let alike = (0..truth.len()).filter(|other| is_small(*other) == is_small(entry));
            let (size, largest) = (size_of(entry), alike.map(|other| plain[other]).fold(0.0, f64::max));
            let rounding = ROUNDINGS * f64::EPSILON * truth.iter().fold(size, |size, entry| size.max(entry.abs()));
            let floor = added + rounding + uncertain[entry];
            if default[entry] > ALLOWED * largest + floor {
                let name = place.system.state_names()[entry];
                let [plain, default] = [largest, default[entry]].map(|error| error / amplitude);
                losses.push(format!(
                    "{}, {amplitude:e}, {method:?}: `{name}` is off by {default:.1e} of the amplitude, {plain:.1e} without",
                    place.name
                ));
                break;
            }
        }
    }
    (pairs, losses)
}

#[test]
fn motions_below_the_rounding_of_integrals_are_left_alone() -> Result<(), Error> {
    let every = amount(4, 1);
    let (mut pairs, mut losses, mut index) = (0, Vec::new(), 0);
    for place in shipped()?.into_iter().filter(|place| place.system.default_projection().is_some()) {
        for equilibrium in place.equilibria().into_iter().filter(|state| place.is_equilibrium(state)) {
            for amplitude in AMPLITUDES {
                let Ok(start) = place.system.repair(&place.moved(&equilibrium, amplitude), &[]) else { continue };
                index += 1;
                let (more, lost) = compare(&place, &start, amplitude, index, every);
                pairs += more;
                losses.extend(lost);
            }
        }
    }
    println!("{pairs} pairs");
    assert!(losses.is_empty(), "{} of {pairs} default runs lose:\n{}", losses.len(), losses.join("\n"));
    assert!(pairs >= PAIRS / every, "only {pairs} pairs");
    Ok(())
}

/// A pendulum swings as exactly from 4e-9 as from 0.01, by the formula of small amplitudes.
#[test]
fn a_pendulum_swings_at_any_amplitude() -> Result<(), Error> {
    const G: f64 = 9.81;
    let place = Place::near("pendulum", alone(CartesianPendulum { g: G }), [0.0, -1.0, 0.0, 0.0]);
    let projection = place.system.default_projection();
    for amplitude in [1e-6_f64, 2e-8, 4e-9] {
        let (sin, cos) = amplitude.sin_cos();
        let method = Method::Rk4 { h: 1e-3 };
        let settings = Settings { projection, ..Settings::new(method, 2.0) };
        let found = end(&*place.system, &[sin, -cos, 0.0, 0.0], &settings)?[0];
        // The frequency at this amplitude is that of none times 1 - a^2 / 16.
        let exact = amplitude * (G.sqrt() * 2.0 * (1.0 - amplitude * amplitude / 16.0)).cos();
        assert!((found - exact).abs() < 1e-12 * amplitude, "{amplitude:e}: off by {:e}", (found - exact) / amplitude);
    }
    Ok(())
}
