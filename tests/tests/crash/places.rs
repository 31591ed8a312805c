//! Where processes are killed, in the order of the steps.

use anyhow::Context as _;
use chancery_tests::programs::project;

/// A place in the code where a process is stopped and killed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// As the code has it.
    pub(crate) name: &'static str,
}

const fn at(name: &'static str) -> Place {
    Place { name }
}

/// On the way of one certificate; the last two while the journal begins a segment.
pub(crate) const CERTIFICATE: &[Place] = &[
    at("api: understood"),
    at("api: drafted"),
    at("signer: checked"),
    at("journal: written"),
    at("signer: intended"),
    at("signing worker: asked"),
    at("signing worker: signed"),
    at("signer: verified"),
    at("signer: signed"),
    at("api: signed"),
    at("api: records"),
    at("api: recorded"),
    at("journal: segment full"),
    at("journal: segment begun"),
];

/// While a Local CA's key is made.
pub(crate) const KEY: &[Place] = &[
    at("keyring: journaled"),
    at("signer: key pending"),
    at("key worker: opened"),
    at("key worker: generated"),
    at("key worker: tried"),
    at("key worker: acted"),
    at("key worker: synced"),
    at("signer: key made"),
    at("signer: key created"),
];

/// The rows of the table with this first heading in `docs/OPERATIONS.md`.
pub(crate) fn documented(heading: &str) -> anyhow::Result<Vec<String>> {
    let text = std::fs::read_to_string(project().join("docs/OPERATIONS.md"))?;
    let mut lines = text.lines().skip_while(|line| !line.starts_with(&format!("| {heading}")));
    lines.next().with_context(|| format!("docs/OPERATIONS.md has no table of {heading}"))?;
    Ok(lines.skip(1).take_while(|line| line.starts_with('|')).map(str::to_owned).collect())
}
