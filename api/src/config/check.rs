//! From text to settings that are sound: every value read, its range checked.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use chancery_shared::bad_keys::BadKeys;
use tracing_subscriber::filter::Targets;

use super::file::Value;
use crate::ip_white_list::IpWhiteList;
use crate::key_pair::PoolSize;

use super::{Config, ConfigError, ConfigFile, KEYS, Origin, Problem};

impl Config {
    /// The settings that `file` describes, for a service that lives in `home`.
    ///
    /// # Errors
    ///
    /// [`ConfigError::Problems`] with everything that is wrong, not only the first.
    pub fn check(file: ConfigFile, home: PathBuf) -> Result<Self, ConfigError> {
        let ConfigFile { path, values, problems } = file;
        let mut check = Check { values, problems };
        let defaults = Self::with_defaults(home);
        let signer_socket = check.text("signer.socket");
        let database_url = check.text("database.url");
        let config = Self {
            address: check.read("address", "an IP address such as 127.0.0.1 or ::"),
            port: check.number("port", 1, u16::MAX),
            base_paths: check.base_paths(),
            metrics_port: Some(check.number("metrics.port", 0, u16::MAX)).filter(|port| *port > 0),
            database_url: match check.database_url(&database_url) {
                Some(url) => url,
                None => defaults.database_url,
            },
            purge_after_days: check.number("deleteditems.purge.afterdays", 0, 36_500),
            first_purge_after: Duration::from_mins(check.number(
                "deleteditems.purge.firstafterminutes",
                0,
                1440,
            )),
            // An absolute path stands as it is.
            signer_socket: defaults.home.join(signer_socket.text),
            trusted_proxies: check.trusted_proxies(),
            max_body: check.number("request.max.bytes", 65_536, 16_777_216),
            body_timeout: Duration::from_secs(check.number("request.body.timeout.seconds", 1, 600)),
            bad_keys: check.bad_keys(&defaults.home),
            key_pool: PoolSize {
                keys: check.number("keys.pool.size", 0, 1000),
                per_minute: check.number("keys.pool.refill.per.minute", 1, 60_000),
            },
            p12_iterations: {
                let iterations = check.number("p12.iterations", 10_000, 5_000_000);
                NonZeroU32::new(iterations).unwrap_or(defaults.p12_iterations)
            },
            log_level: check.log_level(),
            home: defaults.home,
        };
        let Check { mut problems, .. } = check;
        if problems.is_empty() {
            return Ok(config);
        }
        problems.sort_by_key(|problem| match problem.origin {
            Origin::Line(line) => line,
            Origin::Variable(_) => usize::MAX,
        });
        Err(ConfigError::Problems { path, problems })
    }
}

struct Check {
    values: std::collections::HashMap<&'static str, Value>,
    problems: Vec<Problem>,
}

impl Check {
    /// The value of `name`, or its default.
    fn text(&self, name: &str) -> Value {
        let default = KEYS.iter().find(|key| key.name == name).map_or("", |key| key.default);
        let otherwise = || Value { text: default.to_owned(), origin: Origin::Line(0) };
        self.values.get(name).cloned().unwrap_or_else(otherwise)
    }

    fn report(&mut self, name: &str, value: Value, expected: &str) {
        let message = format!("{name} is \"{}\"; expected is {expected}", value.text);
        self.problems.push(Problem { origin: value.origin, message });
    }

    /// Reads `name` as a `T`; after a report, its default, so that the rest is checked too.
    fn read<T: FromStr + Fallback>(&mut self, name: &'static str, expected: &str) -> T {
        let value = self.text(name);
        value.text.parse().unwrap_or_else(|_| {
            self.report(name, value, expected);
            T::fallback()
        })
    }

    fn number<T>(&mut self, name: &'static str, least: T, most: T) -> T
    where
        T: FromStr + PartialOrd + Copy + std::fmt::Display,
    {
        let value = self.text(name);
        match value.text.parse::<T>() {
            Ok(number) if least <= number && number <= most => number,
            _ => {
                self.report(name, value, &format!("a number from {least} to {most}"));
                least
            }
        }
    }

    fn base_paths(&mut self) -> Vec<String> {
        let value = self.text("base.path");
        let mut paths = Vec::new();
        for part in value.text.split(',').map(str::trim) {
            let inner = part.trim_matches('/');
            let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._~/".contains(c);
            let path = if inner.is_empty() { String::new() } else { format!("/{inner}") };
            let is_free = !["/api", "/health", "/crl", "/ocsp", "/ca"].contains(&path.as_str());
            if !inner.chars().all(is_plain) || inner.contains("//") || !is_free {
                let expected = "empty, or paths such as /chancery with commas between them";
                self.report("base.path", value, expected);
                return vec![String::new()];
            }
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
        paths
    }

    /// `None` where the default holds.
    fn database_url(&mut self, value: &Value) -> Option<String> {
        let url = &value.text;
        let known = ["sqlite:", "postgres://", "postgresql://"];
        if !url.is_empty() && !known.iter().any(|scheme| url.starts_with(scheme)) {
            // Not repeated: it may hold a password.
            let message = "database.url must begin with postgres:// or sqlite:, or be empty for \
                           SQLite below the home";
            let origin = value.origin.clone();
            self.problems.push(Problem { origin, message: message.to_owned() });
        }
        Some(url.clone()).filter(|url| !url.is_empty())
    }

    fn trusted_proxies(&mut self) -> IpWhiteList {
        let value = self.text("proxy.trusted");
        IpWhiteList::read(&value.text).unwrap_or_else(|problem| {
            let message = format!("proxy.trusted: {problem}");
            self.problems.push(Problem { origin: value.origin, message });
            IpWhiteList::default()
        })
    }

    /// The shipped ones and those of the operator's file.
    fn bad_keys(&mut self, home: &Path) -> BadKeys {
        let value = self.text("csr.bad-keys.file");
        let mut keys = BadKeys::shipped();
        if value.text.is_empty() {
            return keys;
        }
        let message = match std::fs::read_to_string(home.join(&value.text)) {
            Ok(list) => keys.extend(&list).err().map(|line| line.to_string()),
            Err(error) => Some(format!("it can't be read ({error})")),
        };
        if let Some(message) = message {
            let message = format!("csr.bad-keys.file is \"{}\": {message}", value.text);
            self.problems.push(Problem { origin: value.origin, message });
        }
        keys
    }

    fn log_level(&mut self) -> String {
        let value = self.text("log.level");
        let text = value.text.clone();
        if text.parse::<Targets>().is_err() {
            self.report("log.level", value, "error, warn, info, debug or trace, or module=level");
        }
        text
    }
}

/// What stands in for a value that was reported.
trait Fallback {
    fn fallback() -> Self;
}

impl Fallback for std::net::IpAddr {
    fn fallback() -> Self {
        std::net::Ipv4Addr::LOCALHOST.into()
    }
}
