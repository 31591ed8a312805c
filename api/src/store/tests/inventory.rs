//! Key Stores, profiles and Certificate Issuers.

use chancery_shared::id::{CertIssuerId, KeyStoreId, LocalCaId, ProfileId};

use super::fixtures::{NOW, insert, team};
use crate::inventory::profile_definition::ProfileDefinition;
use crate::store::account::Group;
use crate::store::cert_issuer::CertIssuer;
use crate::store::key_store::KeyStore;
use crate::store::local_ca::{LocalCa, LocalCaStatus};
use crate::store::profile::Profile;
use crate::store::testing::{TestStore, both};
use crate::store::{Store, StoreError};

fn key_store(number: u8) -> KeyStore {
    KeyStore {
        id: KeyStoreId::from_bytes([number; 12]),
        name: format!("Key Store {number}"),
        token: "local".to_owned(),
        created_at: NOW,
        created_by: "admin".to_owned(),
        deleted_at: None,
    }
}

fn local_ca() -> LocalCa {
    LocalCa {
        id: LocalCaId::from_bytes([1; 12]),
        name: "CA".to_owned(),
        key_store_id: key_store(1).id,
        parent_local_ca_id: None,
        key_id: None,
        signer_id: None,
        subject_dn: "CN=CA".to_owned(),
        definition: "{}".to_owned(),
        status: LocalCaStatus::Live,
        approval_id: None,
        certificate_id: None,
        created_at: NOW,
        created_by: "admin".to_owned(),
        deleted_at: None,
        transition: None,
    }
}

fn profile(number: u8) -> Profile {
    Profile {
        id: ProfileId::from_bytes([number; 12]),
        name: format!("Profile {number}"),
        definition: ProfileDefinition::first(),
        created_at: NOW,
        created_by: "admin".to_owned(),
    }
}

fn cert_issuer(number: u8) -> CertIssuer {
    CertIssuer {
        id: CertIssuerId::from_bytes([number; 12]),
        name: format!("Issuer {number}"),
        local_ca_id: local_ca().id,
        profile_id: profile(1).id,
        allow_dn_requests: false,
        allow_csr_requests: true,
        allowed_generators: vec!["RSA 2048".to_owned(), "Ed25519".to_owned()],
        created_at: NOW,
        created_by: "admin".to_owned(),
        deleted_at: None,
    }
}

/// Two of each, one Local CA, and a team that the second issuer is for.
async fn fill(store: &Store) {
    insert(store, &team(1, Group::Users), &[]).await;
    let mut write = store.begin().await.unwrap();
    for number in [2, 1] {
        write.insert_key_store(&key_store(number)).await.unwrap();
        write.insert_profile(&profile(number)).await.unwrap();
    }
    write.insert_local_ca(&local_ca()).await.unwrap();
    for number in [2, 1] {
        write.insert_cert_issuer(&cert_issuer(number)).await.unwrap();
    }
    write.authorise_ca(team(1, Group::Users).id, cert_issuer(2).id).await.unwrap();
    write.commit_unaudited(crate::store::Unaudited::Fixture).await.unwrap();
}

async fn filled() -> [(&'static str, TestStore); 2] {
    let both = both().await;
    for (_, test) in &both {
        fill(&test.store).await;
    }
    both
}

#[tokio::test]
async fn what_was_inserted_is_found_by_id_by_name_and_in_a_list_by_name() {
    for (engine, test) in filled().await {
        let store = &test.store;

        let key_stores = store.key_stores().await.unwrap();
        let profiles = store.profiles().await.unwrap();
        let issuers = store.cert_issuers().await.unwrap();

        assert_eq!(key_stores, [key_store(1), key_store(2)], "{engine}");
        assert_eq!(profiles, [profile(1), profile(2)], "{engine}");
        assert_eq!(issuers, [cert_issuer(1), cert_issuer(2)], "{engine}");
        let found = store.key_store(key_store(2).id).await.unwrap();
        assert_eq!(found, store.live_key_store_named("Key Store 2").await.unwrap(), "{engine}");
        assert_eq!(found, Some(key_store(2)), "{engine}");
        let found = store.profile(profile(2).id).await.unwrap();
        assert_eq!(found, store.profile_named("Profile 2").await.unwrap(), "{engine}");
        assert_eq!(found, Some(profile(2)), "{engine}");
        let found = store.cert_issuer(cert_issuer(2).id).await.unwrap();
        assert_eq!(found, store.live_cert_issuer_named("Issuer 2").await.unwrap(), "{engine}");
        assert_eq!(found, Some(cert_issuer(2)), "{engine}");
    }
}

#[tokio::test]
async fn only_the_name_of_a_live_item_is_taken() {
    for (engine, test) in filled().await {
        let store = &test.store;
        let taken =
            |result: Result<(), StoreError>| matches!(result, Err(StoreError::Taken { .. }));
        let again = KeyStore { name: key_store(1).name, ..key_store(3) };
        let issuer_again = CertIssuer { name: cert_issuer(1).name, ..cert_issuer(3) };
        let profile_again = Profile { name: profile(1).name, ..profile(3) };

        assert!(taken(store.begin().await.unwrap().insert_key_store(&again).await), "{engine}");
        assert!(
            taken(store.begin().await.unwrap().insert_cert_issuer(&issuer_again).await),
            "{engine}"
        );
        assert!(
            taken(store.begin().await.unwrap().insert_profile(&profile_again).await),
            "{engine}"
        );
        for table in ["key_store", "cert_issuer"] {
            store.execute_for_test(&format!("UPDATE {table} SET deleted_at = 5")).await;
        }
        let mut write = store.begin().await.unwrap();
        write.insert_key_store(&again).await.unwrap();
        write.insert_cert_issuer(&issuer_again).await.unwrap();
        write.commit_unaudited(crate::store::Unaudited::Fixture).await.unwrap();

        let found = store.live_key_store_named("Key Store 1").await.unwrap();
        assert_eq!(found.as_ref(), Some(&again), "{engine}");
        assert_eq!(store.key_stores().await.unwrap(), [again], "{engine}");
        assert_eq!(store.cert_issuers().await.unwrap(), [issuer_again], "{engine}");
        let deleted = store.key_store(key_store(1).id).await.unwrap().unwrap();
        assert!(deleted.deleted_at.is_some(), "{engine}");
        let deleted = store.cert_issuer(cert_issuer(1).id).await.unwrap().unwrap();
        assert!(deleted.deleted_at.is_some(), "{engine}");
    }
}

#[tokio::test]
async fn the_teams_of_an_issuer_are_its_own() {
    for (engine, test) in filled().await {
        let open = test.store.authorised_teams_of(cert_issuer(1).id).await.unwrap();
        let closed = test.store.authorised_teams_of(cert_issuer(2).id).await.unwrap();

        assert_eq!(open, [], "{engine}");
        assert_eq!(closed, [team(1, Group::Users).id], "{engine}");
    }
}

#[tokio::test]
async fn a_definition_that_this_service_never_writes_is_named_by_its_row() {
    for (engine, test) in filled().await {
        test.store.execute_for_test("UPDATE profile SET definition = '{}'").await;

        let error = test.store.profile(profile(1).id).await.unwrap_err();

        let row = profile(1).id.to_string();
        assert_eq!(
            error.to_string(),
            format!("table profile, row {row}: definition can't be read"),
            "{engine}"
        );
    }
}
