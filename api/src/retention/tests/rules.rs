//! The rules, without a database.

use chancery_shared::id::{CertIssuerId, KeyStoreId, LocalCaId};
use time::macros::datetime;
use time::{Duration, OffsetDateTime};

use crate::retention::{Along, Deleted, Deletion, Items, Live, Refusal, Retention, TooLate};
use crate::store::local_ca::LocalCaStatus;
use crate::store::retention::{ItemId, Retained, Transition};

const NOW: OffsetDateTime = datetime!(2026-11-28 02:00 UTC);
const DAY: Duration = Duration::DAY;

const STORE: ItemId = ItemId::KeyStore(KeyStoreId::from_bytes([1; 12]));
const ROOT: ItemId = ItemId::LocalCa(LocalCaId::from_bytes([2; 12]));
const BELOW: ItemId = ItemId::LocalCa(LocalCaId::from_bytes([3; 12]));
const ISSUER: ItemId = ItemId::CertIssuer(CertIssuerId::from_bytes([4; 12]));

/// A Key Store, a root, a CA below it and an issuer; those in `deleted` were, so long ago.
fn items(days: u32, deleted: &[(ItemId, Duration)]) -> Items {
    let item = |id, stands_on: &[ItemId], status| Retained {
        id,
        name: "Name".to_owned(),
        deleted: deleted
            .iter()
            .find(|(deleted, _)| *deleted == id)
            .map(|(_, ago)| (NOW - *ago, "admin".to_owned())),
        status,
        transition: None,
        awaits: None,
        stands_on: stands_on.to_vec(),
    };
    let all = vec![
        item(STORE, &[], None),
        item(ROOT, &[STORE], Some(LocalCaStatus::Live)),
        item(BELOW, &[STORE, ROOT], Some(LocalCaStatus::Live)),
        item(ISSUER, &[BELOW], None),
    ];
    Items::new(all, Retention::from(days))
}

#[test]
fn a_deleted_item_is_restorable_until_its_last_moment() {
    let Deletion::Kept(deleted) = Live("Root CA").delete(Retention::from(30), NOW) else {
        panic!("30 days of retention keep the item");
    };
    let purge_at = NOW + 30 * DAY;

    assert_eq!(deleted.purge_at(), purge_at);
    let just_before = deleted.restore(purge_at - Duration::MILLISECOND);
    assert_eq!(just_before, Ok(Live("Root CA")));
    assert_eq!(deleted.restore(purge_at), Err(TooLate { purge_at }));
}

#[test]
fn without_retention_nothing_is_kept() {
    assert_eq!(Live("Root CA").delete(Retention::from(0), NOW), Deletion::Gone("Root CA"));
    let deleted = items(0, &[(ISSUER, Duration::ZERO)]);
    assert!(matches!(deleted.restoration(ISSUER, NOW, Along::Nothing), Err(Refusal::TooLate(..))));
    assert_eq!(deleted.due(NOW), [ISSUER]);
}

#[test]
fn the_longest_retention_ends_with_the_calendar() {
    let purge_at = Retention::from(u32::MAX).purge_at(NOW);

    assert!(purge_at > NOW + DAY * 36_500);
    assert!(Retention::from(36_500).purge_at(NOW) == NOW + DAY * 36_500);
}

#[test]
fn only_live_dependants_keep_an_item_from_being_deleted() {
    let live = items(30, &[]);
    for (item, dependants) in
        [(STORE, &[ROOT, BELOW][..]), (ROOT, &[BELOW]), (BELOW, &[ISSUER]), (ISSUER, &[])]
    {
        match live.deletion(item, NOW) {
            Ok(Deletion::Kept(_)) => assert!(dependants.is_empty(), "{item:?}"),
            Err(Refusal::InUse(_, found)) => {
                assert_eq!(found.iter().map(|it| it.id).collect::<Vec<_>>(), dependants);
            }
            other => panic!("{other:?}"),
        }
    }
    let deleted = items(30, &[(ISSUER, DAY)]);
    assert!(matches!(deleted.deletion(BELOW, NOW), Ok(Deletion::Kept(_))));
    // Nothing is kept, so what is deleted would be left without its ground.
    let none = items(0, &[(ISSUER, DAY)]);
    assert!(matches!(none.deletion(BELOW, NOW), Err(Refusal::InUse(..))));
}

#[test]
fn a_removal_takes_deleted_dependants_along_where_that_is_wished() {
    let all = [(ISSUER, DAY), (BELOW, DAY), (ROOT, DAY)];
    let deleted = items(30, &all);

    assert!(matches!(deleted.removal(STORE, Along::Nothing), Err(Refusal::InUse(..))));
    assert_eq!(deleted.removal(STORE, Along::Deleted), Ok(vec![ISSUER, BELOW, ROOT, STORE]));
    let live_below = items(30, &all[..1]);
    assert!(matches!(live_below.removal(ROOT, Along::Deleted), Err(Refusal::InUse(..))));
}

#[test]
fn a_restore_brings_back_what_the_item_stands_on_where_that_is_wished() {
    let deleted = items(30, &[(ISSUER, DAY), (BELOW, DAY), (ROOT, DAY), (STORE, DAY)]);

    let Err(Refusal::NoneBelow(_, missing)) = deleted.restoration(BELOW, NOW, Along::Nothing)
    else {
        panic!("its ground is deleted");
    };
    assert_eq!(missing.iter().map(|it| it.id).collect::<Vec<_>>(), [STORE, ROOT]);
    let order = deleted.restoration(ISSUER, NOW, Along::Deleted);
    assert_eq!(order, Ok(vec![STORE, ROOT, BELOW, ISSUER]));
}

#[test]
fn an_item_is_purged_no_later_than_what_it_stands_on_and_before_it() {
    // Deleted under a clock that was behind.
    let items = items(30, &[(ISSUER, DAY), (BELOW, DAY * 30), (ROOT, DAY)]);
    let issuer = items.get(ISSUER).unwrap();

    assert_eq!(items.purge_at(issuer), Some(NOW));
    assert_eq!(items.due(NOW), [ISSUER, BELOW]);
    assert_eq!(items.due(NOW - Duration::MILLISECOND), []);
}

#[test]
fn what_is_in_transition_or_not_made_yet_is_left_alone() {
    let all = [
        (Some(Transition::Deleting), LocalCaStatus::Live),
        (None, LocalCaStatus::AwaitingApproval),
        (None, LocalCaStatus::AwaitingCertificate),
        (None, LocalCaStatus::Removing),
    ];
    for (transition, status) in all {
        let root = Retained {
            id: ROOT,
            name: "Root".to_owned(),
            deleted: None,
            status: Some(status),
            transition,
            awaits: None,
            stands_on: Vec::new(),
        };
        let items = Items::new(vec![root], Retention::from(30));

        let refused = |result: Option<Refusal>| {
            matches!(result, Some(Refusal::Changing(..) | Refusal::Unfinished(_)))
        };
        assert!(refused(items.deletion(ROOT, NOW).err()));
        assert!(refused(items.removal(ROOT, Along::Deleted).err()));
        assert!(refused(items.restoration(ROOT, NOW, Along::Deleted).err()));
        assert_eq!(items.due(NOW), []);
    }
}

#[test]
fn a_name_that_is_being_restored_is_taken() {
    let other = ItemId::LocalCa(LocalCaId::from_bytes([9; 12]));
    let item = |id, transition| Retained {
        id,
        name: "Root".to_owned(),
        deleted: Some((NOW, "admin".to_owned())),
        status: Some(LocalCaStatus::Live),
        transition,
        awaits: None,
        stands_on: Vec::new(),
    };
    let both = vec![item(ROOT, None), item(other, Some(Transition::Restoring))];
    let items = Items::new(both, Retention::from(30));

    let refused = items.restoration(ROOT, NOW, Along::Nothing);

    assert!(matches!(refused, Err(Refusal::NameTaken(_, by)) if by.id == other));
    assert!(Deleted::new((), NOW + DAY).restore(NOW).is_ok());
}
