//! `tests/cases/table.jsonl`: what is to happen to each hard case.

use std::path::PathBuf;

use anyhow::Context as _;
use chancery_tests::programs::project;
use serde::Deserialize;

/// One line of the table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    /// Area and number, such as `dn-005`.
    pub(crate) id: String,
    /// How it is fed to the service.
    #[serde(rename = "use")]
    pub(crate) fed_as: Use,
    /// What is right.
    pub(crate) expect: Ending,
    /// What is right too.
    #[serde(default)]
    pub(crate) also: Vec<Ending>,
    /// Its input, below `tests/cases`; a procedure makes its own.
    #[serde(default)]
    file: String,
    /// What went wrong for the people who had it.
    pub(crate) why: String,
    /// `status code` where it is refused; absent where it is not, whatever else would be right.
    #[serde(default)]
    pub(crate) refusal: Option<String>,
    /// What the refusal has to say, whatever its other words are.
    #[serde(default)]
    pub(crate) says: Vec<String>,
    /// The subject as OpenSSL reads it with the string types, where it is not the request's own.
    #[serde(default)]
    pub(crate) subject: Option<String>,
    /// The alternative names, where OpenSSL can't read the request.
    #[serde(default)]
    pub(crate) names: Vec<String>,
    /// Whether only the text around the request is put right, which the history doesn't tell.
    #[serde(default)]
    pub(crate) untold: bool,
    /// Whether the same request is sent once more, which makes another certificate.
    #[serde(default)]
    pub(crate) again: bool,
    /// What must stand neither in the log nor in the record.
    #[serde(default)]
    pub(crate) secret: Option<String>,
    /// What the history says of it, where the certificate is not all that was asked for.
    #[serde(default)]
    pub(crate) noted: Option<String>,
}

/// How a case is fed to the service.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Use {
    /// The text of the file is the `csr` field.
    Csr,
    /// The bytes of the file, in base64, are.
    Upload,
    /// To the reader of certificates; its own test has these.
    Certificate,
    /// The body of a DN request; a test of the route has these.
    Json,
    /// Code of its own.
    Procedure,
}

/// How a case ends.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Ending {
    /// A certificate as asked for.
    Issue,
    /// A certificate in a corrected or safer form, which the history tells.
    Normalise,
    /// 4xx with the cause, and nothing issued.
    Reject,
    /// Neither: what is right stands with the code.
    #[serde(rename = "n/a")]
    Special,
}

impl Case {
    /// Whether this ending is one of the right ones.
    pub(crate) fn allows(&self, ending: Ending) -> bool {
        self.expect == ending || self.also.contains(&ending)
    }

    /// The bytes of its file.
    pub(crate) fn bytes(&self) -> anyhow::Result<Vec<u8>> {
        let path = folder().join(&self.file);
        std::fs::read(&path).with_context(|| path.display().to_string())
    }
}

/// Every line, in order.
pub(crate) fn cases() -> anyhow::Result<Vec<Case>> {
    let text = std::fs::read_to_string(folder().join("table.jsonl"))?;
    text.lines().map(|line| serde_json::from_str(line).with_context(|| line.to_owned())).collect()
}

fn folder() -> PathBuf {
    project().join("tests/cases")
}
