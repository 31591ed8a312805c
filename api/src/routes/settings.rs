//! `/admin/settings`.

use axum::extract::State;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::json::setting::{SettingItem, SettingsBody};
use crate::app::AppState;
use crate::auth::Administrator;
use crate::error::{ApiError, JsonError};
use crate::json::Json;
use crate::settings::{ALL, RETENTION};

/// Settings, for administrators.
pub fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(list, change))
}

/// Every setting: what is in force, what may be set, and what it does.
#[utoipa::path(
    get, path = "/admin/settings", tag = "Settings",
    responses((status = 200, body = Vec<SettingItem>), (status = "default", body = JsonError)),
)]
async fn list(
    State(state): State<AppState>,
    _by: Administrator,
) -> Result<Json<Vec<SettingItem>>, ApiError> {
    read(&state).await.map(Json)
}

/// Changes the settings that are named; answers all of them.
#[utoipa::path(
    put, path = "/admin/settings", tag = "Settings", request_body = SettingsBody,
    responses((status = 200, body = Vec<SettingItem>), (status = "default", body = JsonError)),
)]
async fn change(
    State(state): State<AppState>,
    by: Administrator,
    Json(body): Json<SettingsBody>,
) -> Result<Json<Vec<SettingItem>>, ApiError> {
    if let Some(period) = body.private_key_retention_period {
        let checked = RETENTION.check(period);
        checked.map_err(|problem| ApiError::invalid_field(RETENTION.name, problem))?;
        let value = serde_json::to_string(&period).map_err(ApiError::internal)?;
        let before = crate::settings::retention(&state.store).await?;
        let mut write = state.store.begin().await?;
        write.set_setting(RETENTION.name, &value, state.clock.now(), by.username()).await?;
        let entry = state.audited("change", "settings").on(&RETENTION.name, RETENTION.name);
        write.commit(entry.before(before).after(period)).await?;
        tracing::info!(username = by.username(), %period, "set the Private Key Retention Period");
    }
    read(&state).await.map(Json)
}

async fn read(state: &AppState) -> Result<Vec<SettingItem>, ApiError> {
    let mut items = Vec::new();
    for description in &ALL {
        items.push(SettingItem::new(description, description.value(&state.store).await?));
    }
    Ok(items)
}
