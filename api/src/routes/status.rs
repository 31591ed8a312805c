//! `/admin/status`.

use axum::extract::State;
use chancery_shared::id::kind;
use chancery_shared::wire::v1::{KeyState, KeySummary};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::json::Done;
use super::json::key_store::TokenItem;
use super::json::status::{
    DatabaseStatus, HastenedItem, JobStatus, KeyItem, KeysStatus, PurgeStatus, RepairItem,
    SignerStatus, StatusItem,
};
use super::retained::by;
use crate::app::AppState;
use crate::auth::Administrator;
use crate::error::{ApiError, JsonError};
use crate::json::Json;
use crate::request::{PathId, RequestId};
use crate::retention::{self, Disagreement, Items, Repaired};
use crate::signer_client::SignerError;
use crate::store::local_ca::LocalCa;
use crate::{job_runs, timestamp};

/// How the service is, for administrators.
pub fn routes() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(status)).routes(routes!(confirm)).routes(routes!(repair))
}

/// How the signer, its tokens, the database and the jobs are.
#[utoipa::path(
    get, path = "/admin/status", tag = "Status",
    responses((status = 200, body = StatusItem), (status = "default", body = JsonError)),
)]
async fn status(
    State(state): State<AppState>,
    _by: Administrator,
) -> Result<Json<StatusItem>, ApiError> {
    let signer = state.signer.state();
    let tokens = signer.tokens().iter().map(|token| TokenItem::new(token, &signer)).collect();
    let words =
        |ok: Result<(), ApiError>| ok.map_or_else(|error| error.message(), |()| "ok".into());
    let mut jobs = Vec::new();
    for name in job_runs::JOBS {
        jobs.push(job(&state, name).await?);
    }
    Ok(Json(StatusItem {
        signer: SignerStatus {
            status: words(signer.check_signer().map_err(ApiError::from)),
            signer_id: signer.signer_id().map(|id| id.to_string()),
            journal_seq: signer.journal_head().map(|head| head.seq),
        },
        tokens,
        database: DatabaseStatus {
            engine: state.store.engine_name(),
            status: words(state.store.ping().await.map_err(ApiError::from)),
        },
        jobs,
        purge: purge(&state).await?,
        keys: keys(&state).await?,
    }))
}

/// The clock is right: a paused purge goes on.
#[utoipa::path(
    post, path = "/admin/status/purge/confirm", tag = "Status",
    responses((status = 200, body = Done), (status = "default", body = JsonError)),
)]
async fn confirm(
    State(state): State<AppState>,
    administrator: Administrator,
    request_id: RequestId,
) -> Result<Json<Done>, ApiError> {
    state.purge_guard.confirm(&state, &by(&administrator, &request_id)).await?;
    Ok(Json(Done {}))
}

/// Makes a key that `keys` of the status names fit its Local CA: enabled where that is live, disabled
/// where it is deleted. One that belongs to no Local CA is disabled, and if it is so already, destroyed.
#[utoipa::path(
    post, path = "/admin/status/keys/{id}/repair", tag = "Status", params(("id" = String, Path)),
    responses((status = 200, body = RepairItem), (status = "default", body = JsonError)),
)]
async fn repair(
    State(state): State<AppState>,
    administrator: Administrator,
    request_id: RequestId,
    PathId(id): PathId<kind::Key>,
) -> Result<Json<RepairItem>, ApiError> {
    let repaired = retention::repair(&state, &by(&administrator, &request_id), id).await?;
    let (key, warning) = match repaired {
        Repaired::Now(key) => (key, None),
        Repaired::Unused => {
            let message =
                "no Local CA has this key; the same call again has it destroyed in the token";
            (KeyState::Disabled, Some(message.to_owned()))
        }
        Repaired::Awaits(approval_id) => {
            let message = format!(
                "the key stays in the token, disabled, until the signer's operator lets it be \
                 destroyed: chancery-hsm approve {approval_id}"
            );
            (KeyState::Disabled, Some(message))
        }
    };
    Ok(Json(RepairItem { key: state_words(key), warnings: warning.into_iter().collect() }))
}

async fn job(state: &AppState, name: &'static str) -> Result<JobStatus, ApiError> {
    let run = job_runs::last(&state.store, name).await?;
    Ok(JobStatus {
        name,
        last_run: run.as_ref().map(|run| timestamp::with_offset(run.last_run)),
        next_run: run.as_ref().map(|run| timestamp::with_offset(run.next_run)),
        ok: run.as_ref().map(|run| run.is_ok),
        result: run.map(|run| run.result),
    })
}

async fn purge(state: &AppState) -> Result<PurgeStatus, ApiError> {
    let items = Items::new(state.store.retained().await?, retention::retention(state));
    let deleted = items.deleted();
    let next = deleted.iter().filter_map(|item| items.purge_at(item)).min();
    let hastened = state.purge_start.hastened();
    Ok(PurgeStatus {
        after_days: state.config.purge_after_days,
        paused: state.purge_guard.pause(state).await?.map(|pause| pause.to_string()),
        deleted_items: deleted.len(),
        next_purge_at: next.map(timestamp::with_offset),
        hastened: hastened.map(|hastened| HastenedItem {
            items: hastened.items,
            from_days: hastened.from,
            to_days: hastened.to,
        }),
    })
}

async fn keys(state: &AppState) -> Result<KeysStatus, ApiError> {
    let mut keys =
        KeysStatus { without_local_ca: vec![], without_key: vec![], disagreeing: vec![] };
    let found = match retention::disagreements(state).await {
        // Nobody knows now; the signer's own part says so.
        Err(ApiError::Signer(SignerError::Unreachable)) => return Ok(keys),
        found => found?,
    };
    for each in found {
        let key_id = each.key_id().to_string();
        match each {
            Disagreement::WithoutLocalCa(key) => {
                keys.without_local_ca.push(item(key_id, Some(&key), None));
            }
            Disagreement::WithoutKey(ca, _) => keys.without_key.push(item(key_id, None, Some(*ca))),
            Disagreement::States(ca, key) => {
                keys.disagreeing.push(item(key_id, Some(&key), Some(*ca)));
            }
        }
    }
    Ok(keys)
}

fn item(key_id: String, key: Option<&KeySummary>, ca: Option<LocalCa>) -> KeyItem {
    KeyItem {
        key_id,
        token: key.map(|key| key.token.clone()),
        state: key.map(|key| state_words(key.state)),
        local_ca_id: ca.as_ref().map(|ca| ca.id.to_string()),
        local_ca_name: ca.map(|ca| ca.name),
    }
}

fn state_words(state: KeyState) -> &'static str {
    match state {
        KeyState::Live => "live",
        KeyState::Disabled => "disabled",
        KeyState::Destroyed => "destroyed",
    }
}
