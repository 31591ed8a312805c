//! The store on both engines: one body for each test.

mod account;
mod audit;
mod certificate;
mod certificate_change;
mod fixtures;
mod inventory;
mod local_ca;
mod loss;
mod numbers;
mod search;
mod search_bounds;
mod search_plans;
mod searches;
mod small;
mod unexpired_plans;

use sqlx::Executor as _;

use super::engine::EngineName;
use super::testing::both;

#[tokio::test]
async fn every_statement_can_be_prepared_on_both_engines() {
    let statements = [
        super::account::STATEMENTS,
        super::account::CHANGE_STATEMENTS,
        super::account::LOGIN_STATEMENTS,
        super::api_token::STATEMENTS,
        super::api_process::STATEMENTS,
        super::audit::CHAIN_STATEMENTS,
        super::audit::PROGRESS_STATEMENTS,
        super::audit::VERIFY_STATEMENTS,
        super::authorised_ca::STATEMENTS,
        super::cert_issuer::STATEMENTS,
        super::certificate::CHANGE_STATEMENTS,
        super::certificate::INSERT_STATEMENTS,
        super::certificate::ISSUERS_STATEMENTS,
        super::certificate::JOURNALED_STATEMENTS,
        super::certificate::PAGE_STATEMENTS,
        super::certificate::READ_STATEMENTS,
        super::certificate::REMOVE_STATEMENTS,
        super::certificate::TOMBSTONE_STATEMENTS,
        super::certificate::search::STATEMENTS,
        super::certificate::search::ISSUER_STATEMENTS,
        super::certificate::search::SOURCE_STATEMENTS,
        super::certificate::search::WALK_STATEMENTS,
        super::csr_generator::STATEMENTS,
        super::ended_token::STATEMENTS,
        super::installation::STATEMENTS,
        super::inventory_version::STATEMENTS,
        super::journal_head::STATEMENTS,
        super::key_data::STATEMENTS,
        super::key_store::STATEMENTS,
        super::lease::STATEMENTS,
        super::local_ca::STATEMENTS,
        super::local_ca::CLAIM_STATEMENTS,
        super::local_ca::WRITE_STATEMENTS,
        super::membership::STATEMENTS,
        super::profile::STATEMENTS,
        super::retention::STATEMENTS,
        super::retention::LOCAL_CA_STATEMENTS,
        super::retention::UNEXPIRED_STATEMENTS,
        super::schema::STATEMENTS,
        super::setting::STATEMENTS,
        super::team::STATEMENTS,
    ];
    for (engine, test) in both().await {
        let name = test.store.begin().await.unwrap().engine();
        let own = match name {
            EngineName::Sqlite => [
                super::certificate::search::INDEX_STATEMENTS,
                super::certificate::search::SQLITE_TEXT_STATEMENTS,
                super::certificate::search::SQLITE_NUMBER_STATEMENTS,
            ]
            .concat(),
            EngineName::Postgres => [
                super::certificate::search::POSTGRES_STATEMENTS,
                super::certificate::search::POSTGRES_NUMBER_STATEMENTS,
            ]
            .concat(),
        };
        let mut rows = super::certificate::row_statements(name);
        rows.extend(super::audit::row_statements(name));
        for (name, sql) in statements.concat().into_iter().chain(rows).chain(own) {
            let mut write = test.store.begin().await.unwrap();
            let prepared = write.connection().prepare(sqlx::SqlStr::from_static(sql)).await;
            assert!(prepared.is_ok(), "{engine}, {name}: {:?}", prepared.err());
        }
    }
}

#[tokio::test]
async fn opening_a_database_again_keeps_what_is_in_it() {
    for (engine, test) in both().await {
        let mut write = test.store.begin().await.unwrap();
        write.set_fact("first-start", "done").await.unwrap();
        write.commit_unaudited(crate::store::Unaudited::Fixture).await.unwrap();
        test.store.close().await;

        let again = super::Store::open(&test.url).await.unwrap();

        assert_eq!(again.fact("first-start").await.unwrap().as_deref(), Some("done"), "{engine}");
    }
}

#[tokio::test]
async fn a_dropped_transaction_is_undone() {
    for (engine, test) in both().await {
        let mut write = test.store.begin().await.unwrap();
        write.set_fact("half", "way").await.unwrap();
        drop(write);

        assert_eq!(test.store.fact("half").await.unwrap(), None, "{engine}");
    }
}

#[tokio::test]
async fn a_commit_on_sqlite_is_on_disk_when_it_returns() {
    let test = super::testing::sqlite().await;
    let mut write = test.store.begin().await.unwrap();

    for (pragma, expected) in [("PRAGMA synchronous", 2_i64), ("PRAGMA foreign_keys", 1)] {
        let found: i64 = sqlx::query_scalar(sqlx::AssertSqlSafe(pragma))
            .fetch_one(write.connection())
            .await
            .unwrap();
        assert_eq!(found, expected, "{pragma}");
    }
    let mode: String =
        sqlx::query_scalar("PRAGMA journal_mode").fetch_one(write.connection()).await.unwrap();
    assert_eq!(mode, "wal");
}

#[tokio::test]
async fn an_address_of_no_known_engine_is_refused() {
    assert!(matches!(
        super::Store::open("mysql://localhost/x").await,
        Err(super::StoreError::Open(_))
    ));
}

#[tokio::test]
async fn a_store_closes_while_writers_wait_for_their_turn() {
    for (engine, test) in both().await {
        let first = test.store.begin().await.unwrap();
        let waiting: Vec<_> = (0..8)
            .map(|_| {
                let store = test.store.clone();
                tokio::spawn(async move { store.begin().await.map(drop) })
            })
            .collect();
        tokio::task::yield_now().await;

        let closing = test.store.close();
        drop(first);
        closing.await;

        for writer in waiting {
            let _ = writer.await.unwrap();
        }
        assert!(test.store.begin().await.is_err(), "{engine}");
    }
}

#[tokio::test]
async fn a_writer_that_goes_away_leaves_its_place_to_the_next() {
    for (engine, test) in both().await {
        for _ in 0..3 {
            let mut write = test.store.begin().await.unwrap();
            write.set_fact("lost", "").await.unwrap();
            let writer = tokio::spawn(async move {
                let _write = write;
                std::future::pending::<()>().await;
            });
            tokio::task::yield_now().await;
            writer.abort();
            let _ = writer.await;
        }

        let mut write = test.store.begin().await.unwrap();
        write.set_fact("kept", "").await.unwrap();
        write.commit_unaudited(crate::store::Unaudited::Fixture).await.unwrap();

        assert_eq!(test.store.fact("lost").await.unwrap(), None, "{engine}");
        assert!(test.store.fact("kept").await.unwrap().is_some(), "{engine}");
    }
}
