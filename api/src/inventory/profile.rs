//! Profiles, as an administrator makes them.

use super::local_ca::LocalCaDefinition;
use super::profile_definition::ProfileDefinition;
use crate::app::AppState;
use crate::error::{ApiError, Code};
use crate::reference::name_taken;
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
    let definition = definition.without_duplicates();
    definition
        .check()
        .map_err(|problem| ApiError::invalid_field(problem.field(), problem.to_string()))?;
    check_signable(state, &definition).await?;
    if state.store.profile_named(&name).await?.is_some() {
        return Err(name_taken::<Profile>("name", &name));
    }
    let profile = Profile {
        id: state.new_id(),
        name,
        definition,
        created_at: state.clock.now(),
        created_by: by.to_owned(),
    };
    let mut write = state.store.begin().await?;
    write.insert_profile(&profile).await?;
    write.commit(state.audited("create", "profiles").made(&profile)).await?;
    tracing::info!(username = by, profile.id = %profile.id, "made a profile");
    Ok(profile)
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
