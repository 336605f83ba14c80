//! The drawing of a state: points, rods, springs and bodies, in the plane or in space.

use fbint_runtime::nalgebra::storage::RawStorage;
use fbint_runtime::nalgebra::{Const, Matrix, Matrix3, U1, Vector3};
use fbint_runtime::{DeclaredShape, FeedbackSystem, ShapeKind, StateEntry, StateRole, SystemFacts, Vector};
use serde::ser::{Serialize, SerializeSeq, Serializer};

use crate::names::columns;

/// A drawing of one state of a mechanism.
///
/// Shapes are added one after the other, and later ones lie on top where nothing else decides. Lengths are the model's. The second
/// coordinate points upwards in the plane, and the third in space, which a drawing is in if any of its positions has three coordinates.
///
/// ```
/// use fbint_command::Drawing;
///
/// let (pivot, bob) = ([0.0, 0.0], [0.6, -0.8]);
/// let drawing = Drawing::new().rod(pivot, bob).pivot(pivot).point(bob).trace(bob);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Drawing {
    /// The shapes, the lowest first.
    pub shapes: Vec<DrawnShape>,
    /// The labels of the axes, if they have no common scale.
    pub axes: Option<[&'static str; 2]>,
    /// The part that an animation shows.
    pub camera: Camera,
}

/// The part of a drawing that an animation shows. By default, the picture has everything that is drawn during the run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Camera {
    /// The middle of the picture.
    pub centre: Option<Position>,
    /// The distance from the middle of the picture to its sides.
    pub range: Option<f64>,
    /// The direction from which a drawing in space is seen.
    pub view: Option<[f64; 3]>,
}

/// A shape as the page draws it: its kind and its positions.
#[derive(Clone, Debug, PartialEq)]
pub struct DrawnShape {
    /// Its kind: `point`, `rod`, `face`.
    pub kind: &'static str,
    /// Where it is.
    pub positions: Vec<Position>,
}

/// A position in the plane or in space: an array or a vector with two or three entries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Position {
    /// In the plane.
    Plane([f64; 2]),
    /// In space.
    Space([f64; 3]),
}

impl Drawing {
    /// A drawing with nothing in it.
    pub fn new() -> Self {
        Self::default()
    }

    /// The declared drawing of a model. Without `draw(..)`, each coordinate that is a vector with two or three entries, and each such
    /// column of a matrix, is a point that leaves a trace. Where there is none, the first coordinate is drawn against its momentum or its
    /// velocity.
    pub fn of_coordinates<S: FeedbackSystem>(system: &S, state: &S::State) -> Self {
        let (facts, state): (_, Vector<S>) = (system.facts(), state.clone().into());
        let mut values = vec![0.0; facts.drawing_values()];
        system.drawing_at(&state, &mut values);
        Self::declared(facts, state.as_ref(), &values)
    }

    /// The same, of a flat state and the values that the declared shapes are made of.
    pub(crate) fn declared(facts: &SystemFacts, state: &[f64], values: &[f64]) -> Self {
        let is_of_film =
            |shape: &DeclaredShape| matches!(shape.kind, ShapeKind::Centre | ShapeKind::Range | ShapeKind::View);
        let begun = match facts.shapes.iter().all(is_of_film) {
            true => Self::of_entries(facts, state),
            false => Self::new(),
        };
        begun.with_shapes(facts.shapes, values)
    }

    /// The drawing with declared shapes.
    fn with_shapes(self, shapes: &[DeclaredShape], values: &[f64]) -> Self {
        shapes.iter().fold(self, |drawing, DeclaredShape { kind, arguments }| {
            let argument =
                |index: usize| arguments.get(index).map_or(&[][..], |[first, count]| &values[*first..first + count]);
            let point = |index| match *argument(index) {
                [x, y, z] => Position::Space([x, y, z]),
                [x, y] => Position::Plane([x, y]),
                _ => Position::Plane([f64::NAN; 2]),
            };
            let points = || (0..arguments.len()).map(point);
            match kind {
                ShapeKind::Rod => drawing.rods(points()),
                ShapeKind::Guide => drawing.guide(points()),
                ShapeKind::Face => drawing.face(points()),
                ShapeKind::Spring => drawing.spring(point(0), point(1)),
                ShapeKind::Arrow => drawing.arrow(point(0), point(1)),
                ShapeKind::Pivot => drawing.pivot(point(0)),
                ShapeKind::Point => drawing.point(point(0)),
                ShapeKind::Trace => drawing.trace(point(0)),
                ShapeKind::Circle => drawing.guide(round(point(0), argument(1), argument(2))),
                ShapeKind::Hoop => drawing.rods(round(point(0), argument(1), argument(2))),
                ShapeKind::Disk => drawing.face(round(point(0), argument(1), argument(2))),
                ShapeKind::Body => drawing.body(point(0), argument(1), argument(2)),
                ShapeKind::Frame => match (argument(1), argument(2)) {
                    (rotation, &[length]) => drawing.frame(point(0), &turn(rotation), length),
                    _ => drawing,
                },
                ShapeKind::Centre => drawing.centre(point(0)),
                ShapeKind::Range => argument(0).iter().fold(drawing, |drawing, range| drawing.range(*range)),
                ShapeKind::View => match *argument(0) {
                    [x, y, z] => drawing.view([x, y, z]),
                    _ => drawing,
                },
            }
        })
    }

    /// A box, or a rectangle in the plane, turned by a matrix or an angle.
    fn body(self, centre: Position, rotation: &[f64], sides: &[f64]) -> Self {
        match (centre, sides) {
            (Position::Plane([x, y]), &[length, width]) => {
                let turn = turn(rotation);
                let corner = |along: f64, across: f64| {
                    let [along, across] = [along * length / 2.0, across * width / 2.0];
                    [x + turn[(0, 0)] * along + turn[(0, 1)] * across, y + turn[(1, 0)] * along + turn[(1, 1)] * across]
                };
                self.face([corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)])
            }
            (centre, &[x, y, z]) => self.cuboid(centre, &turn(rotation), [x, y, z]),
            _ => self,
        }
    }

    /// The drawing of a flat state that declares no shapes.
    fn of_entries(facts: &SystemFacts, state: &[f64]) -> Self {
        let entries = facts.state;
        let is_place =
            |role: &StateRole| matches!(role, StateRole::Coordinate { .. } | StateRole::Position | StateRole::Variable);
        let places: Vec<usize> = (0..entries.len()).filter(|index| is_place(&entries[*index].role)).collect();
        let variables = facts.variables.iter().filter(|variable| places.contains(&variable.first));
        let columns = variables.flat_map(columns).collect::<Vec<_>>();
        let points = columns.iter().filter_map(|column| match column[..] {
            [x, y] => Some(Position::Plane([x, y].map(|entry| state[entry]))),
            [x, y, z] => Some(Position::Space([x, y, z].map(|entry| state[entry]))),
            _ => None,
        });
        let drawing = points.fold(Self::new(), |drawing, point| drawing.point(point).trace(point));
        match places[..] {
            [first, ..] if drawing.shapes.is_empty() => drawing.phase(entries, state, first, places.get(1).copied()),
            _ => drawing,
        }
    }

    /// One coordinate against its momentum, its velocity or, where it has neither, another entry.
    fn phase(self, entries: &[StateEntry], state: &[f64], first: usize, other: Option<usize>) -> Self {
        let second = match entries[first].role {
            StateRole::Coordinate { momentum } => Some(momentum),
            StateRole::Position => entries.iter().position(|entry| entry.role == StateRole::Velocity),
            _ => other,
        };
        let second = second.unwrap_or(first);
        let at = [state[first], state[second]];
        Self { axes: Some([entries[first].name, entries[second].name]), ..self.point(at).trace(at) }
    }

    /// A mass or a joint that moves, as a dot.
    pub fn point(self, at: impl Into<Position>) -> Self {
        self.with("point", vec![at.into()])
    }

    /// A joint that is fixed to the ground, as a ring.
    pub fn pivot(self, at: impl Into<Position>) -> Self {
        self.with("pivot", vec![at.into()])
    }

    /// A line that a place leaves behind as it moves. The place itself is drawn by other shapes.
    pub fn trace(self, at: impl Into<Position>) -> Self {
        self.with("trace", vec![at.into()])
    }

    /// A rod.
    pub fn rod(self, from: impl Into<Position>, to: impl Into<Position>) -> Self {
        self.with("rod", vec![from.into(), to.into()])
    }

    /// Rods from each position to the next, as of a chain or a hoop.
    pub fn rods<P: Into<Position>>(self, positions: impl IntoIterator<Item = P>) -> Self {
        self.with("rod", positions.into_iter().map(Into::into).collect())
    }

    /// A spring: a zigzag with as many turns at any length, and straight ends. A short one is narrow, too, and without length there is nothing.
    pub fn spring(self, from: impl Into<Position>, to: impl Into<Position>) -> Self {
        self.with("spring", vec![from.into(), to.into()])
    }

    /// A thin line for what only guides the eye: a rail, a slope, the sphere on which something moves.
    pub fn guide<P: Into<Position>>(self, positions: impl IntoIterator<Item = P>) -> Self {
        self.with("guide", positions.into_iter().map(Into::into).collect())
    }

    /// A flat face with these corners, filled.
    pub fn face<P: Into<Position>>(self, corners: impl IntoIterator<Item = P>) -> Self {
        self.with("face", corners.into_iter().map(Into::into).collect())
    }

    /// A box with these sides; `r` turns its directions into directions in space.
    pub fn cuboid(self, centre: impl Into<Position>, r: &Matrix3<f64>, sides: [f64; 3]) -> Self {
        let centre = centre.into().in_space();
        let corner = |signs: [f64; 3]| centre + r * Vector3::from_fn(|axis, _| signs[axis] * sides[axis] / 2.0);
        let faces = (0..3).flat_map(|axis| [-1.0, 1.0].map(|side| (axis, side)));
        faces.fold(self, |drawing, (axis, side)| {
            let corners = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)].map(|(right, up)| {
                let mut signs = [side; 3];
                (signs[(axis + 1) % 3], signs[(axis + 2) % 3]) = (right, up);
                corner(signs)
            });
            drawing.face(corners)
        })
    }

    /// An arrow, for a velocity, a momentum or a force.
    pub fn arrow(self, from: impl Into<Position>, to: impl Into<Position>) -> Self {
        self.with("arrow", vec![from.into(), to.into()])
    }

    /// The axes of a frame: the columns of `r`, as three arrows of one length.
    pub fn frame(self, origin: impl Into<Position>, r: &Matrix3<f64>, length: f64) -> Self {
        let origin = origin.into().in_space();
        ["first", "second", "third"].into_iter().enumerate().fold(self, |drawing, (axis, kind)| {
            let end: Vector3<f64> = origin + length * r.column(axis);
            drawing.with(kind, vec![origin.into(), end.into()])
        })
    }

    /// Animations have this place in the middle of the picture, wherever it moves.
    pub fn centre(self, at: impl Into<Position>) -> Self {
        Self { camera: Camera { centre: Some(at.into()), ..self.camera }, ..self }
    }

    /// Animations show what is no farther from the middle of the picture to any side.
    pub fn range(self, range: f64) -> Self {
        Self { camera: Camera { range: Some(range), ..self.camera }, ..self }
    }

    /// Animations in space are seen from this direction at first.
    pub fn view(self, from: impl Into<[f64; 3]>) -> Self {
        Self { camera: Camera { view: Some(from.into()), ..self.camera }, ..self }
    }

    /// Where points and traces are, each with its kind; nothing where the axes have no common scale.
    pub fn places(&self) -> impl Iterator<Item = (&'static str, Vector3<f64>)> {
        let places = self.shapes.iter().filter(|shape| self.axes.is_none() && ["point", "trace"].contains(&shape.kind));
        places.flat_map(|shape| shape.positions.iter().map(|position| (shape.kind, position.in_space())))
    }

    /// The positions of all shapes.
    pub fn positions(&self) -> impl Iterator<Item = &Position> {
        self.shapes.iter().flat_map(|shape| &shape.positions)
    }

    /// The drawing with every position changed.
    pub fn with_positions(mut self, change: impl Fn(Position) -> Position) -> Self {
        let shapes = self.shapes.iter_mut().flat_map(|shape| &mut shape.positions);
        for position in shapes.chain(&mut self.camera.centre) {
            *position = change(*position);
        }
        self
    }

    fn with(mut self, kind: &'static str, positions: Vec<Position>) -> Self {
        if !positions.is_empty() {
            self.shapes.push(DrawnShape { kind, positions });
        }
        self
    }
}

/// The corners of a circle about a point; in space about an axis, which is the vertical if none is given.
fn round(centre: Position, radius: &[f64], axis: &[f64]) -> Vec<Position> {
    let axis = if let [x, y, z] = *axis { Vector3::new(x, y, z) } else { Vector3::z() };
    match (centre, radius) {
        (Position::Plane(centre), &[radius]) => circle(centre, radius).into_iter().map(Position::from).collect(),
        (Position::Space(centre), &[radius]) => {
            circle_about(&axis, &centre.into(), radius).into_iter().map(Position::from).collect()
        }
        _ => Vec::new(),
    }
}

/// The rotation by a matrix, which is given column by column, or about the third axis by an angle.
fn turn(rotation: &[f64]) -> Matrix3<f64> {
    match *rotation {
        [angle] => {
            let (sin, cos) = angle.sin_cos();
            Matrix3::new(cos, -sin, 0.0, sin, cos, 0.0, 0.0, 0.0, 1.0)
        }
        ref columns if columns.len() == 9 => Matrix3::from_column_slice(columns),
        _ => Matrix3::from_element(f64::NAN),
    }
}

/// The corners of a regular polygon that looks like a circle in the plane, the first again as the last.
pub fn circle(centre: [f64; 2], radius: f64) -> Vec<[f64; 2]> {
    let corner = |(cos, sin): (f64, f64)| [centre[0] + radius * cos, centre[1] + radius * sin];
    directions().map(corner).collect()
}

/// The corners of a regular polygon that looks like a circle about an axis in space, the first again as the last.
pub fn circle_about(axis: &Vector3<f64>, centre: &Vector3<f64>, radius: f64) -> Vec<Vector3<f64>> {
    // Across the axis, from the direction that is farthest from it.
    let across = axis.cross(&Vector3::ith(axis.iamin(), 1.0)).normalize();
    let other = axis.normalize().cross(&across);
    directions().map(|(cos, sin)| centre + radius * (cos * across + sin * other)).collect()
}

/// Cosine and sine of angles all the way round.
fn directions() -> impl Iterator<Item = (f64, f64)> {
    const CORNERS: u32 = 48;
    (0..=CORNERS).map(|corner| {
        let (sin, cos) = (std::f64::consts::TAU * f64::from(corner % CORNERS) / f64::from(CORNERS)).sin_cos();
        (cos, sin)
    })
}

impl Position {
    /// The coordinates.
    pub fn coordinates(&self) -> &[f64] {
        match self {
            Self::Plane(coordinates) => coordinates,
            Self::Space(coordinates) => coordinates,
        }
    }

    /// In space; the plane is the one in which the third coordinate is 0.
    pub fn in_space(self) -> Vector3<f64> {
        match self {
            Self::Plane([x, y]) => Vector3::new(x, y, 0.0),
            Self::Space(coordinates) => coordinates.into(),
        }
    }
}

impl From<[f64; 2]> for Position {
    fn from(coordinates: [f64; 2]) -> Self {
        Self::Plane(coordinates)
    }
}

impl From<[f64; 3]> for Position {
    fn from(coordinates: [f64; 3]) -> Self {
        Self::Space(coordinates)
    }
}

impl<T: RawStorage<f64, Const<2>, U1>> From<Matrix<f64, Const<2>, U1, T>> for Position {
    fn from(vector: Matrix<f64, Const<2>, U1, T>) -> Self {
        Self::Plane([vector[0], vector[1]])
    }
}

impl<T: RawStorage<f64, Const<3>, U1>> From<Matrix<f64, Const<3>, U1, T>> for Position {
    fn from(vector: Matrix<f64, Const<3>, U1, T>) -> Self {
        Self::Space([vector[0], vector[1], vector[2]])
    }
}

/// The kind, then all coordinates.
impl Serialize for DrawnShape {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut entries = serializer.serialize_seq(None)?;
        entries.serialize_element(self.kind)?;
        for coordinate in self.positions.iter().flat_map(Position::coordinates) {
            entries.serialize_element(coordinate)?;
        }
        entries.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn circles_are_across_their_axis() {
        let (axis, centre) = (Vector3::new(1.0, -2.0, 0.5), Vector3::new(3.0, 0.0, 1.0));
        let circle = circle_about(&axis, &centre, 2.0);
        for corner in &circle {
            let arm = corner - centre;
            assert!((arm.norm() - 2.0).abs() < 1e-14 && arm.dot(&axis).abs() < 1e-13, "{arm}");
        }
        assert_eq!(circle.first(), circle.last());
        assert!((circle[12] - centre).dot(&(circle[0] - centre)).abs() < 1e-13, "a quarter of the way round");
    }

    /// The faces of a turned box: all corners at half the diagonal from its centre, and each face flat, across one axis.
    #[test]
    fn boxes_have_six_faces_across_their_axes() {
        let r = *fbint_runtime::nalgebra::Rotation3::from_euler_angles(0.3, -1.1, 2.0).matrix();
        let (centre, sides) = (Vector3::new(1.0, 2.0, 3.0), [1.0, 2.0, 3.0]);
        let drawing = Drawing::new().cuboid(centre, &r, sides);
        assert_eq!(drawing.shapes.len(), 6);
        for (index, face) in drawing.shapes.iter().enumerate() {
            let corners: Vec<Vector3<f64>> =
                face.positions.iter().map(|at| r.transpose() * (at.in_space() - centre)).collect();
            let (axis, side) = (index / 2, if index % 2 == 0 { -1.0 } else { 1.0 });
            assert!(corners.iter().all(|corner| (corner[axis] - side * sides[axis] / 2.0).abs() < 1e-14));
            assert!(corners.iter().all(|corner| (corner.norm() - 14.0_f64.sqrt() / 2.0).abs() < 1e-14));
            let around = corners.iter().zip(corners.iter().cycle().skip(1));
            let length: f64 = around.map(|(one, next)| (next - one).norm()).sum();
            assert!((length - 2.0 * (6.0 - sides[axis])).abs() < 1e-13, "corners follow one another");
        }
    }

    #[test]
    fn shapes_without_positions_are_left_out() {
        assert_eq!(Drawing::new().rods(Vec::<[f64; 2]>::new()), Drawing::new());
    }
}
