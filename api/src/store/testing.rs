//! A database of its own for each test, on each engine.

use std::time::Duration;

use sqlx::{Connection as _, Executor as _};
use tempfile::TempDir;

use super::{Store, Unaudited, Write};
use crate::random::{Random as _, SystemRandom};

/// An empty database with the schema. The SQLite file goes with it; PostgreSQL's stays until its
/// server goes, which `test.sh` starts for the tests alone.
pub(crate) struct TestStore {
    pub(crate) store: Store,
    pub(crate) url: String,
    _folder: Option<TempDir>,
}

/// One database on each engine, with the engine's name for messages.
pub(crate) async fn both() -> [(&'static str, TestStore); 2] {
    [("SQLite", sqlite().await), ("PostgreSQL", postgres().await)]
}

pub(crate) async fn sqlite() -> TestStore {
    let folder = TempDir::new().unwrap();
    let url = format!("sqlite://{}/chancery.db?mode=rwc", folder.path().display());
    TestStore { store: Store::open(&url).await.unwrap(), url, _folder: Some(folder) }
}

pub(crate) async fn postgres() -> TestStore {
    let url = postgres_database().await;
    TestStore { store: Store::open(&url).await.unwrap(), url, _folder: None }
}

/// URL of an empty database whose role may make tables in it and nothing else, and the role.
pub(crate) async fn postgres_without_rights() -> (String, String) {
    let url = postgres_database().await;
    let (_, name) = url.rsplit_once('/').unwrap();
    let role = name.split('?').next().unwrap().to_owned();
    let (scheme, rest) = url.split_once("://").unwrap();
    let (_, place) = rest.split_once('@').unwrap_or(("", rest));
    let mut connection = sqlx::AnyConnection::connect(&url).await.unwrap();
    for sql in [
        format!("CREATE ROLE {role} LOGIN PASSWORD 'pw'"),
        format!("GRANT ALL ON SCHEMA public TO {role}"),
    ] {
        connection.execute(sqlx::AssertSqlSafe(sql)).await.unwrap();
    }
    (format!("{scheme}://{role}:pw@{place}"), role)
}

/// URL of a database without a schema.
pub(crate) async fn postgres_database() -> String {
    let server = std::env::var("CHANCERY_TEST_POSTGRES").expect(
        "CHANCERY_TEST_POSTGRES must be the URL of a PostgreSQL server where databases may be \
         created, such as postgres://postgres@127.0.0.1:5432/postgres; ./test.sh starts one",
    );
    let mut random = [0; 8];
    SystemRandom.fill(&mut random);
    let name = format!("chancery_test_{}", hex::encode(random));
    let (address, parameters) = match server.split_once('?') {
        Some((address, parameters)) => (address, format!("?{parameters}")),
        None => (server.as_str(), String::new()),
    };
    let (host, _) = address.rsplit_once('/').expect("the URL names a database after its last /");
    let url = format!("{host}/{name}{parameters}");
    sqlx::any::install_default_drivers();
    sqlx::AnyConnection::connect(&server)
        .await
        .unwrap()
        .execute(sqlx::AssertSqlSafe(format!("CREATE DATABASE {name}")))
        .await
        .unwrap();
    url
}

impl TestStore {
    /// Everything that SQLite has on the disk: file and log.
    pub(crate) fn bytes_on_disk(&self) -> Vec<u8> {
        let path = self.url.trim_start_matches("sqlite://");
        let path = path.split('?').next().unwrap();
        let log = std::fs::read(format!("{path}-wal")).unwrap_or_default();
        [std::fs::read(path).unwrap(), log].concat()
    }
}

impl Store {
    /// Runs `sql` as it stands: for what no function of the store does.
    pub(crate) async fn execute_for_test(&self, sql: &str) {
        self.run_for_test(sql).await.commit_unaudited(Unaudited::Fixture).await.unwrap();
    }

    /// The same, so that no process learns of it.
    pub(crate) async fn execute_unseen_for_test(&self, sql: &str) {
        self.run_for_test(sql).await.commit_unaudited(Unaudited::Nothing).await.unwrap();
    }

    /// Returns once so many transactions wait for what another one holds. PostgreSQL alone tells.
    pub(crate) async fn until_so_many_wait(&self, transactions: i64) {
        let waiting = "SELECT count(*) FROM pg_stat_activity
                        WHERE datname = current_database() AND wait_event_type = 'Lock'";
        let look = async || {
            let found = sqlx::query_scalar::<_, i64>(waiting).fetch_one(self.pool()).await;
            found.unwrap() < transactions
        };
        let all = async {
            while look().await {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), all).await.expect("so many wait");
    }

    async fn run_for_test(&self, sql: &str) -> Write {
        let mut write = self.begin().await.unwrap();
        let sql = sqlx::AssertSqlSafe(sql.to_owned());
        sqlx::query(sql).execute(write.connection()).await.unwrap();
        write
    }
}

impl Write {
    /// PostgreSQL does not end this transaction however long it does nothing.
    pub(crate) async fn wait_without_end_for_test(&mut self) {
        self.say("SET LOCAL idle_in_transaction_session_timeout = 0").await.unwrap();
    }
}

/// Two live issuers, `Open` and `Closed`, and a deleted one, with what they stand on.
pub(crate) const ISSUERS: &[&str] = &[
    "INSERT INTO key_store (key_store_id, name, token, created_at, created_by)
     VALUES ('010101010101010101010101', 'Store', 'local', 0, 'admin')",
    "INSERT INTO local_ca (local_ca_id, name, key_store_id, subject_dn, definition, status,
                           created_at, created_by)
     VALUES ('010101010101010101010101', 'CA', '010101010101010101010101', 'CN=CA', '{}', 'live',
             0, 'admin')",
    "INSERT INTO profile (profile_id, name, definition, created_at, created_by)
     VALUES ('010101010101010101010101', 'TLS', '{}', 0, 'admin')",
    "INSERT INTO cert_issuer (cert_issuer_id, name, local_ca_id, profile_id, allow_dn_requests,
                              allow_csr_requests, allowed_generators, created_at, created_by,
                              deleted_at)
     VALUES ('010101010101010101010101', 'Open', '010101010101010101010101',
             '010101010101010101010101', 1, 1, '[]', 0, 'admin', NULL),
            ('020202020202020202020202', 'Closed', '010101010101010101010101',
             '010101010101010101010101', 1, 1, '[]', 0, 'admin', NULL),
            ('030303030303030303030303', 'Gone', '010101010101010101010101',
             '010101010101010101010101', 1, 1, '[]', 0, 'admin', 5)",
];
