//! Profiles, as an administrator makes, changes and deletes them.

use chancery_shared::id::ProfileId;

use super::cert_issuer;
use super::local_ca::LocalCaDefinition;
use super::profile_definition::ProfileDefinition;
use crate::app::AppState;
use crate::audit::Item as _;
use crate::error::{ApiError, Code, Dependant};
use crate::reference::name_taken;
use crate::retention;
use crate::store::profile::Profile;

/// Makes a profile. `by` is the user who does.
///
/// # Errors
///
/// [`Code::InvalidRequest`] naming the field that makes no certificate, [`Code::PolicyViolation`]
/// naming the one that no key may sign, [`Code::NameTaken`]; nothing is stored then.
pub async fn create(
    state: &AppState,
    by: &str,
    name: String,
    definition: ProfileDefinition,
) -> Result<Profile, ApiError> {
    let checks = async {
        let definition = sound(state, definition).await?;
        match state.store.profile_named(&name).await? {
            Some(_) => Err(name_taken::<Profile>("name", &name)),
            None => Ok(definition),
        }
    };
    let (mut write, definition) = retention::holding(state, checks).await?;
    let profile = Profile {
        id: state.new_id(),
        name,
        definition,
        created_at: state.clock.now(),
        created_by: by.to_owned(),
    };
    write.insert_profile(&profile).await?;
    write.commit(state.audited("create", "profiles").made(&profile)).await?;
    tracing::info!(username = by, profile.id = %profile.id, "made a profile");
    Ok(profile)
}

/// Changes a profile, for the requests that come from now on.
///
/// # Errors
///
/// As [`create`]; [`Code::NotFound`]; [`Code::PolicyViolation`] also where it goes beyond what the
/// CA of an issuer with this profile may sign. Nothing has changed then.
pub async fn change(
    state: &AppState,
    by: &str,
    id: ProfileId,
    name: String,
    definition: ProfileDefinition,
) -> Result<Profile, ApiError> {
    let checks = async {
        let before = find(state, id).await?;
        let definition = sound(state, definition).await?;
        if name != before.name && state.store.profile_named(&name).await?.is_some() {
            return Err(name_taken::<Profile>("name", &name));
        }
        let fields_before = before.fields();
        let after = Profile { name, definition, ..before };
        for issuer in state.store.cert_issuers_with_profile(id).await? {
            if issuer.deleted_at.is_none()
                && let Some(ca) = state.store.local_ca(issuer.local_ca_id).await?
            {
                cert_issuer::check_policy(state, &ca, &after)?;
            }
        }
        Ok((fields_before, after))
    };
    let (mut write, (fields_before, after)) = retention::holding(state, checks).await?;
    write.update_profile(&after).await?;
    let entry = state.audited("change", "profiles").made(&after);
    write.commit(entry.before(fields_before)).await?;
    tracing::info!(username = by, profile.id = %id, "changed a profile");
    Ok(after)
}

/// Deletes a profile; answers it as it was.
///
/// # Errors
///
/// [`Code::NotFound`], or [`Code::InUse`] where an issuer has it, a deleted one that can be restored
/// too.
pub async fn delete(state: &AppState, by: &str, id: ProfileId) -> Result<Profile, ApiError> {
    let (mut write, profile) = retention::holding(state, unused(state, id)).await?;
    write.delete_profile(id).await?;
    write.commit(state.audited("delete", "profiles").removed(&profile)).await?;
    tracing::info!(username = by, profile.id = %id, "deleted a profile");
    Ok(profile)
}

async fn unused(state: &AppState, id: ProfileId) -> Result<Profile, ApiError> {
    let profile = find(state, id).await?;
    let issuers = state.store.cert_issuers_with_profile(id).await?;
    if issuers.is_empty() {
        return Ok(profile);
    }
    let dependants = issuers.into_iter().map(|issuer| Dependant {
        kind: "ca".to_owned(),
        id: issuer.id.to_string(),
        name: issuer.name,
    });
    let message = format!(
        "Certificate Issuers have the profile {}; give them another one first",
        profile.name
    );
    let refused = ApiError::refused(Code::InUse, message);
    Err(refused.with_dependants(dependants.collect()))
}

/// The profile of this id.
///
/// # Errors
///
/// [`Code::NotFound`].
pub async fn find(state: &AppState, id: ProfileId) -> Result<Profile, ApiError> {
    state.store.profile(id).await?.ok_or_else(|| ApiError::not_found("profile"))
}

/// What makes certificates, and may be signed by some key.
async fn sound(
    state: &AppState,
    definition: ProfileDefinition,
) -> Result<ProfileDefinition, ApiError> {
    let definition = definition.without_duplicates();
    definition
        .check()
        .map_err(|problem| ApiError::invalid_field(problem.field(), problem.to_string()))?;
    check_signable(state, &definition).await?;
    Ok(definition)
}

/// What no key may sign must not be found out by those who ask for certificates. Where the signer
/// was never reached, the Certificate Issuer is where it is said.
async fn check_signable(state: &AppState, definition: &ProfileDefinition) -> Result<(), ApiError> {
    let signer = state.signer.state();
    let Some(field) = signer.ceiling().and_then(|ceiling| definition.beyond(ceiling)) else {
        return Ok(());
    };
    // A key may have been made when the operator allowed more.
    for ca in state.store.local_cas().await? {
        let policy = LocalCaDefinition::of(&ca)?.policy;
        if policy.is_some_and(|policy| definition.beyond(&policy).is_none()) {
            return Ok(());
        }
    }
    let message = format!(
        "the profile goes beyond what the signer's operator lets any key sign, by its {field}; \
         narrow it, or ask the operator to allow more"
    );
    Err(ApiError::refused_field(Code::PolicyViolation, field, message))
}
