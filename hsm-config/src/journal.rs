//! `journal verify`: the whole chain, offline.

use std::fmt;
use std::path::Path;

use chancery_signer::journal::{Gap, TornTail, Verified, VerifyError};
use serde_json::json;

/// What came of it.
#[derive(Debug)]
pub(crate) enum Verdict {
    /// Every record is as it was written.
    Sound(Verified),
    /// The records are, but the end is torn: a write that was cut off, or a cut.
    Torn(Verified),
    /// The first place where it is not.
    Broken(VerifyError),
}

/// Reads every segment in `folder`.
pub(crate) fn verify(folder: &Path) -> Verdict {
    match chancery_signer::journal::verify(folder) {
        Ok(verified) if verified.torn.is_none() => Verdict::Sound(verified),
        Ok(verified) => Verdict::Torn(verified),
        Err(error) => Verdict::Broken(error),
    }
}

impl Verdict {
    pub(crate) fn is_sound(&self) -> bool {
        matches!(self, Self::Sound(_))
    }

    pub(crate) fn to_json(&self) -> String {
        let facts = match self {
            Self::Sound(verified) | Self::Torn(verified) => json!({
                "sound": self.is_sound(),
                "signerId": verified.head.signer_id,
                "seq": verified.head.seq,
                "hash": verified.head.hash,
                "entries": verified.entries,
                "segments": verified.segments,
                "lost": verified.gaps.iter().map(lost).collect::<Vec<_>>(),
                "intents": verified.intents,
                "signed": verified.signed,
                "openIntents": verified.open_intents,
                "torn": verified.torn.as_ref().map(words),
            }),
            Self::Broken(error) => json!({ "sound": false, "break": error.to_string() }),
        };
        facts.to_string()
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verified = match self {
            Self::Sound(verified) | Self::Torn(verified) => verified,
            Self::Broken(error) => return write!(f, "the journal is broken: {error}"),
        };
        write!(
            f,
            "{} entries in {} segments, each as it was written: {} intents with serial numbers \
             that their nonces give, {} signed, {} open\nhead: seq {}, hash {}",
            verified.entries,
            verified.segments,
            verified.intents,
            verified.signed,
            verified.open_intents.len(),
            verified.head.seq,
            verified.head.hash,
        )?;
        for [first, last] in verified.gaps.iter().map(lost) {
            write!(f, "\nlost: seq {first} to {last}, as the operator accepted")?;
        }
        if let Some(torn) = &verified.torn {
            write!(
                f,
                "\nbut the end is torn: {}. If the signer runs, it may be writing: look \
                 again. If not, its next start cuts the end off and says so in the journal",
                words(torn),
            )?;
        }
        Ok(())
    }
}

/// The first and the last number of a gap.
fn lost(gap: &Gap) -> [u64; 2] {
    let Gap { after, up_to } = *gap;
    [after.saturating_add(1), up_to]
}

fn words(torn: &TornTail) -> String {
    let TornTail { file, position, bytes } = torn;
    format!("{bytes} bytes of {} after byte {position} are no whole record", file.display())
}
