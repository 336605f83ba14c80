//! Methods as tables and figures name and draw them: colour and stroke show the scheme and its aid.

use std::fmt;

use fbint_runtime::Method;

/// A method without its step or its tolerances, or a map that is made for a model, such as a splitting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scheme {
    /// The key of the method, which is [`Method::OneStep`] for a map.
    key: &'static str,
    name: &'static str,
    /// The colour of a map.
    own_colour: Option<&'static str>,
}

/// One of Okabe and Ito's colours that read on white, which the colour-blind tell apart; a brown and a grey for the explicit methods of
/// order 2; and Tol's olive, wine and indigo for collocation, and his green for
/// Taylor's method. All other methods are black.
const COLOURS: [(&str, &str); 13] = [
    ("euler", "#0072B2"),
    ("midpoint", "#8C510A"),
    ("heun", "#777777"),
    ("rk4", "#009E73"),
    ("gauss4", "#999933"),
    ("gauss8", "#882255"),
    ("gauss16", "#332288"),
    ("discrete-hamel", "#D55E00"),
    ("rattle", "#D55E00"),
    ("dormand-prince", "#CC79A7"),
    ("dop853", "#E69F00"),
    ("rodas5p", "#56B4E9"),
    ("taylor", "#117733"),
];

/// A means of keeping integrals in addition to the steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aid {
    /// The derived field alone.
    Nothing,
    /// The field with feedback.
    Feedback,
    /// A projection after each step.
    Projection,
}

/// A scheme with or without an aid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contender {
    /// The kind of steps.
    pub scheme: Scheme,
    /// The feedback or projection that keeps integrals.
    pub aid: Aid,
}

/// The stroke of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stroke {
    /// Without gaps.
    Solid,
    /// With gaps.
    Dashed,
    /// With gaps as long as what is between them.
    Dotted,
    /// Solid, but behind the others.
    Thin,
    /// A dot at each point instead of a line.
    Dots,
    /// A bar from each point to the next, as high as the first of the two, instead of a line.
    Bars,
}

impl Contender {
    /// A scheme left to itself.
    pub const fn plain(scheme: Scheme) -> Self {
        Self { scheme, aid: Aid::Nothing }
    }

    /// A scheme on the field with feedback.
    pub const fn with_feedback(scheme: Scheme) -> Self {
        Self { scheme, aid: Aid::Feedback }
    }

    /// A scheme with a projection after each step.
    pub const fn with_projection(scheme: Scheme) -> Self {
        Self { scheme, aid: Aid::Projection }
    }

    /// The colour of the scheme; a method with projection has a separate colour, to tell it from feedback.
    pub fn colour(self) -> &'static str {
        match (self.aid, self.scheme) {
            (Aid::Projection, Scheme::DORMAND_PRINCE) => "#0072B2",
            (Aid::Projection, Scheme::DOP853) => "#009E73",
            (Aid::Projection, _) => "#CC79A7",
            (Aid::Nothing | Aid::Feedback, scheme) => scheme.colour(),
        }
    }

    /// Solid with feedback, dotted with projection; dashed for a plain Runge-Kutta method, and solid for a
    /// geometric method, which needs no aid.
    pub fn stroke(self) -> Stroke {
        match self.aid {
            Aid::Feedback => Stroke::Solid,
            Aid::Projection => Stroke::Dotted,
            Aid::Nothing if self.scheme.is_geometric() => Stroke::Solid,
            Aid::Nothing => Stroke::Dashed,
        }
    }
}

impl Scheme {
    /// The explicit Euler method.
    pub const EULER: Self = Self::of(Method::Euler { h: 1.0 });
    /// The explicit midpoint rule.
    pub const MIDPOINT: Self = Self::of(Method::Midpoint { h: 1.0 });
    /// Heun's method.
    pub const HEUN: Self = Self::of(Method::Heun { h: 1.0 });
    /// The classical Runge-Kutta method.
    pub const RK4: Self = Self::of(Method::Rk4 { h: 1.0 });
    /// Dormand and Prince's method of order 5(4).
    pub const DORMAND_PRINCE: Self = Self::of(Method::DormandPrince { rtol: 1.0, atol: Some(1.0) });
    /// Dormand and Prince's method of order 8(5, 3).
    pub const DOP853: Self = Self::of(Method::Dop853 { rtol: 1.0, atol: Some(1.0) });
    /// Rodas5P.
    pub const RODAS5P: Self = Self::of(Method::Rodas5P { rtol: 1.0, atol: Some(1.0) });
    /// Taylor's method.
    pub const TAYLOR: Self = Self::of(Method::Taylor { tolerance: 1.0 });
    /// RATTLE.
    pub const RATTLE: Self = Self::of(Method::Rattle { h: 1.0 });
    /// Störmer-Verlet.
    pub const STORMER_VERLET: Self = Self::of(Method::StormerVerlet { h: 1.0 });

    /// The scheme of a method.
    pub const fn of(method: Method) -> Self {
        Self { key: method.key(), name: method.label(), own_colour: None }
    }

    /// A map that is made for a model, with its name in tables and legends and the colour of its lines, as `#000000`.
    pub const fn own(name: &'static str, colour: &'static str) -> Self {
        Self { name, own_colour: Some(colour), ..Self::of(Method::OneStep { h: 1.0 }) }
    }

    /// The colour of its lines.
    pub fn colour(self) -> &'static str {
        let of_method = COLOURS.iter().find(|(key, _)| *key == self.key).map_or("#000000", |(_, colour)| *colour);
        self.own_colour.unwrap_or(of_method)
    }

    /// The method, with a step or a tolerance.
    pub fn method(self, setting: f64) -> Method {
        Method::with_key(self.key, setting, (setting, Some(setting))).unwrap_or(Method::OneStep { h: setting })
    }

    /// Returns `true` if it keeps some of the structure by construction, and so needs no aid.
    pub fn is_geometric(self) -> bool {
        self.method(1.0).is_geometric()
    }

    /// Returns `true` if it chooses its steps.
    pub fn chooses_steps(self) -> bool {
        self.method(1.0).step().is_none()
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name)
    }
}

impl fmt::Display for Contender {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let aid = match self.aid {
            Aid::Nothing => "",
            Aid::Feedback => " + feedback",
            Aid::Projection => " + projection",
        };
        // Padded as a whole, so that it fits into the columns of a table.
        out.pad(&format!("{}{aid}", self.scheme))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn methods_have_colours_of_their_own() {
        // RATTLE and the discrete Hamel integrator have one colour, because no system has both.
        let methods = Method::all(0.1, (1e-6, Some(1e-6))).map(Scheme::of);
        let colours: HashSet<_> = methods.iter().map(|scheme| scheme.colour()).collect();
        assert_eq!(colours.len(), methods.len() - 1);
    }

    #[test]
    fn feedback_and_projection_have_two_colours() {
        for scheme in [Scheme::EULER, Scheme::RK4, Scheme::DORMAND_PRINCE, Scheme::DOP853] {
            assert_ne!(Contender::with_feedback(scheme).colour(), Contender::with_projection(scheme).colour());
        }
    }
}
