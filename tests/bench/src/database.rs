//! The engines that are measured.

use chancery_tests::Engine;
use clap::ValueEnum;
use serde::Serialize;

/// A database engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Database {
    Sqlite,
    Postgres,
}

impl Database {
    /// As the scene wants it.
    pub(crate) fn engine(self) -> Engine {
        match self {
            Self::Sqlite => Engine::Sqlite,
            Self::Postgres => Engine::Postgres,
        }
    }
}
