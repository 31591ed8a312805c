//! Whether a profile stays within what the key of its CA may sign.

use chancery_shared::wire::policy::Policy;

use super::profile_check::TLS_FEATURE;
use super::profile_definition::{MINUTES_A_DAY, ProfileDefinition};
use crate::issuance::extensions::OCSP_NO_CHECK;
use crate::name::dns_name;

impl ProfileDefinition {
    /// The first field in which this profile goes beyond what a CA's key may sign.
    pub fn beyond(&self, policy: &Policy) -> Option<&'static str> {
        let longest = u64::from(policy.max_validity_days) * u64::from(MINUTES_A_DAY);
        let domains = &self.subject_rules.allowed_domains;
        let domains_fit = policy.domains.as_ref().is_none_or(|allowed| {
            !domains.is_empty()
                && domains.iter().all(|d| allowed.iter().any(|a| dns_name::is_within(d, a, true)))
        });
        let usages_fit = self
            .enhanced_key_usages
            .iter()
            .all(|usage| policy.extended_key_usages.contains(&usage.0.to_string()));
        let names_fit =
            self.allowed_san_types.iter().all(|kind| policy.san_types.contains(&kind.san_type()));
        let keys_fit = self.allowed_key_algorithms.iter().all(|key| policy.allows_key(key.0));
        let named = |oid: &String| policy.other_extensions.contains(oid);
        let extensions_fit = self
            .custom_extensions
            .iter()
            .all(|extension| extension.oid == TLS_FEATURE || named(&extension.oid));
        [
            ("lifetimeInMinutes", u64::from(self.lifetime_in_minutes) <= longest),
            ("backdateMinutes", self.backdate_minutes <= policy.backdate_minutes),
            ("enhancedKeyUsages", usages_fit),
            ("allowWildcards", !self.allow_wildcards || policy.allow_wildcards),
            ("allowedSanTypes", names_fit),
            ("allowedKeyAlgorithms", keys_fit),
            ("subjectRules", domains_fit),
            ("customExtensions", extensions_fit),
            ("ocspNoCheck", !self.ocsp_no_check || named(&OCSP_NO_CHECK.to_string())),
        ]
        .into_iter()
        .find_map(|(field, fits)| (!fits).then_some(field))
    }
}
