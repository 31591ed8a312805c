//! The schema: one list of migrations, most of them the same text for both engines.

use sqlx::AnyPool;
use sqlx::migrate::{MigrateError, Migrator};

use super::StoreError;
use super::engine::EngineName;

statements! {
    /// The table is the library's.
    NEWEST = "SELECT MAX(version) FROM _sqlx_migrations";
}

/// For both engines.
static COMMON: Migrator = sqlx::migrate!("../migrations");
/// What only one engine can say, numbered in the same row.
static SQLITE: Migrator = sqlx::migrate!("../migrations/sqlite");
static POSTGRES: Migrator = sqlx::migrate!("../migrations/postgres");

/// Brings the schema up to date.
pub(super) async fn migrate(pool: &AnyPool, engine: EngineName) -> Result<(), StoreError> {
    migrator(engine).run(pool).await.map_err(sort)
}

/// Whether the schema is up to date already.
pub(super) async fn check(pool: &AnyPool, engine: EngineName) -> Result<(), StoreError> {
    let newest: Option<i64> =
        sqlx::query_scalar(NEWEST).fetch_one(pool).await.map_err(StoreError::NoSchema)?;
    if newest == migrator(engine).iter().map(|migration| migration.version).max() {
        return Ok(());
    }
    Err(StoreError::OtherSchema)
}

fn migrator(engine: EngineName) -> Migrator {
    let own = match engine {
        EngineName::Sqlite => &SQLITE,
        EngineName::Postgres => &POSTGRES,
    };
    Migrator::with_migrations(COMMON.iter().chain(own.iter()).cloned().collect())
}

/// Brings an empty database to a schema of before.
#[cfg(test)]
pub(super) async fn migrate_to(pool: &AnyPool, engine: EngineName, version: i64) {
    let all = migrator(engine);
    let until = all.iter().filter(|migration| migration.version <= version);
    Migrator::with_migrations(until.cloned().collect()).run(pool).await.unwrap();
}

/// Of all that can go wrong an operator can mend one thing by a single command.
fn sort(error: MigrateError) -> StoreError {
    let (MigrateError::Execute(cause) | MigrateError::ExecuteMigration(cause, _)) = &error else {
        return StoreError::Migrate(error);
    };
    let Some(told) = cause.as_database_error() else { return StoreError::Migrate(error) };
    let code = told.code().unwrap_or_default();
    let is_extension = told.message().contains("extension");
    // Not allowed; not installed, as two generations of servers say it.
    if is_extension && ["42501", "0A000", "58P01"].contains(&&*code) {
        return StoreError::NoTrigrams(error);
    }
    StoreError::Migrate(error)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::store::testing::both;

    #[test]
    fn every_migration_has_a_number_of_its_own() {
        for engine in [EngineName::Sqlite, EngineName::Postgres] {
            let numbers: Vec<_> = migrator(engine).iter().map(|each| each.version).collect();

            assert!(numbers.is_sorted_by(|one, next| one < next), "{engine:?}: {numbers:?}");
        }
        let own = |of: &Migrator| of.iter().map(|each| each.version).collect::<BTreeSet<_>>();
        assert_eq!(own(&SQLITE), own(&POSTGRES));
    }

    #[tokio::test]
    async fn both_engines_end_with_the_same_tables_and_columns() {
        let [(_, sqlite), (_, postgres)] = both().await;
        let of_sqlite = "
            SELECT tables.name || '.' || columns.name
              FROM sqlite_schema AS tables JOIN pragma_table_info(tables.name) AS columns
             WHERE tables.type = 'table' AND tables.name NOT LIKE 'certificate\\_text\\_%' ESCAPE '\\'
               AND tables.name NOT LIKE '\\_sqlx%' ESCAPE '\\'";
        let of_postgres = "
            SELECT CAST(table_name || '.' || column_name AS TEXT)
              FROM information_schema.columns
             WHERE table_schema = 'public' AND table_name <> '_sqlx_migrations'";

        let mut columns = Vec::new();
        for (store, sql) in [(&sqlite.store, of_sqlite), (&postgres.store, of_postgres)] {
            let found: Vec<String> = sqlx::query_scalar(sql).fetch_all(store.pool()).await.unwrap();
            columns.push(found.into_iter().collect::<BTreeSet<_>>());
        }

        assert!(columns[0].contains("certificate.record_no"), "{columns:?}");
        assert_eq!(columns[0], columns[1]);
    }

    #[tokio::test]
    async fn a_role_that_may_not_make_the_extension_is_told_what_to_do() {
        let (url, role) = crate::store::testing::postgres_without_rights().await;

        let error = crate::store::Store::open(&url).await.unwrap_err();

        assert!(matches!(error, StoreError::NoTrigrams(_)), "{error:?}");
        assert!(error.to_string().contains("CREATE EXTENSION pg_trgm"), "{error} as {role}");
    }
}
