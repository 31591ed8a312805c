//! `signer.toml` as written, with the shipped value of what is absent.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use chancery_shared::wire::policy::Policy;
use serde::Deserialize;

use super::{CaCertificates, KeyChangeRule};
use crate::token::{Sandbox, SystemCalls, TokenConfig};

/// The file as written. Unknown keys are errors.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ConfigFile {
    pub(super) api_uid: u32,
    pub(super) api_gid: Option<u32>,
    pub(super) operator_uid: u32,
    #[serde(default = "shipped_sandbox")]
    pub(super) sandbox: Sandbox,
    #[serde(default)]
    pub(super) ca_certificates: CaCertificates,
    #[serde(default)]
    pub(super) enable: KeyChangeRule,
    #[serde(default)]
    pub(super) destroy: KeyChangeRule,
    #[serde(default = "shipped_budget")]
    pub(super) budget_per_minute: u32,
    #[serde(default = "shipped_approvals")]
    pub(super) approvals_per_hour: u32,
    #[serde(default = "shipped_clock_jump")]
    pub(super) clock_jump_minutes: u32,
    #[serde(default)]
    pub(super) anchors: Vec<PathBuf>,
    pub(super) bad_keys_file: Option<PathBuf>,
    #[serde(default)]
    pub(super) journal: JournalFile,
    #[serde(default)]
    pub(super) token: Vec<TokenFile>,
    pub(super) ceiling: Option<Policy>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JournalFile {
    pub(super) segment_mib: u64,
}

impl Default for JournalFile {
    fn default() -> Self {
        Self { segment_mib: 16 }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TokenFile {
    pub(super) name: String,
    pub(super) module: PathBuf,
    pub(super) label: Option<String>,
    pub(super) serial: Option<String>,
    pub(super) folder: PathBuf,
    pub(super) pin_file: PathBuf,
    #[serde(default = "shipped_max_keys")]
    pub(super) max_keys: u32,
    pub(super) threads: Option<usize>,
    #[serde(default = "shipped_deadline")]
    pub(super) deadline_seconds: u64,
    #[serde(default = "shipped_system_calls")]
    pub(super) system_calls: SystemCalls,
    #[serde(default)]
    pub(super) environment: BTreeMap<String, String>,
}

impl TokenFile {
    pub(super) fn resolve(self, home: &Path, program: &Path, sandbox: Sandbox) -> TokenConfig {
        // A value that names a file of the signer's is relative to the home, like every path here.
        let absolute = |value: String| {
            if value.starts_with("signer/") {
                home.join(value).to_string_lossy().into_owned()
            } else {
                value
            }
        };
        TokenConfig {
            name: self.name,
            module: home.join(self.module),
            label: self.label,
            serial: self.serial,
            folder: home.join(self.folder),
            pin_file: home.join(self.pin_file),
            max_keys: self.max_keys,
            threads: self.threads,
            deadline: std::time::Duration::from_secs(self.deadline_seconds),
            environment: self.environment.into_iter().map(|(k, v)| (k, absolute(v))).collect(),
            state_folder: home.join("signer"),
            program: program.into(),
            sandbox,
            system_calls: self.system_calls,
        }
    }
}

fn shipped_sandbox() -> Sandbox {
    Sandbox::Required
}

fn shipped_system_calls() -> SystemCalls {
    SystemCalls::Local
}

fn shipped_budget() -> u32 {
    6_000
}

/// More than one operator looks through in an hour.
fn shipped_approvals() -> u32 {
    30
}

fn shipped_clock_jump() -> u32 {
    5
}

fn shipped_max_keys() -> u32 {
    100
}

/// Two tries, each of this length, have to fit into the 30 s of a request.
fn shipped_deadline() -> u64 {
    10
}
