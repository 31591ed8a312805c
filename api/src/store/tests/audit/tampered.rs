//! What is done to the tables shows.

use super::{add, entries, reports};
use crate::store::Store;
use crate::store::audit::Flaw;
use crate::store::testing::{TestStore, both};

/// What someone can do who owns the tables.
async fn tamper(test: &TestStore, engine: &str, sql: &[&str]) {
    let off: &[&str] = match engine {
        "SQLite" => &[
            "DROP TRIGGER audit_is_not_changed",
            "DROP TRIGGER audit_is_not_deleted",
            "DROP TRIGGER audit_chain_only_grows",
            "DROP TRIGGER audit_chain_is_not_deleted",
        ],
        _ => &[
            "DROP TRIGGER audit_is_not_changed ON audit",
            "DROP TRIGGER audit_chain_only_grows ON audit_chain",
            "DROP TRIGGER audit_chain_is_not_deleted ON audit_chain",
        ],
    };
    for sql in off.iter().chain(sql) {
        test.store.execute_for_test(sql).await;
    }
}

#[tokio::test]
async fn every_edit_of_the_table_is_found() {
    const COPY: &str = "
        INSERT INTO audit (happened_at, chain_no, entry_no, user_id, username, address, request_id,
                           action, object_kind, object_id, object_name, object_before,
                           object_after, result, times, hash)
        SELECT happened_at, chain_no, $no, user_id, username, address, request_id, action,
               object_kind, object_id, object_name, object_before, object_after, result, times, hash
          FROM audit WHERE entry_no = 2";
    let (copy_behind, copy_before) = (COPY.replace("$no", "6"), COPY.replace("$no", "-1"));
    let edits: [(&str, &[&str], i64, Flaw); 12] = [
        (
            "a name is changed",
            &["UPDATE audit SET username = 'User2' WHERE entry_no = 3"],
            3,
            Flaw::EntryChanged,
        ),
        (
            "an API token is named",
            &["UPDATE audit SET user_id = user_id || '/' || user_id WHERE entry_no = 4"],
            4,
            Flaw::EntryChanged,
        ),
        (
            "a field is emptied",
            &["UPDATE audit SET object_after = NULL WHERE entry_no = 5"],
            5,
            Flaw::EntryChanged,
        ),
        (
            "a hash is changed with it",
            &["UPDATE audit SET times = 2, hash = previous.hash
                 FROM (SELECT hash FROM audit WHERE entry_no = 2) AS previous
                WHERE entry_no = 5"],
            5,
            Flaw::EntryChanged,
        ),
        ("the first is gone", &["DELETE FROM audit WHERE entry_no = 1"], 1, Flaw::EntryMissing),
        ("one is gone", &["DELETE FROM audit WHERE entry_no = 3"], 3, Flaw::EntryMissing),
        ("the end is gone", &["DELETE FROM audit WHERE entry_no > 3"], 4, Flaw::EntryMissing),
        (
            "the end is gone and its chain says so",
            &[
                "DELETE FROM audit WHERE entry_no > 3",
                "UPDATE audit_chain SET last_entry_no = 3,
                        last_hash = (SELECT hash FROM audit WHERE entry_no = 3)",
            ],
            4,
            Flaw::EntryMissing,
        ),
        ("one is added", &[&copy_behind], 6, Flaw::EntryChanged),
        ("one is added before the first", &[&copy_before], -1, Flaw::EntryAdded),
        (
            "two change places",
            &[
                "UPDATE audit SET entry_no = 99 WHERE entry_no = 2",
                "UPDATE audit SET entry_no = 2 WHERE entry_no = 3",
                "UPDATE audit SET entry_no = 3 WHERE entry_no = 99",
            ],
            2,
            Flaw::EntryChanged,
        ),
        ("the chain is unknown", &["DELETE FROM audit_chain"], 1, Flaw::ChainRowMissing),
    ];
    for (what, sql, entry_no, flaw) in edits {
        for (engine, test) in both().await {
            add(&test.store, 5).await;
            assert_eq!(reports(&test.store).await[0].fault, None, "{engine}, {what}");
            tamper(&test, engine, sql).await;

            let found = reports(&test.store).await;

            let fault = found[0].fault.map(|fault| (fault.entry_no, fault.flaw));
            assert_eq!(fault, Some((entry_no, flaw)), "{engine}, {what}");
        }
    }
}

#[tokio::test]
async fn a_chain_that_ended_is_held_to_what_the_next_one_saw() {
    for (engine, test) in both().await {
        for entries in [4, 1, 1] {
            let process = Store::open(&test.url).await.unwrap();
            add(&process, entries).await;
            process.close().await;
        }
        let whole = reports(&test.store).await;
        assert_eq!(whole.iter().map(|chain| chain.entries).collect::<Vec<_>>(), [4, 1, 1]);
        assert!(whole.iter().all(|chain| chain.fault.is_none()), "{engine}: {whole:?}");
        let cut = "UPDATE audit_chain SET last_entry_no = 2, last_hash =
                   (SELECT hash FROM audit WHERE chain_no = 1 AND entry_no = 2) WHERE chain_no = 1";
        let gone =
            ["DELETE FROM audit WHERE chain_no = 2", "DELETE FROM audit_chain WHERE chain_no = 2"];
        let cut = ["DELETE FROM audit WHERE chain_no = 1 AND entry_no > 2", cut];
        tamper(&test, engine, &[cut, gone].concat()).await;

        let found = reports(&test.store).await;

        let faults: Vec<_> = found
            .iter()
            .map(|chain| (chain.chain_no, chain.fault.map(|fault| (fault.entry_no, fault.flaw))))
            .collect();
        assert_eq!(faults[1], (2, Some((1, Flaw::ChainMissing))), "{engine}");
        assert_eq!(faults[2], (3, None), "{engine}");
    }
}

#[tokio::test]
async fn the_cut_off_end_of_a_chain_is_seen_by_the_next() {
    for (engine, test) in both().await {
        for entries in [4, 1] {
            let process = Store::open(&test.url).await.unwrap();
            add(&process, entries).await;
            process.close().await;
        }
        let cut = "UPDATE audit_chain SET last_entry_no = 2, last_hash =
                   (SELECT hash FROM audit WHERE chain_no = 1 AND entry_no = 2) WHERE chain_no = 1";
        let delete = "DELETE FROM audit WHERE chain_no = 1 AND entry_no > 2";
        tamper(&test, engine, &[delete, cut]).await;

        let fault = reports(&test.store).await[0].fault.unwrap();

        assert_eq!((fault.entry_no, fault.flaw), (3, Flaw::EntryMissing), "{engine}");
    }
}

#[tokio::test]
async fn entries_are_only_added() {
    for (engine, test) in both().await {
        add(&test.store, 2).await;
        for sql in [
            "UPDATE audit SET username = 'User2'",
            "DELETE FROM audit",
            "DELETE FROM audit_chain",
            "UPDATE audit_chain SET last_entry_no = 1",
        ] {
            let mut write = test.store.begin().await.unwrap();
            let done = sqlx::query(sql).execute(write.connection()).await;

            assert!(done.unwrap_err().to_string().contains("append-only"), "{engine}: {sql}");
        }
        assert_eq!(entries(&test.store).await.len(), 2, "{engine}");
    }
}
