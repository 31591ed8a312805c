//! `/admin/settings`. Reading the system URL is open to any user.

use axum::extract::State;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::json::setting::{SettingItem, SettingsBody};
use super::validate::Faults;
use crate::app::AppState;
use crate::auth::{Actor, Administrator};
use crate::error::{ApiError, JsonError};
use crate::json::Json;
use crate::settings::{ALL, SYSTEM_URL, Stored};

/// Settings, for administrators.
pub fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(list, change))
}

/// What any user may read of them.
pub fn member_routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(system_url))
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
    let values = body.into_values();
    let mut faults = Faults::default();
    for (setting, value) in &values {
        if let Err(problem) = setting.check(value) {
            faults.add(setting.name, problem);
        }
    }
    faults.finish()?;
    if !values.is_empty() {
        let mut write = state.store.begin().await?;
        for (setting, value) in &values {
            let text = serde_json::to_string(value).map_err(ApiError::internal)?;
            write.set_setting(setting.name, &text, state.clock.now(), by.username()).await?;
        }
        write.commit().await?;
        let names: Vec<_> = values.iter().map(|(setting, _)| setting.name).collect();
        tracing::info!(username = by.username(), settings = names.join(", "), "changed settings");
    }
    read(&state).await.map(Json)
}

/// Where people find the service.
#[utoipa::path(
    get, path = "/admin/settings/systemUrl", tag = "Settings",
    responses((status = 200, body = SettingItem), (status = "default", body = JsonError)),
)]
async fn system_url(
    State(state): State<AppState>,
    _by: Actor,
) -> Result<Json<SettingItem>, ApiError> {
    let stored = Stored::read(&state.store).await?;
    Ok(Json(SettingItem::new(&SYSTEM_URL, stored.value(&SYSTEM_URL)?)))
}

async fn read(state: &AppState) -> Result<Vec<SettingItem>, ApiError> {
    let stored = Stored::read(&state.store).await?;
    let item = |of| Ok(SettingItem::new(of, stored.value(of)?));
    ALL.iter().map(item).collect()
}
