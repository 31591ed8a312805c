//! Local CAs, and what the signer's operator allows of them at all.

use std::sync::Arc;

use chancery_shared::wire::policy::Policy;

use super::{root, with_a_key_store};
use crate::app::{App, AppState};
use crate::signer_client::{Options, SignerClient};

#[tokio::test]
async fn where_no_key_may_certify_cas_the_operator_s_ceiling_is_named() {
    let api = with_a_key_store().await;
    api.allow(Policy { certify_cas: None, ..Policy::shipped() }).await;

    let answer = api.administrator().post("/api/admin/localca", &root()).await;

    assert_eq!(answer.refusal(), (422, "policy_violation".to_owned()));
    assert!(answer.text.contains("certifyCas"), "{}", answer.text);
}

#[tokio::test]
async fn before_the_signer_was_met_no_bound_is_made_up() {
    let mut api = with_a_key_store().await;
    let (heads, random) = (Arc::new(api.state.store.clone()), Arc::clone(&api.state.random));
    let nowhere = Options::new(api.fake.socket.with_file_name("nowhere"));
    let signer = SignerClient::start(nowhere, heads, random);
    api.state = AppState::new(App { signer, ..App::clone(&api.state) });

    let answer = api.administrator().post("/api/admin/localca", &root()).await;

    assert_eq!(answer.refusal(), (503, "signer_unavailable".to_owned()));
}
