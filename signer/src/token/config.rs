//! What a token is told at start: where its module, its PIN and its files are.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// One token of `signer.toml`, checked.
#[derive(Clone, Debug)]
pub struct TokenConfig {
    /// Its name, by which the API asks for it.
    pub name: String,
    /// The vendor's PKCS#11 library.
    pub module: PathBuf,
    /// CK_TOKEN_INFO serialNumber, where the token is to be found by it.
    pub serial: Option<String>,
    /// CK_TOKEN_INFO label, where the token is to be found by it. With `serial`, both must fit.
    pub label: Option<String>,
    /// The workers' whole environment, such as `SOFTHSM2_CONF`.
    pub environment: BTreeMap<String, String>,
    /// The file that holds the user PIN.
    pub pin_file: PathBuf,
    /// The folder of the token's files: read by the signing worker, written by the key worker.
    pub folder: PathBuf,
    /// How many keys the token may hold.
    pub max_keys: u32,
    /// Signing threads; absent: four for each core.
    pub threads: Option<usize>,
    /// How long one call to the token may take before its worker is replaced.
    pub deadline: Duration,
    /// Where a PIN refusal, copies of the token's files and the workers' locks are kept.
    pub state_folder: PathBuf,
    /// `chancery-signer` itself, which is started again as worker.
    pub program: PathBuf,
    /// Whether the workers may start where the kernel can't confine them.
    pub sandbox: Sandbox,
    /// Which system calls the module needs.
    pub system_calls: SystemCalls,
}

impl TokenConfig {
    /// This token's part of the state folder; never inside the token's own folder.
    pub(super) fn own_state(&self) -> PathBuf {
        own_state(&self.state_folder, &self.name)
    }
}

/// The part of `state_folder` that belongs to the token of this name.
pub(super) fn own_state(state_folder: &std::path::Path, name: &str) -> PathBuf {
    // A name is free text: only what is safe in a file name stays as it is.
    let mut folder = String::new();
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || byte == b'-' {
            folder.push(char::from(byte));
        } else {
            let _ = write!(folder, "_{byte:02x}");
        }
    }
    state_folder.join("workers").join(folder)
}

/// What happens where the kernel has no Landlock.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum Sandbox {
    /// The workers do not start.
    Required,
    /// They start, and the status says that they are not confined.
    Optional,
}

/// The system-call filter that suits the module.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum SystemCalls {
    /// The token is a folder or a local device: no network either.
    Local,
    /// The token is reached over the network.
    Network,
    /// The module is known to need more than the filter lets pass.
    Unfiltered,
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn no_token_name_leads_out_of_the_state_folder() {
        for (name, folder) in
            [("Local Token", "Local_20Token"), ("../..", "_2e_2e_2f_2e_2e"), ("a-1", "a-1")]
        {
            assert_eq!(own_state(Path::new("/s"), name), Path::new("/s/workers").join(folder));
        }
    }
}
