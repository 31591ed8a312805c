//! The configuration: `config/application.properties`, checked once at start.

mod check;
mod error;
mod file;
mod key;

use std::net::{IpAddr, Ipv4Addr};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::time::Duration;

use chancery_shared::bad_keys::BadKeys;

use crate::ip_white_list::IpWhiteList;
use crate::key_pair::PoolSize;

pub use error::{ConfigError, Origin, Problem};
pub use file::ConfigFile;
pub use key::{KEYS, Key};

#[cfg(test)]
mod tests;

/// Settings that are sound. Only [`Config::check`] makes one from a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The folder of configuration, data and sockets.
    pub home: PathBuf,
    /// `address`: where HTTPS listens.
    pub address: IpAddr,
    /// `port`: HTTPS.
    pub port: u16,
    /// `base.path`: what may stand in front of `/api`, the first for links; each empty or `/…`
    /// without a slash at its end. Never empty as a list.
    pub base_paths: Vec<String>,
    /// `metrics.port`: `/metrics` on loopback; `None` where it is off.
    pub metrics_port: Option<u16>,
    /// `database.url`.
    pub database_url: String,
    /// `deleteditems.purge.afterdays`: how long deleted items are kept.
    pub purge_after_days: u32,
    /// `deleteditems.purge.firstafterminutes`: nothing is purged so soon after a start.
    pub first_purge_after: Duration,
    /// `signer.socket`: the signer's API socket.
    pub signer_socket: PathBuf,
    /// `proxy.trusted`: whose word is taken for where a request comes from.
    pub trusted_proxies: IpWhiteList,
    /// `request.max.bytes`: the largest body of most calls.
    pub max_body: usize,
    /// `request.body.timeout.seconds`: how long a body may take to arrive.
    pub body_timeout: Duration,
    /// `csr.bad-keys.file`: keys that are not certified, the shipped ones among them.
    pub bad_keys: BadKeys,
    /// `keys.pool.size` and `keys.pool.refill.per.minute`: RSA keys that are ready.
    pub key_pool: PoolSize,
    /// `p12.iterations`: how often a package's key derivations hash its password.
    pub p12_iterations: NonZeroU32,
    /// `log.level`, a filter such as `info` or `info,chancery_api=debug`.
    pub log_level: String,
}

impl Config {
    /// What holds in `home` where no key is set.
    pub fn with_defaults(home: PathBuf) -> Self {
        Self {
            address: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: 8443,
            base_paths: vec![String::new()],
            metrics_port: Some(9464),
            database_url: sqlite_below(&home),
            purge_after_days: 30,
            first_purge_after: Duration::from_mins(10),
            signer_socket: home.join("run/signer.sock"),
            trusted_proxies: IpWhiteList::default(),
            max_body: 1024 * 1024,
            body_timeout: Duration::from_secs(30),
            bad_keys: BadKeys::shipped(),
            key_pool: PoolSize { keys: 8, per_minute: 600 },
            p12_iterations: DEFAULT_ITERATIONS,
            log_level: "info".to_owned(),
            home,
        }
    }

    /// Where the keys that sign bearer tokens are.
    pub fn token_keys(&self) -> PathBuf {
        self.home.join("config/secrets/token-keys")
    }
}

const DEFAULT_ITERATIONS: NonZeroU32 = NonZeroU32::MIN.saturating_add(9_999);

/// The file of the default database. Its folder must exist.
fn sqlite_below(home: &Path) -> String {
    let path = home.join("data/chancery.db");
    // What would end the path or begin a parameter is written as RFC 3986 has it.
    let path = path.to_string_lossy().replace('%', "%25").replace('?', "%3F").replace('#', "%23");
    format!("sqlite://{path}?mode=rwc")
}
