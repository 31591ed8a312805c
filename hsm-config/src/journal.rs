//! `journal verify` and `journal export`: the whole chain, offline.

use std::fmt;
use std::io::{self, BufWriter, Write as _};
use std::path::Path;
use std::process::ExitCode;

use chancery_signer::journal::{self, Gap, TornTail, Verified, VerifyError};
use serde_json::json;

/// What came of it.
#[derive(Debug)]
pub(crate) enum Verdict {
    /// Every record is as it was written.
    Sound(Verified),
    /// All but the end, which is not whole: torn by a crash, or changed.
    Torn(Verified),
    /// The first place where a record is not as it was written.
    Broken(VerifyError),
}

/// Reads every segment in `folder`.
pub(crate) fn verify(folder: &Path) -> Verdict {
    let looked = journal::verify(folder);
    // A running signer may be in the middle of a write. What is torn stays torn at a second look.
    let is_torn = matches!(&looked, Ok(Verified { torn: Some(_), .. }));
    match if is_torn { journal::verify(folder) } else { looked } {
        Ok(verified) if verified.torn.is_none() => Verdict::Sound(verified),
        Ok(verified) => Verdict::Torn(verified),
        Err(error) => Verdict::Broken(error),
    }
}

/// Writes the entries after `after` to standard output, one a line. What is not sound is told at
/// the end, and nothing behind it is written.
pub(crate) fn export(folder: &Path, after: u64) -> anyhow::Result<ExitCode> {
    let mut out = BufWriter::new(io::stdout().lock());
    let mut written = Ok(());
    let verdict = journal::verify_each(folder, |seq, body| {
        if seq > after && written.is_ok() {
            written = out.write_all(body).and_then(|()| out.write_all(b"\n"));
        }
    });
    match written.and_then(|()| out.flush()) {
        // A reader that has seen enough is no failure.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(ExitCode::SUCCESS),
        written => written?,
    }
    // A running signer may be in the middle of a write: a torn end is no damage.
    verdict?;
    Ok(ExitCode::SUCCESS)
}

impl Verdict {
    pub(crate) fn is_sound(&self) -> bool {
        matches!(self, Self::Sound(_))
    }

    pub(crate) fn to_json(&self) -> String {
        let found = match self {
            Self::Broken(error) => json!({"sound": false, "break": sentence(error)}),
            Self::Sound(verified) | Self::Torn(verified) => json!({
                "sound": self.is_sound(),
                "head": verified.head,
                "entries": verified.entries,
                "segments": verified.segments,
                "lost": verified.gaps.iter().map(lost).collect::<Vec<_>>(),
                "intents": verified.intents,
                "signed": verified.signed,
                "openIntents": verified.open_intents,
                "break": verified.torn.as_ref().map(torn_words),
            }),
        };
        format!("{found:#}")
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verified = match self {
            Self::Broken(error) => return writeln!(f, "BROKEN: {}", sentence(error)),
            Self::Sound(verified) | Self::Torn(verified) => verified,
        };
        let Verified { head, entries, segments, gaps, intents, signed, open_intents, torn, .. } =
            verified;
        match torn {
            None => writeln!(f, "sound: {entries} entries in {segments} segments")?,
            Some(torn) => writeln!(f, "BROKEN after entry {}: {}", head.seq, torn_words(torn))?,
        }
        writeln!(f, "signer {}, hash of entry {}: {}", head.signer_id, head.seq, head.hash)?;
        writeln!(f, "{intents} serial numbers computed again, {signed} signatures")?;
        for [first, last] in gaps.iter().map(lost) {
            writeln!(f, "lost, as the operator accepted: entries {first} to {last}")?;
        }
        if !open_intents.is_empty() {
            writeln!(
                f,
                "intents without an outcome: {open_intents:?}; the next start closes them"
            )?;
        }
        writeln!(f, "an older copy is sound too: compare the hash with one known elsewhere")
    }
}

/// The first and the last number of a gap.
fn lost(gap: &Gap) -> [u64; 2] {
    let Gap { after, up_to } = *gap;
    [after.saturating_add(1), up_to]
}

fn torn_words(torn: &TornTail) -> String {
    let TornTail { file, position, bytes } = torn;
    format!(
        "the last {bytes} bytes of {}, from byte {position} on, are no whole record; a crash leaves \
         this too: the next start cuts them off and says so in the journal",
        file.display()
    )
}

/// An error with its causes, outermost first.
fn sentence(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}
