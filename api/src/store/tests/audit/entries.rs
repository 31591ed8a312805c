//! Entries and the chains that they make.

use std::task::Poll;

use chancery_shared::id::RowId;

use super::super::fixtures::{NOW, audit_entry, certificate};
use super::{add, entries, reports};
use crate::store::audit::{AuditEntry, AuditPlace, AuditSearch, Order};
use crate::store::testing::both;
use crate::store::{Store, StoreError, Unaudited};

#[tokio::test]
async fn two_processes_have_a_chain_each() {
    for (engine, test) in both().await {
        let other = Store::open(&test.url).await.unwrap();
        let writers = (0..8).map(|number| {
            let store = if number % 2 == 0 { test.store.clone() } else { other.clone() };
            tokio::spawn(async move { add(&store, 10).await })
        });
        for writer in writers.collect::<Vec<_>>() {
            writer.await.unwrap();
        }

        let found = reports(&test.store).await;

        let entries: Vec<_> = found.iter().map(|chain| (chain.entries, chain.fault)).collect();
        assert_eq!(entries, [(40, None), (40, None)], "{engine}");
    }
}

#[tokio::test]
async fn what_can_not_be_audited_is_not_written_and_the_chain_goes_on_after() {
    for (engine, test) in both().await {
        add(&test.store, 2).await;
        let mut refused = audit_entry("change", "teams");
        // What neither engine takes for its number.
        refused.result = "no".into();
        let check = match engine {
            "SQLite" => {
                "CREATE TRIGGER no BEFORE INSERT ON audit WHEN NEW.result = 'no'
                 BEGIN SELECT RAISE(ABORT, 'full'); END"
            }
            _ => "ALTER TABLE audit ADD CONSTRAINT no CHECK (result <> 'no')",
        };
        test.store.execute_for_test(check).await;
        let mut write = test.store.begin().await.unwrap();
        write.set_fact("audited", "yes").await.unwrap();

        let error = write.commit(refused.clone()).await.unwrap_err();
        let mut new = certificate(1);
        new.audit = refused;
        let of_certificate = test.store.insert_certificate(new).await;

        assert!(matches!(error, StoreError::Statement { .. }), "{engine}: {error:?}");
        assert!(of_certificate.is_err(), "{engine}: {of_certificate:?}");
        assert_eq!(test.store.fact("audited").await.unwrap(), None, "{engine}");
        let serial = certificate(1).certificate.serial_number;
        let found = test.store.certificate_id_by_serial(&"aa".repeat(32), &serial).await.unwrap();
        assert_eq!(found, None, "{engine}");
        add(&test.store, 2).await;
        let found = reports(&test.store).await;
        assert_eq!((found.len(), found[0].entries, found[0].fault), (1, 4, None), "{engine}");
    }
}

#[tokio::test]
async fn a_commit_that_was_dropped_half_way_leaves_the_chain_whole() {
    for (engine, test) in both().await {
        let mut most_polls = 0;
        loop {
            add(&test.store, 1).await;
            let write = test.store.begin().await.unwrap();
            let entry = audit_entry("change", "teams");
            let mut commit = Box::pin(write.commit_beside_inventory(entry));
            // As where a client goes away: at each place where it waits, one after the other.
            let mut polls = 0;
            let ended = std::future::poll_fn(|context| {
                polls += 1;
                if polls > most_polls {
                    return Poll::Ready(None);
                }
                commit.as_mut().poll(context).map(Some)
            });
            let ended = ended.await;
            drop(commit);
            most_polls += 1;
            if let Some(ended) = ended {
                ended.unwrap();
                break;
            }
        }
        // For the rows, the head and the commit; an answer that is there at once is no wait.
        assert!(most_polls > 1, "{engine}: it waits for the database");
        add(&test.store, 1).await;

        let found = reports(&test.store).await;

        assert_eq!((found.len(), found[0].fault), (1, None), "{engine}: {found:?}");
    }
}

#[tokio::test]
async fn each_certificate_has_an_entry_however_many_share_a_transaction() {
    for (engine, test) in both().await {
        let writers: Vec<_> = (1..=150)
            .map(|number| {
                let store = test.store.clone();
                tokio::spawn(async move { store.insert_certificate(certificate(number)).await })
            })
            .collect();
        for writer in writers {
            writer.await.unwrap().unwrap();
        }

        let mut told: Vec<_> =
            entries(&test.store).await.into_iter().filter_map(|e| e.entry.object_id).collect();
        told.sort();

        let expected: Vec<_> =
            (1..=150).map(|number| certificate(number).certificate.id.to_string()).collect();
        assert_eq!(told, expected, "{engine}");
        let found = reports(&test.store).await;
        assert_eq!((found.len(), found[0].entries, found[0].fault), (1, 150, None), "{engine}");
    }
}

#[tokio::test]
async fn an_entry_is_hashed_as_the_documentation_says_with_an_api_token_and_without() {
    for (engine, test) in both().await {
        let without = audit_entry("change", "teams");
        let api_token_id = Some(RowId::from_bytes([2; 12]));
        let with = AuditEntry { api_token_id, ..without.clone() };

        test.store.add_audit_entries(&[without.clone(), with.clone()]).await.unwrap();

        let found = entries(&test.store).await;
        let told: Vec<_> = found.iter().map(|stored| &stored.entry).collect();
        assert_eq!(told, [&without, &with], "{engine}");
        let hashes: Vec<_> = found.iter().map(|stored| stored.hash.to_string()).collect();
        // Computed elsewhere: a chain that was written long ago must go on verifying.
        let expected = [
            "d121bb07f57aefd07ae95df860127695920aa28b1b6a9664247fd189d6d486e5",
            "19ceea32bd2576cf703e8d5d6c24b5e6438c4da1534581d2b5b86ddee852b1fb",
        ];
        assert_eq!(hashes, expected, "{engine}");
        assert_eq!(reports(&test.store).await[0].fault, None, "{engine}");
    }
}

#[tokio::test]
async fn what_nobody_asks_for_leaves_no_entry_and_opens_no_chain() {
    for (engine, test) in both().await {
        let mut write = test.store.begin().await.unwrap();
        write.set_fact("step", "done").await.unwrap();
        write.commit_unaudited(Unaudited::FirstStartStep).await.unwrap();

        assert_eq!(reports(&test.store).await, [], "{engine}");
    }
}

#[tokio::test]
async fn entries_are_found_by_each_filter_page_by_page_in_both_orders() {
    for (engine, test) in both().await {
        for number in 0..12_i64 {
            let mut entry = audit_entry("create", "teams");
            entry.happened_at += time::Duration::seconds(number / 4);
            match number % 3 {
                0 => entry.username = Some("User2".to_owned()),
                1 => entry.result = "not_permitted".into(),
                _ => entry.request_id = Some("request 1".to_owned()),
            }
            entry.object_id = Some(format!("{:024}", number % 2));
            test.store.add_audit_entries(&[entry]).await.unwrap();
        }
        let all = entries(&test.store).await;
        let text = |text: &str| Some(text.to_owned());
        let end = crate::timestamp::to_millis(NOW) + 1000;
        let all_of = AuditSearch::default;
        for (search, count) in [
            (all_of(), 12),
            (AuditSearch { username: text("User2"), ..all_of() }, 4),
            (AuditSearch { result: text("not_permitted"), ..all_of() }, 4),
            (AuditSearch { result: text("ok"), ..all_of() }, 8),
            (AuditSearch { request_id: text("request 1"), ..all_of() }, 4),
            (AuditSearch { object_id: text("000000000000000000000001"), ..all_of() }, 6),
            (AuditSearch { object_kind: text("teams"), action: text("create"), ..all_of() }, 12),
            (AuditSearch { object_kind: text("users"), ..all_of() }, 0),
            (AuditSearch { from: Some(end), to: Some(end), ..all_of() }, 4),
            (
                AuditSearch {
                    username: text("User2"),
                    result: text("ok"),
                    to: Some(end),
                    ..all_of()
                },
                3,
            ),
        ] {
            for order in [Order::NewestFirst, Order::OldestFirst] {
                let (mut found, mut after) = (Vec::new(), None::<AuditPlace>);
                loop {
                    let page = test.store.audit_entries(&search, order, after, 5).await.unwrap();
                    let Some(last) = page.last() else { break };
                    after = Some(last.place().to_string().parse().unwrap());
                    found.extend(page);
                }
                if order == Order::NewestFirst {
                    found.reverse();
                }
                assert_eq!(found.len(), count, "{engine}, {search:?}");
                assert!(found.is_sorted_by_key(|entry| (entry.entry.happened_at, entry.entry_no)));
                assert!(found.iter().all(|entry| all.contains(entry)), "{engine}");
            }
        }
    }
}

#[tokio::test]
async fn an_entry_that_is_committed_after_a_reading_comes_with_the_next_one() {
    for (engine, test) in both().await {
        let slow = Store::open(&test.url).await.unwrap();
        add(&slow, 1).await;
        let mut write = slow.begin().await.unwrap();
        let mut late = audit_entry("change", "teams");
        late.happened_at -= time::Duration::hours(2);
        let lengthening = write.add_to_audit(&[&late]).await.unwrap();
        if engine != "SQLite" {
            // There, the second one waits for the first.
            add(&test.store, 2).await;
        }

        let before = test.store.audit_heads().await.unwrap();
        write.commit_unaudited(Unaudited::Fixture).await.unwrap();
        lengthening.end();
        let after = test.store.audit_heads().await.unwrap();

        let pieces = after.since(&before.progress().to_string().parse().unwrap());
        let [piece] = pieces[..] else { panic!("{engine}: {pieces:?}") };
        let all = AuditSearch::default();
        let found = test.store.audit_piece(&all, piece, 10).await.unwrap();
        let found: Vec<_> = found.iter().map(|entry| &entry.entry).collect();
        assert_eq!(found, [&late], "{engine}");
        assert!(!before.holds(&entries(&test.store).await[0]), "{engine}");
    }
}
