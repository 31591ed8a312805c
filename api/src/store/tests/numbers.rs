//! Serial numbers and thumbprints: what is found by them, and that nothing is recorded twice, the
//! index of SQLite near the newest record or far behind.

use std::time::Duration;

use chancery_shared::id::CertificateId;
use futures::future::join_all;
use sqlx::AnyPool;

use super::fixtures::{certificate, head};
use crate::store::certificate::search::Search;
use crate::store::certificate::{Certificate, Inserted, NewCertificate};
use crate::store::engine::EngineName;
use crate::store::testing::{both, sqlite};
use crate::store::{Store, Unaudited};

fn numbered(number: u64) -> NewCertificate {
    let mut new = certificate(number);
    new.certificate.thumbprint = format!("{:040x}", number + 0x00ab_cdef);
    new
}

fn from_elsewhere(number: u64) -> NewCertificate {
    let mut new = numbered(number);
    new.certificate.journal = None;
    new
}

/// A CA's own certificate: its record names the entry of its signature, or of its installation.
fn of_ca(number: u64, entry: u64) -> NewCertificate {
    let mut new = numbered(number);
    new.certificate.is_ca = true;
    new.certificate.journal = Some(head(entry));
    new
}

#[tokio::test]
async fn a_certificate_is_recorded_once_whichever_way_it_came_before() {
    let mut ca_again = of_ca(10, 110);
    ca_again.certificate.id = of_ca(9, 9).certificate.id;
    let mut again = numbered(16);
    again.certificate.id = numbered(15).certificate.id;
    again.certificate.journal = numbered(15).certificate.journal;
    let pairs = [
        (numbered(1), from_elsewhere(2)),
        (from_elsewhere(3), numbered(4)),
        (from_elsewhere(5), from_elsewhere(6)),
        (of_ca(7, 7), of_ca(8, 108)),
        (of_ca(9, 9), ca_again),
        (of_ca(11, 11), from_elsewhere(12)),
        (from_elsewhere(13), of_ca(14, 14)),
        (numbered(15), again),
    ];
    for (engine, test) in both().await {
        for (first, second) in &pairs {
            let mut second = second.clone();
            second.certificate.serial_number = first.certificate.serial_number.clone();
            test.store.insert_certificate(first.clone()).await.unwrap();

            for is_indexed in [false, true] {
                if is_indexed {
                    test.store.index_texts(1, 100).await.unwrap();
                }
                let inserted = test.store.insert_certificate(second.clone()).await.unwrap();

                let there = Inserted::AlreadyThere(first.certificate.id);
                let case = &first.certificate.serial_number;
                assert_eq!(inserted, there, "{engine}, {case}, indexed: {is_indexed}");
                let found = test.store.certificate(first.certificate.id).await.unwrap().unwrap();
                assert_eq!(found.history, first.history, "{engine}, {case}");
            }
        }
    }
}

#[tokio::test]
async fn of_many_that_come_together_those_that_have_a_record_are_told() {
    for (engine, test) in both().await {
        for (is_indexed, first) in [(false, 100), (true, 200)] {
            let known = [from_elsewhere(first), from_elsewhere(first + 1), of_ca(first + 2, first)];
            for each in &known {
                test.store.insert_certificate(each.clone()).await.unwrap();
            }
            if is_indexed {
                test.store.index_texts(1, 1000).await.unwrap();
            }
            let (known_ids, known_serials): (Vec<_>, Vec<_>) = known
                .iter()
                .map(|new| (new.certificate.id, new.certificate.serial_number.clone()))
                .unzip();
            let new = |number: u64| numbered(first + number);
            // None of them, then one beside four that have none.
            for (from, again) in [(10, None), (20, Some(0)), (30, Some(1)), (40, Some(2))] {
                let mut batch: Vec<_> = (from..from + 5).map(new).collect();
                if let Some(known) = again {
                    batch[3].certificate.serial_number = known_serials[known].clone();
                    batch[3].certificate.is_ca = known == 2;
                }

                let results =
                    join_all(batch.iter().map(|each| test.store.insert_certificate(each.clone())));

                for (index, (result, new)) in results.await.into_iter().zip(&batch).enumerate() {
                    let expected = match again {
                        Some(known) if index == 3 => Inserted::AlreadyThere(known_ids[known]),
                        _ => Inserted::New(new.certificate.id),
                    };
                    assert_eq!(result.unwrap(), expected, "{engine}, {again:?}, {index}");
                }
            }
            // Two of one certificate that come together.
            let mut twice = [of_ca(first + 50, first + 50), of_ca(first + 51, first + 51)];
            twice[1].certificate.serial_number = twice[0].certificate.serial_number.clone();
            let results =
                join_all(twice.iter().map(|each| test.store.insert_certificate(each.clone())));
            let ids: Vec<_> =
                results.await.into_iter().map(|result| result.unwrap().id()).collect();
            assert_eq!(ids, [twice[0].certificate.id; 2], "{engine}");
        }
    }
}

#[tokio::test]
async fn one_serial_number_of_two_issuers_is_two_certificates() {
    for (engine, test) in both().await {
        let (mut one, mut other) = (from_elsewhere(1), from_elsewhere(2));
        // A short one, with which a longer one begins.
        let mut longer = from_elsewhere(3);
        one.certificate.serial_number = "01".to_owned();
        longer.certificate.serial_number = "0100".to_owned();
        other.certificate.serial_number = one.certificate.serial_number.clone();
        other.certificate.issuer_key = "cc".repeat(32);

        for new in [&one, &other, &longer] {
            let inserted = test.store.insert_certificate(new.clone()).await.unwrap();

            assert_eq!(inserted, Inserted::New(new.certificate.id), "{engine}");
        }

        for _ in ["behind", "indexed"] {
            let all = [&one.certificate, &other.certificate, &longer.certificate];
            assert_found(engine, &test.store, &all).await;
            let serial = Search { serial_number: Some("01".to_owned()), ..Search::default() };
            let both = [one.certificate.id, other.certificate.id];
            assert_eq!(found(&test.store, &serial).await, both, "{engine}");
            test.store.index_texts(1, 100).await.unwrap();
        }
    }
}

#[tokio::test]
async fn records_are_found_by_their_numbers_indexed_or_not() {
    for (engine, test) in both().await {
        let new: Vec<_> = (1..=9).map(numbered).collect();
        for each in &new {
            test.store.insert_certificate(each.clone()).await.unwrap();
        }
        let all: Vec<_> = new.iter().map(|new| &new.certificate).collect();

        for most in [0, 4, 100] {
            test.store.index_texts(1, most).await.unwrap();

            assert_found(engine, &test.store, &all).await;
        }
        assert_not_found(engine, &test.store, &numbered(10).certificate).await;
    }
}

#[tokio::test]
async fn numbers_of_a_deleted_record_do_not_lead_to_the_one_in_its_place() {
    for (engine, test) in both().await {
        for number in 1..=3 {
            test.store.insert_certificate(numbered(number)).await.unwrap();
        }
        test.store.index_texts(1, 100).await.unwrap();
        let gone = numbered(3).certificate;
        let mut write = test.store.begin().await.unwrap();
        write.delete_certificate(&gone).await.unwrap();
        write.commit_unaudited(Unaudited::Fixture).await.unwrap();
        // SQLite gives the newest record's number out again.
        let next = numbered(4);
        test.store.insert_certificate(next.clone()).await.unwrap();

        for _ in ["behind", "indexed"] {
            assert_not_found(engine, &test.store, &gone).await;
            assert_found(engine, &test.store, &[&numbered(1).certificate, &next.certificate]).await;
            test.store.index_texts(1, 100).await.unwrap();
        }
        let again = test.store.insert_certificate(numbered(3)).await.unwrap();
        assert_eq!(again, Inserted::New(gone.id), "{engine}");
    }
}

#[tokio::test]
async fn a_database_of_before_finds_its_records_and_takes_none_twice() {
    let test = sqlite().await;
    let url = test.url.replace("chancery.db", "before.db");
    let pool = AnyPool::connect(&url).await.unwrap();
    crate::store::schema::migrate_to(&pool, EngineName::Sqlite, 10).await;
    let rows = [numbered(1), from_elsewhere(2), numbered(3), from_elsewhere(4)];
    for new in &rows {
        let row = &new.certificate;
        let journal = row.journal.map(|head| (head.signer_id.to_string(), head.seq.to_string()));
        let (signer, seq) = journal.unzip();
        let or_null = |value: Option<String>| value.map_or("NULL".into(), |it| format!("'{it}'"));
        let (signer, seq) = (or_null(signer), or_null(seq));
        let sql = format!(
            "INSERT INTO certificate (certificate_id, issuer_key, serial_number, der, thumbprint,
                 common_name, subject_dn, issuer_dn, issuer_dn_key, subject_alt_names, not_before,
                 not_after, is_ca, owner_user_id, owner_username, team_id, track_expiry, renewed,
                 revoked, has_key_data, signer_id, journal_seq, journal_hash, created_at)
             VALUES ('{}', '{}', '{}', x'3000', '{}', '', '', '', '', '', 0, 1, 0, '', '', '', 0, 0,
                 0, 0, {signer}, {seq}, {signer}, 0)",
            row.id, row.issuer_key, row.serial_number, row.thumbprint
        );
        sqlx::query(sqlx::AssertSqlSafe(sql)).execute(&pool).await.unwrap();
    }
    let half = "UPDATE certificate_text_progress SET indexed_up_to = 2";
    sqlx::query(half).execute(&pool).await.unwrap();
    pool.close().await;

    let store = Store::open(&url).await.unwrap();

    for new in &rows {
        let row = &new.certificate;
        let found = store.certificate_id_by_serial(&row.issuer_key, &row.serial_number).await;
        assert_eq!(found.unwrap(), Some(row.id));
        assert_eq!(by_der(&store, row).await, Some(row.id));
        for mut again in [numbered(20), from_elsewhere(20)] {
            again.certificate.serial_number = row.serial_number.clone();
            // Signed here and there before: it names the same entry.
            if again.certificate.journal.is_some() && row.journal.is_some() {
                again.certificate.journal = row.journal;
            }
            let inserted = store.insert_certificate(again).await.unwrap();
            assert_eq!(inserted, Inserted::AlreadyThere(row.id));
        }
    }
}

async fn by_der(store: &Store, row: &Certificate) -> Option<CertificateId> {
    store.certificate_id_by_der(&row.thumbprint, &row.der).await.unwrap()
}

async fn assert_found(engine: &str, store: &Store, rows: &[&Certificate]) {
    for row in rows {
        let number = &row.serial_number;
        let by_serial = store.certificate_id_by_serial(&row.issuer_key, number).await.unwrap();
        assert_eq!(by_serial, Some(row.id), "{engine}: {number}");
        assert_eq!(by_der(store, row).await, Some(row.id), "{engine}: {number}");
        let serial = Search { serial_number: Some(number.clone()), ..Search::default() };
        let thumbprint = Search { thumbprint: Some(row.thumbprint.clone()), ..Search::default() };
        let both = Search { thumbprint: thumbprint.thumbprint.clone(), ..serial.clone() };
        assert!(found(store, &serial).await.contains(&row.id), "{engine}: {number}");
        for search in [thumbprint, both] {
            assert_eq!(found(store, &search).await, [row.id], "{engine}: {number}");
        }
    }
}

async fn assert_not_found(engine: &str, store: &Store, row: &Certificate) {
    let number = &row.serial_number;
    let by_serial = store.certificate_id_by_serial(&row.issuer_key, number).await.unwrap();
    assert_eq!(by_serial, None, "{engine}: {number}");
    assert_eq!(by_der(store, row).await, None, "{engine}: {number}");
    let serial = Search { serial_number: Some(number.clone()), ..Search::default() };
    assert_eq!(found(store, &serial).await, [], "{engine}: {number}");
}

async fn found(store: &Store, search: &Search) -> Vec<CertificateId> {
    let page = store.search_certificates(search, None, 10, Duration::from_secs(5)).await.unwrap();
    page.certificates.iter().map(|found| found.certificate.id).collect()
}
