//! `config/signer.toml`: the operator's word on what the signer may do.
//!
//! `ConfigFile` is the text as written, [`Config`] what was checked. The API's user can't read
//! the file.

mod file;

use std::path::{Path, PathBuf};

use chancery_shared::bad_keys::{BadKeys, BadLine};
use chancery_shared::wire::policy::Policy;
use serde::Deserialize;

use file::ConfigFile;

use crate::limits;
use crate::token::{Sandbox, TokenConfig};

/// What happens to a request for a CA certificate.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum CaCertificates {
    /// Policy alone decides.
    Allow,
    /// The operator decides on what policy lets pass.
    #[default]
    Approve,
    /// None is signed.
    Deny,
}

/// What happens to a request to enable or destroy a key.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub enum KeyChangeRule {
    /// It is done at once.
    #[default]
    Allow,
    /// The operator decides.
    Approve,
}

/// The checked configuration.
#[derive(Clone, Debug)]
pub struct Config {
    /// The home that relative paths start from.
    pub home: PathBuf,
    /// The only user that may ask for signatures.
    pub api_uid: u32,
    /// The group that may open the API socket; absent: the signer's own.
    pub api_gid: Option<u32>,
    /// The only user that may decide on the operator socket.
    pub operator_uid: u32,
    /// See [`Sandbox`].
    pub sandbox: Sandbox,
    /// See [`CaCertificates`].
    pub ca_certificates: CaCertificates,
    /// Of `enable-key`.
    pub enable: KeyChangeRule,
    /// Of `destroy-key`.
    pub destroy: KeyChangeRule,
    /// Signatures of one key in one minute; 0 for no limit.
    pub budget_per_minute: u32,
    /// Requests that may be parked for the operator in one hour; 0 for no limit.
    pub approvals_per_hour: u32,
    /// A clock that is off by more has jumped.
    pub clock_jump: time::Duration,
    /// DER of the roots that a CA certificate from outside may chain to.
    pub anchors: Vec<Vec<u8>>,
    /// Keys that are not certified because others have them.
    pub bad_keys: BadKeys,
    /// Size at which a journal segment is closed, in bytes.
    pub segment_bytes: u64,
    /// The tokens, at least one.
    pub tokens: Vec<TokenConfig>,
    /// What any key may sign at most.
    pub ceiling: Policy,
}

/// Why the signer does not start with this configuration.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file can't be read.
    #[error("can't read {}", path.display())]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The text is no TOML, has an unknown key, or a value of the wrong type; the source names
    /// the line.
    #[error("{} is not a signer configuration", path.display())]
    NotToml {
        /// Which file.
        path: PathBuf,
        /// Names the line.
        #[source]
        source: Box<toml::de::Error>,
    },
    /// A value is outside its range.
    #[error("{}: {key} = {value}: {allowed}", path.display())]
    OutOfRange {
        /// Which file.
        path: PathBuf,
        /// The key.
        key: &'static str,
        /// Its value.
        value: String,
        /// What would pass.
        allowed: &'static str,
    },
    /// A line of the list of bad keys is none.
    #[error("{}", path.display())]
    BadKeys {
        /// Which list.
        path: PathBuf,
        /// Names the line and what would pass.
        #[source]
        source: BadLine,
    },
    /// An anchor can't be read, or is no certificate in PEM.
    #[error("{}: anchors: {} is not one readable certificate in PEM", path.display(), anchor.display())]
    BadAnchor {
        /// Which configuration.
        path: PathBuf,
        /// Which file.
        anchor: PathBuf,
        /// Why it can't be read, if it can't.
        #[source]
        source: Option<std::io::Error>,
    },
}

impl Config {
    /// Reads and checks `config/signer.toml` below `home`. `program` is what the token workers
    /// run: `chancery-signer` itself.
    ///
    /// # Errors
    ///
    /// Names the file, the line or key, and what would pass.
    pub fn load(home: &Path, program: &Path) -> Result<Self, ConfigError> {
        let home = std::path::absolute(home).map_err(unreadable(home))?;
        let path = home.join("config/signer.toml");
        let text = std::fs::read_to_string(&path).map_err(unreadable(&path))?;
        let file: ConfigFile = toml::from_str(&text).map_err(|source| ConfigError::NotToml {
            path: path.clone(),
            source: Box::new(source),
        })?;
        Self::check(&home, program, &path, file)
    }

    fn check(
        home: &Path,
        program: &Path,
        path: &Path,
        file: ConfigFile,
    ) -> Result<Self, ConfigError> {
        let refuse = |key, value: String, allowed| {
            Err(ConfigError::OutOfRange { path: path.into(), key, value, allowed })
        };
        if !(1..=1024).contains(&file.journal.segment_mib) {
            return refuse(
                "journal.segment_mib",
                file.journal.segment_mib.to_string(),
                "1 to 1024",
            );
        }
        if !(1..=1440).contains(&file.clock_jump_minutes) {
            return refuse("clock_jump_minutes", file.clock_jump_minutes.to_string(), "1 to 1440");
        }
        let tokens = file.token.len();
        if !(1..=limits::MAX_TOKENS).contains(&tokens) {
            return refuse("token", format!("{tokens} tables"), "1 to 16 tables [[token]]");
        }
        let ceiling = file.ceiling.unwrap_or_else(Policy::shipped);
        let length = serde_json::to_vec(&ceiling).map_or(usize::MAX, |json| json.len());
        if length > limits::MAX_CEILING {
            return refuse("ceiling", format!("{length} bytes"), "at most 16384 bytes as JSON");
        }
        let mut tokens: Vec<TokenConfig> = Vec::new();
        for token in file.token {
            if !limits::is_token_name(&token.name)
                || tokens.iter().any(|other| other.name == token.name)
            {
                let allowed = "a name that no other token has, of 1 to 64 bytes, without control \
                               characters, quotes and backslashes";
                return refuse("token.name", token.name, allowed);
            }
            // Together with the tokens before.
            let keys: u32 = tokens.iter().map(|other| other.max_keys).sum();
            if !(1..=limits::MAX_KEYS - keys).contains(&token.max_keys) {
                let allowed = "1 to 500, all tokens together";
                return refuse("token.max_keys", token.max_keys.to_string(), allowed);
            }
            if !(1..=13).contains(&token.deadline_seconds) {
                let value = token.deadline_seconds.to_string();
                return refuse("token.deadline_seconds", value, "1 to 13");
            }
            if let Some(threads) = token.threads.filter(|threads| !(1..=64).contains(threads)) {
                return refuse("token.threads", threads.to_string(), "1 to 64");
            }
            if token.label.is_none() && token.serial.is_none() {
                return refuse("token.label", "none".into(), "a label, a serial, or both");
            }
            tokens.push(token.resolve(home, program, file.sandbox));
        }
        let anchors = file.anchors.iter().map(|anchor| read_anchor(path, &home.join(anchor)));
        Ok(Self {
            home: home.into(),
            api_uid: file.api_uid,
            api_gid: file.api_gid,
            operator_uid: file.operator_uid,
            sandbox: file.sandbox,
            ca_certificates: file.ca_certificates,
            enable: file.enable,
            destroy: file.destroy,
            budget_per_minute: file.budget_per_minute,
            approvals_per_hour: file.approvals_per_hour,
            clock_jump: time::Duration::minutes(i64::from(file.clock_jump_minutes)),
            anchors: anchors.collect::<Result<_, _>>()?,
            bad_keys: bad_keys(file.bad_keys_file.map(|list| home.join(list)))?,
            segment_bytes: file.journal.segment_mib * 1024 * 1024,
            tokens,
            ceiling,
        })
    }

    /// The folder of the signer's own files.
    #[must_use]
    pub fn state_folder(&self) -> PathBuf {
        self.home.join("signer")
    }

    /// The folder of the journal.
    #[must_use]
    pub fn journal_folder(&self) -> PathBuf {
        self.state_folder().join("journal")
    }
}

fn unreadable(path: &Path) -> impl FnOnce(std::io::Error) -> ConfigError {
    move |source| ConfigError::Unreadable { path: path.into(), source }
}

/// The shipped list and the operator's.
fn bad_keys(list: Option<PathBuf>) -> Result<BadKeys, ConfigError> {
    let mut keys = BadKeys::shipped();
    if let Some(path) = list {
        let text = std::fs::read_to_string(&path).map_err(unreadable(&path))?;
        keys.extend(&text).map_err(|source| ConfigError::BadKeys { path, source })?;
    }
    Ok(keys)
}

fn read_anchor(path: &Path, anchor: &Path) -> Result<Vec<u8>, ConfigError> {
    let refused =
        |source| ConfigError::BadAnchor { path: path.into(), anchor: anchor.into(), source };
    let text = std::fs::read(anchor).map_err(|error| refused(Some(error)))?;
    match der::pem::decode_vec(&text) {
        Ok(("CERTIFICATE", der)) => Ok(der),
        Ok(_) | Err(_) => Err(refused(None)),
    }
}

#[cfg(test)]
mod tests;
