//! A page costs the same however many entries there are: none is sorted, and no table read whole.

use sqlx::{AssertSqlSafe, Row as _};

use super::add;
use crate::store::audit::{AuditSearch, Order, search_sql};
use crate::store::testing::both;

/// Each filter alone, and the index that answers it in the order of time.
fn filters() -> Vec<(AuditSearch, &'static str)> {
    let all = AuditSearch::default;
    let text = |text: &str| Some(text.to_owned());
    vec![
        (all(), ""),
        (AuditSearch { from: Some(1), to: Some(2), ..all() }, ""),
        (AuditSearch { username: text("a"), ..all() }, "audit_by_user"),
        (AuditSearch { object_id: text("a"), ..all() }, "audit_by_object"),
        (AuditSearch { object_kind: text("a"), ..all() }, "audit_by_kind"),
        (AuditSearch { object_kind: text("certs"), ..all() }, ""),
        (AuditSearch { action: text("a"), ..all() }, "audit_by_action"),
        (AuditSearch { result: text("no"), ..all() }, "audit_by_refusal"),
        (AuditSearch { result: text("ok"), ..all() }, ""),
        (AuditSearch { request_id: text("a"), ..all() }, "audit_by_request"),
    ]
}

#[tokio::test]
async fn each_filter_goes_by_an_index_in_the_order_of_time() {
    for (engine, test) in both().await {
        add(&test.store, 300).await;
        let analyse = if engine == "SQLite" { "ANALYZE" } else { "ANALYZE audit" };
        test.store.execute_for_test(analyse).await;
        let (explain, column) = match engine {
            "SQLite" => ("EXPLAIN QUERY PLAN", "detail"),
            _ => ("EXPLAIN", "QUERY PLAN"),
        };
        for (search, index) in filters() {
            for (order, is_after) in [(Order::NewestFirst, true), (Order::OldestFirst, false)] {
                let sql = filled(search_sql(&search, order, is_after));
                let mut reading = test.store.begin_reading().await.unwrap();
                let explained = AssertSqlSafe(format!("{explain} {sql}"));
                let rows =
                    sqlx::query(explained).fetch_all(&mut *reading.transaction).await.unwrap();
                let lines = rows.iter().map(|row| row.get::<String, _>(column));
                let plan = lines.collect::<Vec<_>>().join("\n");

                assert!(plan.contains(index), "{engine}, {search:?}: {plan}");
                for whole in ["TEMP B-TREE", "Seq Scan"] {
                    assert!(!plan.contains(whole), "{engine}, {search:?}: {plan}");
                }
                // The entries of one request, or of one thing, are few.
                let is_few = search.request_id.is_some();
                assert!(is_few || !plan.contains("Sort"), "{engine}, {search:?}: {plan}");
            }
        }
    }
}

/// The statement with values for its parameters: texts, a place behind all entries, and the limit.
fn filled(sql: String) -> String {
    let last = (1..=12).rev().find(|number| sql.contains(&format!("${number}"))).unwrap();
    // From the last: `$1` begins `$12` too.
    (1..=last).rev().fold(sql, |sql, number| {
        let parameter = format!("${number}");
        let is_text = sql.contains(&format!(" = {parameter}"));
        let value = match number {
            _ if number == last => "100",
            _ if is_text => "'a'",
            _ => "9999999999999",
        };
        sql.replace(&parameter, value)
    })
}
