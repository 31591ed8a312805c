//! Why a certificate is revoked (RFC 5280, section 5.3.1).

use std::fmt;
use std::str::FromStr;

/// A CRLReason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RevocationReason {
    /// No reason that is told.
    Unspecified,
    /// The private key is, or may be, known to others.
    KeyCompromise,
    /// The same of a CA's key.
    CaCompromise,
    /// Its holder's name or other facts have changed.
    AffiliationChanged,
    /// Another certificate took its place.
    Superseded,
    /// It is no longer needed.
    CessationOfOperation,
    /// For a while: the one reason that can be taken back.
    CertificateHold,
    /// No longer on hold: it is not revoked.
    RemoveFromCrl,
    /// Its holder may no longer do what it says.
    PrivilegeWithdrawn,
    /// An attribute authority's key is, or may be, known to others.
    AaCompromise,
}

impl RevocationReason {
    const ALL: [(Self, &'static str); 10] = [
        (Self::Unspecified, "unspecified"),
        (Self::KeyCompromise, "keyCompromise"),
        (Self::CaCompromise, "cACompromise"),
        (Self::AffiliationChanged, "affiliationChanged"),
        (Self::Superseded, "superseded"),
        (Self::CessationOfOperation, "cessationOfOperation"),
        (Self::CertificateHold, "certificateHold"),
        (Self::RemoveFromCrl, "removeFromCRL"),
        (Self::PrivilegeWithdrawn, "privilegeWithdrawn"),
        (Self::AaCompromise, "aACompromise"),
    ];

    /// As people say it, where that is more than the name in other letters.
    const SPOKEN: [(Self, &'static str); 2] =
        [(Self::Superseded, "superceded"), (Self::CertificateHold, "hold")];
}

/// The name of RFC 5280.
impl fmt::Display for RevocationReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = Self::ALL.iter().find(|(reason, _)| reason == self);
        f.write_str(named.map_or("", |(_, name)| name))
    }
}

/// The text is no reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "is no reason for a revocation; unspecified, keyCompromise, cACompromise, affiliationChanged, \
     superseded, cessationOfOperation, certificateHold, removeFromCRL, privilegeWithdrawn and \
     aACompromise are"
)]
pub struct NotAReason;

/// The name of RFC 5280 or its words, in any case: `keyCompromise`, `key compromise`,
/// `KEY_COMPROMISE`.
impl FromStr for RevocationReason {
    type Err = NotAReason;

    fn from_str(text: &str) -> Result<Self, NotAReason> {
        let letters = |text: &str| {
            let kept = text.chars().filter(|c| !matches!(c, ' ' | '_' | '-'));
            kept.map(|c| c.to_ascii_lowercase()).collect::<String>()
        };
        let said = letters(text);
        let mut known = Self::ALL.iter().chain(&Self::SPOKEN);
        known.find(|(_, name)| letters(name) == said).map(|(reason, _)| *reason).ok_or(NotAReason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_read_by_its_name_and_as_it_is_said_in_any_case() {
        use RevocationReason as R;
        for (text, reason) in [
            ("superseded", R::Superseded),
            ("Superceded", R::Superseded),
            ("key compromise", R::KeyCompromise),
            ("KEY_COMPROMISE", R::KeyCompromise),
            ("cessation of operation", R::CessationOfOperation),
            ("cessationOfOperation", R::CessationOfOperation),
            ("Hold", R::CertificateHold),
            ("certificate hold", R::CertificateHold),
            ("CA Compromise", R::CaCompromise),
            ("cACompromise", R::CaCompromise),
            ("aa compromise", R::AaCompromise),
            ("affiliation changed", R::AffiliationChanged),
            ("privilege-withdrawn", R::PrivilegeWithdrawn),
            ("remove from CRL", R::RemoveFromCrl),
            ("Unspecified", R::Unspecified),
        ] {
            assert_eq!(text.parse(), Ok(reason), "{text}");
            assert_eq!(reason.to_string().parse(), Ok(reason), "{text}");
        }
        for text in ["", "7", "stolen", "key compromised"] {
            assert_eq!(text.parse::<R>(), Err(NotAReason), "{text}");
        }
    }
}
