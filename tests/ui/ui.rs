//! The messages for mistaken declarations, by theme, one mistake each.
//!
//! Every file also uses its model as if it were right, so that whatever rustc adds to our message is a failure. After a
//! change of wording, `TRYBUILD=overwrite cargo test -p fbint-ui-tests` writes the files anew: read the difference.

use std::fs;
use std::io;
use std::path::Path;

#[test]
fn mistakes_are_reported_at_their_place() -> io::Result<()> {
    share_target_folder()?;
    trybuild::TestCases::new().compile_fail("*/*.rs");
    Ok(())
}

/// trybuild builds in `target/tests/trybuild`. As a link to `target` that folder has Symbolica compiled already.
fn share_target_folder() -> io::Result<()> {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("it is a folder in the target folder");
    let tests = target.join("tests");
    fs::create_dir_all(&tests)?;
    #[cfg(unix)]
    if !tests.join("trybuild").exists() {
        std::os::unix::fs::symlink("..", tests.join("trybuild"))?;
    }
    Ok(())
}
