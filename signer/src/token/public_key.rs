//! The public half of a key pair: from PKCS#11 attributes to a SubjectPublicKeyInfo.

use chancery_shared::wire::algorithm::KeyAlgorithm;
use cryptoki::error::Error as Cryptoki;
use cryptoki::object::{Attribute, AttributeType, ObjectHandle};
use cryptoki::session::Session;
use der::asn1::{AnyRef, BitStringRef, Null, ObjectIdentifier, OctetStringRef, UintRef};
use der::{Decode as _, Encode as _, Sequence};
use spki::{AlgorithmIdentifierRef, SubjectPublicKeyInfo};

const RSA_ENCRYPTION: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");
const EC_PUBLIC_KEY: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");
const SECP256R1: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.3.1.7");
const SECP384R1: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.132.0.34");
const SECP521R1: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.132.0.35");
const ID_ED25519: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.101.112");

/// What the token says of a public key.
#[derive(Debug, Default)]
pub(super) struct PublicAttributes {
    modulus: Option<Vec<u8>>,
    public_exponent: Option<Vec<u8>>,
    ec_point: Option<Vec<u8>>,
}

impl PublicAttributes {
    /// Reads them from the public key object. `CKA_PUBLIC_KEY_INFO` is not asked for: SoftHSM2
    /// leaves it empty.
    pub(super) fn read(session: &Session, key: ObjectHandle) -> Result<Self, Cryptoki> {
        let wanted =
            [AttributeType::Modulus, AttributeType::PublicExponent, AttributeType::EcPoint];
        let mut found = Self::default();
        for attribute in session.get_attributes(key, &wanted)? {
            match attribute {
                Attribute::Modulus(value) => found.modulus = Some(value),
                Attribute::PublicExponent(value) => found.public_exponent = Some(value),
                Attribute::EcPoint(value) => found.ec_point = Some(value),
                _ => {}
            }
        }
        Ok(found)
    }

    /// The DER of the SubjectPublicKeyInfo; `None` where the attributes are not of that kind.
    pub(super) fn spki(&self, algorithm: KeyAlgorithm) -> Option<Vec<u8>> {
        match algorithm {
            KeyAlgorithm::Rsa2048 => self.rsa(2048),
            KeyAlgorithm::Rsa3072 => self.rsa(3072),
            KeyAlgorithm::Rsa4096 => self.rsa(4096),
            KeyAlgorithm::EcdsaP256 => self.ec(&SECP256R1, 65),
            KeyAlgorithm::EcdsaP384 => self.ec(&SECP384R1, 97),
            KeyAlgorithm::EcdsaP521 => self.ec(&SECP521R1, 133),
            KeyAlgorithm::Ed25519 => {
                encode(ID_ED25519, None, &unwrapped(self.ec_point.as_deref()?, 32)?)
            }
        }
    }

    /// RFC 4055, section 1.2.
    fn rsa(&self, bits: usize) -> Option<Vec<u8>> {
        let modulus = UintRef::new(self.modulus.as_deref()?).ok()?;
        let public_exponent = UintRef::new(self.public_exponent.as_deref()?).ok()?;
        if modulus.as_bytes().len() * 8 != bits {
            return None;
        }
        let key = RsaPublicKey { modulus, public_exponent }.to_der().ok()?;
        encode(RSA_ENCRYPTION, Some(Null.into()), &key)
    }

    /// RFC 5480, section 2.
    fn ec(&self, curve: &ObjectIdentifier, length: usize) -> Option<Vec<u8>> {
        let point = unwrapped(self.ec_point.as_deref()?, length)?;
        // Uncompressed (SEC 1, section 2.3.3): the only form that RFC 5480 makes everyone read.
        if point.first() != Some(&0x04) {
            return None;
        }
        encode(EC_PUBLIC_KEY, Some(curve.into()), &point)
    }
}

/// The DER of the curve for `CKA_EC_PARAMS`; the first that the token takes is right.
pub(super) fn ec_params(algorithm: KeyAlgorithm) -> Vec<Vec<u8>> {
    let named = |curve: ObjectIdentifier| curve.to_der().into_iter().collect();
    match algorithm {
        KeyAlgorithm::Rsa2048 | KeyAlgorithm::Rsa3072 | KeyAlgorithm::Rsa4096 => Vec::new(),
        KeyAlgorithm::EcdsaP256 => named(SECP256R1),
        KeyAlgorithm::EcdsaP384 => named(SECP384R1),
        KeyAlgorithm::EcdsaP521 => named(SECP521R1),
        KeyAlgorithm::Ed25519 => {
            // PKCS#11 v3.0, section 2.3.5 allows the object identifier and, as a PrintableString,
            // the curve's name; SoftHSM2 takes only the first, others only the second.
            let mut params: Vec<Vec<u8>> = named(ID_ED25519);
            params.push(b"\x13\x0cedwards25519".to_vec());
            params
        }
    }
}

/// The point itself: modules return it raw or inside a DER OCTET STRING.
fn unwrapped(point: &[u8], length: usize) -> Option<Vec<u8>> {
    if point.len() == length {
        return Some(point.to_vec());
    }
    let inner = <&OctetStringRef>::from_der(point).ok()?.as_bytes();
    (inner.len() == length).then(|| inner.to_vec())
}

fn encode(oid: ObjectIdentifier, parameters: Option<AnyRef<'_>>, key: &[u8]) -> Option<Vec<u8>> {
    let spki = SubjectPublicKeyInfo {
        algorithm: AlgorithmIdentifierRef { oid, parameters },
        subject_public_key: BitStringRef::from_bytes(key).ok()?,
    };
    spki.to_der().ok()
}

#[derive(Sequence)]
struct RsaPublicKey<'a> {
    modulus: UintRef<'a>,
    public_exponent: UintRef<'a>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_is_taken_raw_and_inside_an_octet_string() {
        let raw = vec![7; 32];
        let mut wrapped = vec![0x04, 32];
        wrapped.extend(&raw);

        for ec_point in [raw, wrapped] {
            let attributes =
                PublicAttributes { ec_point: Some(ec_point), ..PublicAttributes::default() };

            let spki = attributes.spki(KeyAlgorithm::Ed25519).unwrap();

            assert_eq!(hex::encode(&spki[..12]), "302a300506032b6570032100");
            assert_eq!(spki.len(), 44);
        }
    }

    #[test]
    fn a_key_of_another_size_than_asked_for_is_refused() {
        let attributes = PublicAttributes {
            modulus: Some(vec![0xff; 256]),
            public_exponent: Some(vec![1, 0, 1]),
            ec_point: Some(vec![4; 97]),
        };

        assert!(attributes.spki(KeyAlgorithm::Rsa2048).is_some());
        assert!(attributes.spki(KeyAlgorithm::Rsa3072).is_none());
        assert!(attributes.spki(KeyAlgorithm::EcdsaP384).is_some());
        assert!(attributes.spki(KeyAlgorithm::EcdsaP256).is_none());
    }

    #[test]
    fn a_compressed_point_is_refused() {
        let mut point = vec![2];
        point.extend([9; 64]);
        let attributes = PublicAttributes { ec_point: Some(point), ..PublicAttributes::default() };

        assert!(attributes.spki(KeyAlgorithm::EcdsaP256).is_none());
    }
}
