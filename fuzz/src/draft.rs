//! Drafts for the signer's policy that are sound but for one part, which is the input.

use std::sync::LazyLock;

use ::der::Tag;
use chancery_shared::bad_keys::BadKeys;
use chancery_shared::bytes::{Fixed, SerialNonce};
use chancery_shared::id::Id;
use chancery_shared::wire::algorithm::SignatureAlgorithm;
use chancery_shared::wire::policy::Policy;
use chancery_signer::policy::{
    CaCertificate, Circumstances, ConnectionSerials, Draft, IssuingKey, check_ca_certificate,
    check_certificate, check_own_certificate, serial_number,
};
use time::OffsetDateTime;
use time::macros::datetime;

use crate::der::{children, sequence, value};

const NOW: OffsetDateTime = datetime!(2026-11-28 12:00:00 UTC);
const CONNECTION: [u8; 16] = [7; 16];
const NONCE: SerialNonce = Fixed([7; 40]);
/// Places of the fields of a TBSCertificate of version 3.
const SUBJECT: usize = 5;
const KEY: usize = 6;
const EXTENSIONS: usize = 7;

static BAD_KEYS: LazyLock<BadKeys> = LazyLock::new(BadKeys::shipped);
static CA: LazyLock<Vec<u8>> = LazyLock::new(|| contents(include_str!("../draft/ca.pem")));
static LEAF: LazyLock<Vec<u8>> = LazyLock::new(|| contents(include_str!("../draft/leaf.pem")));
static BELOW: LazyLock<Vec<u8>> = LazyLock::new(|| contents(include_str!("../draft/below.pem")));
static CSR: LazyLock<Vec<u8>> = LazyLock::new(|| contents(include_str!("../draft/csr.pem")));

fn contents(pem: &str) -> Vec<u8> {
    pem::parse(pem).map(pem::Pem::into_contents).unwrap_or_default()
}

/// What is drafted.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// An end-entity certificate.
    EndEntity,
    /// A CA certificate below the key's own.
    Below,
    /// The key's own certificate.
    Own,
}

/// Every kind, by the number that an input chooses it with.
pub const KINDS: [Kind; 3] = [Kind::EndEntity, Kind::Below, Kind::Own];

impl Kind {
    fn tbs(self) -> Vec<u8> {
        let certificate = match self {
            Self::EndEntity => &LEAF,
            Self::Below => &BELOW,
            Self::Own => &CA,
        };
        children(certificate).into_iter().next().unwrap_or_default()
    }

    /// The parts that an input can take the place of: subject, key, the extensions' content, and
    /// the value of each of them.
    #[must_use]
    pub fn parts(self) -> Vec<Vec<u8>> {
        let fields = children(&self.tbs());
        let extensions = extensions(&fields);
        let mut parts = fields.get(SUBJECT..EXTENSIONS).map(<[_]>::to_vec).unwrap_or_default();
        parts.push(extensions.concat());
        parts.extend(extensions.iter().filter_map(|extension| value_of(extension)));
        parts
    }

    /// The sound TBS with `input` in the place of that part, and the serial number that it has then.
    #[must_use]
    pub fn with_part(self, part: usize, input: &[u8]) -> Vec<u8> {
        let mut fields = children(&self.tbs());
        let validity =
            [value(Tag::UtcTime, b"261128115500Z"), value(Tag::UtcTime, b"270301000000Z")];
        put(&mut fields, 4, sequence(&[&validity.concat()]));
        match part {
            0 | 1 => put(&mut fields, SUBJECT + part, input.to_vec()),
            2 => put(&mut fields, EXTENSIONS, explicit(&sequence(&[input]))),
            _ => {
                let mut extensions = extensions(&fields);
                if let Some(extension) = extensions.get_mut(part - 3) {
                    let mut parts = children(extension);
                    parts.pop();
                    parts.push(value(Tag::OctetString, input));
                    *extension = sequence(&[&parts.concat()]);
                }
                put(&mut fields, EXTENSIONS, explicit(&sequence(&[&extensions.concat()])));
            }
        }
        if matches!(self, Self::Own) && part == 0 {
            put(&mut fields, 3, input.to_vec());
        }
        let mut serial = [0; 20];
        serial[0] = 0x40;
        put(&mut fields, 1, value(Tag::Integer, &serial));
        let before = sequence(&[&fields.concat()]);
        if let Ok(serial) = serial_number(&NONCE, &before) {
            put(&mut fields, 1, value(Tag::Integer, &serial));
        }
        sequence(&[&fields.concat()])
    }
}

fn extensions(fields: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let list = fields.get(EXTENSIONS).map(|field| children(field).concat());
    children(&list.unwrap_or_default())
}

fn value_of(extension: &[u8]) -> Option<Vec<u8>> {
    use ::der::Decode as _;
    let octets = children(extension).pop()?;
    Some(::der::asn1::AnyRef::from_der(&octets).ok()?.value().to_vec())
}

fn explicit(list: &[u8]) -> Vec<u8> {
    let tag = Tag::ContextSpecific { number: ::der::TagNumber(3), constructed: true };
    value(tag, list)
}

fn put(fields: &mut [Vec<u8>], at: usize, field: Vec<u8>) {
    if let Some(place) = fields.get_mut(at) {
        *place = field;
    }
}

/// Has the policy judge a TBS of this kind; whether it passed.
///
/// # Panics
///
/// A refusal says nothing.
#[must_use]
pub fn judge(kind: Kind, tbs: &[u8], is_narrow: bool) -> bool {
    let issuer = CaCertificate::from_der(&CA).ok();
    let mut policy = Policy::shipped();
    if is_narrow {
        policy.domains = Some(vec!["example.test".to_owned()]);
        policy.allow_wildcards = false;
        policy.other_extensions.push("1.3.6.1.4.1.55555.9".to_owned());
    }
    let spki = children(&Kind::Own.tbs()).into_iter().nth(KEY).unwrap_or_default();
    let key = IssuingKey {
        key_id: Id::from_bytes([1; 12]),
        spki: &spki,
        signature_algorithm: SignatureAlgorithm::EcdsaSha256,
        policy: &policy,
        ca_certificate: issuer.as_ref(),
    };
    let at = Circumstances { now: NOW, is_ca_key: &|_| false, bad_keys: &BAD_KEYS };
    let Ok(nonce) = ConnectionSerials::new(Fixed(CONNECTION)).claim(NONCE) else { return false };
    let draft = Draft { tbs, csr: Some(&CSR), nonce };
    let judged = match kind {
        Kind::EndEntity => check_certificate(&key, draft, &at),
        Kind::Below => check_ca_certificate(&key, draft, &at),
        Kind::Own => check_own_certificate(&key, draft, &at),
    };
    match judged {
        Ok(checked) => checked.der() == tbs,
        Err(refused) => {
            assert!(!refused.rule().is_empty() && !refused.to_string().is_empty());
            false
        }
    }
}
