//! Searches: the same certificates whatever the way to them, on both engines.

use std::time::Duration;

use chancery_shared::id::{CertIssuerId, TeamId, UserId};
use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::{Config, TestRunner};

use super::fixtures::{NOW, certificate};
use super::searches::searches;
use crate::certificate::text_filter::{TextFilter, TextKind};
use crate::store::Store;
use crate::store::certificate::search::{RecordNo, Search, Span, States};
use crate::store::certificate::{Certificate, NewCertificate};
use crate::store::testing::both;
use crate::timestamp::to_millis;

const PATIENT: Duration = Duration::from_mins(1);
pub(super) const DAY: i64 = 86_400_000;

/// Certificates that differ in everything that is searched for.
pub(super) fn varied(number: u64) -> NewCertificate {
    let mut new = certificate(number);
    let pick = |of: &[&str]| of[usize::try_from(number).unwrap() % of.len()].to_owned();
    let name = format!("{}-{number}.example.test", pick(&["www", "db", "Mail", "müll", "*"]));
    let one = |of: u64| [u8::try_from(number % of).unwrap() + 1; 12];
    let days = time::Duration::days;
    new.certificate = Certificate {
        serial_number: format!("{number:040x}"),
        thumbprint: format!("{:040x}", number + 7),
        subject_dn: format!(
            "CN={name}, OU={}, O=Example",
            pick(&["R&D\\, Berlin", "Sales", "株式"])
        ),
        common_name: name.clone(),
        issuer_key: pick(&["aa", "bb", "cc", "aa"]),
        issuer_dn: format!("CN={} CA, O=Example", pick(&["First", "Second", "Third", "First"])),
        subject_alt_names: match number % 3 {
            0 => Vec::new(),
            1 => vec![format!("DNS:{name}")],
            _ => vec![format!("DNS:{name}"), format!("IP:10.0.0.{}", number % 256)],
        },
        not_before: NOW - days(i64::try_from(number % 90).unwrap()),
        not_after: NOW + days(i64::try_from(number * 7 % 600).unwrap() - 300),
        team_id: TeamId::from_bytes(one(3)),
        owner_user_id: UserId::from_bytes(one(4)),
        cert_issuer_id: (!number.is_multiple_of(5)).then(|| CertIssuerId::from_bytes(one(2))),
        extra_details: (!number.is_multiple_of(4))
            .then(|| pick(&["rack 1", "Rack 22\nshelf", "50% of_it"])),
        is_ca: number.is_multiple_of(13),
        revoked: number.is_multiple_of(11),
        renewed: number.is_multiple_of(6),
        ..new.certificate
    };
    new.csr = None;
    new.certificate.csr_id = None;
    new.history.clear();
    new
}

pub(super) async fn insert(store: &Store, numbers: std::ops::RangeInclusive<u64>) {
    let mut write = store.begin().await.unwrap();
    for number in numbers {
        write.insert_certificate(&varied(number)).await.unwrap();
    }
    write.commit_unaudited(crate::store::Unaudited::Fixture).await.unwrap();
}

/// Serial numbers of all that is found, page by page.
async fn walk(store: &Store, search: &Search, limit: u32, patience: Duration) -> Vec<String> {
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        let found = store.search_certificates(search, after, limit, patience).await.unwrap();
        assert!(found.certificates.len() <= limit as usize);
        all.extend(found.certificates.into_iter().map(|found| found.certificate.serial_number));
        let Some(next) = found.next else { return all };
        assert!(after.is_none_or(|after| after < next), "{after:?} to {next:?}");
        after = Some(next);
    }
}

/// What is wanted, said without any SQL.
fn is_wanted(search: &Search, row: &Certificate) -> bool {
    let text = |filter: &Option<TextFilter>, hit: &dyn Fn(&TextFilter) -> bool| {
        filter.as_ref().is_none_or(hit)
    };
    let within = |span: Span, moment| (span.from..=span.to).contains(&to_millis(moment));
    let states = [
        (States::UNTOUCHED, !row.revoked && !row.renewed),
        (States::RENEWED, !row.revoked && row.renewed),
        (States::NOT_REVOKED, !row.revoked),
        (States::REVOKED, row.revoked),
        (States::ALL, true),
    ];
    text(&search.subject_dn, &|f| f.matches_dn(&row.subject_dn))
        && text(&search.issuer_dn, &|f| f.matches_dn(&row.issuer_dn))
        && text(&search.common_name, &|f| f.matches_text(&row.common_name))
        && text(&search.subject_alt_names, &|f| {
            f.matches_names(row.subject_alt_names.iter().map(String::as_str))
        })
        && text(&search.extra_details, &|f| {
            row.extra_details.as_deref().is_some_and(|text| f.matches_text(text))
        })
        && search.serial_number.as_ref().is_none_or(|number| *number == row.serial_number)
        && search.thumbprint.as_ref().is_none_or(|thumbprint| *thumbprint == row.thumbprint)
        && search
            .cert_issuer_ids
            .as_ref()
            .is_none_or(|ids| row.cert_issuer_id.is_some_and(|id| ids.contains(&id)))
        && search.team_id.is_none_or(|id| id == row.team_id)
        && search.owner_user_id.is_none_or(|id| id == row.owner_user_id)
        && within(search.not_before, row.not_before)
        && within(search.not_after, row.not_after)
        && states.iter().any(|(states, is_so)| *states == search.states && *is_so)
        && search.viewer.as_ref().is_none_or(|viewer| {
            row.is_ca
                || viewer.user_id == row.owner_user_id
                || viewer.team_ids.contains(&row.team_id)
        })
}

#[tokio::test]
async fn a_walk_by_pages_is_what_the_filters_hold_for_among_all() {
    const ROWS: u64 = 900;
    for (engine, test) in both().await {
        insert(&test.store, 1..=ROWS).await;
        // A part of the texts is indexed, a part is not yet.
        test.store.index_texts(1, 600).await.unwrap();
        let rows: Vec<_> = (1..=ROWS).map(|number| varied(number).certificate).collect();
        let mut runner = TestRunner::new(Config::with_cases(1));

        for case in 0..200_u32 {
            let search = searches().new_tree(&mut runner).unwrap().current();
            let limit = 1 + case * 37 % 400;
            let patience = if case % 3 == 0 { Duration::ZERO } else { PATIENT };

            let found = walk(&test.store, &search, limit, patience).await;

            let wanted = rows.iter().filter(|row| is_wanted(&search, row));
            let wanted: Vec<_> = wanted.map(|row| row.serial_number.clone()).collect();
            assert_eq!(found, wanted, "{engine}, {limit} a page: {search:?}");
        }
    }
}

#[tokio::test]
async fn rows_that_come_meanwhile_neither_hide_nor_repeat_any() {
    let search = Search {
        subject_dn: Some(TextFilter::new(TextKind::DistinguishedName, "Sales").unwrap()),
        states: States::NOT_REVOKED,
        ..Search::default()
    };
    for (engine, test) in both().await {
        insert(&test.store, 1..=300).await;
        let before = walk(&test.store, &search, 1000, PATIENT).await;

        let (mut found, mut after, mut newest) = (Vec::new(), None::<RecordNo>, 300);
        loop {
            let page = test.store.search_certificates(&search, after, 7, PATIENT).await.unwrap();
            found.extend(page.certificates.into_iter().map(|one| one.certificate.serial_number));
            after = page.next;
            if after.is_none() {
                break;
            }
            if newest < 500 {
                insert(&test.store, newest + 1..=newest + 10).await;
                newest += 10;
            }
            test.store.index_texts(1, 64).await.unwrap();
        }

        assert_eq!(found[..before.len()], before, "{engine}");
        assert_eq!(found, walk(&test.store, &search, 1000, PATIENT).await, "{engine}");
    }
}

#[tokio::test]
async fn what_is_changed_or_deleted_is_found_as_it_is_then() {
    let details = |value| Search {
        extra_details: Some(TextFilter::new(TextKind::Free, value).unwrap()),
        ..Search::default()
    };
    for (engine, test) in both().await {
        insert(&test.store, 1..=20).await;
        test.store.index_texts(1, 1000).await.unwrap();
        let change = "UPDATE certificate SET extra_details = 'moved to cellar' WHERE record_no = 5";
        test.store.execute_for_test(change).await;
        for number in [19, 20] {
            let delete = format!("DELETE FROM certificate WHERE record_no = {number}");
            test.store.execute_for_test(&delete).await;
        }
        insert(&test.store, 21..=22).await;

        let moved = walk(&test.store, &details("CELLAR"), 10, PATIENT).await;
        let all = walk(&test.store, &details("rack"), 100, PATIENT).await;

        assert_eq!(moved, [varied(5).certificate.serial_number], "{engine}");
        let wanted = (1..=22).filter(|number| ![5, 19, 20].contains(number)).map(varied);
        let wanted = wanted.filter(|new| is_wanted(&details("rack"), &new.certificate));
        let wanted: Vec<_> = wanted.map(|new| new.certificate.serial_number).collect();
        assert_eq!(all, wanted, "{engine}");
    }
}

#[tokio::test]
async fn a_search_that_runs_out_of_time_says_where_to_go_on() {
    let search = Search {
        subject_dn: Some(TextFilter::new(TextKind::DistinguishedName, "(x|y)z$").unwrap()),
        ..Search::default()
    };
    for (engine, test) in both().await {
        insert(&test.store, 1..=600).await;

        let found =
            test.store.search_certificates(&search, None, 10, Duration::ZERO).await.unwrap();

        assert!(found.certificates.is_empty(), "{engine}");
        assert!(found.next.is_some(), "{engine}");
        assert_eq!(walk(&test.store, &search, 10, Duration::ZERO).await, [""; 0], "{engine}");
    }
}
