//! CSR Generators.

use chancery_shared::id::CsrGeneratorId;
use chancery_shared::wire::algorithm::KeyAlgorithm as K;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::inventory::csr_generator::{NewCsrGenerator, csr_signature};
use crate::inventory::local_ca::hash_and_pss;
use crate::json::empty_is_absent;
use crate::routes::validate::Faults;
use crate::store::csr_generator::CsrGenerator;
use crate::timestamp;

/// A CSR Generator, as deployed clients know it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = CsrGenerator)]
pub struct CsrGeneratorItem {
    /// Its id.
    #[schema(value_type = String)]
    pub id: CsrGeneratorId,
    /// Its name, unique.
    pub name: String,
    /// `RSA`, `ECDSA` or `Ed25519`.
    pub signature_algorithm: &'static str,
    /// Bits of an RSA key.
    pub key_size: Option<&'static str>,
    /// `P-256`, `P-384` or `P-521`.
    pub elliptic_curve_name: Option<&'static str>,
    /// The hash under the signature of the CSR; null for Ed25519, which has its own.
    pub hash_algorithm: Option<&'static str>,
}

/// The same with who made it, and when.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = CsrGeneratorDetails)]
pub struct CsrGeneratorDetails {
    #[serde(flatten)]
    item: CsrGeneratorItem,
    /// When it was made.
    created: String,
    /// Who made it.
    created_by: String,
}

/// Kinds of keys by algorithm, size and curve.
const KEYS: [(K, &str, Option<&str>, Option<&str>); 7] = [
    (K::Rsa2048, "RSA", Some("2048"), None),
    (K::Rsa3072, "RSA", Some("3072"), None),
    (K::Rsa4096, "RSA", Some("4096"), None),
    (K::EcdsaP256, "ECDSA", None, Some("P-256")),
    (K::EcdsaP384, "ECDSA", None, Some("P-384")),
    (K::EcdsaP521, "ECDSA", None, Some("P-521")),
    (K::Ed25519, "Ed25519", None, None),
];

impl From<CsrGenerator> for CsrGeneratorItem {
    fn from(generator: CsrGenerator) -> Self {
        let known = KEYS.into_iter().find(|(key, ..)| *key == generator.key);
        let (_, signature_algorithm, key_size, elliptic_curve_name) =
            known.unwrap_or((generator.key, "", None, None));
        let (hash, _) = hash_and_pss(generator.signature);
        Self {
            id: generator.id,
            name: generator.name,
            signature_algorithm,
            key_size,
            elliptic_curve_name,
            hash_algorithm: Some(hash).filter(|hash| !hash.is_empty()),
        }
    }
}

impl From<CsrGenerator> for CsrGeneratorDetails {
    fn from(generator: CsrGenerator) -> Self {
        Self {
            created: timestamp::with_offset(generator.created_at),
            created_by: generator.created_by.clone(),
            item: generator.into(),
        }
    }
}

/// Body of `POST /admin/generators` and `PUT /admin/generators/{id}`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CsrGeneratorBody {
    /// 1 to 100 characters, unique.
    pub name: String,
    /// `RSA`, `ECDSA` or `Ed25519`.
    pub signature_algorithm: String,
    /// Of RSA: `2048`, `3072` or `4096`.
    #[serde(default, deserialize_with = "empty_is_absent")]
    pub key_size: Option<String>,
    /// Of ECDSA: `P-256`, `P-384` or `P-521`.
    #[serde(default, deserialize_with = "empty_is_absent")]
    pub elliptic_curve_name: Option<String>,
    /// Of RSA: `SHA-256`, `SHA-384` or `SHA-512`; of ECDSA that of the curve. What suits the key
    /// where it is left out.
    #[serde(default, deserialize_with = "empty_is_absent")]
    pub hash_algorithm: Option<String>,
}

impl CsrGeneratorBody {
    /// What is asked for, or `None` with the faults noted.
    pub(in crate::routes) fn read(self, faults: &mut Faults) -> Option<NewCsrGenerator> {
        faults.check_name("name", &self.name, 100);
        let of_algorithm: Vec<_> =
            KEYS.into_iter().filter(|(_, name, ..)| *name == self.signature_algorithm).collect();
        if of_algorithm.is_empty() {
            faults.add("signatureAlgorithm", "must be RSA, ECDSA or Ed25519");
            return None;
        }
        let size = self.key_size.as_deref();
        let curve = self.elliptic_curve_name.as_deref();
        let found = of_algorithm.iter().find(|(_, _, s, c)| (*s, *c) == (size, curve));
        let Some((key, ..)) = found else {
            let (field, words) = match self.signature_algorithm.as_str() {
                "RSA" if curve.is_some() => ("ellipticCurveName", "is for ECDSA alone"),
                "RSA" => ("keySize", "must be 2048, 3072 or 4096"),
                "ECDSA" if size.is_some() => ("keySize", "is for RSA alone"),
                "ECDSA" => ("ellipticCurveName", "must be P-256, P-384 or P-521"),
                _ if size.is_some() => ("keySize", "is for RSA alone"),
                _ => ("ellipticCurveName", "is for ECDSA alone"),
            };
            faults.add(field, words);
            return None;
        };
        let signature = csr_signature(*key, self.hash_algorithm.as_deref());
        if signature.is_none() {
            let words = "must be SHA-256, SHA-384 or SHA-512 for RSA, the hash of the curve for \
                         ECDSA (SHA-256 for P-256, SHA-384 for P-384, SHA-512 for P-521), and none \
                         for Ed25519";
            faults.add("hashAlgorithm", words);
        }
        Some(NewCsrGenerator { name: self.name, key: *key, signature: signature? })
    }
}
