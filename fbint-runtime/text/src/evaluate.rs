//! Programs evaluated: by machine code where there is any, and else interpreted.

use fbint_catalogue::Given;
use fbint_native::Function;
use fbint_runtime::Scalar;

use crate::code::{Code, Destination, OutputRegister, Registers, Weighing};

#[inline]
pub(crate) fn machine_list(machine: &Function, given: &Given<'_, f64>, law: &dyn Fn(&mut [f64]), list: &mut [f64]) {
    machine.call(given.lists(), list, &mut |integrals, y| {
        y.copy_from_slice(integrals);
        law(y);
    });
}

/// Makes the machine code, unless there is none. Not inlined, so that a call of code that was made saves no registers.
#[cold]
#[inline(never)]
pub(crate) fn first_list(code: &Code, given: &Given<'_, f64>, law: &dyn Fn(&mut [f64]), list: &mut [f64]) {
    match code.machine() {
        Some(machine) => machine_list(machine, given, law, list),
        None => interpreted_list(code, given, law, list),
    }
}

/// Calls `add` with the row, the column and each entry of a matrix that does not vanish identically.
pub(crate) fn each(code: &Code, given: &Given<'_, f64>, add: &mut dyn FnMut(usize, usize, f64)) {
    let Some(machine) = code.machine() else { return interpreted_entries(code, given, add) };
    let mut numbers = vec![0.0; machine.results()];
    machine.call(given.lists(), &mut numbers, &mut |_, _| {});
    for (place, number) in code.outputs().iter().zip(numbers) {
        add(place.row.into(), place.column.into(), number);
    }
}

/// Puts the numbers that a program without a law gives into a list that is long enough for machine code, whose number of results is even.
pub(crate) fn numbers(code: &Code, given: &Given<'_, f64>, list: &mut [f64]) {
    match code.machine() {
        Some(machine) => machine_list(machine, given, &|_| {}, list),
        None => interpreted_list(code, given, &|_| {}, list),
    }
}

pub(crate) fn interpreted_list<T: Scalar>(code: &Code, given: &Given<'_, T>, law: &dyn Fn(&mut [T]), list: &mut [T]) {
    let weigh = |weighing: &Weighing, registers: &mut dyn Registers<T>| {
        let (zero, count) = (T::from_f64(0.0), weighing.integrals.len());
        // Of most models they are few.
        let (mut few, mut many) = ([zero; 8], Vec::new());
        let integrals = few.get_mut(..count).unwrap_or_else(|| {
            many.resize(count, zero);
            &mut many
        });
        for (integral, register) in integrals.iter_mut().zip(&weighing.integrals) {
            *integral = registers.get(*register);
        }
        law(integrals);
        for &(place, register) in &weighing.weighed {
            registers.set(register, integrals[place]);
        }
    };
    code.evaluate(given, &weigh, Destination::List(list));
}

pub(crate) fn interpreted_entries<T: Scalar>(code: &Code, given: &Given<'_, T>, add: &mut dyn FnMut(usize, usize, T)) {
    let mut add = |place: &OutputRegister, entry: T| add(place.row.into(), place.column.into(), entry);
    code.evaluate(given, &|_, _| {}, Destination::Entries(&mut add));
}
