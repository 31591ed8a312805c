//! `verify` understands what the entries say, not only that they are whole.

use chancery_shared::wire::journal::Event;

use super::*;
use crate::journal::{Damage, ReadError, Verified, verify};

/// Writes the events, which no signer would, and gives what `verify` finds.
async fn verified(events: impl IntoIterator<Item = Event>) -> Result<Verified, Damage> {
    let home = Home::new();
    write(home.open(), events).await;
    verify(&home.folder()).map_err(|error| match error {
        ReadError::Damaged { damage, .. } => damage,
        ReadError::File { .. } => panic!("{error}"),
    })
}

fn change_intent(number: u8, change: impl FnOnce(&mut Intent)) -> Event {
    let Event::Intent(mut intent) = intent(number) else { panic!("no intent") };
    change(&mut intent);
    Event::Intent(intent)
}

#[tokio::test]
async fn a_sound_journal_is_summed_up() {
    let events = [intent(1), intent(2), signed(1, 1), intent(3), abandoned(2), event(1)];

    let verified = verified(events).await.unwrap();

    assert_eq!(verified.head.seq, 6);
    assert_eq!((verified.intents, verified.signed, verified.segments), (3, 1, 1));
    assert_eq!(verified.open_intents, [4]);
    assert_eq!(verified.last_time.map(OffsetDateTime::unix_timestamp), Some(1_800_000_005));
}

#[tokio::test]
async fn a_serial_number_that_its_nonce_does_not_give_is_found() {
    let intents = [
        ("another nonce", change_intent(1, |intent| intent.serial_nonce = nonce(2))),
        (
            "another TBS",
            change_intent(1, |intent| {
                if let Some(last) = intent.tbs.0.last_mut() {
                    *last ^= 1;
                }
            }),
        ),
        (
            "another serial",
            change_intent(1, |intent| {
                intent.tbs = Bytes(tbs_with_serial([0x41; 20]));
            }),
        ),
    ];
    for (what, event) in intents {
        let found = verified([event]).await;

        let is_serial = matches!(found, Err(Damage::Serial | Damage::SerialForm(_)));
        assert!(is_serial, "{what}: {found:?}");
    }
}

#[tokio::test]
async fn a_tbs_without_a_serial_of_twenty_octets_is_found() {
    for tbs in [Vec::new(), vec![0x30, 0], b"no DER".to_vec()] {
        let found = verified([change_intent(1, |intent| intent.tbs = Bytes(tbs))]).await;

        assert!(matches!(found, Err(Damage::Serial | Damage::SerialForm(_))), "{found:?}");
    }
}

#[tokio::test]
async fn a_signature_that_is_not_its_intents_is_found() {
    let other_serial = verified([intent(1), signed(1, 2)]).await;
    let Event::Signed { intent: number, serial_number, signature, .. } = signed(1, 1) else {
        panic!("not signed")
    };
    let key_id = KeyId::from_bytes([9; 12]);
    let by_other = Event::Signed { intent: number, key_id, serial_number, signature };
    let other_key = verified([intent(1), by_other]).await;

    assert!(matches!(other_serial, Err(Damage::Serial)));
    assert!(matches!(other_key, Err(Damage::OtherKey)));
}
