//! No generated function and no step can panic: the linker is the witness.
//!
//! Each function in `functions` is marked `#[no_panic]`. Where the optimiser cannot show that nothing in it panics, a call of a
//! function that does not exist stays behind, and the program does not link. The program therefore proves something by
//! being built, in release only; that it also runs shows that the functions are there. A panic that nothing can reach, like
//! the check of an index which is in range, has to be optimised away, which is a matter of the compiler's version.
//!
//! With the feature `guilty` the program is another one, with a function that can panic, and must not link.

/// Declares functions that cannot panic, where the optimiser is on.
macro_rules! functions {
    ($($function:item)*) => {
        $(
            #[cfg_attr(not(debug_assertions), no_panic::no_panic)]
            #[inline(never)]
            $function
        )*
    };
}

#[cfg(not(feature = "guilty"))]
mod functions;

#[cfg(not(feature = "guilty"))]
fn main() -> Result<(), fbint_runtime::Error> {
    for name in functions::of_models()? {
        println!("{name}: no function panics");
    }
    Ok(())
}

#[cfg(feature = "guilty")]
functions! {
    fn guilty(x: &[f64], index: usize) -> f64 {
        x[index]
    }
}

#[cfg(feature = "guilty")]
fn main() {
    use std::hint::black_box;

    println!("{}", guilty(black_box(&[1.0]), black_box(0)));
}
