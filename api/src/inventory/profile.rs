//! Profiles, as an administrator makes them.

use super::profile_definition::ProfileDefinition;
use crate::app::AppState;
use crate::error::ApiError;
use crate::store::profile::Profile;

/// Makes a profile. `by` is the user who does.
///
/// # Errors
///
/// [`crate::error::Code::InvalidRequest`] naming the field that makes no certificate,
/// [`crate::error::Code::NameTaken`]; nothing is stored then.
pub async fn create(
    state: &AppState,
    by: &str,
    name: String,
    definition: ProfileDefinition,
) -> Result<Profile, ApiError> {
    definition
        .check()
        .map_err(|problem| ApiError::invalid_field(problem.field(), problem.to_string()))?;
    if state.store.profile_named(&name).await?.is_some() {
        return Err(super::name_taken("name", "profile", &name));
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
    write.commit().await?;
    tracing::info!(username = by, profile.id = %profile.id, "made a profile");
    Ok(profile)
}

/// A profile by id or name; `field` is what the answer names where there is none.
///
/// # Errors
///
/// [`crate::error::Code::UnknownReference`].
pub async fn find(state: &AppState, field: &str, named: &str) -> Result<Profile, ApiError> {
    let by_id = match named.parse() {
        Ok(id) => state.store.profile(id).await?,
        Err(_) => None,
    };
    let found = match by_id {
        Some(found) => Some(found),
        None => state.store.profile_named(named).await?,
    };
    found.ok_or_else(|| super::unknown_reference(field, "profile", named))
}
