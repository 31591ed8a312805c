//! Key Stores: a token of the signer under a name of the administrator's choice.

use chancery_shared::id::KeyStoreId;

use crate::app::AppState;
use crate::audit::Item as _;
use crate::echo::cut;
use crate::error::{ApiError, Code};
use crate::reference::name_taken;
use crate::retention;
use crate::signer_client::{SignerError, SignerState};
use crate::store::key_store::KeyStore;

/// A Key Store that an administrator asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewKeyStore {
    /// Its name among the Key Stores.
    pub name: String,
    /// Name of a token that the signer offers.
    pub token: String,
}

/// Makes a Key Store. `by` is the user who does.
///
/// # Errors
///
/// [`SignerError::Unreachable`], since nobody else knows the tokens, [`Code::UnknownToken`] or
/// [`Code::NameTaken`]; nothing is stored then.
pub async fn create(state: &AppState, by: &str, new: NewKeyStore) -> Result<KeyStore, ApiError> {
    check_offered(&state.signer.state(), &new.token)?;
    if state.store.live_key_store_named(&new.name).await?.is_some() {
        return Err(name_taken::<KeyStore>("name", &new.name));
    }
    let key_store = KeyStore {
        id: state.new_id(),
        name: new.name,
        token: new.token,
        created_at: state.clock.now(),
        created_by: by.to_owned(),
        deleted_at: None,
    };
    let mut write = state.store.begin().await?;
    write.insert_key_store(&key_store).await?;
    write.commit(state.audited("create", "keystores").made(&key_store)).await?;
    tracing::info!(username = by, key_store.id = %key_store.id, "made a Key Store");
    Ok(key_store)
}

/// Gives a live Key Store another name. Its token stays: its keys are there. `by` is the user who does.
///
/// # Errors
///
/// [`Code::NotFound`], also where it was deleted, or [`Code::NameTaken`]; nothing has changed then.
pub async fn rename(
    state: &AppState,
    by: &str,
    id: KeyStoreId,
    name: String,
) -> Result<KeyStore, ApiError> {
    let missing = || ApiError::not_found("Key Store");
    let checks = async {
        let before = state.store.key_store(id).await?.filter(|found| found.deleted_at.is_none());
        let before = before.ok_or_else(missing)?;
        if name != before.name && state.store.live_key_store_named(&name).await?.is_some() {
            return Err(name_taken::<KeyStore>("name", &name));
        }
        Ok(before)
    };
    let (mut write, before) = retention::holding(state, checks).await?;
    let fields_before = before.fields();
    let after = KeyStore { name, ..before };
    if !write.rename_key_store(id, &after.name).await? {
        write.let_go().await?;
        return Err(missing());
    }
    let entry = state.audited("change", "keystores").made(&after);
    write.commit(entry.before(fields_before)).await?;
    tracing::info!(username = by, key_store.id = %id, "changed a Key Store");
    Ok(after)
}

/// A token that can't be used just now is on offer all the same.
fn check_offered(signer: &SignerState, token: &str) -> Result<(), ApiError> {
    if !signer.is_reachable() {
        return Err(SignerError::Unreachable.into());
    }
    if signer.token(token).is_some() {
        return Ok(());
    }
    let names: Vec<_> = signer.tokens().iter().map(|token| token.name.as_str()).collect();
    let (token, names) = (cut(token), names.join(", "));
    let message = format!("the signer offers no token {token}; it offers {names}");
    Err(ApiError::refused_field(Code::UnknownToken, "token", message))
}
