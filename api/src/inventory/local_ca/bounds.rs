//! What binds a new Local CA: the CAs above it, and the policy of the key that will certify it.
//! The signer has the last word; here it is said before there is a key.

use chancery_shared::wire::policy::CertifyCas;
use time::Duration;

use super::{LocalCaDefinition, NewLocalCa, issuing_ca};
use crate::app::AppState;
use crate::echo::cut;
use crate::error::{ApiError, Code, FieldError};
use crate::issuance::ca_certificate::BACKDATE;
use crate::issuance::name_constraints::{Contradiction, NameConstraints, NameConstraintsText};
use crate::store::local_ca::LocalCa;
use crate::timestamp;

/// More CAs than anyone has above each other.
const HIGHEST: usize = 16;

/// Checks that the CA's certificate would not contradict what stands above it.
///
/// # Errors
///
/// [`Code::PolicyViolation`] naming the field that does.
pub(super) async fn check(state: &AppState, new: &NewLocalCa) -> Result<(), ApiError> {
    let Some(parent) = &new.parent else {
        // Its key will have this policy, or the ceiling of the moment in which it is made.
        let signer = state.signer.state();
        if let Some(policy) = new.definition.policy.as_ref().or(signer.ceiling()) {
            let certify_cas =
                policy.certify_cas.as_ref().ok_or_else(|| may_not_certify(&new.name))?;
            check_lifetime_of_policy(new, certify_cas)?;
        }
        return check_constraints(new, &[]);
    };
    let above = definitions_from(state, parent).await?;
    // A key that was not narrowed has the ceiling of the time when it was made: the signer knows.
    if let Some(policy) = above.first().and_then(|(_, definition)| definition.policy.as_ref()) {
        let certify_cas =
            policy.certify_cas.as_ref().ok_or_else(|| may_not_certify(&parent.name))?;
        check_lifetime_of_policy(new, certify_cas)?;
        if let Some(most) = certify_cas.max_path_length {
            check_path_length(new, &parent.name, most)?;
        }
    }
    // What is left of a bound becomes less with each CA below it.
    let left = above.iter().rev().fold(None::<u8>, |left, (_, definition)| {
        let left = left.map(|length| length.saturating_sub(1));
        match (definition.path_length, left) {
            (Some(own), Some(left)) => Some(own.min(left)),
            (own, left) => own.or(left),
        }
    });
    if let Some(left) = left {
        let most = left.checked_sub(1).ok_or_else(|| {
            let message = format!("no CA may stand below the Local CA {}", parent.name);
            refused("pathLength", message)
        })?;
        check_path_length(new, &parent.name, most)?;
    }
    check_end(state, new, parent).await?;
    check_constraints(new, &above)
}

/// The CA and those above it, as they were asked for.
async fn definitions_from(
    state: &AppState,
    ca: &LocalCa,
) -> Result<Vec<(String, LocalCaDefinition)>, ApiError> {
    let mut above = vec![(ca.name.clone(), LocalCaDefinition::of(ca)?)];
    let mut next = ca.parent_local_ca_id;
    while let Some(id) = next.filter(|_| above.len() < HIGHEST) {
        let Some(ca) = state.store.local_ca(id).await? else { break };
        next = ca.parent_local_ca_id;
        let definition = LocalCaDefinition::of(&ca)?;
        above.push((ca.name, definition));
    }
    Ok(above)
}

fn check_path_length(new: &NewLocalCa, parent: &str, most: u8) -> Result<(), ApiError> {
    if new.definition.path_length.is_some_and(|length| length <= most) {
        return Ok(());
    }
    let message = format!("must be given and at most {most} below the Local CA {parent}");
    Err(refused("pathLength", message))
}

fn check_lifetime_of_policy(new: &NewLocalCa, certify_cas: &CertifyCas) -> Result<(), ApiError> {
    let most = certify_cas.max_validity_days;
    if new.definition.lifetime_in_days <= most {
        return Ok(());
    }
    let message = format!("the policy of the key that certifies the CA lets it last {most} days");
    Err(refused("lifetimeInDays", message))
}

async fn check_end(state: &AppState, new: &NewLocalCa, parent: &LocalCa) -> Result<(), ApiError> {
    let ends = issuing_ca(&state.store, parent).await?.validity.not_after;
    let begins = state.clock.now().replace_nanosecond(0).map_err(ApiError::internal)? - BACKDATE;
    // Both ends belong to a certificate's life.
    let most = (ends + Duration::SECOND - begins).whole_days();
    if i64::from(new.definition.lifetime_in_days) <= most {
        return Ok(());
    }
    let (name, ends) = (&parent.name, timestamp::plain(ends));
    let message = if most > 0 {
        format!("must be at most {most}: the Local CA {name} ends on {ends}")
    } else {
        format!("the Local CA {name} ends on {ends}: no CA can stand below it any more")
    };
    Err(refused("lifetimeInDays", message))
}

fn check_constraints(
    new: &NewLocalCa,
    above: &[(String, LocalCaDefinition)],
) -> Result<(), ApiError> {
    let Some(own) = parsed(&new.definition)? else { return Ok(()) };
    if let Some(found) = own.self_contradiction() {
        return Err(contradiction("the CA itself", &found));
    }
    for (name, definition) in above {
        let Some(others) = parsed(definition)? else { continue };
        if let Some(found) = own.contradiction(&others) {
            return Err(contradiction(&format!("the Local CA {name}"), &found));
        }
    }
    Ok(())
}

fn parsed(definition: &LocalCaDefinition) -> Result<Option<NameConstraints>, ApiError> {
    let parsed = definition.name_constraints.as_ref().map(NameConstraintsText::parse).transpose();
    Ok(parsed.map_err(ApiError::internal)?.flatten())
}

fn contradiction(whose: &str, found: &Contradiction) -> ApiError {
    let message = match found {
        Contradiction::Outside { subtree, permitted } => format!(
            "{} lies outside of what {whose} is permitted, which is {}",
            cut(subtree),
            cut(permitted)
        ),
        Contradiction::Excluded { subtree, by } => {
            format!("{} is permitted although {whose} excludes {}", cut(subtree), cut(by))
        }
    };
    refused("nameConstraints", message)
}

fn may_not_certify(name: &str) -> ApiError {
    let message = format!("the key of the Local CA {name} may not certify CAs, by its policy");
    refused("policy", message)
}

fn refused(field: &str, message: String) -> ApiError {
    let text = format!("{field}: {message}");
    let fields = vec![FieldError { field: field.to_owned(), message }];
    ApiError::refused(Code::PolicyViolation, text).with_fields(fields)
}
