//! Forged: encoding, issuer, algorithm, serial number and validity.

use time::Duration;
use time::macros::datetime;

use super::{Forgery, assert_refused, forgery};
use crate::policy::fixture::parts::{AKI, BASIC_CONSTRAINTS, Critical, EXT_KEY_USAGE, KEY_USAGE};
use crate::policy::fixture::{Case, DAY, NOW, SIGNING, asn1::*, ca_name, keys, purposes};

#[test]
fn a_forged_form_is_refused_by_its_rule() {
    assert_refused(Case::certificate, FORGERIES);
}

pub(super) const FORGERIES: &[Forgery] = &[
    forgery("key.ca-certificate", "the key has no CA certificate", |case| case.issuer = None),
    forgery("tbs.size", "more than 48 KiB", |case| {
        case.policy.other_extensions.push("1.3.6.1.4.1.55555.9".to_owned());
        case.tbs.set("1.3.6.1.4.1.55555.9", Critical::No, &tlv(4, &[0; 49_000]));
    }),
    forgery("tbs.der", "nothing at all", |case| case.edit = |_| Vec::new()),
    forgery("tbs.der", "no SEQUENCE", |case| case.edit = |_| vec![0x04, 1, 0]),
    forgery("tbs.der", "cut off", |case| {
        case.edit = |mut tbs| {
            tbs.pop();
            tbs
        };
    }),
    forgery("tbs.der", "a length with a needless octet", |case| {
        case.edit = |tbs| [&[0x30, 0x83, 0], &tbs[2..]].concat();
    }),
    forgery("tbs.der", "an indefinite length", |case| {
        case.edit = |tbs| [&[0x30, 0x80], &tbs[4..], &[0, 0]].concat();
    }),
    forgery("tbs.der", "a boolean that is neither 00 nor ff", |case| {
        let usage = case.tbs.extensions.iter_mut().find(|e| e.oid == KEY_USAGE).unwrap();
        usage.critical = vec![1, 1, 1];
    }),
    forgery("tbs.der", "a SET whose elements descend", |case| {
        let mut atvs = [
            sequence(&[&oid("2.5.4.3"), &tlv(0x0c, b"x")]),
            sequence(&[&oid("2.5.4.10"), &tlv(0x0c, b"y")]),
        ];
        atvs.sort();
        atvs.reverse();
        case.tbs.subject = tlv(0x30, &tlv(0x31, &atvs.concat()));
    }),
    forgery("tbs.der", "a serial number with a needless octet", |case| {
        case.tbs.serial = Some(tlv(2, &[&[0], [0x40; 20].as_slice()].concat()));
    }),
    forgery("tbs.der", "an empty list of extensions", |case| {
        case.tbs.extensions.clear();
        case.tbs.unique_ids = tlv(0xa3, &sequence(&[]));
    }),
    forgery("tbs.der", "a field behind the extensions", |case| {
        case.edit = |tbs| sequence(&[&tbs[4..], &[5, 0]]);
    }),
    forgery("tbs.der", "a time without seconds", |case| {
        case.tbs.not_before = tlv(0x17, b"2611281200Z");
    }),
    forgery("tbs.der", "a time with a fraction", |case| {
        case.tbs.not_after = tlv(0x18, b"20500101000000.5Z");
    }),
    forgery("tbs.der", "a time with an offset", |case| {
        case.tbs.not_before = tlv(0x17, b"261128120000+0100");
    }),
    forgery("tbs.der", "29 February of a common year", |case| {
        case.tbs.not_after = tlv(0x17, b"270229000000Z");
    }),
    forgery("tbs.der", "a leap second", |case| {
        case.tbs.not_after = tlv(0x17, b"261231235960Z");
    }),
    forgery("extensions.malformed", "keyUsage with unused bits that are set", |case| {
        case.tbs.set(KEY_USAGE, Critical::Yes, &[3, 2, 7, 0xff]);
    }),
    forgery("tbs.trailing-bytes", "one byte behind the TBS", |case| {
        case.edit = |mut tbs| {
            tbs.push(0);
            tbs
        };
    }),
    forgery("tbs.trailing-bytes", "a second TBS", |case| case.edit = |tbs| tbs.repeat(2)),
    forgery("tbs.canonical", "critical FALSE written out", |case| {
        case.tbs.set(EXT_KEY_USAGE, Critical::NoInFull, &purposes(&["1.3.6.1.5.5.7.3.1"]));
    }),
    forgery("tbs.version", "version 1, absent", |case| case.tbs.version.clear()),
    forgery("tbs.version", "version 1, written out", |case| {
        case.tbs.version = vec![0xa0, 3, 2, 1, 0];
    }),
    forgery("tbs.version", "version 2", |case| case.tbs.version = vec![0xa0, 3, 2, 1, 1]),
    forgery("tbs.der", "version 4", |case| case.tbs.version = vec![0xa0, 3, 2, 1, 3]),
    forgery("tbs.duplicate-extension", "keyUsage twice", |case| {
        let usage = case.tbs.extensions.iter().find(|e| e.oid == KEY_USAGE).unwrap().clone();
        case.tbs.extensions.push(usage);
    }),
    forgery("tbs.issuer", "another CA's name", |case| {
        case.tbs.issuer = common_name("Another CA");
    }),
    forgery("tbs.issuer", "the CA's name in another string type", |case| {
        let rdns = [rdn("2.5.4.10", 0x0c, b"Example"), rdn("2.5.4.3", 0x13, b"Example Root CA")];
        case.tbs.issuer = tlv(0x30, &rdns.concat());
    }),
    forgery("tbs.issuer", "the CA's name in another order", |case| {
        case.tbs.issuer = name(&[("2.5.4.3", "Example Root CA"), ("2.5.4.10", "Example")]);
    }),
    forgery("tbs.issuer", "no name", |case| case.tbs.issuer = sequence(&[])),
    forgery("tbs.signature-algorithm", "a hash that the key does not use", |case| {
        case.tbs.signature_algorithm = sequence(&[&oid("1.2.840.10045.4.3.3")]);
    }),
    forgery("tbs.signature-algorithm", "parameters that ECDSA does not have", |case| {
        case.tbs.signature_algorithm = sequence(&[&oid("1.2.840.10045.4.3.2"), &[5, 0]]);
    }),
    forgery("tbs.signature-algorithm", "SHA-1", |case| {
        case.tbs.signature_algorithm = sequence(&[&oid("1.2.840.113549.1.1.5"), &[5, 0]]);
    }),
    forgery("serial.form", "19 octets", |case| case.tbs.serial = Some(tlv(2, &[0x40; 19]))),
    forgery("serial.form", "21 octets", |case| case.tbs.serial = Some(tlv(2, &[0x40; 21]))),
    forgery("serial.form", "a negative number", |case| case.tbs.serial = Some(tlv(2, &[0x80; 20]))),
    forgery("serial.construction", "a number of the API's own", |case| {
        case.tbs.serial = Some(tlv(2, &[0x41; 20]));
    }),
    forgery("serial.construction", "the number of the same draft under another nonce", |case| {
        let other = chancery_shared::bytes::Fixed([9; 40]);
        let serial = crate::policy::serial_number(&other, &case.der()).unwrap();
        case.tbs.serial = Some(tlv(2, &serial));
    }),
    forgery("serial.construction", "a draft that was changed after its number was made", |case| {
        let serial = crate::policy::serial_number(&case.nonce, &case.der()).unwrap();
        case.tbs.serial = Some(tlv(2, &serial));
        case.tbs.not_after = time(NOW + 91 * DAY);
    }),
    forgery("validity.not-before-too-early", "further back than policy's hour", |case| {
        case.tbs.not_before = time(NOW - Duration::minutes(61) - Duration::SECOND);
    }),
    forgery("validity.not-before-too-early", "1970", |case| {
        case.tbs.not_before = tlv(0x17, b"700101000000Z");
    }),
    forgery("validity.not-before-in-future", "eleven seconds ahead", |case| {
        case.tbs.not_before = time(NOW + Duration::seconds(11));
    }),
    forgery("validity.not-before-in-future", "the end of all time", |case| {
        case.tbs.not_before = tlv(0x18, b"99991231235959Z");
    }),
    forgery("validity.order", "ends before it begins", |case| {
        case.tbs.not_after = time(NOW - Duration::minutes(6));
    }),
    forgery("validity.order", "ends as it begins", |case| {
        case.tbs.not_after.clone_from(&case.tbs.not_before);
    }),
    forgery("validity.already-over", "ended a minute ago", |case| {
        case.tbs.not_after = time(NOW - Duration::minutes(1));
    }),
    forgery("validity.already-over", "its last second is over", |case| {
        case.now = NOW + Duration::SECOND;
        case.tbs.not_after = time(NOW);
    }),
    forgery("validity.too-long", "a second more than 398 days", |case| {
        case.tbs.not_after = time(NOW - Duration::minutes(5) + 398 * DAY);
    }),
    forgery("validity.too-long", "no well-defined expiration", |case| {
        case.tbs.not_after = tlv(0x18, b"99991231235959Z");
    }),
    forgery("validity.beyond-issuer", "a second longer than the CA", |case| {
        let end = NOW + 30 * DAY;
        case.issuer.as_mut().unwrap().not_after = time(end);
        case.tbs.not_after = time(end + Duration::SECOND);
    }),
    forgery("lint.utctime-until-2049", "GeneralizedTime in 2027", |case| {
        case.tbs.not_after = generalized_time(datetime!(2027-02-01 0:00 UTC));
    }),
    forgery("lint.unique-ids-absent", "issuerUniqueID", |case| {
        case.tbs.unique_ids = tlv(0x81, &[0, 1]);
    }),
    forgery("lint.unique-ids-absent", "subjectUniqueID", |case| {
        case.tbs.unique_ids = tlv(0x82, &[0, 1]);
    }),
    forgery("extensions.malformed", "an extension whose value is no DER", |case| {
        case.policy.other_extensions.push("1.3.6.1.4.1.55555.9".to_owned());
        case.tbs.set("1.3.6.1.4.1.55555.9", Critical::No, b"text");
    }),
    forgery("extensions.malformed", "bytes behind keyUsage's value", |case| {
        case.tbs.set(KEY_USAGE, Critical::Yes, &[&SIGNING[..], &[5, 0]].concat());
    }),
    forgery("extensions.malformed", "an explicit CA FALSE", |case| {
        case.tbs.set(BASIC_CONSTRAINTS, Critical::Yes, &[0x30, 3, 1, 1, 0]);
    }),
    forgery("usage.key-usage-form", "keyUsage with trailing zero bits", |case| {
        case.tbs.set(KEY_USAGE, Critical::Yes, &[3, 2, 0, 0x80]);
    }),
    forgery("usage.key-usage-form", "keyUsage without bits", |case| {
        case.tbs.set(KEY_USAGE, Critical::Yes, &[3, 1, 0]);
    }),
    forgery("usage.key-usage-form", "keyUsage with a tenth bit", |case| {
        case.tbs.set(KEY_USAGE, Critical::Yes, &[3, 3, 6, 0x80, 0x40]);
    }),
    forgery("usage.extended-key-usage-empty", "extKeyUsage without purposes", |case| {
        case.tbs.set(EXT_KEY_USAGE, Critical::No, &sequence(&[]));
    }),
    forgery("extensions.malformed", "authorityKeyIdentifier that is an OCTET STRING", |case| {
        case.tbs.set(AKI, Critical::No, &tlv(4, &keys::CA.identifier()));
    }),
    forgery("extensions.malformed", "a path length beyond 255", |case| {
        case.tbs.set(BASIC_CONSTRAINTS, Critical::Yes, &[0x30, 7, 1, 1, 0xff, 2, 2, 1, 0]);
    }),
    forgery("tbs.der", "a subject that is no sequence of sets", |case| {
        case.tbs.subject = ca_name();
        case.tbs.subject = tlv(0x30, &sequence(&[&oid("2.5.4.3"), &tlv(0x0c, b"x")]));
    }),
];
