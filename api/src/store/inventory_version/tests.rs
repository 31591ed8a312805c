//! When a reading of the inventory's version serves once more.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{InventoryChange, InventoryVersion, Kept, Readings, UNSEEN};

const VERSION: InventoryVersion = InventoryVersion(7);

/// With a reading that began at `began`, when so many changes had ended.
fn readings(began: Instant, changes: u64) -> Arc<Readings> {
    let readings = Arc::new(Readings::default());
    readings.keep(Kept { version: VERSION, began, changes });
    readings
}

#[test]
fn a_reading_serves_until_another_program_may_have_changed_something() {
    let began = Instant::now();
    let readings = readings(began, 0);
    for (after, serves) in [
        (Duration::ZERO, true),
        (UNSEEN.mul_f64(0.99), true),
        (UNSEEN, false),
        (UNSEEN * 1000, false),
    ] {
        assert_eq!(readings.kept(began + after), serves.then_some(VERSION), "after {after:?}");
    }
}

#[test]
fn a_reading_serves_nobody_from_the_beginning_of_a_change_on() {
    let began = Instant::now();
    let readings = readings(began, 0);
    let mut change = InventoryChange::none(Arc::clone(&readings));
    assert_eq!(readings.kept(began), Some(VERSION), "a transaction that changes nothing");
    change.begin();
    assert_eq!(readings.kept(began), None, "under way");
    drop(change);
    assert_eq!(readings.kept(began), None, "ended");
}

#[test]
fn a_reading_beside_a_change_is_not_kept() {
    let readings = Arc::new(Readings::default());
    let (mut first, mut second) = (
        InventoryChange::none(Arc::clone(&readings)),
        InventoryChange::none(Arc::clone(&readings)),
    );
    first.begin();
    first.begin();
    second.begin();
    assert_eq!(readings.changes(), None, "two under way");
    drop(first);
    assert_eq!(readings.changes(), None, "one still is");
    drop(second);
    assert_eq!(readings.changes(), Some(2), "each is counted once");
}

#[test]
fn a_transaction_that_changes_nothing_leaves_what_was_read() {
    let began = Instant::now();
    let readings = readings(began, 0);
    drop(InventoryChange::none(Arc::clone(&readings)));
    assert_eq!(readings.kept(began), Some(VERSION));
}
