//! nameConstraints (RFC 5280, section 4.2.1.10): which names a CA may certify.

mod subtree;

use der::Decode as _;
use x509_cert::ext::pkix::NameConstraints as RawNameConstraints;
use x509_cert::ext::pkix::constraints::name::GeneralSubtree;

use super::names::Names;
use super::names::alternative_name::AlternativeName;
use super::names::distinguished_name::DistinguishedName;
use super::strict;
use super::violation::PolicyViolation;
use subtree::{Judgement, Subtree};

/// The constraints of one CA certificate.
#[derive(Clone, Debug)]
pub(super) struct NameConstraints {
    permitted: Vec<Subtree>,
    excluded: Vec<Subtree>,
}

/// A name that constraints can speak of.
#[derive(Clone, Copy, Debug)]
pub(super) enum Constrained<'a> {
    Alternative(&'a AlternativeName),
    Directory(&'a DistinguishedName),
}

impl NameConstraints {
    /// Reads the extension's value as it stands in an installed CA certificate. What is not
    /// understood is kept, and refuses the names that it speaks of.
    pub(super) fn read(value: &[u8]) -> Result<Self, PolicyViolation> {
        let RawNameConstraints { permitted_subtrees, excluded_subtrees } =
            strict::exactly(value).map_err(|_| PolicyViolation::ConstraintsOfCa)?;
        let subtrees = |raw: Option<Vec<GeneralSubtree>>| {
            raw.iter().flatten().map(Subtree::read).collect::<Vec<_>>()
        };
        Ok(Self { permitted: subtrees(permitted_subtrees), excluded: subtrees(excluded_subtrees) })
    }

    /// Reads the value strictly, as this signer signs it: something is constrained, and every
    /// subtree is understood by everyone.
    pub(super) fn check_form(value: &[u8]) -> Result<(), PolicyViolation> {
        let raw =
            RawNameConstraints::from_der(value).map_err(|_| PolicyViolation::ConstraintsOfCa)?;
        let constraints = Self::read(value)?;
        let is_empty = |list: Option<&Vec<GeneralSubtree>>| list.is_some_and(Vec::is_empty);
        let all = || constraints.permitted.iter().chain(&constraints.excluded);
        if all().next().is_none()
            || is_empty(raw.permitted_subtrees.as_ref())
            || is_empty(raw.excluded_subtrees.as_ref())
            || !all().all(Subtree::is_plain)
        {
            return Err(PolicyViolation::ConstraintsOfCa);
        }
        Ok(())
    }

    /// Checks every name of a certificate.
    pub(super) fn check(&self, names: &Names) -> Result<(), PolicyViolation> {
        for name in names.directory_names() {
            self.check_one(Constrained::Directory(name))?;
        }
        for name in names.all() {
            self.check_one(Constrained::Alternative(name))?;
        }
        Ok(())
    }

    /// Checks what clients may take an end entity's common names for, beside what they are. The
    /// names of CAs are no one's host.
    pub(super) fn check_common_names(&self, names: &Names) -> Result<(), PolicyViolation> {
        let mut subtrees = self.permitted.iter().chain(&self.excluded);
        // Which host it would be taken for can't be known, so not whether it is permitted.
        if let Some(text) = names.nearly_host()
            && subtrees.any(Subtree::is_of_hosts)
        {
            return Err(PolicyViolation::NearlyHostConstrained(text.to_owned()));
        }
        for host in names.common_names_without_dns() {
            let text = host.to_string();
            self.check_one(Constrained::Alternative(&AlternativeName::Dns(host)))
                .map_err(|_| PolicyViolation::CommonNameConstrained(text))?;
        }
        Ok(())
    }

    /// Excluded wins; where subtrees of the name's kind are permitted, one of them must match.
    fn check_one(&self, name: Constrained<'_>) -> Result<(), PolicyViolation> {
        for subtree in &self.excluded {
            match subtree.judge_excluded(name) {
                Judgement::OtherKind | Judgement::Outside => {}
                Judgement::Within => return Err(PolicyViolation::Excluded(name.to_string())),
                Judgement::NotUnderstood => {
                    return Err(PolicyViolation::ConstraintNotUnderstood(name.to_string()));
                }
            }
        }
        let (mut is_constrained, mut is_permitted) = (false, false);
        for subtree in &self.permitted {
            match subtree.judge_permitted(name) {
                Judgement::OtherKind => {}
                Judgement::Outside => is_constrained = true,
                Judgement::Within => (is_constrained, is_permitted) = (true, true),
                Judgement::NotUnderstood => {
                    return Err(PolicyViolation::ConstraintNotUnderstood(name.to_string()));
                }
            }
        }
        if is_constrained && !is_permitted {
            return Err(PolicyViolation::NotPermitted(name.to_string()));
        }
        Ok(())
    }
}

impl std::fmt::Display for Constrained<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Alternative(name) => name.fmt(f),
            Self::Directory(name) => name.fmt(f),
        }
    }
}
