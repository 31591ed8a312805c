//! What a CA key may sign, as the operator and the administrator write it down.
//!
//! Frozen: stored in the signer's journal and keyring; a change is a new version.

use serde::{Deserialize, Serialize};

/// What one CA key may sign. The operator's ceiling and each key's pinned policy have this shape;
/// a key's policy is never wider than the ceiling at the time the key was made.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Policy {
    /// Longest life of an end-entity certificate, notBefore to notAfter inclusive, in days.
    pub max_validity_days: u32,
    /// How far notBefore may lie behind the signer's clock, in minutes.
    pub backdate_minutes: u32,
    /// Which subject keys may be certified.
    pub subject_keys: Vec<SubjectKey>,
    /// Extended key usages by dotted object identifier. `anyExtendedKeyUsage` is never allowed.
    pub extended_key_usages: Vec<String>,
    /// Kinds of subjectAltName.
    pub san_types: Vec<SanType>,
    /// Whether `*` may stand as the whole left-most label of a DNS name.
    pub allow_wildcards: bool,
    /// Where present: DNS names, host-shaped CNs, and the host parts of e-mail addresses and URIs
    /// must be one of these domains or below one. Lower-case A-labels without a leading dot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domains: Option<Vec<String>>,
    /// Whether a certificate without any subjectAltName may be signed.
    pub allow_without_san: bool,
    /// Extensions allowed beside those that the signer understands, by dotted object identifier.
    pub other_extensions: Vec<String>,
    /// Whether the key may certify other CAs; absent: it may not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certify_cas: Option<CertifyCas>,
}

/// What a key may put into the CA certificates that it signs.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CertifyCas {
    /// Longest life of a CA certificate, its own included, in days.
    pub max_validity_days: u32,
    /// Largest pathLenConstraint of a CA certificate below it; absent: no bound of the policy's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_path_length: Option<u8>,
}

/// A kind of subject key.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "kebab-case")]
pub enum SubjectKey {
    /// RSA with at least 2048 bits.
    #[serde(rename = "rsa-2048")]
    Rsa2048,
    /// RSA with at least 3072 bits.
    #[serde(rename = "rsa-3072")]
    Rsa3072,
    /// RSA with at least 4096 bits.
    #[serde(rename = "rsa-4096")]
    Rsa4096,
    /// P-256.
    EcP256,
    /// P-384.
    EcP384,
    /// P-521.
    EcP521,
    /// Ed25519.
    Ed25519,
}

/// A kind of GeneralName (RFC 5280, section 4.2.1.6).
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "kebab-case")]
pub enum SanType {
    /// dNSName.
    Dns,
    /// iPAddress.
    Ip,
    /// rfc822Name.
    Email,
    /// uniformResourceIdentifier.
    Uri,
    /// otherName, user principal names among them.
    OtherName,
    /// directoryName.
    DirectoryName,
    /// registeredID.
    RegisteredId,
}

impl Policy {
    /// The ceiling as shipped: all that the first profile needs, and CAs below a CA.
    #[must_use]
    pub fn shipped() -> Self {
        use SanType::{DirectoryName, Dns, Email, Ip, OtherName, RegisteredId, Uri};
        use SubjectKey::{EcP256, EcP384, EcP521, Ed25519, Rsa2048};
        Self {
            max_validity_days: 398,
            backdate_minutes: 60,
            subject_keys: vec![Rsa2048, EcP256, EcP384, EcP521, Ed25519],
            extended_key_usages: ["1", "2", "3", "4"]
                .map(|last| format!("1.3.6.1.5.5.7.3.{last}"))
                .into(),
            san_types: vec![Dns, Ip, Email, Uri, OtherName, DirectoryName, RegisteredId],
            allow_wildcards: true,
            domains: None,
            allow_without_san: true,
            other_extensions: Vec::new(),
            certify_cas: Some(CertifyCas { max_validity_days: 9_200, max_path_length: None }),
        }
    }

    /// The first way in which this policy is wider than `ceiling`, by the name of its field.
    #[must_use]
    pub fn beyond(&self, ceiling: &Self) -> Option<&'static str> {
        let Self {
            max_validity_days,
            backdate_minutes,
            subject_keys,
            extended_key_usages,
            san_types,
            allow_wildcards,
            domains,
            allow_without_san,
            other_extensions,
            certify_cas,
        } = self;
        let subset = |inner: &[String], outer: &[String]| inner.iter().all(|i| outer.contains(i));
        let within = |domain: &String, outer: &[String]| {
            outer.iter().any(|o| {
                domain == o || domain.strip_suffix(o.as_str()).is_some_and(|d| d.ends_with('.'))
            })
        };
        let domains_fit = match (domains, &ceiling.domains) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(inner), Some(outer)) => inner.iter().all(|domain| within(domain, outer)),
        };
        let cas_fit = match (certify_cas, &ceiling.certify_cas) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(inner), Some(outer)) => {
                inner.max_validity_days <= outer.max_validity_days
                    && match (inner.max_path_length, outer.max_path_length) {
                        (_, None) => true,
                        (None, Some(_)) => false,
                        (Some(inner), Some(outer)) => inner <= outer,
                    }
            }
        };
        [
            ("maxValidityDays", *max_validity_days <= ceiling.max_validity_days),
            ("backdateMinutes", *backdate_minutes <= ceiling.backdate_minutes),
            ("subjectKeys", subject_keys.iter().all(|key| ceiling.allows_key(*key))),
            ("extendedKeyUsages", subset(extended_key_usages, &ceiling.extended_key_usages)),
            ("sanTypes", san_types.iter().all(|kind| ceiling.san_types.contains(kind))),
            ("allowWildcards", !allow_wildcards || ceiling.allow_wildcards),
            ("domains", domains_fit),
            ("allowWithoutSan", !allow_without_san || ceiling.allow_without_san),
            ("otherExtensions", subset(other_extensions, &ceiling.other_extensions)),
            ("certifyCas", cas_fit),
        ]
        .into_iter()
        .find_map(|(field, fits)| (!fits).then_some(field))
    }

    /// Whether a subject key of at least this kind may be certified. An RSA entry allows every
    /// longer RSA key.
    #[must_use]
    pub fn allows_key(&self, key: SubjectKey) -> bool {
        use SubjectKey::{Rsa2048, Rsa3072, Rsa4096};
        let implied: &[SubjectKey] = match key {
            Rsa2048 => &[Rsa2048],
            Rsa3072 => &[Rsa2048, Rsa3072],
            Rsa4096 => &[Rsa2048, Rsa3072, Rsa4096],
            _ => std::slice::from_ref(&key),
        };
        implied.iter().any(|allowed| self.subject_keys.contains(allowed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_that_is_wider_than_the_ceiling_names_the_field() {
        let ceiling = Policy { domains: Some(vec!["example.org".into()]), ..Policy::shipped() };
        let narrow = Policy { domains: Some(vec!["a.example.org".into()]), ..Policy::shipped() };
        let wide = Policy { domains: Some(vec!["anexample.org".into()]), ..Policy::shipped() };

        assert_eq!(narrow.beyond(&ceiling), None);
        assert_eq!(wide.beyond(&ceiling), Some("domains"));
        assert_eq!(Policy::shipped().beyond(&ceiling), Some("domains"));
        assert_eq!(
            Policy { max_validity_days: 399, ..narrow.clone() }.beyond(&ceiling),
            Some("maxValidityDays")
        );
        assert_eq!(
            narrow.beyond(&Policy { certify_cas: None, ..ceiling.clone() }),
            Some("certifyCas")
        );
    }
}
