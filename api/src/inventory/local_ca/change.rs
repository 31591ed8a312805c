//! Changing a Local CA: its name, what its certificates point to, whether it is in use.

use chancery_shared::id::LocalCaId;

use super::LocalCaDefinition;
use crate::app::AppState;
use crate::audit::Item as _;
use crate::error::{ApiError, Code};
use crate::inventory::settle;
use crate::reference::name_taken;
use crate::retention;
use crate::store::local_ca::{LocalCa, LocalCaStatus};

/// What is to change of a Local CA; `None` stays as it is. Key, subject and certificate stay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LocalCaChange {
    /// Its name among the Local CAs.
    pub name: Option<String>,
    /// URLs of its CRL, for certificates from now on.
    pub cdps: Option<Vec<String>>,
    /// URLs of its OCSP responders, likewise.
    pub aia_ocsp_urls: Option<Vec<String>>,
    /// URLs of its certificate, likewise.
    pub aia_issuer_urls: Option<Vec<String>>,
    /// [`LocalCaStatus::Offline`] takes it out of use for a while, [`LocalCaStatus::Live`] brings it
    /// back.
    pub status: Option<LocalCaStatus>,
}

/// Changes a Local CA that is live or offline. `by` is the user who does. Once it is answered that it
/// is offline no certificate of an issuer's is signed any more; a CA below it that was being made
/// already, or waits for the signer's operator, still gets its own.
///
/// # Errors
///
/// [`Code::NotFound`], also where it was deleted; [`Code::WrongState`] where it is neither live nor
/// offline; [`Code::NameTaken`]. Nothing has changed then.
pub async fn change(
    state: &AppState,
    by: &str,
    id: LocalCaId,
    change: LocalCaChange,
) -> Result<LocalCa, ApiError> {
    let (mut write, (before, after)) = retention::holding(state, plan(state, id, change)).await?;
    if after == before {
        write.let_go().await?;
        return Ok(after);
    }
    if !write.update_local_ca(&after).await? {
        write.let_go().await?;
        return Err(missing());
    }
    let action = match (before.status, after.status) {
        (LocalCaStatus::Live, LocalCaStatus::Offline) => "offline",
        (LocalCaStatus::Offline, LocalCaStatus::Live) => "online",
        _ => "change",
    };
    let entry = state.audited(action, "localca").made(&after);
    write.commit(entry.before(before.fields())).await?;
    tracing::info!(username = by, local_ca.id = %id, action, "changed a Local CA");
    if after.status == LocalCaStatus::Offline {
        settle(state).await;
    }
    Ok(after)
}

/// Looks at the CA as it is and says what becomes of it.
async fn plan(
    state: &AppState,
    id: LocalCaId,
    change: LocalCaChange,
) -> Result<(LocalCa, LocalCa), ApiError> {
    let before = state.store.local_ca(id).await?.filter(|ca| ca.deleted_at.is_none());
    let before = before.ok_or_else(missing)?;
    let is_finished = matches!(before.status, LocalCaStatus::Live | LocalCaStatus::Offline);
    if !is_finished || before.transition.is_some() {
        let words = before.transition.map_or(before.status.as_str(), |it| it.as_str());
        let message = format!(
            "the Local CA {} is {words}; only one that is live or offline can be changed",
            before.name
        );
        return Err(ApiError::refused(Code::WrongState, message));
    }
    if let Some(name) = change.name.as_ref().filter(|name| **name != before.name)
        && state.store.live_local_ca_named(name).await?.is_some()
    {
        return Err(name_taken::<LocalCa>("name", name));
    }
    let definition = LocalCaDefinition::of(&before)?;
    let definition = LocalCaDefinition {
        cdps: change.cdps.unwrap_or(definition.cdps),
        aia_ocsp_urls: change.aia_ocsp_urls.unwrap_or(definition.aia_ocsp_urls),
        aia_issuer_urls: change.aia_issuer_urls.unwrap_or(definition.aia_issuer_urls),
        ..definition
    };
    let after = LocalCa {
        name: change.name.unwrap_or_else(|| before.name.clone()),
        definition: definition.to_text()?,
        status: change.status.unwrap_or(before.status),
        ..before.clone()
    };
    Ok((before, after))
}

fn missing() -> ApiError {
    ApiError::not_found("Local CA")
}
