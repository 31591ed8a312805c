//! The forgeries: what each is, how it is made, the rule that refuses it.

use chancery_tests::forge::der::{boolean, context, integer, octets, oid, sequence, set, tlv};
use chancery_tests::forge::subject::{common_name, name, spki};
use chancery_tests::forge::{Forged, Serial, at, authority, critical, dns, oids, plain};
use time::Duration;

use crate::scene::{Scene, ca_flag, off_curve, other_key, purposes, rsa, rsa_even, rsa_with};

pub(crate) type Forge = fn(&Scene) -> Forged;

/// Each forgery: what it is, how it is made, the rule that refuses it.
pub(crate) const FORGERIES: &[(&str, Forge, &str)] = &[
    ("CA true", |s| ca_flag(s, &[boolean(true)]), "usage.ca"),
    ("CA true with a path length", |s| ca_flag(s, &[boolean(true), integer(&[0])]), "usage.ca"),
    ("a path length without CA", |s| ca_flag(s, &[integer(&[0])]), "usage.path-length"),
    ("CA false written out", |s| ca_flag(s, &[boolean(false)]), "extensions.malformed"),
    ("keyCertSign", |s| s.tbs().with(oids::KEY_USAGE, vec![3, 2, 2, 0x84]), "usage.ca-key-usage"),
    ("cRLSign", |s| s.tbs().with(oids::KEY_USAGE, vec![3, 2, 1, 0x82]), "usage.ca-key-usage"),
    ("no key usage", |s| s.tbs().without(oids::KEY_USAGE), "usage.key-usage-absent"),
    ("no purpose", |s| s.tbs().without(oids::EXT_KEY_USAGE), "usage.extended-key-usage-absent"),
    (
        "any purpose",
        |s| purposes(s, &[oids::ANY_EXTENDED_KEY_USAGE]),
        "usage.any-extended-key-usage",
    ),
    ("OCSP signing", |s| purposes(s, &[oids::OCSP_SIGNING]), "usage.ocsp-signing"),
    (
        "a purpose beside the allowed one that policy does not allow",
        |s| purposes(s, &[oids::SERVER_AUTH, "1.3.6.1.4.1.311.20.2.2"]),
        "usage.extended-key-usage-not-allowed",
    ),
    ("foreign issuer", |s| Forged { issuer: common_name("Evil CA"), ..s.tbs() }, "tbs.issuer"),
    (
        "the issuer's name in another string type",
        |s| Forged { issuer: name(&[("2.5.4.3", tlv(0x13, b"Forged Root"))]), ..s.tbs() },
        "tbs.issuer",
    ),
    (
        "another signature algorithm",
        |s| Forged { algorithm: sequence(&[oid("1.2.840.10045.4.3.3")]), ..s.tbs() },
        "tbs.signature-algorithm",
    ),
    (
        "SHA-1",
        |s| Forged { algorithm: sequence(&[oid("1.2.840.10045.4.1")]), ..s.tbs() },
        "tbs.signature-algorithm",
    ),
    (
        "NULL parameters",
        |s| {
            let algorithm = sequence(&[oid("1.2.840.10045.4.3.2"), vec![5, 0]]);
            Forged { algorithm, ..s.tbs() }
        },
        "tbs.signature-algorithm",
    ),
    ("version 1", |s| Forged { version: Vec::new(), ..s.tbs() }, "tbs.version"),
    ("version 2", |s| Forged { version: context(0, &[integer(&[1])]), ..s.tbs() }, "tbs.version"),
    ("a byte after the TBS", |s| Forged { trailing: vec![0], ..s.tbs() }, "tbs.trailing-bytes"),
    (
        "a TBS after the TBS",
        |s| Forged { trailing: s.tbs().der(&[0; 40]), ..s.tbs() },
        "tbs.trailing-bytes",
    ),
    (
        "an extension twice",
        |s| s.tbs().and(critical(oids::KEY_USAGE, vec![3, 2, 7, 0x80])),
        "tbs.duplicate-extension",
    ),
    (
        "past notBefore",
        |s| Forged { not_before: at(s.now - Duration::minutes(62)), ..s.tbs() },
        "validity.not-before-too-early",
    ),
    (
        "notBefore tomorrow",
        |s| Forged { not_before: at(s.now + Duration::days(1)), ..s.tbs() },
        "validity.not-before-in-future",
    ),
    (
        "notAfter before notBefore",
        |s| Forged { not_after: at(s.now - Duration::minutes(2)), ..s.tbs() },
        "validity.order",
    ),
    (
        "a day too long",
        |s| Forged { not_after: at(s.now + Duration::days(399)), ..s.tbs() },
        "validity.too-long",
    ),
    (
        "99991231235959Z",
        |s| Forged { not_after: tlv(0x18, b"99991231235959Z"), ..s.tbs() },
        "validity.too-long",
    ),
    (
        "GeneralizedTime before 2050",
        |s| Forged { not_after: tlv(0x18, b"20270101000000Z"), ..s.tbs() },
        "lint.utctime-until-2049",
    ),
    ("RSA with 1024 bits", |s| s.key(rsa(128)), "public-key.rsa-size"),
    ("RSA with exponent 3", |s| s.key(rsa_with(256, &[3])), "public-key.rsa-exponent"),
    ("RSA with an even modulus", |s| s.key(rsa_even()), "public-key.rsa-modulus"),
    ("a point that is not on the curve", |s| s.key(off_curve()), "public-key.point"),
    (
        "an unknown curve",
        |s| s.key(spki("1.2.840.10045.2.1", &oid("1.3.132.0.10"), &s.key.point)),
        "public-key.algorithm",
    ),
    ("DSA", |s| s.key(spki("1.2.840.10040.4.1", &[], &s.key.point)), "public-key.algorithm"),
    ("the CA's own key", |s| s.key(s.ca.spki.clone()), "public-key.ca-key"),
    ("another key than the CSR's", |s| other_key(s), "csr.key"),
    (
        "a serial of the forger's choice",
        |s| Forged { serial: Serial::Is([0x41; 20].into()), ..s.tbs() },
        "serial.construction",
    ),
    ("serial 1", |s| Forged { serial: Serial::Is(vec![1]), ..s.tbs() }, "serial.form"),
    (
        "a negative serial",
        |s| Forged { serial: Serial::Is([0xc1; 20].into()), ..s.tbs() },
        "serial.form",
    ),
    (
        "a serial of 21 octets",
        |s| Forged { serial: Serial::Is([0x41; 21].into()), ..s.tbs() },
        "serial.form",
    ),
    (
        "no authority key identifier",
        |s| s.tbs().without(oids::AUTHORITY_KEY_IDENTIFIER),
        "key-identifier.authority-absent",
    ),
    (
        "another CA's key identifier",
        |s| s.tbs().with(oids::AUTHORITY_KEY_IDENTIFIER, authority(&[7; 20])),
        "key-identifier.authority",
    ),
    (
        "an authority key identifier with a serial",
        |s| {
            let forged = sequence(&[tlv(0x80, &s.ca.key_identifier), tlv(0x82, &[1])]);
            s.tbs().with(oids::AUTHORITY_KEY_IDENTIFIER, forged)
        },
        "key-identifier.authority-form",
    ),
    (
        "another key's identifier",
        |s| s.tbs().with(oids::SUBJECT_KEY_IDENTIFIER, octets(&[7; 20])),
        "key-identifier.subject",
    ),
    (
        "no subject key identifier",
        |s| s.tbs().without(oids::SUBJECT_KEY_IDENTIFIER),
        "lint.ski-present",
    ),
    (
        "an unknown extension",
        |s| s.tbs().and(plain("1.3.6.1.4.1.99999.1", vec![5, 0])),
        "extensions.unknown",
    ),
    (
        "an unknown critical extension",
        |s| s.tbs().and(critical("1.3.6.1.4.1.99999.1", vec![5, 0])),
        "extensions.unknown",
    ),
    (
        "name constraints in an end entity",
        |s| s.tbs().and(critical(oids::NAME_CONSTRAINTS, sequence(&[]))),
        "extensions.ca-only",
    ),
    (
        "an extension that is no DER",
        |s| s.tbs().with(oids::EXT_KEY_USAGE, vec![0x30, 0x80]),
        "extensions.malformed",
    ),
    ("no names in the SAN", |s| s.san(&[]), "names.san-empty"),
    ("a bare wildcard", |s| s.san(&[dns("*")]), "names.wildcard-form"),
    ("a wildcard inside", |s| s.san(&[dns("www.*.example.test")]), "names.wildcard-form"),
    ("a part of a label as wildcard", |s| s.san(&[dns("w*.example.test")]), "names.wildcard-form"),
    ("a NUL in a name", |s| s.san(&[dns("www.example.test\0.evil.test")]), "names.dns"),
    ("a space in a name", |s| s.san(&[dns("www example.test")]), "names.dns"),
    ("an empty label", |s| s.san(&[dns("www..example.test")]), "names.dns"),
    ("a dot at the end", |s| s.san(&[dns("www.example.test.")]), "names.dns"),
    ("an address as a DNS name", |s| s.san(&[dns("192.0.2.1")]), "names.dns"),
    ("a label of 64 letters", |s| s.san(&[dns(&"a".repeat(64))]), "names.dns"),
    (
        "an address of 8 octets",
        |s| s.san(&[tlv(0x87, &[192, 0, 2, 0, 255, 255, 255, 0])]),
        "names.ip",
    ),
    ("an e-mail address without a host", |s| s.san(&[tlv(0x81, b"root")]), "names.email"),
    ("a relative URI", |s| s.san(&[tlv(0x86, b"/path")]), "names.uri"),
    (
        "an x400Address",
        |s| s.san(&[tlv(0xa3, &sequence(&[sequence(&[])]))]),
        "extensions.malformed",
    ),
    (
        "a common name with a wildcard inside",
        |s| s.subject(common_name("www.*.example.test")),
        "names.wildcard-form",
    ),
    (
        "an empty subject with a SAN that is not critical",
        |s| s.subject(sequence(&[])),
        "lint.empty-subject-needs-critical-san",
    ),
    ("a common name of 65 letters", |s| s.subject(common_name(&"a".repeat(65))), "names.length"),
    (
        "a country of three letters",
        |s| s.subject(name(&[("2.5.4.6", tlv(0x13, b"GBR"))])),
        "names.country",
    ),
    (
        "a country as UTF8String",
        |s| s.subject(name(&[("2.5.4.6", tlv(0x0c, b"GB"))])),
        "names.string-type",
    ),
    ("a control character in a name", |s| s.subject(common_name("a\u{0007}b")), "names.characters"),
    (
        "a right-to-left override in a name",
        |s| s.subject(common_name("a\u{202e}b")),
        "names.characters",
    ),
    (
        "an attribute twice in an RDN",
        |s| {
            let value = |v: &[u8]| sequence(&[oid("2.5.4.3"), tlv(0x0c, v)]);
            s.subject(sequence(&[set(&[value(b"a"), value(b"b")])]))
        },
        "names.duplicate-attribute",
    ),
    (
        "a name outside the name constraints",
        |s| s.constrained().with(oids::SUBJECT_ALT_NAME, sequence(&[dns("www.evil.test")])),
        "name-constraints.permitted",
    ),
    (
        "a name that ends like a permitted one",
        |s| s.constrained().with(oids::SUBJECT_ALT_NAME, sequence(&[dns("notexample.test")])),
        "name-constraints.permitted",
    ),
    (
        "an excluded name",
        |s| s.constrained().with(oids::SUBJECT_ALT_NAME, sequence(&[dns("secret.example.test")])),
        "name-constraints.excluded",
    ),
    (
        "a common name outside the constraints",
        |s| Forged { subject: common_name("www.evil.test"), ..s.constrained() },
        "name-constraints.permitted",
    ),
    (
        "a unique id",
        |s| Forged { before_extensions: tlv(0x81, &[0, 1]), ..s.tbs() },
        "lint.unique-ids-absent",
    ),
    (
        "key encipherment by an EC key",
        |s| s.tbs().with(oids::KEY_USAGE, vec![3, 2, 5, 0xa0]),
        "lint.ku-fits-key-type",
    ),
    (
        "a purpose twice",
        |s| purposes(s, &[oids::SERVER_AUTH, oids::SERVER_AUTH]),
        "lint.eku-unique",
    ),
    ("a TBS over 48 KiB", |s| s.san(&vec![dns("www.example.test"); 3_000]), "request.size"),
];
