//! Where the built programs are.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

/// The folder with `chancery-signer`, `chancery-api` and `chancery-hsm`: `CHANCERY_BIN`, or the
/// folder of the running program, or the one above it.
///
/// # Errors
///
/// A program is not there: `cargo test` builds the tests alone.
pub fn folder() -> anyhow::Result<PathBuf> {
    let own = env::current_exe()?;
    let has_signer = |folder: &&Path| folder.join("chancery-signer").is_file();
    let built = || own.ancestors().skip(1).take(2).find(has_signer).map(Path::to_owned);
    let chosen = env::var_os("CHANCERY_BIN").map(PathBuf::from);
    let folder = chosen.or_else(built).with_context(|| {
        format!("no chancery-signer near {}: run ./test.sh build first", own.display())
    })?;
    for program in ["chancery-signer", "chancery-api", "chancery-hsm"] {
        anyhow::ensure!(
            folder.join(program).is_file(),
            "no {program} in {}: run ./test.sh build first",
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
