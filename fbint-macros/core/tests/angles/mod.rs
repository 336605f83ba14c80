//! Rigid bodies in Euler's and Tait's angles a, b, c, as text.

/// The axes of the three turns.
pub(crate) const CONVENTIONS: [&str; 12] =
    ["zxz", "xyx", "yzy", "zyz", "xzx", "yxy", "xyz", "yzx", "zxy", "xzy", "zyx", "yxz"];

/// The inverse of a matrix E that takes the rates of the angles to an angular velocity.
pub(crate) struct Inverse {
    /// The rows of the inverse, times the determinant.
    pub(crate) rows: [[String; 3]; 3],
    pub(crate) determinant: String,
}

/// The inverses of E as seen from the body, and as seen from space.
pub(crate) fn inverses(convention: &str) -> [Inverse; 2] {
    let axes: Vec<char> = convention.chars().collect();
    let unit =
        |axis: char| ["x", "y", "z"].map(|name| if name.starts_with(axis) { "1".to_owned() } else { "0".to_owned() });
    let [first, second, third] = [(0, "a"), (1, "b"), (2, "c")].map(|(turn_, angle)| turn(axes[turn_], angle));
    let [one, two, three] = [0, 1, 2].map(|turn| unit(axes[turn]));
    let body = [seen_from(&third, &seen_from(&second, &one)), seen_from(&third, &two), three.clone()];
    let space = [one, turned(&first, &two), turned(&first, &turned(&second, &three))];
    [body, space].map(|columns| inverse(&columns))
}

/// Cross products of the columns, over the determinant.
fn inverse(columns: &[[String; 3]; 3]) -> Inverse {
    let cross = |a: &[String; 3], b: &[String; 3]| {
        [(1, 2), (2, 0), (0, 1)].map(|(i, j)| format!("(({}) * ({}) - ({}) * ({}))", a[i], b[j], a[j], b[i]))
    };
    let rows = [(1, 2), (2, 0), (0, 1)].map(|(i, j)| cross(&columns[i], &columns[j]));
    let terms = [0, 1, 2].map(|i| format!("({}) * ({})", columns[0][i], rows[0][i]));
    Inverse { rows, determinant: format!("({})", terms.join(" + ")) }
}

/// The rotation by an angle about an axis, row by row.
fn turn(axis: char, angle: &str) -> [[String; 3]; 3] {
    let (sine, cosine) = (format!("{angle}.sin()"), format!("{angle}.cos()"));
    let (zero, one) = ("0".to_owned(), "1".to_owned());
    let place = |axis: char| "xyz".find(axis).unwrap();
    let (first, second) = ((place(axis) + 1) % 3, (place(axis) + 2) % 3);
    let mut rows = [0, 1, 2].map(|row| [0, 1, 2].map(|column| if row == column { one.clone() } else { zero.clone() }));
    rows[first][first] = cosine.clone();
    rows[second][second] = cosine;
    rows[second][first] = sine.clone();
    rows[first][second] = format!("(-{sine})");
    rows
}

/// A rotation times a vector.
fn turned(rotation: &[[String; 3]; 3], vector: &[String; 3]) -> [String; 3] {
    [0, 1, 2].map(|row| {
        let terms = [0, 1, 2].map(|column| format!("{} * ({})", rotation[row][column], vector[column]));
        terms.join(" + ")
    })
}

/// What a vector is in the frame that a rotation leads to: its transpose, times the vector.
fn seen_from(rotation: &[[String; 3]; 3], vector: &[String; 3]) -> [String; 3] {
    turned(&[0, 1, 2].map(|row| [0, 1, 2].map(|column| rotation[column][row].clone())), vector)
}
