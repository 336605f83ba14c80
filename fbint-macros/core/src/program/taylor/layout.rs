//! Which sums of a Taylor series lie side by side, in vectors of four lanes.
//!
//! All sums of an order are independent of one another, so that any four are a vector: what is stored of each order are columns of four
//! sequences, and a group of four sums is of pairs of columns. Sums of as many products as others fill groups, which add their products up in
//! one vector. The rest is taken apart, product by product. M(a, a) takes half a sum, M(a, a) = 2 (a_1 a_{n-1} + a_2 a_{n-2} + ..) and the
//! square of the middle one, in groups of the same kind, unless other groups have lanes left for it.

use super::{Convolution, TaylorSeries};

/// The number of lanes.
pub const LANES: usize = 4;

/// The values that an order stores, and the table of its sums.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// The sequences that are stored side by side.
    pub columns: Vec<[usize; LANES]>,
    /// The sums that are taken side by side.
    pub groups: Vec<Group>,
    /// For each sum of the series the lanes that it is the sum of: a group, and a place in it.
    pub lanes: Vec<Vec<[usize; 2]>>,
}

/// Four sums side by side, each of as many products.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// `true` if all are of products of a sequence with itself.
    pub is_half: bool,
    /// The columns whose products are added.
    pub products: Vec<[usize; 2]>,
}

/// Products that one lane adds up, and the sum that they are of.
#[derive(Clone)]
struct Lane {
    sum: usize,
    products: Vec<[usize; 2]>,
}

impl Lane {
    fn is_half(&self) -> bool {
        self.products.iter().all(|[a, b]| a == b)
    }
}

impl Layout {
    /// The layout of a series.
    pub fn of(series: &TaylorSeries) -> Self {
        let mut layout = Self { lanes: vec![Vec::new(); series.sums.len()], ..Self::default() };
        let lane = |(sum, Convolution(products)): (usize, &Convolution)| Lane { sum, products: products.clone() };
        let (whole, rest) = filling(series.sums.iter().enumerate().map(lane).collect());
        whole.chunks(LANES).for_each(|lanes| layout.add(lanes));
        let mut rest = layout.beside_known_columns(rest);
        let mut halves: Vec<Lane> = Vec::new();
        rest.retain(|lane| {
            let is_half = lane.is_half();
            halves.extend(is_half.then(|| lane.clone()));
            !is_half
        });
        // A lane that is free anyway takes a half sum as a whole one.
        let (free, odd) = ((LANES - rest.len() % LANES) % LANES, halves.len() % LANES);
        if odd <= free {
            rest.extend(halves.split_off(halves.len() - odd));
        }
        for lanes in halves.chunks(LANES).chain(rest.chunks(LANES)) {
            layout.add(lanes);
        }
        layout
    }

    /// The sums of these lanes one by one, on sequences in place of columns: groups, half ones first, and for each sum of the series those
    /// that it is the sum of. Each adds up what its lane does, in that order.
    pub fn one_by_one(&self) -> (Vec<Group>, Vec<Vec<usize>>) {
        let lanes = self.lanes.iter().enumerate().flat_map(|(sum, lanes)| lanes.iter().map(move |lane| (sum, *lane)));
        let mut lanes: Vec<(usize, [usize; 2])> = lanes.collect();
        lanes.sort_by_key(|(_, [group, _])| !self.groups[*group].is_half);
        let mut sums = vec![Vec::new(); self.lanes.len()];
        let groups = lanes.iter().enumerate().map(|(number, &(sum, [group, place]))| {
            sums[sum].push(number);
            let Group { is_half, products } = &self.groups[group];
            let products = products.iter().map(|pair| pair.map(|column| self.columns[column][place])).collect();
            Group { is_half: *is_half, products }
        });
        (groups.collect(), sums)
    }

    /// Adds groups of products that have four different factors in a column that is stored already, so that few columns are; returns the
    /// others. The differences of four pairs of bodies times the cubes of their distances are such.
    fn beside_known_columns(&mut self, mut lanes: Vec<Lane>) -> Vec<Lane> {
        let mut known = 0;
        while let Some(column) = self.columns.get(known).copied() {
            let partner = |sequence: usize, lanes: &[Lane]| {
                let is_partner = |lane: &Lane| !lane.is_half() && lane.products[0].contains(&sequence);
                lanes.iter().position(is_partner)
            };
            let mut found = Vec::with_capacity(LANES);
            for sequence in column {
                let Some(place) = partner(sequence, &lanes) else { break };
                let Lane { sum, products } = lanes.remove(place);
                // The factor that is known comes last in all.
                let [a, b] = products[0];
                found.push(Lane { sum, products: vec![if b == sequence { [a, b] } else { [b, a] }] });
            }
            if found.len() == LANES {
                self.add(&found);
            } else {
                lanes.extend(found);
                known += 1;
            }
        }
        lanes
    }

    /// Adds a group of at most four lanes, whose last one fills the others.
    fn add(&mut self, lanes: &[Lane]) {
        let filled: [&Lane; LANES] = std::array::from_fn(|place| &lanes[place.min(lanes.len() - 1)]);
        let mut column = |column: [usize; LANES]| {
            let known = self.columns.iter().position(|other| *other == column);
            known.unwrap_or_else(|| {
                self.columns.push(column);
                self.columns.len() - 1
            })
        };
        let products = (0..filled[0].products.len())
            .map(|term| [0, 1].map(|side| column(filled.map(|lane| lane.products[term][side]))))
            .collect();
        let is_half = lanes.iter().all(Lane::is_half);
        for (place, lane) in lanes.iter().enumerate() {
            self.lanes[lane.sum].push([self.groups.len(), place]);
        }
        self.groups.push(Group { is_half, products });
    }
}

/// Those that fill groups, group after group; and the others, product by product.
fn filling(mut lanes: Vec<Lane>) -> (Vec<Lane>, Vec<Lane>) {
    let kind = |lane: &Lane| (lane.products.len(), lane.is_half());
    lanes.sort_by_key(kind);
    let (mut whole, mut rest) = (Vec::new(), Vec::new());
    for alike in lanes.chunk_by(|a, b| kind(a) == kind(b)) {
        // Single products find their places beside others.
        let full = if alike[0].products.len() > 1 { alike.len() / LANES * LANES } else { 0 };
        let (filling, others) = alike.split_at(full);
        whole.extend_from_slice(filling);
        for lane in others {
            rest.extend(lane.products.iter().map(|product| Lane { sum: lane.sum, products: vec![*product] }));
        }
    }
    (whole, rest)
}
