//! Tokens of machines: made once, ended one by one.

use chancery_shared::id::{RowId, UserId};
use time::Duration;
use zeroize::Zeroizing;

use super::user;
use crate::app::AppState;
use crate::audit;
use crate::auth::api_token::Secret;
use crate::error::{ApiError, Code};
use crate::json::Unranged;
use crate::settings::Settings;
use crate::store::api_token::ApiToken;

/// Makes a token that acts as `user`, and answers it with the text that its holder sends, which
/// nobody can read again.
///
/// # Errors
///
/// [`Code::InvalidRequest`] naming `validDays`, [`Code::NotFound`] without such a user, or
/// [`Code::WrongState`] where the user has as many as may be; nothing is stored then.
pub async fn create(
    state: &AppState,
    by: &str,
    user: UserId,
    name: String,
    days: Option<Unranged>,
) -> Result<(ApiToken, Zeroizing<String>), ApiError> {
    let most = Settings::read(&state.store).await?.api_token_days;
    let days = match days {
        Some(days) => days.between(1, most),
        None => Some(most.min(DEFAULT_DAYS)),
    };
    let out_of_range = || {
        let longest = format!("{most}, as the setting apiTokenMaxDays has it");
        ApiError::invalid_field("validDays", format!("must be a whole number from 1 to {longest}"))
    };
    let days = days.ok_or_else(out_of_range)?;
    let now = state.clock.now();
    let secret = Secret::new(&*state.random);
    let token = ApiToken {
        id: state.new_id(),
        user_id: user,
        name,
        secret_hash: secret.hash(),
        created_at: now,
        created_by: by.to_owned(),
        expires_at: now.saturating_add(Duration::days(days.into())),
    };
    let mut write = state.store.begin().await?;
    // Nobody deletes or disables the user meanwhile, nor makes one token too many.
    write.hold_account(user).await?;
    let account = user::held(&mut write, user).await?;
    if !account.enabled {
        write.let_go().await?;
        let message = "the user is disabled; enable it before it gets API tokens";
        return Err(ApiError::refused(Code::WrongState, message));
    }
    if write.count_api_tokens(user).await? >= MOST {
        write.let_go().await?;
        let message = format!("a user has at most {MOST} API tokens; end some of them first");
        return Err(ApiError::refused(Code::WrongState, message));
    }
    write.insert_api_token(&token).await?;
    write.commit(state.audited("create API token", "apitokens").made(&token)).await?;
    tracing::info!(username = by, user.id = %user, token.id = %token.id, "made an API token");
    let text = secret.token(token.id);
    Ok((token, text))
}

/// The tokens of a user that have not ended, oldest first.
///
/// # Errors
///
/// [`Code::NotFound`] without such a user.
pub async fn list(state: &AppState, user: UserId) -> Result<Vec<ApiToken>, ApiError> {
    user::find(state, user).await?;
    let mut tokens = state.store.api_tokens_of(user).await?;
    let now = state.clock.now();
    tokens.retain(|token| token.expires_at > now);
    Ok(tokens)
}

/// Ends a token of a user at once; answers it as it was.
///
/// # Errors
///
/// [`Code::NotFound`].
pub async fn delete(
    state: &AppState,
    by: &str,
    user: UserId,
    id: RowId,
) -> Result<ApiToken, ApiError> {
    let missing = || ApiError::not_found("API token");
    let token = state.store.api_token(id).await?.ok_or_else(missing)?;
    audit::name_token(&token);
    if token.user_id != user {
        return Err(missing());
    }
    let mut write = state.store.begin().await?;
    if !write.delete_api_token(id, user).await? {
        return Err(missing());
    }
    write.commit(state.audited("delete API token", "apitokens").removed(&token)).await?;
    tracing::info!(username = by, user.id = %user, token.id = %id, "ended an API token");
    Ok(token)
}

const DEFAULT_DAYS: u32 = 90;
/// Tokens of a user.
const MOST: i64 = 100;
