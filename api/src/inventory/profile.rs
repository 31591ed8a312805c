//! Profiles, as an administrator makes them.

use super::profile_definition::ProfileDefinition;
use crate::app::AppState;
use crate::error::ApiError;
use crate::reference::name_taken;
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
    write.commit().await?;
    tracing::info!(username = by, profile.id = %profile.id, "made a profile");
    Ok(profile)
}
