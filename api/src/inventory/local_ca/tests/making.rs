//! What a request that makes a Local CA leaves behind, whatever becomes of it.

use chancery_shared::wire::RefusalCode;
use chancery_shared::wire::v1::{KeyState, Request};
use der::asn1::BitStringRef;
use der::{Decode as _, Reader as _};

use super::*;
use crate::error::Code;
use crate::signer_client::fake_signer::{Reaction, refusal};
use crate::store::local_ca::LocalCaStatus;

/// Whether the certificate's signature is one by the key in `spki`.
fn is_signed_by(certificate: &[u8], spki: &[u8]) -> bool {
    let content = der::asn1::AnyRef::from_der(certificate).unwrap();
    let mut reader = der::SliceReader::new(content.value()).unwrap();
    let (tbs, algorithm) = (reader.tlv_bytes().unwrap(), reader.tlv_bytes().unwrap());
    let signature = BitStringRef::decode(&mut reader).unwrap();
    let signature = signature.as_bytes().unwrap();
    chancery_shared::signature::verify(spki, algorithm, tbs, signature).is_ok()
}

#[tokio::test]
async fn a_root_and_a_ca_below_it_are_live_each_certified_by_the_right_key() {
    let (api, key_store) = api_with_key_store().await;

    let root = make(&api, &key_store, "Root", None).await.unwrap();
    let below = make(&api, &key_store, "Issuing", Some(root.clone())).await.unwrap();

    let root_spki = api.fake.signer().keys[0].spki.clone();
    for (ca, parent) in [(&root, &root), (&below, &root)] {
        assert_eq!(ca.status, LocalCaStatus::Live, "{}", ca.name);
        let stored = api.state.store.certificate(ca.certificate_id.unwrap()).await.unwrap();
        let stored = stored.unwrap();
        let row = stored.certificate;
        assert!(is_signed_by(&row.der, &root_spki), "{}", ca.name);
        assert!(row.is_ca, "{}", ca.name);
        assert_eq!(row.subject_dn, format!("CN={}, O=Example", ca.name));
        assert_eq!(row.local_ca_id, Some(parent.id), "{}", ca.name);
        assert_eq!(row.issuer_certificate_id, parent.certificate_id, "{}", ca.name);
        assert_eq!(row.owner_user_id, api.admin_id(), "{}", ca.name);
        assert_eq!(row.team_id, api.administrators, "{}", ca.name);
        assert_eq!(stored.history.len(), 1, "{}", ca.name);
    }
}

#[tokio::test]
async fn keys_of_every_algorithm_that_the_fake_has_certify_themselves() {
    use {KeyAlgorithm as K, SignatureAlgorithm as S};
    let (api, key_store) = api_with_key_store().await;
    let algorithms = [
        (K::Rsa2048, S::RsaPkcs1Sha256),
        (K::Rsa2048, S::RsaPssSha384),
        (K::EcdsaP384, S::EcdsaSha384),
        (K::EcdsaP521, S::EcdsaSha512),
        (K::Ed25519, S::Ed25519),
    ];
    for (key_algorithm, signature_algorithm) in algorithms {
        let name = format!("{signature_algorithm:?}");
        let mut new = new_ca(api.admin_id(), &key_store, &name, None);
        new.definition.key_algorithm = key_algorithm;
        new.definition.signature_algorithm = signature_algorithm;

        let ca = create(&api.state, maker(&api), new).await.unwrap();

        let stored = api.state.store.certificate(ca.certificate_id.unwrap()).await.unwrap();
        let spki = api.fake.signer().keys.last().unwrap().spki.clone();
        assert!(is_signed_by(&stored.unwrap().certificate.der, &spki), "{name}");
    }
}

#[tokio::test]
async fn a_name_is_taken_once_and_no_key_is_made_for_the_second() {
    let (api, key_store) = api_with_key_store().await;
    make(&api, &key_store, "Root", None).await.unwrap();

    let refused = make(&api, &key_store, "Root", None).await.unwrap_err();

    assert_eq!(refused.code(), Code::NameTaken);
    assert_eq!(api.fake.signer().keys.len(), 1);
}

#[tokio::test]
async fn a_refused_key_leaves_nothing() {
    let (api, key_store) = api_with_key_store().await;
    api.fake.script(|request| match request {
        Request::CreateCaKey(_) => Reaction::Refuse(refusal(RefusalCode::KeyLimit)),
        _ => Reaction::Answer,
    });

    let refused = make(&api, &key_store, "Root", None).await.unwrap_err();

    assert_eq!(refused.code(), Code::KeyLimit);
    assert_eq!(api.state.store.local_cas().await.unwrap(), []);
}

#[tokio::test]
async fn a_refused_certificate_leaves_neither_key_nor_row() {
    let (api, key_store) = api_with_key_store().await;
    api.fake.script(|request| match request {
        Request::SignOwnCertificate(_) => Reaction::Refuse(refusal(RefusalCode::PolicyViolation)),
        _ => Reaction::Answer,
    });

    let refused = make(&api, &key_store, "Root", None).await.unwrap_err();

    assert_eq!(refused.code(), Code::PolicyViolation);
    assert_eq!(api.state.store.local_cas().await.unwrap(), []);
    assert_eq!(api.fake.signer().keys[0].summary.state, KeyState::Destroyed);
}

#[tokio::test]
async fn a_certificate_whose_answer_is_lost_keeps_the_row_and_the_key() {
    let (api, key_store) = api_with_key_store().await;
    api.fake.script(|request| match request {
        Request::SignOwnCertificate(_) => Reaction::DoAndClose,
        _ => Reaction::Answer,
    });

    let refused = make(&api, &key_store, "Root", None).await.unwrap_err();

    assert_eq!(refused.code().status().as_u16(), 503);
    let [ca] = &api.state.store.local_cas().await.unwrap()[..] else { panic!("one row") };
    assert_eq!(ca.status, LocalCaStatus::AwaitingCertificate);
    assert_eq!(api.fake.signer().keys[0].summary.state, KeyState::Live);
}
