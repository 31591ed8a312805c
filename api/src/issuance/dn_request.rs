//! A request with a DN: what the certificate will say of its subject, before there is a key.

use chancery_shared::wire::algorithm::KeyAlgorithm;
use der::Tag;

use super::account::{Asked, Names, Outcome, outcomes};
use super::asking::{Circumstances, parse_names};
use super::dn_issuance::DnIssuance;
use super::end_entity::{Plan, Subject};
use super::extra;
use super::issue_error::IssueError;
use super::signing::SigningError;
use super::subject_key::SubjectKeyKind;
use crate::asn1::{encode, sequence};
use crate::inventory::profile_names::common_name_as_san;
use crate::name::{DistinguishedName, SubjectAltName, dn_text};

/// What the certificate will say of its subject.
#[derive(Debug)]
pub(super) struct UnderstoodDn {
    pub(super) subject: DistinguishedName,
    names: Names,
    key: SubjectKeyKind,
}

pub(super) fn understand(issuance: &DnIssuance<'_>) -> Result<UnderstoodDn, IssueError> {
    let request = &issuance.request;
    extra::check(request.extra_info, request.extra_emails).map_err(IssueError::Extra)?;
    let subject = dn_text::parse(request.dn).map_err(IssueError::Dn)?;
    let from_body = parse_names(request.subject_alt_names)?;
    let mut wanted = from_body.clone();
    if request.add_cn_as_dns_san {
        wanted.push(common_name(&subject)?);
    }
    let key = kind(issuance.generator.key);
    let profile = &issuance.issuer.profile;
    profile.check_key(key).map_err(IssueError::Profile)?;
    let all = profile.names(&subject, &[], &wanted).map_err(IssueError::Profile)?;
    Ok(UnderstoodDn { subject, names: Names { all, from_body }, key })
}

/// Who asks for the CN as a name gets one, or is told why not.
fn common_name(subject: &DistinguishedName) -> Result<SubjectAltName, IssueError> {
    let no_name = || IssueError::CommonNameAsName(subject.common_name());
    common_name_as_san(subject).map_err(|_| no_name())?.ok_or_else(no_name)
}

impl UnderstoodDn {
    /// With the public key.
    pub(super) fn subject<'a>(&'a self, spki: &'a [u8]) -> Subject<'a> {
        Subject { name: &self.subject, alternative_names: self.names(), spki, key: self.key }
    }

    /// The alternative names.
    pub(super) fn names(&self) -> &[SubjectAltName] {
        &self.names.all
    }
}

pub(super) fn plan(issuance: &DnIssuance<'_>, subject: &Subject<'_>) -> Result<Plan, IssueError> {
    let issuer = issuance.issuer;
    Plan::new(&issuer.profile, &issuer.ca, subject, issuance.now)
        .map_err(|problem| IssueError::Signing(SigningError::Draft(problem)))
}

/// What becomes of each part of the request.
pub(super) fn account<'a>(
    issuance: &DnIssuance<'a>,
    request: &'a UnderstoodDn,
    plan: &Plan,
) -> Vec<Outcome<'a>> {
    let asked = Asked {
        csr: None,
        subject: &request.subject,
        is_reversed: false,
        adds_cn: issuance.request.add_cn_as_dns_san,
        names: &request.names,
        typed: issuance.request.subject_alt_names,
    };
    outcomes(&asked, &issuance.issuer.profile, plan)
}

/// Who asks, through which issuer, and what else goes into the record.
pub(super) fn circumstances<'a>(issuance: &DnIssuance<'a>) -> Circumstances<'a> {
    let DnIssuance { requester, issuer, generator, request, ids, now } = *issuance;
    Circumstances {
        requester,
        issuer,
        csr_generator_name: Some(&generator.name),
        extra_info: request.extra_info,
        extra_emails: request.extra_emails,
        ids,
        now,
    }
}

/// The kind of the keys of a generator.
fn kind(key: KeyAlgorithm) -> SubjectKeyKind {
    match key {
        KeyAlgorithm::Rsa2048 => SubjectKeyKind::Rsa { bits: 2048 },
        KeyAlgorithm::Rsa3072 => SubjectKeyKind::Rsa { bits: 3072 },
        KeyAlgorithm::Rsa4096 => SubjectKeyKind::Rsa { bits: 4096 },
        KeyAlgorithm::EcdsaP256 => SubjectKeyKind::EcP256,
        KeyAlgorithm::EcdsaP384 => SubjectKeyKind::EcP384,
        KeyAlgorithm::EcdsaP521 => SubjectKeyKind::EcP521,
        KeyAlgorithm::Ed25519 => SubjectKeyKind::Ed25519,
    }
}

/// A SubjectPublicKeyInfo of this kind and size that is nobody's.
pub(super) fn stand_in(key: KeyAlgorithm) -> der::Result<Vec<u8>> {
    const RSA: &[u8] = b"\x30\x0d\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01\x05\x00";
    const P256: &[u8] = b"\x30\x13\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\
                          \x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07";
    const P384: &[u8] = b"\x30\x10\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x05\x2b\x81\x04\x00\x22";
    const P521: &[u8] = b"\x30\x10\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x05\x2b\x81\x04\x00\x23";
    const ED25519: &[u8] = b"\x30\x05\x06\x03\x2b\x65\x70";
    let rsa = |bits: usize| {
        let modulus = [vec![0], vec![0xff; bits / 8]].concat();
        let modulus = encode(Tag::Integer, &modulus)?;
        Ok::<_, der::Error>((RSA, sequence(&[&modulus, b"\x02\x03\x01\x00\x01"])?))
    };
    let point = |octets: usize| [vec![4], vec![1; 2 * octets]].concat();
    let (algorithm, key) = match key {
        KeyAlgorithm::Rsa2048 => rsa(2048)?,
        KeyAlgorithm::Rsa3072 => rsa(3072)?,
        KeyAlgorithm::Rsa4096 => rsa(4096)?,
        KeyAlgorithm::EcdsaP256 => (P256, point(32)),
        KeyAlgorithm::EcdsaP384 => (P384, point(48)),
        KeyAlgorithm::EcdsaP521 => (P521, point(66)),
        KeyAlgorithm::Ed25519 => (ED25519, vec![1; 32]),
    };
    let bits = encode(Tag::BitString, &[&[0], key.as_slice()].concat())?;
    sequence(&[algorithm, &bits])
}
