//! Wherever a plain run succeeds, the default run succeeds: in every system that is projected by default, by every method, from starts
//! that are exact, typed with a few digits, at rest, near equilibria and on relative equilibria.

use catalogue::comparison::RecordedRun;
use fbint_catalogue::AnyModel;
use fbint_runtime::{Error, Method, Settings, StateRole};
use fbint_tests::systems::*;
use fbint_tests::{Random, amount};

use crate::comparison::alone;
use crate::systems::{self, *};

/// The least number of pairs, and of systems.
const PAIRS: usize = 5_000;
const SYSTEMS: usize = 40;
/// The digits with which people type.
const DIGITS: [usize; 6] = [6, 7, 8, 9, 10, 12];
/// The distances from an equilibrium.
const DISTANCES: [f64; 8] = [1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9];
const STEPS: [f64; 3] = [1e-3, 1e-2, 5e-2];
const TOLERANCES: [f64; 3] = [1e-5, 1e-8, 1e-12];
/// A run takes so many steps of a fixed size.
const LENGTH: f64 = 25.0;
/// States with more entries than this start in fewer ways.
const LARGE: usize = 40;

/// The three settings of each method, in units of time of a system.
fn settings(unit: f64) -> Vec<Settings> {
    let fixed = |method: fn(f64) -> Method| STEPS.map(|h| Settings::new(method(h * unit), LENGTH * h * unit));
    let controlled = |method: fn(f64) -> Method| TOLERANCES.map(|rtol| Settings::new(method(rtol), unit));
    let methods = [
        fixed(|h| Method::Euler { h }),
        fixed(|h| Method::Midpoint { h }),
        fixed(|h| Method::Heun { h }),
        fixed(|h| Method::Rk4 { h }),
        controlled(|rtol| Method::DormandPrince { rtol, atol: Some(rtol) }),
        controlled(|rtol| Method::Dop853 { rtol, atol: Some(rtol) }),
    ];
    methods.concat()
}

/// A system, and where it starts.
pub(crate) struct Place {
    pub(crate) name: String,
    pub(crate) system: Box<dyn AnyModel>,
    /// A unit of time in which the motion changes the state little.
    pub(crate) unit: f64,
    start: Vec<f64>,
    /// Equilibria and relative equilibria that are known.
    steady: Vec<Vec<f64>>,
}

impl Place {
    /// A system that starts as near to `guess` as its constraints permit.
    pub(crate) fn near(name: &str, system: Box<dyn AnyModel>, guess: impl Into<Vec<f64>>) -> Self {
        let start = system.repair(&guess.into(), &[]).unwrap_or_else(|error| panic!("{name}: {error}"));
        Self { name: name.into(), system, unit: 1.0, start, steady: Vec::new() }
    }

    fn steady(self, steady: &[&[f64]]) -> Self {
        Self { steady: steady.iter().map(|state| state.to_vec()).collect(), ..self }
    }

    /// The starts, with names.
    fn starts(&self) -> Vec<(String, Vec<f64>)> {
        let mut bases = vec![("start".to_owned(), self.start.clone()), ("at rest".to_owned(), self.at_rest())];
        bases.extend(self.elsewhere().map(|state| ("elsewhere".to_owned(), state)));
        let equilibria = self.equilibria();
        bases.extend(
            equilibria.iter().enumerate().map(|(index, state)| (format!("equilibrium {index}"), state.clone())),
        );
        let mut starts = Vec::new();
        for (name, base) in &bases {
            starts.push((name.clone(), base.clone()));
            starts.extend(DIGITS.map(|digits| (format!("{name}, {digits} digits"), typed(base, digits))));
        }
        for (index, equilibrium) in equilibria.iter().enumerate() {
            for distance in DISTANCES {
                let name = format!("{distance:e} from equilibrium {index}");
                let moved = self.moved(equilibrium, distance);
                starts.extend(self.system.repair(&moved, &[]).map(|state| (format!("{name}, repaired"), state)));
                starts.push((name, moved));
            }
        }
        if self.start.len() > LARGE {
            starts.truncate(DIGITS.len());
        }
        starts
    }

    /// Equilibria and relative equilibria.
    pub(crate) fn equilibria(&self) -> Vec<Vec<f64>> {
        let settled = (self.start.len() <= LARGE).then(|| self.settled()).flatten();
        settled.into_iter().chain(self.steady.clone()).collect()
    }

    /// The start without velocities.
    fn at_rest(&self) -> Vec<f64> {
        let is_velocity = |role: &StateRole| matches!(role, StateRole::Momentum { .. } | StateRole::Velocity);
        let roles = self.system.state_roles();
        let entries = self.start.iter().zip(&roles);
        entries.map(|(entry, role)| if is_velocity(role) { 0.0 } else { *entry }).collect()
    }

    /// A state somewhere near the start, none of whose entries is a round number.
    fn elsewhere(&self) -> Option<Vec<f64>> {
        self.system.repair(&self.moved(&self.start, 0.2), &[]).ok()
    }

    /// A state moved by a distance in units of its entries, the time and the work but for.
    pub(crate) fn moved(&self, state: &[f64], distance: f64) -> Vec<f64> {
        let mut random = Random::new(27);
        let roles = self.system.state_roles();
        let entries = state.iter().zip(&self.start).zip(&roles).map(|((entry, start), role)| {
            let size = if start.abs() < 1e-3 { 1.0 } else { start.abs() };
            let step = distance * size * random.between(-1.0, 1.0);
            if matches!(role, StateRole::Time | StateRole::Work) { *entry } else { entry + step }
        });
        entries.collect()
    }

    /// Where the system comes to rest when its velocities are damped, if that is an equilibrium.
    fn settled(&self) -> Option<Vec<f64>> {
        let roles = self.system.state_roles();
        let run = |state: &[f64], settings: Settings| -> Option<Vec<f64>> {
            RecordedRun::of(&*self.system, state, &settings).ok()?.states.pop()
        };
        let mut state = self.at_rest();
        for _ in 0..600 {
            state = run(&state, Settings::new(Method::Rk4 { h: 0.02 }, 0.1))?;
            for (entry, role) in state.iter_mut().zip(&roles) {
                match role {
                    StateRole::Momentum { .. } | StateRole::Velocity => *entry *= 0.85,
                    StateRole::Time | StateRole::Work => *entry = 0.0,
                    _ => {}
                }
            }
        }
        self.is_equilibrium(&state).then_some(state)
    }

    /// Whether a state stays as it is.
    pub(crate) fn is_equilibrium(&self, state: &[f64]) -> bool {
        let settings = Settings::new(Method::Dop853 { rtol: 1e-13, atol: Some(1e-13) }, 1.0);
        let after = RecordedRun::of(&*self.system, state, &settings).ok().and_then(|mut run| run.states.pop());
        let roles = self.system.state_roles();
        after.is_some_and(|after| {
            state.iter().zip(&after).zip(&roles).all(|((before, after), role)| {
                matches!(role, StateRole::Time | StateRole::Work) || (before - after).abs() < 1e-9
            })
        })
    }
}

/// A state with so many digits in each entry.
fn typed(state: &[f64], digits: usize) -> Vec<f64> {
    state.iter().map(|entry| format!("{entry:.*e}", digits - 1).parse().unwrap_or(f64::NAN)).collect()
}

/// The relative equilibria of a shipped model, and the equilibria in which nothing comes to rest.
fn steady(model: &str) -> Vec<Vec<f64>> {
    let (sin, cos) = 0.7_f64.sin_cos();
    let cone = vec![sin, 0.0, -cos, 0.0, sin / cos.sqrt(), 0.0];
    match model {
        "spherical-pendulum" | "spherical-pendulum-cpv22" => vec![cone, vec![0.0, 0.0, 1.0, 0.0, 0.0, 0.0]],
        "planar-pendulum" => vec![vec![0.0, 1.0, 0.0, 0.0]],
        "kepler" => vec![vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0], vec![0.6, 0.8, 0.0, -0.8, 0.6, 0.0]],
        "perturbed-kepler" => vec![vec![1.0, 0.0, 0.0, 0.0, 1.0075_f64.sqrt(), 0.0]],
        "free-rigid-body" => [0, 1, 2].map(|axis| turning(axis, 9, 12)).into(),
        "euler-top" => [0, 1, 2].map(|axis| turning(axis, 0, 3)).into(),
        "chaplygin-sleigh" => vec![vec![0.0, 0.0, 0.3, 0.0, 1.0]],
        "balanced-sleigh" => vec![vec![0.0, 0.0, 0.3, 0.0, 1.0], vec![0.0, 0.0, 0.0, 1.0, 0.0]],
        "held-sleigh" => vec![vec![0.0, 0.0, 0.0, 1.0, 0.0, 0.0]],
        "rolling-disk" => vec![vec![0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]],
        "cart-pole" | "cart-pendulum" => vec![vec![0.0; if model == "cart-pole" { 6 } else { 4 }]],
        _ => Vec::new(),
    }
}

/// A body that turns about an axis: attitudes first, angular velocities or momenta from `first` on.
fn turning(axis: usize, first: usize, entries: usize) -> Vec<f64> {
    let attitude = |entry: usize| entry < first && entry.is_multiple_of(4);
    (0..entries).map(|entry| if attitude(entry) || entry == first + axis { 1.0 } else { 0.0 }).collect()
}

/// Every shipped model.
pub(crate) fn shipped() -> Result<Vec<Place>, Error> {
    let models = catalogue::all().into_iter().map(|entry| {
        let model = (entry.load)();
        let (start, steady) = (model.start()?, steady(&entry.name));
        // Its pivot vibrates.
        let unit = if entry.name == "kapitza-pendulum" { 0.1 } else { 1.0 };
        Ok(Place { name: entry.name, system: model, unit, start, steady })
    });
    models.collect()
}

/// The systems of the tests.
fn declared() -> Vec<Place> {
    let numbers = |count: usize| -> Vec<f64> {
        let mut random = Random::new(5);
        (0..count).map(|_| random.between(0.3, 1.1)).collect()
    };
    let OuterPlanets { g, m } = OUTER_PLANETS;
    let sun = SunEarthMoon::of_nature();
    let days = sun.start();
    let cartesian = CartesianDoublePendulum { m: [1.0, 0.5], l: [1.0, 0.7], g: 1.0 };
    let hanging = cartesian.start([1.2, -0.5]);
    let pi = std::f64::consts::PI;
    vec![
        Place::near("planar pendulum of CPV22", alone(PlanarPendulumCpv22::default()), [0.6, -0.8, 0.4, 0.3]),
        Place::near("tree", alone(Tree::default()), tree()),
        Place::near("indefinite", alone(Indefinite::default()), numbers(6)),
        Place::near("double pendulum", alone(DoublePendulum::default()), [1.2, -0.5, 0.0, 0.0])
            .steady(&[&[pi, pi, 0.0, 0.0], &[0.0, pi, 0.0, 0.0]]),
        Place::near("geared pendulum", alone(GearedPendulum::default()), [0.4, 1.0, 0.3, 0.2]),
        Place::near("bead", alone(Bead::default()), numbers(6)),
        Place::near("six phase constraints", alone(SixPhaseConstraints::default()), numbers(8)),
        Place::near("mixed pendulum", alone(MixedPendulum::default()), [0.2, -0.6, -0.7, 0.1, -0.3, 0.4]),
        Place::near("oscillator", alone(Oscillator::default()), numbers(6))
            .steady(&[&[0.0; 6], &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0]]),
        Place::near("functions", alone(Functions::default()), numbers(6)),
        Place::near("heavy top", alone(HeavyTop::default()), numbers(6))
            .steady(&[&[0.0, 0.0, 3.0, 0.0, 0.0, 1.0], &[0.0, 0.0, 0.0, 0.0, 0.0, -1.0]]),
        Place::near("figure of eight", alone(ThreeBodies { g: 1.0, m: [1.0; 3] }), systems::figure_eight()),
        Place::near(
            "figure of eight, P, L",
            alone(ThreeBodiesWithInvariants { g: 1.0, m: [1.0; 3] }),
            systems::figure_eight(),
        ),
        Place {
            unit: 50.0,
            ..Place::near(
                "outer solar system, P, L",
                alone(OuterSolarSystemWithInvariants { g, m }),
                systems::outer_planets(),
            )
        },
        Place::near("sun, earth, moon", alone(sun), days),
        Place::near("planar Kepler", alone(PlanarKepler { mu: 1.0 }), perihelion(0.6))
            .steady(&[&[1.0, 0.0, 0.0, 1.0], &[0.6, 0.8, -0.8, 0.6]]),
        Place::near("planar Kepler, A", alone(PlanarKeplerWithAxis { mu: 1.0 }), perihelion(0.6))
            .steady(&[&[1.0, 0.0, 0.0, 1.0], &[0.6, 0.8, -0.8, 0.6]]),
        Place::near("Henon-Heiles", alone(HenonHeiles), HenonHeiles::start(0.1, 0.1, 0.1))
            .steady(&[&[0.0; 4], &[0.0, 1.0, 0.0, 0.0]]),
        Place::near("Cartesian double pendulum", alone(cartesian), hanging),
        Place::near(
            "driven pendulum of the tests",
            alone(systems::DrivenPendulum { a: 0.5, w: 1.5 }),
            systems::DrivenPendulum::start(),
        ),
        Place::near("rigid water", alone(water::rigid()), water::turning()),
    ]
}

/// A tree whose rods are not parallel.
fn tree() -> Vec<f64> {
    let places = [[0.6, -0.8], [1.4, -1.4], [2.4, -1.4], [1.4, -2.4], [0.6, -3.0]];
    places.concat().into_iter().chain([0.0; 10]).collect()
}

#[test]
fn wherever_a_plain_run_succeeds_the_default_run_does() -> Result<(), Error> {
    let projected = |place: &Place| place.system.default_projection().is_some();
    let places: Vec<Place> = shipped()?.into_iter().chain(declared()).filter(projected).collect();
    let every = amount(5, 1);
    let (mut pairs, mut failures) = (0, Vec::new());
    for place in &places {
        let projection = place.system.default_projection();
        for (index, (name, start)) in place.starts().into_iter().enumerate() {
            // From each start a few of the settings, or all.
            let chosen = settings(place.unit).into_iter().skip(index % every).step_by(every);
            for settings in chosen {
                if RecordedRun::of(&*place.system, &start, &settings).is_err() {
                    continue;
                }
                pairs += 1;
                if let Err(error) = RecordedRun::of(&*place.system, &start, &Settings { projection, ..settings }) {
                    failures.push(format!("{}, {name}, {:?}: {error}", place.name, settings.method));
                }
            }
        }
    }
    println!("{pairs} pairs of {} systems", places.len());
    assert!(pairs >= PAIRS && places.len() >= SYSTEMS, "only {pairs} pairs of {} systems", places.len());
    let (count, failures) = (failures.len(), failures.join("\n"));
    assert!(failures.is_empty(), "{count} of {pairs} default runs fail where plain runs succeed:\n{failures}");
    Ok(())
}
