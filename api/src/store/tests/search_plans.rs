//! How the engines find what searches ask for: by an index that bounds the work, never by reading
//! a whole table.

use sqlx::{AssertSqlSafe, Row as _};

use super::search::insert;
use crate::store::Store;
use crate::store::certificate::search::{
    ISSUER_STATEMENTS, POSTGRES_NUMBER_STATEMENTS, POSTGRES_STATEMENTS, SOURCE_STATEMENTS,
    SQLITE_NUMBER_STATEMENTS, SQLITE_TEXT_STATEMENTS,
};
use crate::store::testing::{postgres, sqlite};

/// `sql` with these values for its parameters.
fn filled(sql: &str, values: &[&str]) -> String {
    // From the last: `$1` begins `$12` too.
    let numbered = values.iter().enumerate().rev();
    numbered.fold(sql.to_owned(), |sql, (before, value)| {
        sql.replace(&format!("${}", before + 1), value)
    })
}

fn parameters(name: &str) -> Vec<&'static str> {
    let exact =
        ["5", "500", "100", "''", "''", "''", "''", "''", "1", "9", "1", "9", "15", "''", "''"];
    match name {
        "OF_ALL" => exact.to_vec(),
        "OF_END" | "OF_BEGIN" => [&exact[..], &["1", "9000"]].concat(),
        "REACH_OF_END" => vec!["15", "5", "9", "1", "9000", "1", "9"],
        "REACH_OF_BEGIN" => vec!["5", "9", "1", "9000", "1", "9"],
        "ISSUERS" => vec!["100"],
        "OF_CAS" => [&exact[..], &["'CA'"]].concat(),
        "REACH_OF_CAS" => vec!["'CA'", "5", "9"],
        _ if name.starts_with("OF_") => [&exact[..], &["'abc'"]].concat(),
        "ROWS" => [&exact[..], &["'7,8'"]].concat(),
        "BY_THUMBPRINT" | "ID_BY_SERIAL" => vec!["'ab'", "'12'"],
        _ if name.starts_with("REACH_") => vec!["'abc'", "5", "9"],
        _ => vec!["'%abc-123%'", "5", "9"],
    }
}

/// The index by which a statement reaches its candidates.
fn index(name: &str) -> &'static str {
    match name.trim_start_matches("REACH_").trim_start_matches("OF_") {
        "TEAM" => "certificate_by_team",
        "OWNER" => "certificate_by_owner",
        "CERT_ISSUER" => "certificate_by_cert_issuer",
        "ISSUER" | "ISSUERS" => "certificate_by_issuer",
        "SERIAL_NUMBER" => "certificate_serial_issuer",
        "THUMBPRINT" => "certificate_thumbprint",
        "CAS" => "certificate_is_ca",
        "END" => "certificate_by_end",
        "BEGIN" => "certificate_by_begin",
        "SUBJECT" | "NAMES" | "DETAILS" | "NUMBERS" => "VIRTUAL TABLE INDEX",
        "ALL" | "ROWS" => "",
        _ => "certificate_text",
    }
}

async fn plan(store: &Store, explain: &str, sql: &str, column: &str) -> String {
    let mut reading = store.begin_reading().await.unwrap();
    let explained = AssertSqlSafe(format!("{explain} {sql}"));
    let rows = sqlx::query(explained).fetch_all(&mut *reading.transaction).await.unwrap();
    let lines = rows.iter().map(|row| row.get::<String, _>(column));
    lines.collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn sqlite_goes_by_an_index() {
    let test = sqlite().await;
    insert(&test.store, 1..=2000).await;
    test.store.index_texts(1, 1500).await.unwrap();
    test.store.execute_for_test("ANALYZE").await;

    let texts = [SQLITE_TEXT_STATEMENTS, SQLITE_NUMBER_STATEMENTS].concat();
    for (name, sql) in [ISSUER_STATEMENTS, SOURCE_STATEMENTS, &texts].concat() {
        let sql = filled(sql, &parameters(name));

        let plan = plan(&test.store, "EXPLAIN QUERY PLAN", &sql, "detail").await;

        assert!(plan.contains(index(name)), "{name}: {plan}");
        // A scan in the order of an index ends with its first row.
        let whole = ["SCAN certificate", "SCAN c"];
        assert!(!plan.lines().any(|line| whole.contains(&line)), "{name}: {plan}");
        if ["BY_THUMBPRINT", "ID_BY_SERIAL"].contains(&name) {
            assert!(plan.contains("certificate_text_numbers VIRTUAL TABLE INDEX"), "{plan}");
            for of_rows in ["(rowid=?)", "(rowid>?)"] {
                let search = format!("SEARCH certificate USING INTEGER PRIMARY KEY {of_rows}");
                assert!(plan.contains(&search), "{name}: {plan}");
            }
        }
        if name.starts_with("OF_") {
            assert!(plan.contains("SEARCH c USING INTEGER PRIMARY KEY"), "{name}: {plan}");
        }
        if ["TEAM", "OWNER", "ISSUER"].iter().any(|of| name.ends_with(of)) {
            assert!(plan.contains("=? AND record_no>?"), "{name}: {plan}");
        }
    }
}

#[tokio::test]
async fn postgresql_goes_by_an_index() {
    let test = postgres().await;
    insert(&test.store, 1..=2000).await;
    test.store.execute_for_test("ANALYZE certificate").await;

    let own = [POSTGRES_STATEMENTS, POSTGRES_NUMBER_STATEMENTS].concat();
    for (name, sql) in [ISSUER_STATEMENTS, SOURCE_STATEMENTS, &own].concat() {
        let sql = filled(sql, &parameters(name));

        let plan = plan(&test.store, "EXPLAIN", &sql, "QUERY PLAN").await;

        let index = match name {
            "BY_THUMBPRINT" => index("THUMBPRINT"),
            "ID_BY_SERIAL" => index("SERIAL_NUMBER"),
            _ => index(name),
        };
        assert!(plan.contains(index), "{name}: {plan}");
        assert!(!plan.contains("Seq Scan on certificate"), "{name}: {plan}");
    }
}
