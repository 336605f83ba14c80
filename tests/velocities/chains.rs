//! Open chains in joint angles: the Lagrangian is typed by the velocities of the masses, and everything else is derived.

use fbint_macros_core::program::VECTOR_FIELD;
use fbint_tests::compiler::{Declaration, open_chain, run};

/// The mass matrix has n (n + 1) / 2 entries, each with the cosine of a difference; elimination takes n^3 / 6 multiply-adds and one
/// division for each link but the last two.
#[test]
fn operations_grow_as_elimination_does() {
    for (links, most) in [(2, 45), (4, 180), (8, 700)] {
        let compiled = Declaration::one(&open_chain(links)).compile();
        let operations = compiled.programs[&VECTOR_FIELD].operations();
        let total = operations.additions + operations.multiplications + 2 * operations.fused + operations.divisions;
        assert!(total <= most, "{links} links: {operations:?}");
        assert_eq!(operations.functions, 2 * links, "a sine and a cosine for each angle");
    }
}

/// The accelerations solve the equations as textbooks write them.
#[test]
fn equations_are_those_of_the_textbook() {
    let links = 4;
    let compiled = Declaration::one(&open_chain(links as u32)).compile();
    let (m, g, l) = (1.3, 9.81, 0.7);
    let prepared = run(&compiled.programs.prepare, &[], |symbol| [m, g, l][symbol - 2 * links], |_| Vec::new());
    let state = [0.3, -0.7, 1.1, 2.0, 0.5, -1.2, 0.8, 0.1];
    let field = run(&compiled.programs[&VECTOR_FIELD], &prepared, |symbol| state[symbol], |_| Vec::new());
    let (angle, turn) = state.split_at(links);
    assert_eq!(&field[..links], turn);
    for i in 0..links {
        let carried = |j: usize| (links - i.max(j)) as f64;
        let terms = (0..links).map(|j| {
            let difference = angle[i] - angle[j];
            carried(j) * l * (difference.cos() * field[links + j] + difference.sin() * turn[j].powi(2))
        });
        let residual = terms.sum::<f64>() + carried(i) * g * angle[i].sin();
        assert!(residual.abs() < 1e-12, "link {i}: {residual:e}");
    }
}
