//! A model from text whose parameters are fixed.

use std::any::Any;
use std::array;
use std::fmt;
use std::ptr;

use fbint_runtime::{FeedbackLaw, PreparedSystem, Scalar, SystemFacts};

use crate::code::{Code, Destination, OutputRegister, Registers, Source, Sources, Weighing};
use crate::functions::{Functions, PREPARED};
use crate::model::TextModel;

/// A [`TextModel`] with everything computed that depends on its parameters alone.
#[derive(Clone, Copy)]
pub struct TextPrepared<T, const N: usize, const M: usize> {
    functions: &'static Functions,
    /// What depends on parameters alone, then zeros.
    prepared: [[T; N]; PREPARED],
    inputs: [T; N],
}

impl<T: fmt::Debug, const N: usize, const M: usize> fmt::Debug for TextPrepared<T, N, M> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("TextPrepared").field("name", &self.functions.name()).finish_non_exhaustive()
    }
}

impl<T: PartialEq, const N: usize, const M: usize> PartialEq for TextPrepared<T, N, M> {
    fn eq(&self, other: &Self) -> bool {
        ptr::eq(self.functions, other.functions) && self.prepared == other.prepared && self.inputs == other.inputs
    }
}

impl<T: Scalar, const N: usize, const M: usize> TextPrepared<T, N, M> {
    pub(crate) fn new(
        functions: &'static Functions,
        prepared: impl Fn(usize) -> T,
        input: impl Fn(usize) -> T,
    ) -> Self {
        let zero = T::from_f64(0.0);
        let mut system = Self { functions, prepared: [[zero; N]; PREPARED], inputs: [zero; N] };
        for (place, number) in system.prepared.as_flattened_mut().iter_mut().take(functions.prepared).enumerate() {
            *number = prepared(place);
        }
        for (place, number) in system.inputs.iter_mut().enumerate() {
            *number = input(place);
        }
        system
    }

    pub(crate) fn functions(&self) -> &'static Functions {
        self.functions
    }

    pub(crate) fn prepared(&self) -> &[T] {
        self.prepared.as_flattened()
    }

    pub(crate) fn inputs(&self) -> &[T; N] {
        &self.inputs
    }

    pub(crate) fn with_input(self, inputs: [T; N]) -> Self {
        Self { inputs, ..self }
    }

    /// A list with a number for each result, then zeros.
    pub(crate) fn list<const L: usize>(&self, code: &Code, x: &[T; N]) -> [T; L] {
        self.evaluate(code, x, &[], &[], &|forms| forms)
    }

    /// The same, row by row.
    pub(crate) fn matrix<const R: usize, const C: usize>(&self, code: &Code, x: &[T; N]) -> [[T; C]; R] {
        let mut matrix = [[T::from_f64(0.0); C]; R];
        self.each(code, x, [&[]; 2], &mut |row, column, number| matrix[row][column] = number);
        matrix
    }

    /// Calls `add` with the row, the column and each entry of a matrix that does not vanish identically.
    fn each<const K: usize>(
        &self,
        code: &Code,
        x: &[T; N],
        further: [&[T; K]; 2],
        add: &mut dyn FnMut(usize, usize, T),
    ) {
        let mut numbers = vec![0.0; code.outputs().len()];
        if self.run(code, x, further[0], further[1], &mut numbers, &|forms| forms).is_some() {
            for (place, number) in code.outputs().iter().zip(numbers) {
                add(place.row.into(), place.column.into(), T::from_f64(number));
            }
            return;
        }
        let [first, second] = further;
        let mut add = |place: &OutputRegister, entry: T| add(place.row.into(), place.column.into(), entry);
        code.evaluate(self.sources(x, first, second), &|_, _| {}, Destination::Entries(&mut add));
    }

    /// A list of what a program gives that may ask a law, and reads `first` and `second` besides.
    fn evaluate<const A: usize, const B: usize, const L: usize>(
        &self,
        code: &Code,
        x: &[T; N],
        first: &[T; A],
        second: &[T; B],
        law: &dyn Fn([T; M]) -> [T; M],
    ) -> [T; L] {
        let mut numbers = [0.0; L];
        if let Some(list) = self.run(code, x, first, second, &mut numbers, law).and_then(|()| same(&numbers)) {
            return *list;
        }
        let weigh = |weighing: &Weighing, registers: &mut dyn Registers<T>| {
            let mut integrals = [T::from_f64(0.0); M];
            for (integral, register) in integrals.iter_mut().zip(&weighing.integrals) {
                *integral = registers.get(*register);
            }
            let y = law(integrals);
            for &(place, register) in &weighing.weighed {
                registers.set(register, y[place]);
            }
        };
        let mut list = [T::from_f64(0.0); L];
        code.evaluate(self.sources(x, first, second), &weigh, Destination::List(&mut list));
        list
    }

    /// Runs the machine code, if the numbers are doubles, which is known when this is compiled, and if there is any.
    fn run<const A: usize, const B: usize>(
        &self,
        code: &Code,
        x: &[T; N],
        first: &[T; A],
        second: &[T; B],
        numbers: &mut [f64],
        law: &dyn Fn([T; M]) -> [T; M],
    ) -> Option<()> {
        let system: &TextPrepared<f64, N, M> = same(self)?;
        let sources = system.sources(same(x)?, same::<_, [f64; A]>(first)?, same::<_, [f64; B]>(second)?);
        code.machine()?.call(sources, numbers, &mut |forms, y| {
            let mut integrals = [T::from_f64(0.0); M];
            for (integral, form) in integrals.iter_mut().zip(forms) {
                *integral = T::from_f64(*form);
            }
            if let Some(weighed) = same::<_, [f64; M]>(&law(integrals)) {
                for (y, weighed) in y.iter_mut().zip(weighed) {
                    *y = *weighed;
                }
            }
        });
        Some(())
    }

    fn sources<'a>(&'a self, x: &'a [T; N], first: &'a [T], second: &'a [T]) -> Sources<'a, T> {
        let mut sources: Sources<'a, T> = [&[]; 5];
        sources[Source::State as usize] = x;
        sources[Source::Prepared as usize] = self.prepared();
        sources[Source::Inputs as usize] = &self.inputs;
        sources[Source::First as usize] = first;
        sources[Source::Second as usize] = second;
        sources
    }
}

/// What is given, if it is of this type.
fn same<G: 'static, W: 'static>(given: &G) -> Option<&W> {
    (given as &dyn Any).downcast_ref()
}

impl<T: Scalar, const N: usize, const M: usize> PreparedSystem<T> for TextPrepared<T, N, M> {
    type System = TextModel<N, M>;

    fn facts(&self) -> &'static SystemFacts {
        self.functions.facts()
    }

    fn vector_field(&self, x: &[T; N]) -> [T; N] {
        self.list(&self.functions.vector_field, x)
    }

    fn integrals(&self, x: &[T; N]) -> [T; M] {
        self.list(&self.functions.integrals, x)
    }

    fn integrals_jacobian(&self, x: &[T; N]) -> [[T; N]; M] {
        self.matrix(&self.functions.integrals_jacobian, x)
    }

    fn multipliers(&self, x: &[T; N]) -> [T; M] {
        self.list(&self.functions.multipliers, x)
    }

    fn outputs(&self, x: &[T; N]) -> [T; N] {
        self.list(&self.functions.outputs, x)
    }

    fn zero_targets(&self) -> [bool; M] {
        array::from_fn(|integral| self.functions.zero_targets.get(integral).copied().unwrap_or_default())
    }

    fn normalisation(&self) -> [[T; 3]; M] {
        self.matrix(&self.functions.normalisation, &[T::from_f64(0.0); N])
    }

    fn potential_gradient<L: FeedbackLaw<TextModel<N, M>, T>>(&self, x: &[T; N], law: &L) -> [T; N] {
        self.evaluate(&self.functions.potential_gradient, x, &[], &[], &|forms| law.weigh_normalised(forms, self))
    }

    fn feedback_field<L: FeedbackLaw<TextModel<N, M>, T>>(&self, x: &[T; N], law: &L) -> [T; N] {
        self.evaluate(&self.functions.feedback_field, x, &[], &[], &|forms| law.weigh_normalised(forms, self))
    }

    fn projection<L: FeedbackLaw<TextModel<N, M>, T>>(
        &self,
        x: &[T; N],
        variances: &[T; N],
        noise: &[T; M],
        law: &L,
    ) -> [T; N] {
        self.evaluate(&self.functions.projection, x, variances, noise, &|integrals| law.weigh(integrals))
    }

    fn squared_gradients(&self, x: &[T; N]) -> [T; M] {
        self.list(&self.functions.squared_gradients, x)
    }

    fn reaction_field(&self, x: &[T; N]) -> [T; N] {
        self.list(&self.functions.reaction_field, x)
    }

    fn jacobian(&self, x: &[T; N], feedback: Option<[&[T; M]; 2]>, add: &mut dyn FnMut(usize, usize, T)) -> bool {
        let Some([field, with_feedback]) = &self.functions.jacobians else { return false };
        match feedback {
            None => self.each(field, x, [&[]; 2], add),
            Some(further) => self.each(with_feedback, x, further, add),
        }
        true
    }
}
