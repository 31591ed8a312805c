//! Every key of the configuration, in the order of the shipped file.

/// One key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// As it stands in the file.
    pub name: &'static str,
    /// What holds where it is absent, as text.
    pub default: &'static str,
}

impl Key {
    /// The environment variable that overrides it: `CHANCERY_` and the name in capitals.
    pub fn variable(&self) -> String {
        format!("CHANCERY_{}", self.name.to_ascii_uppercase().replace('.', "_"))
    }
}

/// All of them.
pub const KEYS: &[Key] = &[
    Key { name: "address", default: "127.0.0.1" },
    Key { name: "port", default: "8443" },
    Key { name: "base.path", default: "" },
    Key { name: "metrics.port", default: "9464" },
    Key { name: "database.url", default: "" },
    Key { name: "signer.socket", default: "run/signer.sock" },
    Key { name: "deleteditems.purge.afterdays", default: "30" },
    Key { name: "deleteditems.purge.firstafterminutes", default: "10" },
    Key { name: "proxy.trusted", default: "" },
    Key { name: "request.max.bytes", default: "1048576" },
    Key { name: "request.body.timeout.seconds", default: "30" },
    Key { name: "csr.bad-keys.file", default: "" },
    Key { name: "keys.pool.size", default: "8" },
    Key { name: "keys.pool.refill.per.minute", default: "600" },
    Key { name: "p12.iterations", default: "10000" },
    Key { name: "log.level", default: "info" },
];
