//! Algorithms by the names that people see; one without a name by its object identifier.

use der::asn1::ObjectIdentifier;
use der::{Decode as _, Tag};
use spki::{AlgorithmIdentifierRef, SubjectPublicKeyInfoRef};

use crate::asn1::{Tlv, context};
use crate::issuance::subject_key::bits;

/// Object identifier, signature algorithm, hash algorithm.
const SIGNATURES: [(&str, &str, &str); 17] = [
    ("1.2.840.113549.1.1.4", "RSA", "MD5"),
    ("1.2.840.113549.1.1.5", "RSA", "SHA-1"),
    ("1.2.840.113549.1.1.14", "RSA", "SHA-224"),
    ("1.2.840.113549.1.1.11", "RSA", "SHA-256"),
    ("1.2.840.113549.1.1.12", "RSA", "SHA-384"),
    ("1.2.840.113549.1.1.13", "RSA", "SHA-512"),
    ("1.2.840.10045.4.1", "ECDSA", "SHA-1"),
    ("1.2.840.10045.4.3.1", "ECDSA", "SHA-224"),
    ("1.2.840.10045.4.3.2", "ECDSA", "SHA-256"),
    ("1.2.840.10045.4.3.3", "ECDSA", "SHA-384"),
    ("1.2.840.10045.4.3.4", "ECDSA", "SHA-512"),
    ("1.2.840.10040.4.3", "DSA", "SHA-1"),
    ("2.16.840.1.101.3.4.3.2", "DSA", "SHA-256"),
    // They hash on their own: there is no hash algorithm to choose.
    ("1.3.101.112", "Ed25519", ""),
    ("1.3.101.113", "Ed448", ""),
    ("2.16.840.1.101.3.4.3.17", "ML-DSA-44", ""),
    ("2.16.840.1.101.3.4.3.18", "ML-DSA-65", ""),
];

const RSASSA_PSS: &str = "1.2.840.113549.1.1.10";

const HASHES: [(&str, &str); 4] = [
    ("1.3.14.3.2.26", "SHA-1"),
    ("2.16.840.1.101.3.4.2.1", "SHA-256"),
    ("2.16.840.1.101.3.4.2.2", "SHA-384"),
    ("2.16.840.1.101.3.4.2.3", "SHA-512"),
];

/// Object identifier, name, bits.
const CURVES: [(&str, &str, &str); 9] = [
    ("1.2.840.10045.3.1.1", "P-192", "192"),
    ("1.3.132.0.33", "P-224", "224"),
    ("1.2.840.10045.3.1.7", "P-256", "256"),
    ("1.3.132.0.34", "P-384", "384"),
    ("1.3.132.0.35", "P-521", "521"),
    ("1.3.132.0.10", "secp256k1", "256"),
    ("1.3.36.3.3.2.8.1.1.7", "brainpoolP256r1", "256"),
    ("1.3.36.3.3.2.8.1.1.11", "brainpoolP384r1", "384"),
    ("1.3.36.3.3.2.8.1.1.13", "brainpoolP512r1", "512"),
];

/// Names of the signature algorithm and of its hash, the latter empty where there is none.
pub(super) fn signature(algorithm: &[u8]) -> (String, &'static str) {
    let Ok(algorithm) = AlgorithmIdentifierRef::from_der(algorithm) else {
        return (String::new(), "");
    };
    let oid = algorithm.oid.to_string();
    if oid == RSASSA_PSS {
        return ("RSASSA-PSS".to_owned(), pss_hash(&algorithm).unwrap_or("SHA-1"));
    }
    let known = SIGNATURES.iter().find(|(known, ..)| *known == oid);
    known.map_or((oid, ""), |(_, signature, hash)| ((*signature).to_owned(), hash))
}

/// RFC 4055, section 3.1: `[0]` holds the hash; absent it is SHA-1.
fn pss_hash(algorithm: &AlgorithmIdentifierRef<'_>) -> Option<&'static str> {
    let parameters = Tlv { tag: Tag::Sequence, content: algorithm.parameters?.value(), der: &[] };
    let fields = parameters.children().ok()?;
    let field = fields.iter().find(|field| field.tag == context(0, true))?;
    let hash = AlgorithmIdentifierRef::from_der(field.content).ok()?.oid.to_string();
    HASHES.iter().find(|(oid, _)| *oid == hash).map(|(_, name)| *name)
}

/// Size of a key in bits as text, empty where unknown, and its curve where it has one.
pub(super) fn public_key(spki: &[u8]) -> (String, Option<String>) {
    let Ok(info) = SubjectPublicKeyInfoRef::from_der(spki) else { return (String::new(), None) };
    let key = info.subject_public_key.raw_bytes();
    match info.algorithm.oid.to_string().as_str() {
        "1.2.840.113549.1.1.1" | RSASSA_PSS => (rsa_bits(key).unwrap_or_default(), None),
        "1.2.840.10045.2.1" => {
            let Some(oid) = info.algorithm.parameters_oid().ok().map(|oid| oid.to_string()) else {
                return (String::new(), None);
            };
            let known = CURVES.iter().find(|(known, ..)| *known == oid);
            known.map_or((String::new(), Some(oid)), |(_, name, bits)| {
                ((*bits).to_owned(), Some((*name).to_owned()))
            })
        }
        "1.3.101.112" => ("256".to_owned(), Some("Ed25519".to_owned())),
        "1.3.101.113" => ("456".to_owned(), Some("Ed448".to_owned())),
        "1.3.101.110" => ("256".to_owned(), Some("X25519".to_owned())),
        _ => (String::new(), None),
    }
}

fn rsa_bits(key: &[u8]) -> Option<String> {
    let parts = Tlv::read(key).ok()?.children().ok()?;
    Some(bits(parts.first()?.expect(Tag::Integer).ok()?.content).to_string())
}

/// The template that Microsoft's CA used: its name, or else its object identifier.
pub(super) fn ms_template_name(v1: Option<&[u8]>, v2: Option<&[u8]>) -> Option<String> {
    let name = v1.and_then(|value| {
        let tlv = Tlv::read(value).ok()?;
        crate::name::decode_string(tlv.tag, tlv.content)
    });
    name.or_else(|| {
        let parts = Tlv::read(v2?).ok()?.children().ok()?;
        ObjectIdentifier::from_bytes(parts.first()?.content).ok().map(|oid| oid.to_string())
    })
}
