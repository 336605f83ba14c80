//! Methods as tables and figures name and draw them: colour and stroke show the scheme and its aid.

use std::fmt;

use fbint_runtime::Method;

/// The kind of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// The explicit Euler method.
    Euler,
    /// The explicit midpoint rule.
    Midpoint,
    /// Heun's method.
    Heun,
    /// The classical Runge-Kutta method.
    Rk4,
    /// Dormand and Prince's method of order 5(4).
    DormandPrince,
    /// Dormand and Prince's method of order 8(5, 3).
    Dop853,
    /// Steinebach's linearly implicit method of order 5(4).
    Rodas5P,
    /// RATTLE, for holonomic constraints.
    Rattle,
    /// Gauss's collocation, of order 4, 8 or 16.
    Gauss {
        /// The order.
        order: usize,
    },
    /// The discrete Hamel integrator, for Lagrangian systems.
    DiscreteHamel,
    /// Störmer-Verlet, without constraints.
    StormerVerlet,
    /// A geometric integrator that is made for a model, such as a splitting.
    Own {
        /// The name in tables and legends.
        name: &'static str,
        /// The colour of its lines, as `#000000`.
        colour: &'static str,
    },
}

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
    /// What keeps integrals.
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

    /// The colour of the scheme; a method with projection has a colour of its own, so that it can be told from feedback.
    pub const fn colour(self) -> &'static str {
        match (self.aid, self.scheme) {
            (Aid::Projection, Scheme::DormandPrince) => "#0072B2",
            (Aid::Projection, Scheme::Dop853) => "#009E73",
            (Aid::Projection, _) => "#CC79A7",
            (Aid::Nothing | Aid::Feedback, scheme) => scheme.colour(),
        }
    }

    /// Solid with feedback, dotted with projection; dashed for a plain Runge-Kutta method, and solid for a
    /// geometric method, which needs no aid.
    pub const fn stroke(self) -> Stroke {
        match self.aid {
            Aid::Feedback => Stroke::Solid,
            Aid::Projection => Stroke::Dotted,
            Aid::Nothing if self.scheme.is_geometric() => Stroke::Solid,
            Aid::Nothing => Stroke::Dashed,
        }
    }
}

impl Scheme {
    /// One of Okabe and Ito's colours that read on white, which the colour-blind tell apart; a brown and a grey for the explicit schemes
    /// of order 2; and Tol's olive, wine and indigo for collocation.
    pub const fn colour(self) -> &'static str {
        match self {
            Self::Euler => "#0072B2",
            Self::Rk4 => "#009E73",
            Self::Dop853 => "#E69F00",
            Self::Rodas5P => "#56B4E9",
            Self::DormandPrince => "#CC79A7",
            Self::Rattle | Self::DiscreteHamel => "#D55E00",
            Self::Gauss { order: 4 } => "#999933",
            Self::Gauss { order: 8 } => "#882255",
            Self::Gauss { .. } => "#332288",
            Self::Midpoint => "#8C510A",
            Self::Heun => "#777777",
            Self::StormerVerlet => "#000000",
            Self::Own { colour, .. } => colour,
        }
    }

    /// The method, with a step or a tolerance.
    pub const fn method(self, setting: f64) -> Method {
        let (h, rtol, atol) = (setting, setting, setting);
        match self {
            Self::Euler => Method::Euler { h },
            Self::Midpoint => Method::Midpoint { h },
            Self::Heun => Method::Heun { h },
            Self::Rk4 => Method::Rk4 { h },
            Self::DormandPrince => Method::DormandPrince { rtol, atol },
            Self::Dop853 => Method::Dop853 { rtol, atol },
            Self::Rodas5P => Method::Rodas5P { rtol, atol },
            Self::Gauss { order } => Method::Gauss { stages: order / 2, h },
            Self::Rattle => Method::Rattle { h },
            Self::DiscreteHamel => Method::DiscreteHamel { h },
            Self::StormerVerlet => Method::StormerVerlet { h },
            Self::Own { .. } => Method::OneStep { h },
        }
    }

    /// The name in tables and legends.
    pub const fn name(self) -> &'static str {
        if let Self::Own { name, .. } = self { name } else { self.method(1.0).label() }
    }

    /// Whether it keeps some of the structure by construction, and so needs no aid.
    pub const fn is_geometric(self) -> bool {
        self.method(1.0).is_geometric()
    }

    /// Whether it chooses its steps.
    pub const fn chooses_steps(self) -> bool {
        self.method(1.0).step().is_none()
    }
}

impl From<Method> for Scheme {
    fn from(method: Method) -> Self {
        match method {
            Method::Euler { .. } => Self::Euler,
            Method::Midpoint { .. } => Self::Midpoint,
            Method::Heun { .. } => Self::Heun,
            Method::Rk4 { .. } => Self::Rk4,
            Method::Gauss { stages, .. } => Self::Gauss { order: 2 * stages },
            Method::DiscreteHamel { .. } => Self::DiscreteHamel,
            Method::DormandPrince { .. } => Self::DormandPrince,
            Method::Dop853 { .. } => Self::Dop853,
            Method::Rodas5P { .. } => Self::Rodas5P,
            Method::StormerVerlet { .. } => Self::StormerVerlet,
            Method::Rattle { .. } => Self::Rattle,
            Method::OneStep { .. } => Self::Own { name: method.label(), colour: "#000000" },
        }
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
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
        let methods = Method::all(0.1, [1e-6; 2]).map(Scheme::from);
        let colours: HashSet<_> = methods.iter().map(|scheme| scheme.colour()).collect();
        assert_eq!(colours.len(), methods.len() - 1);
    }

    #[test]
    fn feedback_and_projection_have_two_colours() {
        for scheme in [Scheme::Euler, Scheme::Rk4, Scheme::DormandPrince, Scheme::Dop853] {
            assert_ne!(Contender::with_feedback(scheme).colour(), Contender::with_projection(scheme).colour());
        }
    }
}
