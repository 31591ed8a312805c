//! Where the built programs are.

use std::env;
use std::path::PathBuf;

use anyhow::Context as _;

/// The folder with `chancery-signer`, `chancery-api` and `chancery-hsm`: `CHANCERY_BIN`, or the
/// one above the running test's own.
///
/// # Errors
///
/// A program is not there: `cargo test` builds the tests alone.
pub fn folder() -> anyhow::Result<PathBuf> {
    let test = env::current_exe()?;
    let beside = test.ancestors().nth(2).context("the test runs outside a target folder")?;
    let folder = env::var_os("CHANCERY_BIN").map_or_else(|| beside.to_owned(), PathBuf::from);
    for program in ["chancery-signer", "chancery-api", "chancery-hsm"] {
        anyhow::ensure!(
            folder.join(program).is_file(),
            "no {program} in {}: run cargo build --workspace first, or ./test.sh system",
            folder.display()
        );
    }
    Ok(folder)
}

/// The top folder of the project.
#[must_use]
pub fn project() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}
