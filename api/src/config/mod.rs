//! The configuration: `config/application.properties`, checked once at start.

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

/// Settings that are sound. Only [`Config::check`] makes one from a file.
#[derive(Clone, Debug)]
pub struct Config {
    /// The folder of configuration, data and sockets.
    pub home: PathBuf,
    /// `server.address`: where HTTPS listens.
    pub address: IpAddr,
    /// `server.port`: HTTPS.
    pub port: u16,
    /// `server.base-paths`: what may stand in front of `/api`, the first for links; each empty or
    /// `/…` without a slash at its end. Never empty as a list.
    pub base_paths: Vec<String>,
    /// `metrics.port`: `/metrics` on loopback; `None` where it is off.
    pub metrics_port: Option<u16>,
    /// `database.url`.
    pub database_url: String,
    /// `deleteditems.purge.afterdays`: how long deleted items are kept.
    pub purge_after_days: u32,
    /// `signer.socket`: the signer's API socket.
    pub signer_socket: PathBuf,
    /// `token.lifetime-minutes`: how long a login lasts.
    pub token_lifetime: Duration,
    /// `password.min-length`, in characters.
    pub password_min_length: usize,
    /// `request.max-bytes`: the largest body.
    pub max_body: usize,
    /// `request.body-timeout-seconds`: how long a body may take to arrive.
    pub body_timeout: Duration,
    /// `log.level`: a filter of the `tracing` kind.
    pub log_level: String,
}
