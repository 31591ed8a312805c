//! Whatever arrives, policy answers.

use proptest::prelude::*;

use crate::policy::fixture::asn1::{constraints, dns, email, ip, names, tlv, uri};
use crate::policy::fixture::parts::{Critical, EXT_KEY_USAGE, NAME_CONSTRAINTS, SAN};
use crate::policy::fixture::{Case, keys, purposes, root};
use crate::policy::{CaCertificate, serial_number};

/// Judges bytes as every kind of draft, and as all that else is read.
fn judge(bytes: &[u8]) {
    for case in [Case::certificate(), Case::own(), Case::ca()] {
        let _ = case.check_bytes(bytes, Some(bytes));
    }
    let _ = serial_number(&chancery_shared::bytes::Fixed([0; 40]), bytes);
    let _ = CaCertificate::from_der(bytes);
}

/// A draft with many kinds of names, so that changes reach all readers.
fn draft() -> Case {
    let mut case = Case::certificate();
    let names_of_all_kinds = [
        dns("xn--mnchen-3ya.example"),
        dns("*.example.org"),
        email("a@example.org"),
        uri("https://a@[::1]:443/a%20b?c#d"),
        ip(&[192, 0, 2, 1]),
    ];
    case.tbs.set(SAN, Critical::No, &names(&names_of_all_kinds));
    case.tbs.set(EXT_KEY_USAGE, Critical::No, &purposes(&["1.3.6.1.5.5.7.3.1"]));
    case
}

/// Puts `value` in the place of an extension's, so that only its reader sees the change.
fn with_value(mut case: Case, oid: &str, value: &[u8]) -> Case {
    case.tbs.set(oid, Critical::No, value);
    case
}

#[derive(Clone, Debug)]
enum Change {
    Set(usize, u8),
    Remove(usize),
    Insert(usize, u8),
    Cut(usize),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        6 => (any::<usize>(), any::<u8>()).prop_map(|(at, byte)| Change::Set(at, byte)),
        2 => any::<usize>().prop_map(Change::Remove),
        2 => (any::<usize>(), any::<u8>()).prop_map(|(at, byte)| Change::Insert(at, byte)),
        1 => any::<usize>().prop_map(Change::Cut),
    ]
}

fn changed(mut bytes: Vec<u8>, changes: &[Change]) -> Vec<u8> {
    for change in changes {
        let length = bytes.len().max(1);
        match *change {
            Change::Set(at, byte) if !bytes.is_empty() => bytes[at % length] = byte,
            Change::Remove(at) if !bytes.is_empty() => drop(bytes.remove(at % length)),
            Change::Insert(at, byte) => bytes.insert(at % length, byte),
            Change::Cut(at) => bytes.truncate(at % length),
            _ => {}
        }
    }
    bytes
}

proptest! {
    #[test]
    fn random_bytes_are_answered(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        judge(&bytes);
        judge(&tlv(0x30, &bytes));
    }

    #[test]
    fn a_changed_draft_is_answered(changes in proptest::collection::vec(change(), 1..6)) {
        judge(&changed(draft().der(), &changes));
    }

    #[test]
    fn a_changed_csr_is_answered(changes in proptest::collection::vec(change(), 1..6)) {
        let case = draft();
        let csr = changed(case.csr().unwrap(), &changes);
        let _ = case.check_bytes(&case.der(), Some(&csr));
    }

    #[test]
    fn a_changed_certificate_is_answered(changes in proptest::collection::vec(change(), 1..6)) {
        let _ = CaCertificate::from_der(&changed(root().certificate(&keys::CA), &changes));
    }

    #[test]
    fn a_changed_key_is_answered(changes in proptest::collection::vec(change(), 1..6)) {
        for key in [&keys::SUBJECT, &keys::RSA] {
            let mut case = draft();
            case.tbs.spki = changed(key.spki.clone(), &changes);
            let tbs = case.tbs.encode_or_nothing(case.nonce);
            let _ = case.check_bytes(&tbs, None);
        }
    }

    #[test]
    fn changed_names_are_answered(
        text in ".{0,80}",
        changes in proptest::collection::vec(change(), 0..4),
    ) {
        for tag in [0x81, 0x82, 0x86] {
            let value = changed(names(&[tlv(tag, text.as_bytes())]), &changes);
            let case = with_value(draft(), SAN, &value);
            let _ = case.check_bytes(&case.tbs.encode_or_nothing(case.nonce), None);
        }
    }

    #[test]
    fn changed_constraints_are_answered(changes in proptest::collection::vec(change(), 1..6)) {
        let all = [dns("a.example"), email(".example.org"), uri("a.example"), ip(&[255; 8])];
        let value = changed(constraints(&all, &all), &changes);
        let mut case = Case::ca();
        case.tbs.set(NAME_CONSTRAINTS, Critical::Yes, &value);
        let _ = case.check();

        let mut issuer = root();
        issuer.set(NAME_CONSTRAINTS, Critical::Yes, &value);
        if let Ok(_constrained) = CaCertificate::from_der(&issuer.certificate(&keys::CA)) {
            let mut case = draft();
            case.issuer = Some(issuer);
            let _ = case.check();
        }
    }
}
