//! Systems of several sizes in vectors of one length, which are longer than their states: results are bit-identical to those of the
//! generated systems, whatever is done with them.

use core::num::NonZeroU32;
use core::ops::ControlFlow;

use derive_where::derive_where;
use fbint_runtime::{
    BaeChang, ConsistentStart, Diagonal, DrivenSystem, Entries, Entry, Error, Event, Feedback, FeedbackLaw,
    FeedbackSystem, Field, GainPolicy, Gains, GeneratedSystem, HamelFunctions, HamelSystem, Held, Integrals, Method,
    PreparedSystem, Projection, Relaxation, Scalar, Settings, Simulation, Snapshot, SystemFacts, Uniform, Vector,
    feedback_system,
};

/// A pendulum with a rod that holds it.
#[feedback_system(
    coordinates(q: [2]),
    momenta(p: [2]),
    hamiltonian = p.norm_squared() / (2 * m) + m * g * q.y,
    constraint(length = q.norm_squared() - l.powi(2)),
    output(tension = -2 * l * multiplier(length)),
    default(m = 2, g = 9.81, l = 0.5),
    derivatives,
)]
struct Rod {
    m: f64,
    g: f64,
    l: f64,
}

/// A mass on two springs.
#[feedback_system(
    coordinates(x, y),
    momenta(p, s),
    hamiltonian = (p.powi(2) + s.powi(2)) / 2 + k * x.powi(2) / 2 + y.powi(4) / 4,
    default(k = 4),
    derivatives,
)]
struct Springs {
    k: f64,
}

/// A skate on ice.
#[feedback_system(
    coordinates(x, y, theta),
    velocities(omega, v, slip),
    kinematics(
        x = v * theta.cos() - slip * theta.sin(),
        y = v * theta.sin() + slip * theta.cos(),
        theta = omega,
    ),
    lagrangian = m * (v.powi(2) + (slip + omega / 4).powi(2) + omega.powi(2)) / 2,
    velocity_constraint(blade = slip),
    default(m = 1),
)]
struct Skate {
    m: f64,
}

/// A pendulum with a motor.
#[feedback_system(
    coordinates(angle),
    momenta(p),
    hamiltonian = p.powi(2) / 2 - g * angle.cos(),
    input(torque),
    force(p = torque - rate(angle) / 10),
    default(g = 9.81),
    derivatives,
)]
struct Servo {
    g: f64,
}

/// A generated system whose vectors are longer than its state.
struct Padded<S>(S);

/// The lengths of vectors.
const STATES: usize = 11;
const INTEGRALS: usize = 7;
const OUTPUTS: usize = 3;
const INPUTS: usize = 2;

/// A generated system, with the functions of the discrete Hamel integrator on its longer vectors if it has them.
trait Subject: GeneratedSystem {
    const HAMEL_FUNCTIONS_OF_PADDED: Option<HamelFunctions<Padded<Self>>> = None;
}

impl Subject for Rod {}
impl Subject for Springs {}
impl Subject for Servo {}
impl Subject for Skate {
    const HAMEL_FUNCTIONS_OF_PADDED: Option<HamelFunctions<Padded<Self>>> = Some(HamelFunctions::OF_SYSTEM);
}

#[derive_where(Clone, Debug, PartialEq)]
struct PaddedPrepared<S: FeedbackSystem, T: Scalar>(S::Prepared<T>);

/// A law for vectors that are not longer.
struct Cut<'a, L>(&'a L);

/// The first entries of a vector.
fn cut<V: Entries<T>, W: Entries<T>, T: Entry>(long: &W) -> V {
    V::from_fn(|i| long[i])
}

/// The first entries of a state, of which the others are 0, unless a lane has no state.
fn own<S: FeedbackSystem, T: Scalar>(x: &[T; STATES]) -> Vector<S, T> {
    let (zero, (own, beyond)) = (T::from_f64(0.0), x.split_at(Vector::<S>::LEN));
    let is_finite = own.iter().all(|entry| zero * *entry == zero);
    assert!(!is_finite || beyond.iter().all(|beyond| *beyond == zero), "{x:?}");
    cut(x)
}

/// A vector with zeros behind it.
fn padded<V: Entries<T>, W: Entries<T>, T: Scalar>(short: &V) -> W {
    W::from_fn(|i| short.as_ref().get(i).copied().unwrap_or(T::from_f64(0.0)))
}

impl<S: Subject> FeedbackSystem for Padded<S> {
    type Vector<T: Entry> = [T; STATES];
    type Integrals<T: Entry> = [T; INTEGRALS];
    type Outputs<T: Entry> = [T; OUTPUTS];
    type State = [f64; STATES];
    type Prepared<T: Scalar> = PaddedPrepared<S, T>;

    fn facts(&self) -> &'static SystemFacts {
        self.0.facts()
    }

    fn hamel_functions(&self) -> Option<HamelFunctions<Self>> {
        S::HAMEL_FUNCTIONS_OF_PADDED
    }

    fn parameter(&self, index: usize) -> Option<f64> {
        self.0.parameter(index)
    }

    fn parameter_mut(&mut self, index: usize) -> Option<&mut f64> {
        self.0.parameter_mut(index)
    }

    fn prepare(&self) -> PaddedPrepared<S, f64> {
        PaddedPrepared(self.0.prepare())
    }

    fn gather<'a, T: Scalar>(member: &dyn Fn(usize) -> &'a PaddedPrepared<S, f64>) -> PaddedPrepared<S, T> {
        PaddedPrepared(S::gather(&|lane| &member(lane).0))
    }
}

impl<S: Subject, T: Scalar> PreparedSystem<T> for PaddedPrepared<S, T> {
    type System = Padded<S>;

    fn facts(&self) -> &'static SystemFacts {
        PreparedSystem::<T>::facts(&self.0)
    }

    fn vector_field(&self, x: &[T; STATES]) -> [T; STATES] {
        padded(&self.0.vector_field(&own::<S, T>(x)))
    }

    fn integrals(&self, x: &[T; STATES]) -> [T; INTEGRALS] {
        padded(&PreparedSystem::integrals(&self.0, &own::<S, T>(x)))
    }

    fn integrals_jacobian(&self, x: &[T; STATES]) -> [[T; STATES]; INTEGRALS] {
        let jacobian = self.0.integrals_jacobian(&own::<S, T>(x));
        let zero = [T::from_f64(0.0); STATES];
        core::array::from_fn(|i| jacobian.as_ref().get(i).map_or(zero, padded))
    }

    fn multipliers(&self, x: &[T; STATES]) -> [T; INTEGRALS] {
        padded(&self.0.multipliers(&own::<S, T>(x)))
    }

    fn outputs(&self, x: &[T; STATES]) -> [T; OUTPUTS] {
        padded(&self.0.outputs(&own::<S, T>(x)))
    }

    fn zero_targets(&self) -> [bool; INTEGRALS] {
        let zero_targets = self.0.zero_targets();
        core::array::from_fn(|i| zero_targets.as_ref().get(i).copied().unwrap_or_default())
    }

    fn normalisation(&self) -> [[T; 3]; INTEGRALS] {
        let normalisation = self.0.normalisation();
        core::array::from_fn(|i| normalisation.as_ref().get(i).copied().unwrap_or([T::from_f64(0.0); 3]))
    }

    fn potential_gradient<L: FeedbackLaw<Padded<S>, T>>(&self, x: &[T; STATES], law: &L) -> [T; STATES] {
        padded(&self.0.potential_gradient(&own::<S, T>(x), &Cut(law)))
    }

    fn feedback_field<L: FeedbackLaw<Padded<S>, T>>(&self, x: &[T; STATES], law: &L) -> [T; STATES] {
        padded(&self.0.feedback_field(&own::<S, T>(x), &Cut(law)))
    }

    fn projection<L: FeedbackLaw<Padded<S>, T>>(
        &self,
        x: &[T; STATES],
        variances: &[T; STATES],
        noise: &[T; INTEGRALS],
        law: &L,
    ) -> [T; STATES] {
        padded(&self.0.projection(&own::<S, T>(x), &cut(variances), &cut(noise), &Cut(law)))
    }

    fn jacobian(
        &self,
        x: &[T; STATES],
        feedback: Option<[&[T; INTEGRALS]; 2]>,
        add: &mut dyn FnMut(usize, usize, T),
    ) -> bool {
        let feedback = feedback.map(|law| law.map(cut::<Integrals<S, T>, _, T>));
        self.0.jacobian(&own::<S, T>(x), feedback.as_ref().map(|[gains, targets]| [gains, targets]), add)
    }
}

impl<S: Subject, T: Scalar, L: FeedbackLaw<Padded<S>, T>> FeedbackLaw<S, T> for Cut<'_, L> {
    fn weigh(&self, integrals: Integrals<S, T>) -> Integrals<S, T> {
        cut(&self.0.weigh(padded(&integrals)))
    }

    fn weigh_normalised(&self, forms: Integrals<S, T>, system: &S::Prepared<T>) -> Integrals<S, T> {
        cut(&self.0.weigh_normalised(padded(&forms), &PaddedPrepared(system.clone())))
    }
}

impl<S: Subject + DrivenSystem> DrivenSystem for Padded<S> {
    type Inputs<T: Entry> = [T; INPUTS];
    type Input = [f64; INPUTS];

    fn with_input<T: Scalar>(system: PaddedPrepared<S, T>, input: [T; INPUTS]) -> PaddedPrepared<S, T> {
        PaddedPrepared(S::with_input(system.0, cut(&input)))
    }
}

impl<S: Subject + HamelSystem> HamelSystem for Padded<S> {
    fn momentum_state<T: Scalar>(system: &PaddedPrepared<S, T>, x: &[T; STATES]) -> [T; STATES] {
        padded(&S::momentum_state(&system.0, &own::<S, T>(x)))
    }

    fn momentum_rates<T: Scalar>(system: &PaddedPrepared<S, T>, x: &[T; STATES]) -> [T; STATES] {
        padded(&S::momentum_rates(&system.0, &own::<S, T>(x)))
    }

    fn momentum_state_jacobian<T: Scalar>(system: &PaddedPrepared<S, T>, x: &[T; STATES]) -> [[T; STATES]; STATES] {
        padded_square(&S::momentum_state_jacobian(&system.0, &own::<S, T>(x)))
    }

    fn momentum_rates_jacobian<T: Scalar>(system: &PaddedPrepared<S, T>, x: &[T; STATES]) -> [[T; STATES]; STATES] {
        padded_square(&S::momentum_rates_jacobian(&system.0, &own::<S, T>(x)))
    }
}

fn padded_square<R: Entries<V>, V: Entries<T>, T: Scalar>(rows: &R) -> [[T; STATES]; STATES] {
    core::array::from_fn(|i| rows.as_ref().get(i).map_or([T::from_f64(0.0); STATES], padded))
}

/// What was found, after what was done for it. Numbers are printed so that no two are printed alike.
type Found = Vec<(String, String)>;

const METHODS: [Method; 14] = Method::all(1.0 / 32.0, (1e-6, Some(1e-8)));
/// RK4, Gauss 8, DOP853 and Rodas5P.
const FEW: [Method; 4] = [METHODS[3], METHODS[5], METHODS[11], METHODS[12]];
const TWICE: Option<Projection> = match NonZeroU32::new(2) {
    Some(iterations) => Some(Projection::iterations(iterations)),
    None => None,
};

/// The vector with these entries, and zeros behind them.
fn vector<V: Entries<f64>>(entries: &[f64]) -> V {
    V::from_fn(|i| entries.get(i).copied().unwrap_or(0.0))
}

fn entry<S: FeedbackSystem>(state: &S::State, i: usize) -> f64 {
    let x: Vector<S> = state.clone().into();
    x[i]
}

/// A run with all that a run can have: samples between steps, scales, dense output, an event that resets the state and one that ends the
/// run, a snapshot, a run that is resumed from it, and one that is bare.
fn run<'a, S: FeedbackSystem, F: Field<Vector = Vector<S>>>(
    make: &dyn Fn() -> Result<Simulation<'a, S, F>, Error>,
    settings: &Settings,
) -> Result<String, Error> {
    let eventful = || -> Result<Simulation<'a, S, F>, Error> {
        let kick = |_: f64, state: &S::State| {
            let mut x: Vector<S> = state.clone().into();
            x[0] -= 1e-3;
            S::State::from(x)
        };
        let kick = Event::new("kick", |_, state: &S::State| entry::<S>(state, 0) - 0.1).falling().reset(kick);
        let end = Event::new("end", |time, _: &S::State| time - 0.45).terminal();
        Ok(make()?.scales(vector::<Vector<S>>(&[0.5, 2.0, 1.0, 1.0, 1.0])).dense().event(kick).event(end))
    };
    let mut snapshot: Option<Snapshot> = None;
    let whole = eventful()?.watched(|moment| {
        snapshot = snapshot.take().or_else(|| (moment.time() > 0.2).then(|| moment.snapshot()));
        ControlFlow::Continue(())
    });
    let whole = whole.run_flat(settings, None)?;
    let resumed =
        snapshot.clone().map(|snapshot| eventful()?.from_snapshot(snapshot).run_flat(settings, None)).transpose()?;
    let end: Vector<S> = make()?.final_state(settings)?.into();
    let end = &end.as_ref()[..whole.state.len()];
    Ok(format!("{whole:?} {snapshot:?} {resumed:?} {end:?}"))
}

/// Runs by these methods, with and without projections.
fn runs<'a, S: FeedbackSystem, F: Field<Vector = Vector<S>>>(
    found: &mut Found,
    what: &str,
    methods: &[Method],
    make: &dyn Fn() -> Result<Simulation<'a, S, F>, Error>,
) {
    for &method in methods {
        for projection in [None, Some(Projection::default()), TWICE] {
            let projection = projection.map(Projection::onto_balance);
            let settings = Settings { projection, every: Some(0.037), ..Settings::new(method, 0.5) };
            let result = run(make, &settings).unwrap_or_else(|error| error.to_string());
            found.push((format!("{what}, {method:?}, {projection:?}"), result));
        }
        let by_default = make().and_then(|simulation| simulation.run(method, 0.5));
        let by_default = by_default.map_or_else(|error| error.to_string(), |run| format!("{:?}", run.drift()));
        found.push((format!("{what}, {method:?}, by default"), by_default));
    }
}

/// Runs with gains of all kinds; `drive` gives a simulation its inputs.
macro_rules! with_all_gains {
    ($found:ident, $system:ident, $start:ident, |$simulation:ident| $driven:expr) => {{
        let make = || Simulation::new($system, $start);
        let diagonal = Gains::<Diagonal<S>>::diagonal(Entries::from_fn(|i| 1.0 + i as f64));
        runs($found, "no gains", &METHODS, &|| make().map(|$simulation| $driven));
        runs($found, "uniform", &FEW, &|| make().map(|it| it.gains(Gains::uniform(3.0))).map(|$simulation| $driven));
        runs($found, "diagonal", &FEW, &|| make().map(|it| it.gains(diagonal)).map(|$simulation| $driven));
        runs($found, "relaxation", &FEW, &|| {
            make().map(|it| it.gains(Gains::relaxation(0.3))).map(|$simulation| $driven)
        });
        runs($found, "Bae-Chang", &FEW, &|| {
            make().map(|it| it.gains(Gains::bae_chang(0.1))).map(|$simulation| $driven)
        });
    }};
}

/// What a feedback says of a state.
fn feedback<S: FeedbackSystem, K: GainPolicy<S>>(system: &S, start: Vector<S>, gains: Gains<K>) -> String {
    let feedback = Feedback::new(system, &start, gains).map(|feedback| {
        let x: Vector<S> = vector(&[0.1, -0.2, 0.3, 0.4]);
        (feedback.decay_rate(&x), first(system.facts().state.len(), &feedback.value(&x)))
    });
    format!("{feedback:?}")
}

fn first<V: Entries<f64>>(count: usize, v: &V) -> Vec<f64> {
    v.into_iter().take(count).collect()
}

/// What is found without a run: feedback in a state, starts on the constraints, starts that are refused.
fn alone<S: FeedbackSystem>(found: &mut Found, system: &S, start: Vector<S>) {
    let mut push = |what: &str, result: String| found.push((what.to_owned(), result));
    push("uniform", feedback::<S, Uniform>(system, start, Gains::uniform(2.0)));
    push("relaxation", feedback::<S, Relaxation>(system, start, Gains::relaxation(2.0)));
    push("Bae-Chang", feedback::<S, BaeChang>(system, start, Gains::bae_chang(2.0)));
    let potential = Feedback::new(system, &start, Gains::uniform(2.0)).map(|it| it.potential(&vector(&[0.3, 0.1])));
    push("the potential", format!("{potential:?}"));
    for guess in [[0.1, -0.45, 0.2, 0.1], [0.0; 4], [f64::NAN, 0.0, 0.0, 0.0]] {
        let solved = ConsistentStart::new(system).solve(vector::<Vector<S>>(&guess));
        let solved = solved.map(|state| first(system.facts().state.len(), &state.into()));
        push("a start on the constraints", format!("{solved:?}"));
        let refused = Simulation::new(system, vector::<Vector<S>>(&guess)).err();
        push("a start", format!("{refused:?}"));
    }
}

/// Ensembles in lanes, by every method.
fn ensembles<S: FeedbackSystem + Sync>(found: &mut Found, system: &S, start: Vector<S>) {
    use fbint_runtime::Ensemble;

    // On the constraints, as steps of a run are.
    let step = |member: i32| {
        Simulation::new(system, start)?.final_state(&Settings::new(Method::Rk4 { h: 0.01 }, 0.1 * f64::from(member)))
    };
    let starts: Vec<Vector<S>> = (1..6).map(|member| step(member).expect("a run").into()).collect();
    let starts = || starts.iter().copied();
    for method in METHODS {
        for projection in [None, Some(Projection::default())] {
            let settings = Settings { projection, every: Some(0.1), ..Settings::new(method, 0.25) };
            let plain = Ensemble::new(system, starts()).keep_trajectories().run_flat(&settings);
            let gains = Ensemble::new(system, starts()).gains(Gains::uniform(1.0)).run_flat(&settings);
            let alone = Ensemble::new(system, starts()).run_one_by_one_flat(&settings);
            found.push((format!("an ensemble, {method:?}, {projection:?}"), format!("{plain:?} {gains:?} {alone:?}")));
        }
    }
}

/// Everything but inputs.
fn everything<S: FeedbackSystem + Sync>(system: &S, start: &[f64]) -> Found {
    let (mut found, start) = (Vec::new(), vector::<Vector<S>>(start));
    let all = &mut found;
    with_all_gains!(all, system, start, |simulation| simulation);
    alone(all, system, start);
    ensembles(all, system, start);
    found
}

/// Everything with inputs from a function, and runs with inputs from a table.
fn driven<S: DrivenSystem>(system: &S, start: &[f64]) -> Found {
    let (mut found, start) = (Vec::new(), vector::<Vector<S>>(start));
    let all = &mut found;
    let input = |torque: f64| -> S::Input { S::Inputs::from_fn(|i| if i == 0 { torque } else { 0.0 }).into() };
    let servo = move |time: f64, state: &S::State| input((3.0 * time).sin() - entry::<S>(state, 1));
    with_all_gains!(all, system, start, |simulation| simulation.input(servo));
    let table = || Held::new([(0.0, input(0.5)), (0.125, input(-1.0)), (0.25, input(2.0))], 0.5);
    runs(all, "a table", &FEW, &|| Ok(Simulation::new(system, start)?.input(table()?)));
    found
}

#[track_caller]
fn assert_same(obtained: &Found, expected: &Found) {
    assert_eq!(obtained.len(), expected.len());
    let successes = expected.iter().filter(|(_, result)| result.starts_with("FlatRun")).count();
    assert!(3 * successes > expected.len(), "{successes} runs of {}", expected.len());
    for ((what, obtained), (_, expected)) in obtained.iter().zip(expected) {
        assert_eq!(obtained, expected, "{what}");
    }
}

#[test]
fn systems_with_constraints() {
    let start = [0.3, -0.4, 0.8, 0.6];
    assert_same(&everything(&Padded(Rod::default()), &start), &everything(&Rod::default(), &start));
}

#[test]
fn systems_without_constraints() {
    let start = [0.3, -0.4, 0.8, 0.6];
    assert_same(&everything(&Padded(Springs::default()), &start), &everything(&Springs::default(), &start));
}

#[test]
fn lagrangian_systems() {
    let start = [0.3, -0.4, 0.1, 0.8, 0.6];
    assert_same(&everything(&Padded(Skate::default()), &start), &everything(&Skate::default(), &start));
}

#[test]
fn driven_systems() {
    let start = [0.3, -0.4];
    assert_same(&driven(&Padded(Servo::default()), &start), &driven(&Servo::default(), &start));
}
