//! Sealed packages.

use chancery_shared::id::Id;

use super::{DataKey, Form};
use crate::random::SystemRandom;

#[test]
fn a_sealed_package_opens_under_its_key_for_its_certificate_in_its_form_alone() {
    let key = DataKey::new(Id::from_bytes([1; 12]), &[7; 32]).unwrap();
    let other_key = DataKey::new(Id::from_bytes([1; 12]), &[8; 32]).unwrap();
    let (id, other) = (Id::from_bytes([2; 12]), Id::from_bytes([3; 12]));

    let sealed = key.seal(id, Form::P12, b"package", &SystemRandom).unwrap();

    assert_eq!(key.open(id, Form::P12, &sealed).unwrap(), b"package");
    assert!(other_key.open(id, Form::P12, &sealed).is_err());
    assert!(key.open(other, Form::P12, &sealed).is_err());
    assert!(key.open(id, Form::Jks, &sealed).is_err());
    for cut in [0, 11, 12, sealed.len() - 1] {
        assert!(key.open(id, Form::P12, &sealed[..cut]).is_err(), "{cut}");
    }
    assert_eq!(format!("{key:?}"), "DataKey { id: 010101010101010101010101, .. }");
}
