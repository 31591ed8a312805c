//! What an item leaves behind in the world is counted in an index, whatever else there is.

use sqlx::{AssertSqlSafe, Row as _};

use super::search::insert;
use crate::store::retention::UNEXPIRED_STATEMENTS;
use crate::store::testing::both;

#[tokio::test]
async fn unexpired_certificates_are_counted_in_their_index() {
    for (engine, test) in both().await {
        insert(&test.store, 1..=2000).await;
        let of_many = "UPDATE certificate SET local_ca_id = 'ca' WHERE record_no % 10 = 0";
        test.store.execute_for_test(of_many).await;
        let analyse = if engine == "SQLite" { "ANALYZE" } else { "VACUUM ANALYZE certificate" };
        // No transaction of its own: PostgreSQL takes this one in none.
        sqlx::query(analyse).execute(test.store.pool()).await.unwrap();
        let (explain, column, by_index) = match engine {
            "SQLite" => (
                "EXPLAIN QUERY PLAN",
                "detail",
                "COVERING INDEX certificate_unexpired (local_ca_id=? AND not_after>?)",
            ),
            _ => ("EXPLAIN", "QUERY PLAN", "Index Only Scan using certificate_unexpired"),
        };

        for (name, sql) in UNEXPIRED_STATEMENTS {
            let sql = sql.replace("$1", "'ca'").replace("$2", "5");
            let mut reading = test.store.begin_reading().await.unwrap();
            let explained = AssertSqlSafe(format!("{explain} {sql}"));
            let rows = sqlx::query(explained).fetch_all(&mut *reading.transaction).await.unwrap();
            let lines = rows.iter().map(|row| row.get::<String, _>(column));
            let plan = lines.collect::<Vec<_>>().join("\n");

            assert!(plan.contains(by_index), "{engine}, {name}: {plan}");
            for whole in ["Seq Scan on certificate", "SCAN certificate"] {
                assert!(!plan.contains(whole), "{engine}, {name}: {plan}");
            }
        }
    }
}
