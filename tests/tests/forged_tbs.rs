//! A peer with the right uid sends the signer what policy forbids: each is refused by the name of
//! its rule, and the token's counter shows that nothing of it was signed.

use chancery_shared::bytes::{Bytes, SerialNonce};
use chancery_shared::wire::policy::Policy;
use chancery_shared::wire::v1::{Reply, Request, SignCertificate};
use chancery_shared::wire::{Context, Outcome, RefusalCode};
use chancery_tests::clock::now;
use chancery_tests::forge::der::{boolean, context, integer, octets, oid, sequence, set, tlv};
use chancery_tests::forge::subject::{SubjectKey, common_name, name, spki};
use chancery_tests::forge::{Forged, Serial, at, authority, critical, dns, oids, plain};
use chancery_tests::peer::Peer;
use chancery_tests::signer_home::{Ca, SignerHome};
use time::{Duration, OffsetDateTime};

/// What a forgery has to work with.
struct Scene {
    ca: Ca,
    constrained: Ca,
    key: SubjectKey,
    other: SubjectKey,
    now: OffsetDateTime,
}

impl Scene {
    fn tbs(&self) -> Forged {
        Forged::ordinary(&self.ca.issuer(), &self.key, self.now)
    }

    /// An ordinary TBS of the CA whose name constraints permit only `example.test`.
    fn constrained(&self) -> Forged {
        Forged::ordinary(&self.constrained.issuer(), &self.key, self.now)
    }

    fn san(&self, names: &[Vec<u8>]) -> Forged {
        self.tbs().with(oids::SUBJECT_ALT_NAME, sequence(names))
    }

    fn subject(&self, subject: Vec<u8>) -> Forged {
        Forged { subject, ..self.tbs() }
    }

    fn key(&self, spki: Vec<u8>) -> Forged {
        Forged { spki, ..self.tbs() }
    }
}

type Forge = fn(&Scene) -> Forged;

/// Each forgery: what it is, how it is made, the rule that refuses it.
const FORGERIES: &[(&str, Forge, &str)] = &[
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

fn ca_flag(s: &Scene, content: &[Vec<u8>]) -> Forged {
    s.tbs().and(critical(oids::BASIC_CONSTRAINTS, sequence(content)))
}

fn purposes(s: &Scene, purposes: &[&str]) -> Forged {
    let purposes: Vec<Vec<u8>> = purposes.iter().map(|purpose| oid(purpose)).collect();
    s.tbs().with(oids::EXT_KEY_USAGE, sequence(&purposes))
}

fn other_key(s: &Scene) -> Forged {
    Forged::ordinary(&s.ca.issuer(), &s.other, s.now)
}

fn rsa(octets: usize) -> Vec<u8> {
    rsa_with(octets, &[1, 0, 1])
}

fn rsa_with(octets: usize, exponent: &[u8]) -> Vec<u8> {
    let mut modulus = vec![0];
    modulus.extend(std::iter::repeat_n(0xd5, octets));
    rsa_key(&modulus, exponent)
}

fn rsa_even() -> Vec<u8> {
    let mut modulus = vec![0];
    modulus.extend(std::iter::repeat_n(0xd4, 256));
    rsa_key(&modulus, &[1, 0, 1])
}

fn rsa_key(modulus: &[u8], exponent: &[u8]) -> Vec<u8> {
    let key = sequence(&[integer(modulus), integer(exponent)]);
    spki("1.2.840.113549.1.1.1", &[5, 0], &key)
}

fn off_curve() -> Vec<u8> {
    let mut point = vec![4];
    point.extend([0x55; 64]);
    spki("1.2.840.10045.2.1", &oid("1.2.840.10045.3.1.7"), &point)
}

fn request(ca: &Ca, tbs: Vec<u8>, csr: &[u8], serial_nonce: SerialNonce) -> Request {
    Request::SignCertificate(SignCertificate {
        key_id: ca.key_id,
        tbs: Bytes(tbs),
        csr: Bytes(csr.to_vec()),
        serial_nonce,
        context: Context([("requestId".to_owned(), "forged".into())].into_iter().collect()),
    })
}

fn set_up() -> anyhow::Result<(SignerHome, Peer, Scene)> {
    let mut home = SignerHome::create(&[])?;
    home.start()?;
    let (mut peer, _) = Peer::connect(&home.socket())?;
    let ca = home.create_ca(&mut peer, "Forged Root")?;
    let constraints = sequence(&[
        context(0, &[sequence(&[dns("example.test")])]),
        context(1, &[sequence(&[dns("secret.example.test")])]),
    ]);
    let (key_algorithm, algorithm) = (
        chancery_shared::wire::algorithm::KeyAlgorithm::EcdsaP256,
        chancery_shared::wire::algorithm::SignatureAlgorithm::EcdsaSha256,
    );
    let constrained = home.create_ca_with(
        &mut peer,
        "Constrained Root",
        key_algorithm,
        algorithm,
        Some(Policy::shipped()),
        &[critical(oids::NAME_CONSTRAINTS, constraints)],
    )?;
    let (key, other) = (SubjectKey::generate()?, SubjectKey::generate()?);
    let scene = Scene { ca, constrained, key, other, now: now() };
    Ok((home, peer, scene))
}

fn signatures(home: &SignerHome) -> anyhow::Result<u64> {
    Ok(home.status()?.tokens.iter().map(|token| token.signatures).sum())
}

#[test]
fn every_forged_tbs_is_refused_by_its_rule_and_none_is_signed() -> anyhow::Result<()> {
    let (home, mut peer, scene) = set_up()?;
    let csr = scene.key.csr(&common_name("www.example.test"))?;
    let before = signatures(&home)?;
    let mut wrong = Vec::new();

    for (what, forge, rule) in FORGERIES {
        let forged = forge(&scene);
        let ca =
            if forged.issuer == scene.constrained.subject { &scene.constrained } else { &scene.ca };
        let nonce = peer.fresh_nonce();
        let refusal = peer.refused(&request(ca, forged.der(&nonce.0), &csr, nonce))?;
        if refusal.code != RefusalCode::PolicyViolation || refusal.rule.as_deref() != Some(rule) {
            wrong.push(format!("{what}: expected {rule}, got {refusal:?}"));
        }
    }

    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(FORGERIES.len() >= 60);
    assert_eq!(signatures(&home)?, before, "nothing refused was signed");
    assert!(home.status()?.refusals >= u64::try_from(FORGERIES.len())?);
    Ok(())
}

#[test]
fn the_ordinary_tbs_that_each_forgery_starts_from_is_signed() -> anyhow::Result<()> {
    let (home, mut peer, scene) = set_up()?;
    let csr = scene.key.csr(&common_name("www.example.test"))?;
    let before = signatures(&home)?;

    for (ca, tbs) in [(&scene.ca, scene.tbs()), (&scene.constrained, scene.constrained())] {
        let nonce = peer.fresh_nonce();
        let answer = peer.ask(&request(ca, tbs.der(&nonce.0), &csr, nonce))?;
        assert!(matches!(answer.outcome, Outcome::Done(Reply::Signed(_))), "{answer:?}");
        assert!(answer.journal.is_some());
    }

    assert_eq!(signatures(&home)?, before + 2);
    Ok(())
}

#[test]
fn a_nonce_is_good_for_one_tbs_on_its_own_connection() -> anyhow::Result<()> {
    let (home, mut peer, scene) = set_up()?;
    let csr = scene.key.csr(&common_name("www.example.test"))?;
    let (other_peer, _) = Peer::connect(&home.socket())?;
    let used = peer.nonce_with(10_000);
    let ask = |nonce: SerialNonce| request(&scene.ca, scene.tbs().der(&nonce.0), &csr, nonce);
    peer.ask(&ask(used))?;

    for (what, nonce, rule) in [
        ("used before", used, "serial.nonce-used"),
        ("far behind", peer.nonce_with(10_000 - 4_096), "serial.nonce-too-old"),
        ("another connection's", other_peer.nonce_with(20_000), "serial.nonce-connection"),
    ] {
        let refusal = peer.refused(&ask(nonce))?;
        assert_eq!(refusal.rule.as_deref(), Some(rule), "{what}");
    }

    // Requests may overtake each other within the window.
    let overtaken = peer.nonce_with(10_000 - 4_095);
    assert!(matches!(peer.ask(&ask(overtaken))?.outcome, Outcome::Done(_)));
    Ok(())
}

#[test]
fn a_csr_that_does_not_prove_possession_is_refused() -> anyhow::Result<()> {
    let (_home, mut peer, scene) = set_up()?;
    let subject = common_name("www.example.test");
    let good = scene.key.csr(&subject)?;
    let info = sequence(&[integer(&[0]), subject.clone(), scene.key.spki.clone(), context(0, &[])]);
    let version_1 = sequence(&[integer(&[1]), subject, scene.key.spki.clone(), context(0, &[])]);
    let mut flipped = good.clone();
    if let Some(last) = flipped.last_mut() {
        *last ^= 1;
    }

    for (what, csr, rule) in [
        ("signed by another key", scene.other.request(&info)?, "csr.possession"),
        ("a flipped bit of the signature", flipped, "csr.possession"),
        ("bytes after it", [good.clone(), vec![0]].concat(), "csr.malformed"),
        ("version 1", scene.key.request(&version_1)?, "csr.malformed"),
        ("no CSR at all", Vec::new(), "csr.malformed"),
    ] {
        let nonce = peer.fresh_nonce();
        let ask = request(&scene.ca, scene.tbs().der(&nonce.0), &csr, nonce);
        assert_eq!(peer.refused(&ask)?.rule.as_deref(), Some(rule), "{what}");
    }
    Ok(())
}
