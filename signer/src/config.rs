//! `config/signer.toml`: the operator's word on what the signer may do.
//!
//! [`ConfigFile`] is the text as written, [`Config`] what was checked. The API's user can't read
//! the file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use chancery_shared::wire::policy::Policy;
use serde::Deserialize;

use crate::token::{Sandbox, SystemCalls, TokenConfig};

/// The file as written. Unknown keys are errors.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ConfigFile {
    api_uid: u32,
    api_gid: Option<u32>,
    operator_uid: u32,
    #[serde(default = "shipped_sandbox")]
    sandbox: Sandbox,
    #[serde(default)]
    ca_certificates: CaCertificates,
    #[serde(default)]
    enable: KeyChangeRule,
    #[serde(default)]
    destroy: KeyChangeRule,
    #[serde(default = "shipped_budget")]
    budget_per_minute: u32,
    #[serde(default = "shipped_clock_jump")]
    clock_jump_minutes: u32,
    #[serde(default)]
    anchors: Vec<PathBuf>,
    #[serde(default)]
    journal: JournalFile,
    #[serde(default)]
    token: Vec<TokenFile>,
    ceiling: Option<Policy>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct JournalFile {
    segment_mib: u64,
}

impl Default for JournalFile {
    fn default() -> Self {
        Self { segment_mib: 16 }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TokenFile {
    name: String,
    module: PathBuf,
    label: Option<String>,
    serial: Option<String>,
    folder: PathBuf,
    pin_file: PathBuf,
    #[serde(default = "shipped_max_keys")]
    max_keys: u32,
    threads: Option<usize>,
    #[serde(default = "shipped_deadline")]
    deadline_seconds: u64,
    #[serde(default = "shipped_system_calls")]
    system_calls: SystemCalls,
    #[serde(default)]
    environment: BTreeMap<String, String>,
}

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
    /// A clock that is off by more has jumped.
    pub clock_jump: time::Duration,
    /// DER of the roots that a CA certificate from outside may chain to.
    pub anchors: Vec<Vec<u8>>,
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
    /// An anchor is no certificate in PEM.
    #[error("{} is not one certificate in PEM", path.display())]
    BadAnchor {
        /// Which file.
        path: PathBuf,
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
        if file.token.is_empty() {
            return refuse("token", "none".into(), "at least one [[token]]");
        }
        let mut tokens: Vec<TokenConfig> = Vec::new();
        for token in file.token {
            if token.name.is_empty() || tokens.iter().any(|other| other.name == token.name) {
                return refuse("token.name", token.name, "a name that no other token has");
            }
            if !(1..=10_000).contains(&token.max_keys) {
                return refuse("token.max_keys", token.max_keys.to_string(), "1 to 10000");
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
        let anchors = file.anchors.iter().map(|anchor| read_anchor(&home.join(anchor)));
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
            clock_jump: time::Duration::minutes(i64::from(file.clock_jump_minutes)),
            anchors: anchors.collect::<Result<_, _>>()?,
            segment_bytes: file.journal.segment_mib * 1024 * 1024,
            tokens,
            ceiling: file.ceiling.unwrap_or_else(Policy::shipped),
        })
    }

    /// The folder of the signer's own files.
    #[must_use]
    pub fn state_folder(&self) -> PathBuf {
        self.home.join("signer")
    }
}

impl TokenFile {
    fn resolve(self, home: &Path, program: &Path, sandbox: Sandbox) -> TokenConfig {
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

fn unreadable(path: &Path) -> impl FnOnce(std::io::Error) -> ConfigError {
    move |source| ConfigError::Unreadable { path: path.into(), source }
}

fn read_anchor(path: &Path) -> Result<Vec<u8>, ConfigError> {
    let text = std::fs::read(path).map_err(unreadable(path))?;
    let (label, der) =
        der::pem::decode_vec(&text).map_err(|_| ConfigError::BadAnchor { path: path.into() })?;
    if label == "CERTIFICATE" { Ok(der) } else { Err(ConfigError::BadAnchor { path: path.into() }) }
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

#[cfg(test)]
mod tests {
    use super::*;

    const SOUND: &str = r#"
        api_uid = 7
        operator_uid = 0
        [[token]]
        name = "T"
        module = "/lib/m.so"
        label = "l"
        folder = "signer/token"
        pin_file = "signer/pin"
        environment = { SOFTHSM2_CONF = "signer/softhsm2.conf", LANG = "C" }
    "#;

    fn load(text: &str) -> Result<Config, ConfigError> {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join("config")).unwrap();
        std::fs::write(home.path().join("config/signer.toml"), text).unwrap();
        Config::load(home.path(), Path::new("/bin/signer"))
    }

    #[test]
    fn what_is_not_written_has_the_shipped_value() {
        let config = load(SOUND).unwrap();

        assert_eq!(config.sandbox, Sandbox::Required);
        assert_eq!(config.ca_certificates, CaCertificates::Approve);
        assert_eq!((config.budget_per_minute, config.segment_bytes), (6_000, 16 * 1024 * 1024));
        assert_eq!(config.ceiling, Policy::shipped());
    }

    #[test]
    fn a_path_starts_from_the_home_also_in_the_environment() {
        let config = load(SOUND).unwrap();
        let token = config.tokens.first().unwrap();

        assert_eq!(token.folder, config.home.join("signer/token"));
        assert_eq!(token.module, Path::new("/lib/m.so"));
        assert_eq!(
            token.environment["SOFTHSM2_CONF"],
            config.home.join("signer/softhsm2.conf").to_string_lossy()
        );
        assert_eq!(token.environment["LANG"], "C");
    }

    #[test]
    fn a_bad_line_is_named_and_stops_the_start() {
        for (line, said) in [
            ("sandbx = \"optional\"", "sandbx"),
            ("sandbox = \"off\"", "off"),
            ("clock_jump_minutes = 0", "clock_jump_minutes = 0: 1 to 1440"),
            ("journal = { segment_mib = 0 }", "journal.segment_mib = 0: 1 to 1024"),
            ("anchors = [\"nowhere.pem\"]", "nowhere.pem"),
            ("api_uid = \"root\"", "api_uid"),
        ] {
            let text = format!("{line}\n{}", SOUND.replace("api_uid = 7", ""));
            let text =
                if line.starts_with("api_uid") { text } else { format!("api_uid = 7\n{text}") };

            let error = anyhow::Error::from(load(&text).unwrap_err());

            assert!(format!("{error:#}").contains(said), "{line}: {error:#}");
        }
    }
}
