//! When the clock was right last: what is written whatever the clock shows proves nothing.

use super::*;

async fn last_right(home: &Home, events: impl IntoIterator<Item = Event>) -> Option<i64> {
    write(home.open(), events).await;
    let (journal, recovered) = home.try_open().unwrap();
    journal.close().await;
    recovered.last_right.map(|time| time.unix_timestamp() - 1_800_000_000)
}

fn clock_accepted() -> Event {
    let moment = OffsetDateTime::UNIX_EPOCH;
    Event::ClockAccepted { expected: moment, accepted: moment, operator_uid: Some(1) }
}

#[tokio::test]
async fn a_start_under_a_wrong_clock_does_not_make_it_right_for_the_next() {
    let home = Home::new();
    write(home.open(), [intent(1), intent(2), intent(3)]).await;
    // The clock of each start of these tests is back at the same moment.
    for _ in 0..2 {
        assert_eq!(last_right(&home, [event(1)]).await, Some(2));
    }
    assert_eq!(last_right(&home, [clock_accepted()]).await, Some(0));
}

#[tokio::test]
async fn the_segment_before_is_asked_where_the_last_one_says_nothing() {
    let home = Home::with_small_segments();

    // The opening of the segment looks at the clock once more.
    assert_eq!(last_right(&home, [intent(1), event(1), event(2)]).await, Some(0));
    assert_eq!(home.segments().len(), 2);
}

#[tokio::test]
async fn without_any_proof_the_latest_entry_counts() {
    let home = Home::new();
    write(home.open(), [event(1), event(2), event(3)]).await;

    assert_eq!(last_right(&home, [event(4)]).await, Some(2));
    assert_eq!(last_right(&Home::new(), []).await, None);
}
