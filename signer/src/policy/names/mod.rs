//! The subject's names: common names and alternative names under one set of rules.

pub(super) mod alternative_name;
mod attribute;
mod common_name;
pub(super) mod distinguished_name;
pub(super) mod host_name;
pub(super) mod mailbox;
mod other_name;
mod punycode;
pub(super) mod uri;

use chancery_shared::wire::policy::Policy;
use const_oid::db::rfc5280::ID_CE_SUBJECT_ALT_NAME;
use x509_cert::ext::pkix::SubjectAltName;

use super::tbs::Tbs;
use super::violation::PolicyViolation;
use alternative_name::AlternativeName;
use common_name::CommonName;
use distinguished_name::DistinguishedName;
use host_name::HostName;

/// Everything that a certificate says of who its subject is, well-formed.
#[derive(Debug)]
pub(super) struct Names {
    pub(super) subject: DistinguishedName,
    /// In subjectAltName; `None` where the extension is not there.
    pub(super) alternative: Option<Vec<AlternativeName>>,
    /// What the subject says in passing: common names in the form of a host name or an address or
    /// near it, and e-mail addresses.
    in_subject: Vec<InSubject>,
}

/// A name within the subject.
#[derive(Debug)]
enum InSubject {
    CommonName(AlternativeName),
    /// No alternative name, so the kinds that policy allows in subjectAltName don't matter.
    Email(AlternativeName),
    /// A common name that only someone who looks twice can tell from a host's.
    NearlyHost(String),
}

impl Names {
    /// Reads subject and subjectAltName. Each name must be what its type demands.
    pub(super) fn read(tbs: &Tbs<'_>) -> Result<Self, PolicyViolation> {
        let subject = DistinguishedName::read(tbs.subject)?;
        let in_subject = in_subject(&subject)?;
        let alternative = tbs.read_extension::<SubjectAltName>(ID_CE_SUBJECT_ALT_NAME)?;
        let alternative = alternative
            .map(|SubjectAltName(names)| names.iter().map(AlternativeName::read).collect())
            .transpose()?;
        // RFC 5280, section 4.2.1.6: SIZE (1..MAX).
        if alternative.as_ref().is_some_and(Vec::is_empty) {
            return Err(PolicyViolation::NoAlternativeNames);
        }
        Ok(Self { subject, alternative, in_subject })
    }

    /// Checks the kinds of names, their wildcards and their domains against policy.
    pub(super) fn check(&self, policy: &Policy) -> Result<(), PolicyViolation> {
        let common_names = self.in_subject.iter().filter_map(|name| match name {
            InSubject::CommonName(name) => Some(name),
            InSubject::Email(_) | InSubject::NearlyHost(_) => None,
        });
        for name in self.alternative.iter().flatten().chain(common_names) {
            if !policy.san_types.contains(&name.kind()) {
                return Err(PolicyViolation::NameTypeNotAllowed(name.kind_name()));
            }
        }
        // Which host it would be taken for can't be known, so not whether it is in a domain.
        if let Some(text) = self.nearly_host().filter(|_| policy.domains.is_some()) {
            return Err(PolicyViolation::NearlyHost(text.to_owned()));
        }
        for name in self.all() {
            if let AlternativeName::Dns(host) = name
                && host.is_wildcard()
                && !policy.allow_wildcards
            {
                return Err(PolicyViolation::WildcardNotAllowed(host.to_string()));
            }
            if let Some(domains) = &policy.domains
                && !name.is_within(domains)
            {
                return Err(PolicyViolation::Domain(name.to_string()));
            }
        }
        Ok(())
    }

    /// A common name that is no host's and may be taken for one.
    pub(super) fn nearly_host(&self) -> Option<&str> {
        self.in_subject.iter().find_map(|name| match name {
            InSubject::NearlyHost(text) => Some(text.as_str()),
            InSubject::CommonName(_) | InSubject::Email(_) => None,
        })
    }

    /// The common names that clients take for hosts only because no dNSName stands beside them;
    /// those that are hosts' names anyway are not among them.
    pub(super) fn common_names_without_dns(&self) -> impl Iterator<Item = HostName> {
        let is_dns = |name: &AlternativeName| matches!(name, AlternativeName::Dns(_));
        let has_dns = self.alternative.iter().flatten().any(is_dns);
        let texts = self.subject.values(attribute::COMMON_NAME).filter(move |_| !has_dns);
        texts.filter_map(HostName::of_common_name)
    }

    /// All names but distinguished ones, wherever they stand.
    pub(super) fn all(&self) -> impl Iterator<Item = &AlternativeName> {
        let in_subject = self.in_subject.iter().filter_map(|name| match name {
            InSubject::CommonName(name) | InSubject::Email(name) => Some(name),
            InSubject::NearlyHost(_) => None,
        });
        self.alternative.iter().flatten().chain(in_subject)
    }

    /// The subject, unless it is empty, and the directory names.
    pub(super) fn directory_names(&self) -> impl Iterator<Item = &DistinguishedName> {
        let in_san = self.alternative.iter().flatten().filter_map(|name| match name {
            AlternativeName::Directory(name) => Some(name),
            _ => None,
        });
        Some(&self.subject).filter(|name| !name.is_empty()).into_iter().chain(in_san)
    }
}

fn in_subject(subject: &DistinguishedName) -> Result<Vec<InSubject>, PolicyViolation> {
    let mut found = Vec::new();
    for text in subject.values(attribute::COMMON_NAME) {
        match common_name::meant(text)? {
            CommonName::Named(name) => found.push(InSubject::CommonName(name)),
            CommonName::Mailbox(name) => found.push(InSubject::Email(name)),
            CommonName::NearlyHost => found.push(InSubject::NearlyHost(text.to_owned())),
            CommonName::Other => {}
        }
    }
    for text in subject.values(attribute::EMAIL_ADDRESS) {
        // Text without an @ is no address, whatever the attribute's name says.
        if text.contains('@') {
            found.push(InSubject::Email(AlternativeName::email(text)?));
        }
    }
    Ok(found)
}
