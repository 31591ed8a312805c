//! `/admin/settings`. Reading the system URL is open to any user.

use axum::extract::State;
use serde_json::Map;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::json::setting::{SettingItem, SettingsBody};
use super::validate::Faults;
use crate::app::AppState;
use crate::auth::{Actor, Administrator};
use crate::error::{ApiError, JsonError};
use crate::json::Json;
use crate::retention;
use crate::settings::{ALL, OVER_AT_CHANGE, RETENTION, SYSTEM_URL, Stored};
use crate::timestamp::to_millis;

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
        let stored = async { Stored::read(&state.store).await.map_err(ApiError::from) };
        let (mut write, stored) = retention::holding(&state, stored).await?;
        let names: Vec<_> = values.iter().map(|(setting, _)| setting.name).collect();
        let names = names.join(", ");
        let mut entry = (Map::new(), Map::new());
        for (setting, value) in &values {
            let text = serde_json::to_string(value).map_err(ApiError::internal)?;
            let before = serde_json::to_value(stored.value(setting)?);
            entry.0.insert(setting.name.to_owned(), before.map_err(ApiError::internal)?);
            let after = serde_json::to_value(value).map_err(ApiError::internal)?;
            entry.1.insert(setting.name.to_owned(), after);
            let now = state.clock.now();
            write.set_setting(setting.name, &text, now, by.username()).await?;
            if setting.name == RETENTION.name {
                let over = to_millis(stored.retention()?.over_since(now)).to_string();
                write.set_setting(OVER_AT_CHANGE, &over, now, by.username()).await?;
            }
        }
        let audited = state.audited("change", "settings").on(&names, &names);
        write.commit(audited.before(entry.0).after(entry.1)).await?;
        tracing::info!(username = by.username(), settings = names, "changed settings");
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
