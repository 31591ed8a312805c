//! Which refusals are told together, and that none is lost.

use chancery_shared::id::{RowId, UserId};

use crate::audit::coalesce::Coalescer;
use crate::audit::entry::blank;
use crate::store::audit::AuditEntry;

fn refusal(second: i64, address: &str) -> AuditEntry {
    let at = time::OffsetDateTime::from_unix_timestamp(second).unwrap();
    let (address, result) = (Some(address.to_owned()), "token_missing".into());
    AuditEntry { address, result, ..blank(at) }
}

#[test]
fn refusals_of_nobody_are_told_once_and_then_together_with_their_number() {
    let mut coalescer = Coalescer::default();
    let first = coalescer.take(refusal(0, "192.0.2.1"));
    let repeated: Vec<_> =
        (1..60).flat_map(|second| coalescer.take(refusal(second, "192.0.2.1"))).collect();
    let other = coalescer.take(refusal(59, "192.0.2.2"));

    let next_minute = coalescer.take(refusal(60, "192.0.2.1"));

    assert_eq!(first, [refusal(0, "192.0.2.1")]);
    assert_eq!(repeated, []);
    assert_eq!(other, [refusal(59, "192.0.2.2")]);
    let together = AuditEntry { times: 59, ..refusal(59, "192.0.2.1") };
    assert_eq!(next_minute, [together, refusal(60, "192.0.2.1")]);
}

#[test]
fn a_flood_from_everywhere_leaves_a_bounded_number_of_entries() {
    let mut coalescer = Coalescer::default();

    let mut told: usize = 0;
    let mut times: u32 = 0;
    for number in 0..100_000 {
        let entries = coalescer.take(refusal(0, &format!("2001:db8::{number:x}")));
        told += entries.len();
        times += entries.iter().map(|entry| entry.times).sum::<u32>();
    }
    let rest = coalescer.end();

    assert!(told + rest.len() < 1100, "{told}");
    assert_eq!(times + rest.iter().map(|entry| entry.times).sum::<u32>(), 100_000);
}

#[test]
fn what_is_refused_to_one_user_is_not_told_with_what_is_refused_to_another() {
    let mut coalescer = Coalescer::default();
    let entry = |second, user| AuditEntry {
        user_id: Some(UserId::from_bytes([user; 12])),
        ..refusal(second, "192.0.2.1")
    };

    for user in 1..4 {
        assert_eq!(coalescer.take(entry(0, user)), [entry(0, user)]);
        assert_eq!(coalescer.take(entry(1, user)), []);
        assert_eq!(coalescer.take(entry(2, user)), []);
    }

    let users: Vec<_> = coalescer.end().iter().map(|told| (told.user_id, told.times)).collect();
    for user in 1..4 {
        assert!(users.contains(&(entry(0, user).user_id, 2)), "{users:?}");
    }
}

#[test]
fn what_is_told_without_an_address_is_told_of_no_user() {
    let mut coalescer = Coalescer::default();
    let mut told = Vec::new();
    for number in 0..1_100 {
        let user_id = Some(UserId::from_bytes([1; 12]));
        let entry = refusal(0, &format!("2001:db8::{number:x}"));
        told.extend(coalescer.take(AuditEntry { user_id, username: Some("a".into()), ..entry }));
    }
    told.extend(coalescer.end());

    assert!(told.iter().any(|entry| entry.address.is_none()));
    for entry in told {
        let has_user = entry.user_id.is_some() && entry.username.is_some();
        assert_eq!(has_user, entry.address.is_some(), "{entry:?}");
    }
}

#[test]
fn refusals_that_differ_in_anything_are_told_apart() {
    let text = |text: &str| Some(text.to_owned());
    let same = || refusal(0, "192.0.2.1");
    let user_id = Some(UserId::from_bytes([1; 12]));
    for (what, other) in [
        ("user", AuditEntry { user_id, ..same() }),
        ("API token", AuditEntry { api_token_id: Some(RowId::from_bytes([1; 12])), ..same() }),
        ("address", refusal(0, "192.0.2.2")),
        ("operation", AuditEntry { action: "delete".into(), ..same() }),
        ("kind", AuditEntry { object_kind: "users".into(), ..same() }),
        ("code", AuditEntry { result: "token_invalid".into(), ..same() }),
        ("thing", AuditEntry { object_id: text("1"), ..same() }),
        ("name of the thing", AuditEntry { object_name: text("one"), ..same() }),
        ("whose token it is", AuditEntry { before: text("{}"), ..same() }),
        ("whose token it would be", AuditEntry { after: text("{}"), ..same() }),
    ] {
        let mut coalescer = Coalescer::default();

        let told = [same(), other.clone(), same(), other.clone(), other.clone()]
            .map(|entry| coalescer.take(entry));
        let mut rest = coalescer.end();

        assert_eq!(told, [vec![same()], vec![other.clone()], vec![], vec![], vec![]], "{what}");
        rest.sort_by_key(|entry| entry.times);
        assert_eq!(rest, [same(), AuditEntry { times: 2, ..other }], "{what}");
    }
}

#[test]
fn one_who_asks_for_ever_other_things_takes_the_room_of_nobody_else() {
    let mut coalescer = Coalescer::default();
    let about = |address: &str, thing: usize| {
        let object_id = Some(thing.to_string());
        AuditEntry { action: "delete".into(), object_id, ..refusal(0, address) }
    };
    let mut told = Vec::new();
    for thing in 0..10_000 {
        told.extend(coalescer.take(about("192.0.2.1", thing)));
    }
    for thing in 0..50 {
        let first = coalescer.take(about("192.0.2.2", thing));
        assert_eq!(first, [about("192.0.2.2", thing)], "another one is told at once and in full");
    }
    told.extend(coalescer.end());

    assert!(told.len() < 110, "{}", told.len());
    assert!(told.iter().all(|entry| entry.address.as_deref() == Some("192.0.2.1")));
    let together: Vec<_> = told.iter().filter(|entry| entry.object_id.is_none()).collect();
    assert!(together.iter().all(|entry| entry.action == "delete"), "{together:?}");
    assert_eq!(told.iter().map(|entry| entry.times).sum::<u32>(), 10_000);
}

#[test]
fn what_is_told_of_all_places_together_keeps_operation_and_code_apart() {
    let mut coalescer = Coalescer::default();
    let mut told = Vec::new();
    for number in 0..1_000 {
        told.extend(coalescer.take(refusal(0, &format!("2001:db8::{number:x}"))));
    }
    for action in ["issue", "delete", "issue", "delete", "issue"] {
        let entry = AuditEntry { action: action.into(), ..refusal(1, "198.51.100.1") };
        told.extend(coalescer.take(entry));
    }
    told.extend(coalescer.end());

    for (action, times) in [("issue", 3), ("delete", 2)] {
        let of_action = told.iter().filter(|entry| entry.action == action);
        let found: Vec<_> = of_action.map(|entry| (&entry.address, entry.times)).collect();
        assert_eq!(found.iter().map(|(_, times)| times).sum::<u32>(), times, "{action}");
        assert!(found.iter().all(|(address, _)| address.is_none()), "{action}");
    }
}
