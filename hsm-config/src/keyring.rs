//! `keyring rebuild`: the keyring's file, written anew from the journal while the signer is stopped.

use std::fmt;

use chancery_signer::keyring::{self, Rebuilt};
use serde_json::json;

use crate::home::Home;

/// What came of it, for a person or a program.
#[derive(Debug)]
pub(crate) struct Report(Rebuilt);

/// Rebuilds the file of this home.
///
/// # Errors
///
/// The signer runs, the journal is not sound, or the file can't be written; it is as it was.
pub(crate) fn rebuild(home: &Home) -> anyhow::Result<Report> {
    Ok(Report(keyring::rebuild(&home.keyring(), &home.journal())?))
}

impl Report {
    pub(crate) fn to_json(&self) -> String {
        let Rebuilt { head, keys, lost, is_readable } = &self.0;
        let report = json!({"head": head, "keys": keys, "lost": lost, "wasReadable": is_readable});
        format!("{report:#}")
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Rebuilt { head, keys, lost, is_readable } = &self.0;
        writeln!(f, "rebuilt: {keys} keys, as the journal has them up to entry {}", head.seq)?;
        if let Some(lost) = lost {
            writeln!(
                f,
                "the keyring had seen entry {}, which the journal lacks: nothing is signed until \
                 that is accepted (`chancery-hsm accept-journal`)",
                lost.seq
            )?;
        }
        if !is_readable {
            writeln!(
                f,
                "the file before could not be read: if it knew of entries that the journal lacks, \
                 the API alone knows of them now"
            )?;
        }
        Ok(())
    }
}
