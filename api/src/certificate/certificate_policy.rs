//! Certificate policies (RFC 5280, section 4.2.1.4) as the record and profiles write them.

use std::fmt;
use std::str::FromStr;

use der::Tag;
use der::asn1::ObjectIdentifier;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::asn1::{self, Tlv};
use crate::echo::cut;
use crate::name;

/// A policy, or one qualifier of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CertificatePolicy {
    /// `<oid>`: without a qualifier.
    Plain(ObjectIdentifier),
    /// `CPS|<oid>|<uri>`.
    Cps(ObjectIdentifier, String),
    /// `User Notice|<oid>|<text>`.
    UserNotice(ObjectIdentifier, String),
}

/// The text is no policy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{:?} is no certificate policy; write <oid>, CPS|<oid>|<uri> or User Notice|<oid>|<text of \
     at most 200 characters>",
    cut(.0)
)]
pub struct NotAPolicy(String);

const CPS: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.2.1");
const USER_NOTICE: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.5.5.7.2.2");

impl CertificatePolicy {
    /// The policy's object identifier.
    pub fn oid(&self) -> ObjectIdentifier {
        match self {
            Self::Plain(oid) | Self::Cps(oid, _) | Self::UserNotice(oid, _) => *oid,
        }
    }

    /// The value of the certificatePolicies extension: one PolicyInformation for each identifier.
    pub(crate) fn all_to_der(policies: &[Self]) -> der::Result<Vec<u8>> {
        let mut oids: Vec<ObjectIdentifier> = Vec::new();
        for policy in policies {
            if !oids.contains(&policy.oid()) {
                oids.push(policy.oid());
            }
        }
        let mut content = Vec::new();
        for oid in oids {
            let mut qualifiers = Vec::new();
            for policy in policies.iter().filter(|policy| policy.oid() == oid) {
                qualifiers.extend(policy.qualifier()?);
            }
            let mut information = asn1::encode(Tag::ObjectIdentifier, oid.as_bytes())?;
            if !qualifiers.is_empty() {
                information.extend(asn1::encode(Tag::Sequence, &qualifiers)?);
            }
            content.extend(asn1::encode(Tag::Sequence, &information)?);
        }
        asn1::encode(Tag::Sequence, &content)
    }

    fn qualifier(&self) -> der::Result<Vec<u8>> {
        let (id, value) = match self {
            Self::Plain(_) => return Ok(Vec::new()),
            Self::Cps(_, uri) => (CPS, asn1::encode(Tag::Ia5String, uri.as_bytes())?),
            Self::UserNotice(_, text) => {
                let text = asn1::encode(Tag::Utf8String, text.as_bytes())?;
                (USER_NOTICE, asn1::sequence(&[&text])?)
            }
        };
        asn1::sequence(&[&asn1::encode(Tag::ObjectIdentifier, id.as_bytes())?, &value])
    }

    /// The policies of a certificatePolicies extension. Qualifiers that can't be read are left
    /// out; the policy itself is always there.
    pub(crate) fn read_all(der: &[u8]) -> der::Result<Vec<Self>> {
        let mut policies = Vec::new();
        for information in Tlv::read(der)?.expect(Tag::Sequence)?.children()? {
            let parts = information.expect(Tag::Sequence)?.children()?;
            let Some(id) = parts.first() else { continue };
            let oid = ObjectIdentifier::from_bytes(id.expect(Tag::ObjectIdentifier)?.content)?;
            let before = policies.len();
            if let Some(list) = parts.get(1) {
                let qualifiers = list.children()?;
                policies.extend(qualifiers.iter().filter_map(|qualifier| read(oid, qualifier)));
            }
            if policies.len() == before {
                policies.push(Self::Plain(oid));
            }
        }
        Ok(policies)
    }
}

fn read(policy: ObjectIdentifier, qualifier: &Tlv<'_>) -> Option<CertificatePolicy> {
    let parts = qualifier.children().ok()?;
    let [id, value] = parts.as_slice() else { return None };
    match ObjectIdentifier::from_bytes(id.content).ok()? {
        CPS => {
            let uri = name::decode_string(value.tag, value.content)?;
            Some(CertificatePolicy::Cps(policy, uri))
        }
        USER_NOTICE => {
            // The reference to a notice, a SEQUENCE, may stand in front of the text.
            let text = value.children().ok()?.pop()?;
            let text = name::decode_string(text.tag, text.content)?;
            Some(CertificatePolicy::UserNotice(policy, text))
        }
        _ => None,
    }
}

impl fmt::Display for CertificatePolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain(oid) => write!(f, "{oid}"),
            Self::Cps(oid, uri) => write!(f, "CPS|{oid}|{uri}"),
            Self::UserNotice(oid, text) => write!(f, "User Notice|{oid}|{text}"),
        }
    }
}

impl FromStr for CertificatePolicy {
    type Err = NotAPolicy;

    fn from_str(text: &str) -> Result<Self, NotAPolicy> {
        let not_one = || NotAPolicy(text.to_owned());
        let oid = |text: &str| ObjectIdentifier::new(text.trim()).map_err(|_| not_one());
        let parts: Vec<&str> = text.splitn(3, '|').collect();
        match parts.as_slice() {
            [id] => Ok(Self::Plain(oid(id)?)),
            ["CPS", id, uri] if name::uri::check(uri).is_ok() => {
                Ok(Self::Cps(oid(id)?, (*uri).to_owned()))
            }
            // RFC 5280: explicitText has at most 200 characters and no control characters.
            ["User Notice", id, notice]
                if (1..=200).contains(&notice.chars().count())
                    && !notice.chars().any(char::is_control) =>
            {
                Ok(Self::UserNotice(oid(id)?, (*notice).to_owned()))
            }
            _ => Err(not_one()),
        }
    }
}

impl Serialize for CertificatePolicy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for CertificatePolicy {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_survive_the_way_through_text_and_der() {
        let texts = ["1.2.3", "CPS|1.2.4|https://cps.example.test/", "User Notice|1.2.4|Für alle"];
        let policies: Vec<CertificatePolicy> = texts.map(|text| text.parse().unwrap()).into();

        let der = CertificatePolicy::all_to_der(&policies).unwrap();

        let read = CertificatePolicy::read_all(&der).unwrap();
        assert_eq!(read.iter().map(ToString::to_string).collect::<Vec<_>>(), texts);
        assert_eq!(Tlv::read(&der).unwrap().children().unwrap().len(), 2);
    }

    #[test]
    fn what_is_no_policy_is_refused() {
        let long = format!("User Notice|1.2.3|{}", "x".repeat(201));
        for text in ["", "x", "CPS|1.2.3|/relative", "CPS|1.2.3", "User Notice|1.2.3|", &long] {
            assert!(text.parse::<CertificatePolicy>().is_err(), "{text}");
        }
    }
}
