//! Both databases.

use std::env;
use std::process::Command;

use anyhow::Context as _;

/// Which database the API uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// A file in the home.
    #[default]
    Sqlite,
    /// A database of its own on the server of `CHANCERY_TEST_POSTGRES`.
    Postgres,
}

/// A PostgreSQL database that is gone when this is dropped.
#[derive(Debug)]
pub struct PostgresDatabase {
    server: String,
    name: String,
}

impl PostgresDatabase {
    /// Makes an empty database with a name that nobody else has.
    ///
    /// # Errors
    ///
    /// There is no server: a failure, never a skip.
    pub fn create() -> anyhow::Result<Self> {
        let server = env::var("CHANCERY_TEST_POSTGRES").context(
            "CHANCERY_TEST_POSTGRES names no PostgreSQL server; ./test.sh system starts one",
        )?;
        Self::create_on(server)
    }

    /// As [`Self::create`], on the server with this URL.
    ///
    /// # Errors
    ///
    /// It does not answer.
    pub fn create_on(server: String) -> anyhow::Result<Self> {
        let mut random = [0; 8];
        aws_lc_rs::rand::fill(&mut random)?;
        let database = Self { server, name: format!("chancery_{}", hex::encode(random)) };
        database.run(&format!("CREATE DATABASE {}", database.name))?;
        Ok(database)
    }

    /// As the API's configuration wants it.
    #[must_use]
    pub fn url(&self) -> String {
        match self.server.rsplit_once('/') {
            Some((server, _)) => format!("{server}/{}", self.name),
            None => self.server.clone(),
        }
    }

    /// The single value that `sql` answers in this database.
    ///
    /// # Errors
    ///
    /// The server refuses it.
    pub fn value(&self, sql: &str) -> anyhow::Result<String> {
        psql(&self.url(), sql)
    }

    /// Cuts every connection to this database.
    ///
    /// # Errors
    ///
    /// The server does not answer.
    pub fn cut_connections(&self) -> anyhow::Result<()> {
        let cut = format!(
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = '{}'",
            self.name
        );
        self.run(&cut).map(drop)
    }

    fn run(&self, sql: &str) -> anyhow::Result<String> {
        psql(&self.server, sql)
    }
}

impl Drop for PostgresDatabase {
    fn drop(&mut self) {
        let dropped = self.run(&format!("DROP DATABASE {} WITH (FORCE)", self.name));
        assert!(dropped.is_ok() || std::thread::panicking(), "{dropped:?}");
    }
}

fn psql(url: &str, sql: &str) -> anyhow::Result<String> {
    let mut command = Command::new("psql");
    command.args([url, "-XqAt", "-v", "ON_ERROR_STOP=1", "-c", sql]);
    crate::openssl::run(&mut command)
}
