//! Taking back a Local CA goes on until it is done, on both engines.

use chancery_shared::wire::RefusalCode;
use chancery_shared::wire::v1::{KeyState, Request};
use time::Duration;

use super::claims::{key_state, leave_unfinished, only_row};
use super::*;
use crate::inventory::local_ca::resume_once as run_once;
use crate::signer_client::SignerState;
use crate::signer_client::fake_signer::{Reaction, refusal};
use crate::store::local_ca::LocalCaStatus;

/// One whose taking back has come as far as its disabled key: the signer is too busy to destroy it.
async fn leave_with_disabled_key(api: &Api, key_store: &KeyStore) {
    leave_unfinished(api, key_store).await;
    api.clock.advance(Duration::seconds(121));
    api.fake.script(|request| match request {
        Request::DestroyKey(_) => Reaction::Refuse(refusal(RefusalCode::Busy)),
        _ => Reaction::Answer,
    });
    run_once(&api.state).await.unwrap();
}

#[tokio::test]
async fn a_removal_goes_on_after_the_process_that_began_it_has_ended() {
    for (engine, api, key_store) in apis_with_key_store().await {
        leave_with_disabled_key(&api, &key_store).await;
        assert_eq!(only_row(&api).await.status, LocalCaStatus::Removing, "{engine}");
        api.fake.script(|_| Reaction::Answer);

        run_once(&api.state).await.unwrap();

        assert_eq!(api.state.store.local_cas().await.unwrap(), [], "{engine}");
        assert_eq!(key_state(&api), KeyState::Destroyed, "{engine}");
    }
}

#[tokio::test]
async fn one_whose_key_is_still_disabled_gets_it_back_once_it_turns_out_to_be_certified() {
    for (engine, api, key_store) in apis_with_key_store().await {
        leave_with_disabled_key(&api, &key_store).await;
        assert_eq!(key_state(&api), KeyState::Disabled, "{engine}");

        let key_id = {
            let mut signer = api.fake.signer();
            signer.keys[0].summary.has_ca_certificate = true;
            signer.keys[0].summary.key_id
        };
        let is_seen =
            |state: &SignerState| state.key(key_id).is_some_and(|key| key.has_ca_certificate);
        api.state.signer.watch_state().wait_for(is_seen).await.unwrap();
        run_once(&api.state).await.unwrap();

        assert_eq!(only_row(&api).await.status, LocalCaStatus::AwaitingCertificate, "{engine}");
        assert_eq!(key_state(&api), KeyState::Live, "{engine}");
    }
}

#[tokio::test]
async fn one_whose_key_the_signer_has_lost_is_removed() {
    for (engine, api, key_store) in apis_with_key_store().await {
        leave_unfinished(&api, &key_store).await;
        api.clock.advance(Duration::seconds(121));
        api.fake.script(|request| match request {
            Request::DisableKey(_) => Reaction::Refuse(refusal(RefusalCode::UnknownKey)),
            _ => Reaction::Answer,
        });

        run_once(&api.state).await.unwrap();

        assert_eq!(api.state.store.local_cas().await.unwrap(), [], "{engine}");
    }
}
