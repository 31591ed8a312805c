//! Local CAs made with a fake signer on a real socket, and each step of the making failing.

mod claims;
mod making;
mod removing;
mod resuming;

use chancery_shared::id::UserId;
use chancery_shared::wire::algorithm::{KeyAlgorithm, SignatureAlgorithm};

use super::{LocalCaDefinition, Maker, NewLocalCa, create};
use crate::error::ApiError;
use crate::inventory::key_store::{self, NewKeyStore};
use crate::name::dn_text;
use crate::store::key_store::KeyStore;
use crate::store::local_ca::LocalCa;
use crate::store::testing::both;
use crate::testing::{Api, api, api_on};

/// A service with one Key Store.
async fn api_with_key_store() -> (Api, KeyStore) {
    with_key_store(api().await).await
}

/// The same on each engine.
async fn apis_with_key_store() -> Vec<(&'static str, Api, KeyStore)> {
    let mut all = Vec::new();
    for (engine, store) in both().await {
        let (api, key_store) = with_key_store(api_on(store, |_| ()).await).await;
        all.push((engine, api, key_store));
    }
    all
}

async fn with_key_store(api: Api) -> (Api, KeyStore) {
    let new = NewKeyStore { name: "Local Token".to_owned(), token: "local".to_owned() };
    let key_store = key_store::create(&api.state, "admin", new).await.unwrap();
    (api, key_store)
}

fn maker(api: &Api) -> Maker {
    let (user_id, username) = (api.admin_id(), "admin".to_owned());
    Maker { user_id, username, request_id: "r-1".to_owned() }
}

fn new_ca(maker: UserId, key_store: &KeyStore, name: &str, parent: Option<LocalCa>) -> NewLocalCa {
    let subject = dn_text::parse(&format!("CN={name},O=Example")).unwrap();
    NewLocalCa {
        name: name.to_owned(),
        key_store_id: key_store.id,
        token: key_store.token.clone(),
        parent,
        subject_dn: subject.to_string(),
        subject,
        definition: LocalCaDefinition {
            key_algorithm: KeyAlgorithm::EcdsaP256,
            signature_algorithm: SignatureAlgorithm::EcdsaSha256,
            lifetime_in_days: 3_652,
            path_length: None,
            name_constraints: None,
            policies: Vec::new(),
            cdps: Vec::new(),
            aia_ocsp_urls: Vec::new(),
            aia_issuer_urls: Vec::new(),
            policy: None,
            maker_user_id: maker,
            begun_after: None,
            awaiting: None,
        },
    }
}

async fn make(
    api: &Api,
    key_store: &KeyStore,
    name: &str,
    parent: Option<LocalCa>,
) -> Result<LocalCa, ApiError> {
    let new = new_ca(api.admin_id(), key_store, name, parent);
    create(&api.state, maker(api), new).await
}
