//! Serial nonces and the numbers that they give.

use chancery_shared::bytes::Fixed;
use proptest::prelude::*;

use crate::policy::fixture::Case;
use crate::policy::{ConnectionSerials, PolicyViolation, serial_number};

const CONNECTION: Fixed<16> = Fixed([3; 16]);

fn nonce(counter: u64) -> Fixed<40> {
    let mut bytes = [3; 40];
    bytes[16..24].copy_from_slice(&counter.to_be_bytes());
    Fixed(bytes)
}

fn claim(serials: &ConnectionSerials, counter: u64) -> Result<(), PolicyViolation> {
    serials.claim(nonce(counter)).map(drop)
}

#[test]
fn a_nonce_of_another_connection_is_refused() {
    let serials = ConnectionSerials::new(Fixed([4; 16]));

    let refused = claim(&serials, 1).unwrap_err();

    assert_eq!(refused.rule(), "serial.nonce-connection");
}

#[test]
fn a_counter_counts_once_in_whatever_order_it_comes() {
    let serials = ConnectionSerials::new(CONNECTION);

    for counter in [5, 0, 4095, 2, 1] {
        assert_eq!(claim(&serials, counter), Ok(()), "{counter}");
        assert_eq!(claim(&serials, counter), Err(PolicyViolation::NonceUsed), "{counter}");
    }
}

#[test]
fn other_random_bytes_do_not_make_a_counter_new() {
    let serials = ConnectionSerials::new(CONNECTION);
    let mut again = nonce(7);
    again.0[39] = 0;

    assert!(serials.claim(nonce(7)).is_ok());
    assert_eq!(serials.claim(again).map(drop), Err(PolicyViolation::NonceUsed));
}

#[test]
fn the_window_is_4096_counters_wide() {
    let serials = ConnectionSerials::new(CONNECTION);

    assert_eq!(claim(&serials, 10_000), Ok(()));
    assert_eq!(claim(&serials, 10_000 - 4095), Ok(()));
    assert_eq!(claim(&serials, 10_000 - 4096).unwrap_err().rule(), "serial.nonce-too-old");
    assert_eq!(claim(&serials, u64::MAX), Ok(()));
    assert_eq!(claim(&serials, u64::MAX), Err(PolicyViolation::NonceUsed));
    assert_eq!(claim(&serials, u64::MAX - 1), Ok(()));
    assert_eq!(claim(&serials, 10_001), Err(PolicyViolation::NonceTooOld));
}

proptest! {
    /// Against a set that forgets nothing.
    #[test]
    fn the_window_never_takes_a_counter_twice(counters in proptest::collection::vec(0_u64..9_000, 1..300)) {
        let serials = ConnectionSerials::new(CONNECTION);
        let (mut used, mut highest) = (std::collections::BTreeSet::new(), 0);

        for counter in counters {
            let expected = if counter + 4096 <= highest {
                Err(PolicyViolation::NonceTooOld)
            } else if used.insert(counter) {
                Ok(())
            } else {
                Err(PolicyViolation::NonceUsed)
            };
            highest = highest.max(counter);
            prop_assert_eq!(claim(&serials, counter), expected);
        }
    }
}

#[test]
fn a_serial_number_is_as_documented() {
    // The nonce, then the TBS with 40 00 … 00 in the serial's place, hashed with sha256sum.
    let tbs = [&[0x30, 29, 0xa0, 3, 2, 1, 2, 2, 20][..], &[0x55; 20], &[5, 0]].concat();

    let serial = serial_number(&Fixed([0x5a; 40]), &tbs).unwrap();

    assert_eq!(hex::encode(serial), "42feb51fd251e135b080a08bc74065b67a329f55");
}

#[test]
fn a_draft_carries_the_serial_number_that_it_gives() {
    let case = Case::certificate();

    let checked = case.check().unwrap();

    assert_eq!(serial_number(&case.nonce, checked.der()), Ok(checked.serial_number()));
}
