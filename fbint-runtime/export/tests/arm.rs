//! Models on emulated microcontrollers, where the compiler and the emulator are installed: gcc-arm-none-eabi, libnewlib-arm-none-eabi
//! and qemu-system-arm.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use fbint_export::Export;
use tempfile::{TempDir, tempdir};

use crate::c::{Case, run};
use crate::{is_thorough, shipped};

const COMPILER: &str = "arm-none-eabi-gcc";
const EMULATOR: &str = "qemu-system-arm";
/// The processors: name, floating-point unit, and the board that has them.
const PROCESSORS: [[&str; 3]; 2] =
    [["cortex-m4", "fpv4-sp-d16", "mps2-an386"], ["cortex-m7", "fpv5-d16", "mps2-an500"]];
/// A product with a sum is rounded twice on all sides.
const FLAGS: [&str; 7] = [
    "-std=gnu99",
    "-O2",
    "-ffp-contract=off",
    "-DFBINT_FMA(a,b,c)=((a)*(b)+(c))",
    "-ffunction-sections",
    "-fdata-sections",
    "-I.",
];

/// The sources of a model with the program that makes steps.
fn sources(name: &str) -> (TempDir, String) {
    let case = Case::of(shipped::named(name)).at_a_start();
    let export = Export::new(&case.exported, &case.parameters, &case.start);
    let (folder, prefix) = (tempdir().expect("a folder"), export.prefix().to_owned());
    for file in export.c() {
        fs::write(folder.path().join(&file.name), file.text).expect("a file");
    }
    let steps = include_str!("arm/steps.c").replace("NAME.h", &format!("{prefix}.h"));
    let steps =
        steps.replace("model_", &format!("{prefix}_")).replace("MODEL_", &format!("{}_", prefix.to_uppercase()));
    let files =
        [("steps.c", &*steps), ("startup.c", include_str!("arm/startup.c")), ("link.ld", include_str!("arm/link.ld"))];
    files.iter().for_each(|(name, text)| fs::write(folder.path().join(name), text).expect("a file"));
    (folder, prefix)
}

fn output(command: &mut Command) -> Output {
    let output = command.output().expect("a program");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

/// The state in bytes, the number of projections that were left out, and the stack.
fn told(output: &Output) -> (String, String, u64) {
    let text = String::from_utf8_lossy(&output.stdout);
    let words: Vec<&str> = text.split_whitespace().collect();
    let [state, left_out, stack] = words[..] else { panic!("{text}") };
    (state.to_owned(), left_out.to_owned(), stack.parse().expect("a number"))
}

/// The bytes of the functions and the tables of a model in a program.
fn code_size(folder: &Path, prefix: &str) -> u64 {
    let listed = output(Command::new("arm-none-eabi-nm").args(["--print-size", "arm.elf"]).current_dir(folder));
    let text = String::from_utf8_lossy(&listed.stdout).into_owned();
    let sizes = text.lines().filter_map(|line| {
        let [_, size, kind, name] = line.split_whitespace().collect::<Vec<_>>()[..] else { return None };
        let is_own = name.starts_with(&format!("{prefix}_")) && "tTrR".contains(kind);
        is_own.then(|| u64::from_str_radix(size, 16).expect("a size"))
    });
    sizes.sum()
}

#[test]
fn microcontrollers_have_the_bits_of_this_machine() {
    if !is_thorough() || [COMPILER, EMULATOR].iter().any(|tool| Command::new(tool).arg("--version").output().is_err()) {
        eprintln!("skipped: a thorough test with {COMPILER} and {EMULATOR}");
        return;
    }
    println!("| model | processor | numbers | code and tables | stack |\n|---|---|---|---|---|");
    for name in ["PlanarPendulum", "FourBar"] {
        let (folder, prefix) = sources(name);
        let source = format!("{prefix}.c");
        for number in ["double", "float"] {
            let defined = format!("-DFBINT_{}", number.to_uppercase());
            let mut native = Command::new("cc");
            native.args(FLAGS).args([&defined, "steps.c", &source, "-o", "native", "-lm"]);
            run(native.current_dir(folder.path()));
            let (state, left_out, _) = told(&output(&mut Command::new(folder.path().join("native"))));
            assert_eq!(left_out, "0", "{name}, {number}");
            for [processor, unit, board] in PROCESSORS {
                let (processor_flag, unit_flag) = (format!("-mcpu={processor}"), format!("-mfpu={unit}"));
                let mut cross = Command::new(COMPILER);
                cross.args(FLAGS).args([&*processor_flag, &unit_flag, "-mthumb", "-mfloat-abi=hard", &defined]);
                cross.args(["-Wl,--gc-sections", "--specs=rdimon.specs", "-T", "link.ld", "startup.c", "steps.c"]);
                run(cross.args([&*source, "-o", "arm.elf", "-lm"]).current_dir(folder.path()));
                let mut emulated = Command::new(EMULATOR);
                emulated.args(["-M", board, "-nographic", "-semihosting", "-kernel", "arm.elf"]);
                let (found, _, stack) = told(&output(emulated.current_dir(folder.path())));
                assert_eq!(found, state, "{name}, {number}, {processor}");
                let size = code_size(folder.path(), &prefix);
                println!("| {name} | {processor} | {number} | {size} | {stack} |");
            }
        }
    }
}
