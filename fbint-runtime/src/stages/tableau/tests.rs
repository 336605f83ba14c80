//! The orders of the methods and of their dense outputs, from the trees of HNW II.2.

use core::array;

use super::pair::{MOST_STAGES, Weights};
use super::*;
use crate::DenseOutput;

/// A rooted tree: its order, its density gamma and its subtrees, by index.
struct Tree {
    order: usize,
    density: f64,
    subtrees: Vec<usize>,
}

/// All rooted trees up to an order, in order.
fn trees(order: usize) -> Vec<Tree> {
    let mut trees = vec![];
    for order in 1..=order {
        let mut found = vec![];
        add_forests(&trees, order - 1, trees.len(), &mut vec![], &mut found);
        trees.extend(found);
    }
    trees
}

/// Adds the trees whose first subtrees are `chosen`, and whose other subtrees have `nodes` nodes in all and are not later than `end`.
fn add_forests(trees: &[Tree], nodes: usize, end: usize, chosen: &mut Vec<usize>, found: &mut Vec<Tree>) {
    if nodes == 0 {
        let order = 1 + chosen.iter().map(|&i| trees[i].order).sum::<usize>();
        let density = chosen.iter().fold(order as f64, |product, &i| product * trees[i].density);
        found.push(Tree { order, density, subtrees: chosen.clone() });
    }
    for i in (0..end).filter(|&i| trees[i].order <= nodes) {
        chosen.push(i);
        add_forests(trees, nodes - trees[i].order, i + 1, chosen, found);
        chosen.pop();
    }
}

/// The coefficients with which a stage has those before: of a node with one subtree and with several. They differ for Rosenbrock
/// methods alone (HW IV.7).
pub(crate) struct Rows<'a, const S: usize> {
    pub(crate) of_one: &'a [[f64; S]; S],
    pub(crate) of_several: &'a [[f64; S]; S],
}

/// The largest |sum_i b_i Phi_i(t) - theta^order / gamma(t)| among the trees of each order (HNW II.2), for weights b of the
/// point theta.
pub(crate) fn defects_of<const S: usize>(rows: &Rows<'_, S>, b: &[f64], theta: f64, up_to: usize) -> Vec<f64> {
    let trees = trees(up_to);
    let mut weights: Vec<[f64; S]> = vec![];
    let mut defects = vec![0.0_f64; up_to + 1];
    for tree in &trees {
        let a = if tree.subtrees.len() == 1 { rows.of_one } else { rows.of_several };
        let weight = core::array::from_fn(|i| {
            let below = |&subtree: &usize| (0..S).map(|j| a[i][j] * weights[subtree][j]).sum::<f64>();
            tree.subtrees.iter().map(below).product()
        });
        weights.push(weight);
        let sum: f64 = b.iter().zip(&weight).map(|(b, weight)| b * weight).sum();
        let defect = (sum - theta.powi(tree.order as i32) / tree.density).abs();
        defects[tree.order] = defects[tree.order].max(defect);
    }
    defects.remove(0);
    defects
}

fn defects<const S: usize>(a: &[[f64; S]; S], b: &[f64], theta: f64, up_to: usize) -> Vec<f64> {
    defects_of(&Rows { of_one: a, of_several: a }, b, theta, up_to)
}

fn assert_order<const S: usize>(a: &[[f64; S]; S], b: &[f64], order: usize) {
    let defects = defects(a, b, 1.0, order + 1);
    assert!(defects[..order].iter().all(|&defect| defect < 2e-14), "order {order}: {defects:?}");
    assert!(defects[order] > 1e-7, "more than order {order}: {defects:?}");
}

#[test]
fn there_are_as_many_trees_as_cayley_counted() {
    let trees = trees(8);
    let count = |order| trees.iter().filter(|tree| tree.order == order).count();
    assert!((1..=8).map(count).eq([1, 1, 2, 4, 9, 20, 48, 115]));
}

#[test]
fn tableaus_satisfy_the_order_conditions_and_no_more() {
    assert_order(&EULER.a, &EULER.b, 1);
    assert_order(&MIDPOINT.a, &MIDPOINT.b, 2);
    assert_order(&HEUN.a, &HEUN.b, 2);
    assert_order(&RK4.a, &RK4.b, 4);
    assert_order(&DORMAND_PRINCE.a, &DORMAND_PRINCE.b, 5);
    assert_order(&DOP853.a, &DOP853.b, 8);
}

#[test]
fn rows_sum_to_the_published_nodes() {
    let c = DORMAND_PRINCE_PAIR.a.map(|row| row.iter().sum::<f64>());
    let published = [0.0, 0.2, 0.3, 0.8, 8.0 / 9.0, 1.0, 1.0];
    assert!(c.iter().zip(published).all(|(c, published)| (c - published).abs() < 1e-14), "{c:?}");

    let c = DOP853_PAIR.a.map(|row| row.iter().sum::<f64>());
    let root = 6.0_f64.sqrt();
    let published = [
        [0.0, (12.0 - 2.0 * root) / 135.0, (6.0 - root) / 45.0, (6.0 - root) / 30.0],
        [(6.0 + root) / 30.0, 1.0 / 3.0, 1.0 / 4.0, 4.0 / 13.0],
        [127.0 / 195.0, 3.0 / 5.0, 6.0 / 7.0, 1.0],
        [1.0, 0.1, 0.2, 7.0 / 9.0],
    ];
    for (c, published) in c.iter().zip(published.as_flattened()) {
        assert!((c - published).abs() < 1e-14, "{c} against {published}");
    }
}

#[test]
fn embedded_methods_have_their_orders() {
    let less = |b: &[f64], error: &[f64]| b.iter().zip(error).map(|(b, error)| b - error).collect::<Vec<_>>();
    let Pair { a, last, error: ErrorEstimate::Embedded(error), .. } = DORMAND_PRINCE_PAIR else { unreachable!() };
    assert_order(&a, &less(&a[last], &error), 4);
    let Pair { a, last, error: ErrorEstimate::Combined { fifth, third }, .. } = DOP853_PAIR else { unreachable!() };
    assert_order(&a, &less(&a[last], &fifth), 5);
    assert_order(&a, &less(&a[last], &third), 3);
}

#[test]
fn dense_outputs_have_their_orders_at_every_point_of_a_step() {
    for step in 1..10 {
        let theta = f64::from(step) / 10.0;
        assert_dense_order(&DORMAND_PRINCE_PAIR, theta, 4);
        assert_dense_order(&DOP853_PAIR, theta, 7);
    }
}

/// Interpolates with unit vectors as stages, which gives the weights of the stages.
fn assert_dense_order(pair: &Pair, theta: f64, order: usize) {
    let units: [Weights; MOST_STAGES] = array::from_fn(|i| array::from_fn(|j| if i == j { 1.0 } else { 0.0 }));
    let (start, stages) = ([0.0; MOST_STAGES], &units[..pair.stages]);
    let end = advanced(&start, 1.0, stages, &pair.a[pair.last]);
    let weights = DenseOutput::new(pair, 0.0, 1.0, start, &end, stages).at(theta);
    let defects = defects(&pair.a, &weights, theta, order + 1);
    assert!(defects[..order].iter().all(|&defect| defect < 1e-13), "order {order} at {theta}: {defects:?}");
    assert!(defects[order] > 1e-9, "more than order {order} at {theta}: {defects:?}");
}
