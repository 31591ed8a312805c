//! Connections that broke.

use std::time::Duration;

use futures::future::join_all;
use sqlx::{AnyConnection, Connection as _};

use super::fixtures::certificate;
use crate::store::testing::postgres;
use crate::store::{Store, StoreError};

/// Opens some connections and gives them back.
async fn use_many(store: &Store) {
    let id = certificate(1).certificate.id;
    join_all((0..8).map(|_| async { store.certificate(id).await.unwrap() })).await;
}

#[tokio::test]
async fn after_one_statement_that_met_a_broken_connection_no_other_does() {
    let test = postgres().await;
    use_many(&test.store).await;
    let mut operator = AnyConnection::connect(&test.url).await.unwrap();
    let others = "datname = current_database() AND pid <> pg_backend_pid()";
    let end_all = format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {others}");
    sqlx::query(sqlx::AssertSqlSafe(end_all)).execute(&mut operator).await.unwrap();
    let count = format!("SELECT count(*) FROM pg_stat_activity WHERE {others}");
    let all_ended = async {
        let count = || sqlx::query_scalar::<_, i64>(sqlx::AssertSqlSafe(count.clone()));
        while count().fetch_one(&mut operator).await.unwrap() > 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_mins(1), all_ended).await.unwrap();

    let id = certificate(1).certificate.id;
    let first = test.store.certificate(id).await;

    assert!(matches!(first, Ok(None) | Err(StoreError::Unavailable { .. })), "{first:?}");
    for _ in 0..20 {
        assert_eq!(test.store.certificate(id).await.unwrap(), None);
    }
}
