//! `/admin/audit`, and that nothing happens without it.

mod api_tokens;
mod asked;
mod calls;
mod every_operation;
mod head;
mod refused_token;
mod told;

use serde_json::Value;

use crate::testing::Api;

/// What the audit says of what is asked for behind the `?`, the latest first.
async fn audit(api: &Api, query: &str) -> Vec<Value> {
    api.state.audit.flush().await;
    let answer = api.administrator().get(&format!("/api/admin/audit?{query}")).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.json().as_array().unwrap().clone()
}
