//! Arms with the inertias of real robots, beside Pinocchio: the longest Lagrangians that people write.

use fbint_macros_core::derivation::Role;
use fbint_macros_core::program::{Input, Program};
use fbint_macros_core::text::{Model, models};
use fbint_tests::amount;
use fbint_tests::compiler::interpret;

/// An arm, and what others make of it.
struct Arm {
    text: &'static str,
    /// The operations of an articulated-body algorithm that was written in CasADi 3.8 for the same bodies.
    articulated_body: f64,
    /// The accelerations by `pinocchio.aba` (4.1) in two states.
    accelerations: [&'static [f64]; 2],
}

const UR5: Arm = Arm {
    text: include_str!("ur5.rs"),
    articulated_body: 1433.0,
    accelerations: [
        &[
            -1.4410172084683146,
            25.440456973142105,
            -36.57344700950716,
            12.521381832524622,
            -7.552618020221595,
            -176.76165805278902,
        ],
        &[
            2.1491513396128883,
            23.03677275695401,
            -29.25992437049388,
            18.97305406252074,
            -10.56412922492783,
            -275.12957479248075,
        ],
    ],
};

const PANDA: Arm = Arm {
    text: include_str!("panda.rs"),
    articulated_body: 2180.0,
    accelerations: [
        &[
            16.288042391606457,
            9.505762838712434,
            16.73107559044623,
            36.698516090968006,
            -80.81587097979752,
            -127.82297530447809,
            -609.0586166994716,
        ],
        &[
            -2.4402773616857125,
            -11.398015037807943,
            57.98900842401998,
            17.2387310595038,
            -195.64286695738446,
            -164.17890496549484,
            -985.0206481747996,
        ],
    ],
};

const KINOVA: Arm = Arm {
    text: include_str!("kinova.rs"),
    articulated_body: 2381.0,
    accelerations: [
        &[
            58.910024365534504,
            -7.222995721577682,
            -15.821630433420996,
            -253.0313085569599,
            -120.42376441881942,
            -3930.5372495773654,
        ],
        &[
            -132.02911339002148,
            46.60239705012433,
            2.56590558889423,
            -941.8496468715697,
            -173.87330373204384,
            -6732.400603379395,
        ],
    ],
};

const SO_100: Arm = Arm {
    text: include_str!("so100.rs"),
    articulated_body: 2337.0,
    accelerations: [
        &[
            -1808.6027784284527,
            1336.9038178283201,
            -2612.9181681343316,
            -2736.0075065951974,
            -15850.764041949347,
            -153647.89613714855,
        ],
        &[
            7806.648588725359,
            -2811.1487423522026,
            933.7359542385366,
            -13245.496311587163,
            -24927.762331899467,
            -255988.83630125606,
        ],
    ],
};

const BAXTER: Arm = Arm {
    text: include_str!("baxter.rs"),
    articulated_body: 7277.0,
    accelerations: [
        &[
            156.32893149912996,
            -1.6551612503475752,
            32.203009176764816,
            25.597532463389516,
            -37.71020755486424,
            -67.27331944106518,
            -36.37796129213659,
            1.4712248680927509,
            -191.77913019927718,
            -223.4029832791049,
            107.8911456594733,
            -57.809612232072325,
            -168.70919687568278,
            -63.16443616803437,
            -2203.713668717151,
            86.36341179289772,
            -2041.9879230372765,
            -409.8169839792912,
            -441.4000380083426,
        ],
        &[
            234.49339724869495,
            -7.891068153883048,
            27.67856274957022,
            39.89278664002334,
            -14.965782963770572,
            -65.50591307041583,
            -51.881255248282685,
            -23.088395281410886,
            -279.94293230274064,
            -323.8305303584462,
            20.879579438426,
            -21.2652320320105,
            -97.32738124801892,
            -85.61939534490654,
            -440.6907678916306,
            42.2899401479433,
            -39.420698988622064,
            494.95210501403517,
            534.4925881556131,
        ],
    ],
};

/// (q, v, tau) of the k-th joint in each of the states.
fn state(number: usize, k: f64) -> [f64; 3] {
    match number {
        0 => [0.3 + 0.2 * k, 0.5 - 0.3 * k, 2.0 - k],
        _ => [-1.1 + 0.4 * k, 1.2 - 0.5 * k, 3.0 - 1.5 * k],
    }
}

/// All but the first take long in a debug build.
#[test]
fn arms_move_as_pinocchio_has_it() {
    let arms = [(&UR5, 1.1), (&PANDA, 1.6), (&KINOVA, 1.5), (&SO_100, 1.6), (&BAXTER, 2.8)];
    for (arm, ratio) in arms.into_iter().take(amount(1, 5)) {
        moves(arm, ratio);
    }
}

/// Checks the accelerations, and that the field takes at most `ratio` times the operations of the articulated-body algorithm.
fn moves(arm: &Arm, ratio: f64) {
    let model = models(arm.text).expect("a model").remove(0);
    let field = program(&model, "vector_field");
    let count = field.operations();
    let operations = count.additions + count.multiplications + 2 * count.fused + count.divisions + count.functions;
    println!("{}: {operations} operations", model.name);
    assert!(operations as f64 <= ratio * arm.articulated_body, "{operations}");
    for (number, expected) in arm.accelerations.iter().enumerate() {
        let found = accelerations(&model, field, number);
        let largest = expected.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
        for (found, expected) in found.iter().zip(*expected) {
            assert!((found - expected).abs() < 1e-12 * largest, "{found} {expected}");
        }
    }
}

fn program<'a>(model: &'a Model, name: &str) -> &'a Program {
    let mut functions = model.programs.functions();
    functions.find(|(function, _)| function.name == name).expect("a function of every model").1
}

/// The rates of the velocities.
fn accelerations(model: &Model, field: &Program, number: usize) -> Vec<f64> {
    let symbols = &model.derivation.symbols;
    let kinds: [fn(Role) -> bool; 3] =
        [|role| role == Role::Position, |role| role == Role::Velocity, |role| role == Role::Input];
    let place = |kind: usize, symbol| symbols.with(kinds[kind]).iter().position(|other| *other == symbol);
    let value = |symbol| (0..3).find_map(|kind| Some(state(number, place(kind, symbol)? as f64)[kind])).unwrap_or(0.0);
    let prepare = |input| match input {
        Input::Parameter(symbol) => value(symbol),
        _ => f64::NAN,
    };
    let prepared: Vec<f64> = interpret(&model.programs.prepare, prepare, |_| Vec::new());
    let input = |input| match input {
        Input::State(symbol) | Input::Driving(symbol) => value(symbol),
        Input::Prepared(index) => prepared[index],
        other => prepare(other),
    };
    let rates = interpret(field, input, |_| Vec::new());
    let states = symbols.states().zip(rates);
    states.filter(|(state, _)| symbols[*state].role == Role::Velocity).map(|(_, rate)| rate).collect()
}
