//! Forged: usages, key identifiers, extensions and the finer rules.

use super::{Forgery, assert_refused, forgery};
use crate::policy::fixture::keys;
use crate::policy::fixture::parts::{
    AKI, BASIC_CONSTRAINTS, Critical, EXT_KEY_USAGE, KEY_USAGE, SKI,
};
use crate::policy::fixture::{CA_TRUE, CERTIFYING, Case, asn1::*, purposes};

#[test]
fn a_forged_usage_or_extension_is_refused_by_its_rule() {
    assert_refused(Case::certificate, FORGERIES);
}

const SERVER: &str = "1.3.6.1.5.5.7.3.1";

pub(super) const FORGERIES: &[Forgery] = &[
    forgery("usage.ca", "CA true", |case| {
        case.tbs.set(BASIC_CONSTRAINTS, Critical::Yes, &CA_TRUE);
    }),
    forgery("usage.ca", "CA true, not critical", |case| {
        case.tbs.set(BASIC_CONSTRAINTS, Critical::No, &CA_TRUE);
    }),
    forgery("usage.path-length", "a path length without CA", |case| {
        case.tbs.set(BASIC_CONSTRAINTS, Critical::Yes, &[0x30, 3, 2, 1, 0]);
    }),
    forgery("usage.key-usage-absent", "no keyUsage", |case| case.tbs.remove(KEY_USAGE)),
    forgery("usage.ca-key-usage", "keyCertSign and cRLSign", |case| {
        case.tbs.set(KEY_USAGE, Critical::Yes, &CERTIFYING);
    }),
    forgery("usage.ca-key-usage", "digitalSignature and keyCertSign", |case| {
        case.tbs.set(KEY_USAGE, Critical::Yes, &[3, 2, 2, 0x84]);
    }),
    forgery("usage.ca-key-usage", "digitalSignature and cRLSign", |case| {
        case.tbs.set(KEY_USAGE, Critical::Yes, &[3, 2, 1, 0x82]);
    }),
    forgery("usage.extended-key-usage-absent", "no extKeyUsage", |case| {
        case.tbs.remove(EXT_KEY_USAGE);
    }),
    forgery("usage.any-extended-key-usage", "anyExtendedKeyUsage, even if policy has it", |case| {
        case.policy.extended_key_usages.push("2.5.29.37.0".to_owned());
        case.tbs.set(EXT_KEY_USAGE, Critical::No, &purposes(&[SERVER, "2.5.29.37.0"]));
    }),
    forgery("usage.ocsp-signing", "OCSPSigning, even if policy has it", |case| {
        case.policy.extended_key_usages.push("1.3.6.1.5.5.7.3.9".to_owned());
        case.tbs.set(EXT_KEY_USAGE, Critical::No, &purposes(&["1.3.6.1.5.5.7.3.9"]));
    }),
    forgery("usage.extended-key-usage-not-allowed", "smart card logon", |case| {
        let purposes = purposes(&[SERVER, "1.3.6.1.4.1.311.20.2.2"]);
        case.tbs.set(EXT_KEY_USAGE, Critical::No, &purposes);
    }),
    forgery("usage.extended-key-usage-not-allowed", "code signing where policy lacks it", |case| {
        case.policy.extended_key_usages = vec![SERVER.to_owned()];
        case.tbs.set(EXT_KEY_USAGE, Critical::No, &purposes(&["1.3.6.1.5.5.7.3.3"]));
    }),
    forgery("key-identifier.authority-absent", "no authorityKeyIdentifier", |case| {
        case.tbs.remove(AKI);
    }),
    forgery("key-identifier.authority-form", "without a keyIdentifier", |case| {
        case.tbs.set(AKI, Critical::No, &sequence(&[]));
    }),
    forgery("key-identifier.authority-form", "issuer and serial number beside it", |case| {
        let issuer = tlv(0xa1, &directory_name(&common_name("x")));
        let identifier = tlv(0x80, &keys::CA.identifier());
        case.tbs.set(AKI, Critical::No, &sequence(&[&identifier, &issuer, &[0x82, 1, 1]]));
    }),
    forgery("key-identifier.authority", "another key's", |case| {
        let identifier = tlv(0x80, &keys::STRANGER.identifier());
        case.tbs.set(AKI, Critical::No, &sequence(&[&identifier]));
    }),
    forgery("key-identifier.authority", "the CA's, but for its last octet", |case| {
        let identifier = keys::CA.identifier();
        case.tbs.set(AKI, Critical::No, &sequence(&[&tlv(0x80, &identifier[..19])]));
    }),
    forgery("key-identifier.authority", "none of the CA's, which has none", |case| {
        case.issuer.as_mut().unwrap().remove(SKI);
        let identifier = tlv(0x80, &keys::STRANGER.identifier());
        case.tbs.set(AKI, Critical::No, &sequence(&[&identifier]));
    }),
    forgery("key-identifier.subject", "another key's", |case| {
        case.tbs.set(SKI, Critical::No, &tlv(4, &keys::STRANGER.identifier()));
    }),
    forgery("key-identifier.subject", "the whole of SHA-256", |case| {
        let hash = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, &keys::SUBJECT.bits());
        case.tbs.set(SKI, Critical::No, &tlv(4, hash.as_ref()));
    }),
];
