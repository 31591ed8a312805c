//! CA certificates from outside and their chains.

use chancery_shared::bytes::Bytes;
use time::{Duration, OffsetDateTime};

use crate::policy::fixture::keys::{self, Key};
use crate::policy::fixture::parts::{
    BASIC_CONSTRAINTS, Critical, KEY_USAGE, NAME_CONSTRAINTS, Parts, SKI,
};
use crate::policy::fixture::{CA_TRUE, CERTIFYING, DAY, NOW, SIGNING, asn1::*};
use crate::policy::{Above, CaCertificate, PolicyViolation, check_chain};

/// The key's own certificate, an intermediate's, and the root's.
struct Chain {
    own: Parts,
    intermediate: Parts,
    root: Parts,
    /// Who signs the first.
    signer: &'static Key,
    now: OffsetDateTime,
}

impl Chain {
    fn new() -> Self {
        let ca = |issuer: &str, issuer_key: &Key, subject: &str, key: &Key| {
            Parts::new(&common_name(issuer), issuer_key, &common_name(subject), &key.spki)
                .valid(NOW - DAY, NOW + 1000 * DAY)
                .with(SKI, Critical::No, &tlv(4, &key.identifier()))
                .with(KEY_USAGE, Critical::Yes, &CERTIFYING)
                .with(BASIC_CONSTRAINTS, Critical::Yes, &CA_TRUE)
        };
        Self {
            own: ca("Intermediate", &keys::OTHER_CA, "Own", &keys::CA),
            intermediate: ca("Root", &keys::STRANGER, "Intermediate", &keys::OTHER_CA),
            root: ca("Root", &keys::STRANGER, "Root", &keys::STRANGER),
            signer: &keys::OTHER_CA,
            now: NOW,
        }
    }

    fn certificates(&self) -> [Vec<u8>; 3] {
        [
            self.own.certificate(self.signer),
            self.intermediate.certificate(&keys::STRANGER),
            self.root.certificate(&keys::STRANGER),
        ]
    }

    /// Checks the chain without its root, which is the anchor, and reads what would be installed.
    fn check(&self) -> Result<CaCertificate, PolicyViolation> {
        let [own, intermediate, root] = self.certificates();
        installed(&[own, intermediate], above(&[root]), self.now)
    }
}

fn above(anchors: &[Vec<u8>]) -> Above<'_> {
    Above { anchors, installed: &[] }
}

fn installed(
    chain: &[Vec<u8>],
    above: Above<'_>,
    now: OffsetDateTime,
) -> Result<CaCertificate, PolicyViolation> {
    let chain: Vec<Bytes> = chain.iter().cloned().map(Bytes).collect();
    let checked = check_chain(&keys::CA.spki, &chain, above, now)?;
    CaCertificate::from_chain(&checked.into_certificates())
}

fn path_length(length: u8) -> [u8; 8] {
    [0x30, 6, 1, 1, 0xff, 2, 1, length]
}

#[test]
fn a_chain_passes_with_or_without_its_anchor() {
    let chain = Chain::new();
    let [own, intermediate, root] = chain.certificates();
    let whole = [own.clone(), intermediate, root.clone()];

    let with = installed(&whole, above(&[root]), NOW).unwrap();
    let without = chain.check().unwrap();

    assert_eq!(with.der(), own);
    assert_eq!(without.subject(), common_name("Own"));
    assert_eq!(without.spki(), keys::CA.spki);
    assert_eq!(without.subject_key_identifier(), Some(keys::CA.identifier().as_slice()));
    assert_eq!(without.path_length(), None);
}

#[test]
fn a_certificate_that_is_itself_an_anchor_passes_alone() {
    let [own, ..] = Chain::new().certificates();

    let checked = installed(std::slice::from_ref(&own), above(std::slice::from_ref(&own)), NOW);

    assert!(checked.is_ok());
}

/// Bounds the path and the names below.
fn bind(ca: &mut Parts) {
    ca.set(BASIC_CONSTRAINTS, Critical::Yes, &path_length(3));
    ca.set(NAME_CONSTRAINTS, Critical::Yes, &constraints(&[dns("example.org")], &[]));
}

fn assert_is_bound(ca: &CaCertificate, path_length: u8) {
    let check = |text: &str| {
        let mut case = crate::policy::fixture::Case::certificate();
        case.set_names(&[dns(text)]);
        let der = case.der();
        let tbs = crate::policy::tbs::Tbs::read(&der).unwrap();
        ca.check_names(&crate::policy::names::Names::read(&tbs).unwrap())
    };
    assert_eq!(ca.path_length(), Some(path_length));
    assert_eq!(check("a.example.org"), Ok(()));
    assert_eq!(check("a.example.com").unwrap_err().rule(), "name-constraints.permitted");
}

#[test]
fn what_binds_any_ca_above_binds_the_key_also_where_the_anchor_is_left_out() {
    let mut bound_by_root = Chain::new();
    bind(&mut bound_by_root.root);
    let mut bound_by_intermediate = Chain::new();
    bind(&mut bound_by_intermediate.intermediate);

    for (chain, path_length) in [(bound_by_root, 1), (bound_by_intermediate, 2)] {
        let whole = chain.certificates();
        let anchors = [whole[2].clone()];

        assert_is_bound(&chain.check().unwrap(), path_length);
        assert_is_bound(&installed(&whole, above(&anchors), NOW).unwrap(), path_length);
    }
}

#[test]
fn what_is_installed_above_an_anchor_binds_the_key_too() {
    let mut chain = Chain::new();
    bind(&mut chain.root);
    let [own, intermediate, root] = chain.certificates();
    let known = [vec![Bytes(intermediate.clone()), Bytes(root)]];
    let above = Above { anchors: std::slice::from_ref(&intermediate), installed: &known };

    for sent in [vec![own.clone()], vec![own, intermediate.clone()]] {
        assert_is_bound(&installed(&sent, above, NOW).unwrap(), 1);
    }
}

/// The rule, what is broken, and how.
type BrokenChain = (&'static str, &'static str, fn(&mut Chain));

#[test]
fn a_broken_chain_is_refused_by_its_rule() {
    let table: &[BrokenChain] = &[
        ("chain.key", "another key", |chain| chain.own.spki.clone_from(&keys::SUBJECT.spki)),
        ("chain.malformed", "version 1", |chain| chain.own.version.clear()),
        ("chain.not-a-ca", "CA false", |chain| {
            chain.own.set(BASIC_CONSTRAINTS, Critical::Yes, &[0x30, 0]);
        }),
        ("chain.not-a-ca", "an intermediate without basicConstraints", |chain| {
            chain.intermediate.remove(BASIC_CONSTRAINTS);
        }),
        ("chain.not-a-ca", "an intermediate that may not sign certificates", |chain| {
            chain.intermediate.set(KEY_USAGE, Critical::Yes, &SIGNING);
        }),
        ("chain.critical-extension", "an unknown critical extension", |chain| {
            chain.intermediate.set("1.3.6.1.4.1.55555.9", Critical::Yes, &[5, 0]);
        }),
        ("chain.issuer", "another issuer's name", |chain| {
            chain.own.issuer = common_name("Other");
        }),
        ("chain.signature", "signed by another key", |chain| chain.signer = &keys::SUBJECT),
        ("chain.validity", "not valid any more", |chain| {
            chain.now = NOW + 1000 * DAY + Duration::SECOND;
        }),
        ("chain.validity", "not valid yet", |chain| {
            chain.now = NOW - DAY - Duration::SECOND;
        }),
        ("chain.validity", "an anchor that has expired", |chain| {
            chain.root.not_after = time(NOW - Duration::SECOND);
        }),
        ("chain.path-length", "an intermediate too many", |chain| {
            chain.root.set(BASIC_CONSTRAINTS, Critical::Yes, &path_length(0));
        }),
        ("chain.path-length", "below an intermediate of path length 0", |chain| {
            chain.intermediate.set(BASIC_CONSTRAINTS, Critical::Yes, &path_length(0));
            chain.own.set(BASIC_CONSTRAINTS, Critical::Yes, &path_length(0));
        }),
        ("chain.anchor", "a root that no one trusts", |chain| {
            chain.root.subject = common_name("Other");
        }),
        ("chain.anchor", "a root with another key", |chain| {
            chain.root.spki.clone_from(&keys::SUBJECT.spki);
        }),
        ("name-constraints.excluded", "a name that a CA above excludes", |chain| {
            let excluded = constraints(&[], &[directory_name(&common_name("own"))]);
            chain.root.set(NAME_CONSTRAINTS, Critical::Yes, &excluded);
        }),
    ];

    for (rule, what, change) in table {
        let mut chain = Chain::new();
        change(&mut chain);

        let refused = chain.check().map(|_| "it passed").map_err(|error| error.rule());

        assert_eq!(refused, Err(*rule), "{what}");
    }
}

#[test]
fn a_chain_of_no_or_too_many_certificates_is_refused() {
    let [own, ..] = Chain::new().certificates();

    for length in [0, 9] {
        let chain = vec![own.clone(); length];
        let refused = installed(&chain, above(&[]), NOW).unwrap_err();
        assert_eq!(refused, PolicyViolation::ChainLength(length));
    }
}

#[test]
fn what_is_no_certificate_is_refused() {
    let [own, ..] = Chain::new().certificates();
    let trailing = [own.as_slice(), &[0]].concat();

    for bytes in [&[][..], b"text", &trailing, &own[..own.len() - 1]] {
        let refused = CaCertificate::from_der(bytes).unwrap_err();
        assert_eq!(refused.rule(), "chain.malformed");
    }
}
