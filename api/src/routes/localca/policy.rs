//! What the key of a new Local CA may sign, as an administrator narrows it.

use chancery_shared::wire::policy::Policy;
use serde_json::{Map, Value};

use super::Faults;
use crate::echo::cut;
use crate::json;
use crate::name::dns_name;

/// The ceiling, narrowed by the fields that were given.
pub(super) fn read(
    ceiling: &Policy,
    narrowed: Map<String, Value>,
    faults: &mut Faults,
) -> Option<Policy> {
    let Ok(Value::Object(mut fields)) = serde_json::to_value(ceiling) else { return None };
    fields.extend(narrowed);
    let mut policy: Policy = match json::from_value(Value::Object(fields)) {
        Ok(policy) => policy,
        Err(error) => {
            faults.add_below("policy", error);
            return None;
        }
    };
    for (index, domain) in policy.domains.iter_mut().flatten().enumerate() {
        if let Err(message) = bare(domain) {
            faults.add(&format!("policy.domains[{index}]"), message);
            return None;
        }
    }
    if let Some(field) = policy.beyond(ceiling) {
        faults.add(&format!("policy.{field}"), "goes beyond what the signer's operator allows");
        return None;
    }
    Some(policy)
}

/// A domain as the signer compares it: A-labels in lower case, nothing in front. A leading dot or
/// wildcard would match no name at all.
fn bare(domain: &mut String) -> Result<(), String> {
    let stem = domain.trim_start_matches("*.").trim_matches('.');
    match dns_name::to_ascii(stem) {
        Ok(name) if name.starts_with('*') => {}
        Ok(name) if stem == domain => {
            *domain = name.to_ascii_lowercase();
            return Ok(());
        }
        Ok(name) => {
            let name = cut(&name.to_ascii_lowercase());
            return Err(format!("must be a domain alone, names below it included; write {name}"));
        }
        Err(_) => {}
    }
    Err(format!("{:?} is no domain; write it as example.org", cut(domain)))
}
