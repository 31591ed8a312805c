//! The claim on an unfinished Local CA.

use chancery_shared::id::{
    ApprovalId, CertificateId, KeyId, KeyStoreId, LocalCaId, RowId, SignerId,
};
use time::Duration;

use super::fixtures::NOW;
use crate::store::Store;
use crate::store::key_store::KeyStore;
use crate::store::local_ca::{LocalCa, LocalCaClaim, LocalCaStatus};
use crate::store::testing::both;

const LATER: time::OffsetDateTime = NOW.saturating_add(Duration::MINUTE);

fn ca_id() -> LocalCaId {
    LocalCaId::from_bytes([1; 12])
}

fn claim(holder: u8) -> LocalCaClaim {
    LocalCaClaim { local_ca_id: ca_id(), holder: RowId::from_bytes([holder; 12]) }
}

async fn insert_unfinished(store: &Store) {
    let key_store = KeyStore {
        id: KeyStoreId::from_bytes([1; 12]),
        name: "Key Store".to_owned(),
        token: "local".to_owned(),
        created_at: NOW,
        created_by: "admin".to_owned(),
        deleted_at: None,
    };
    let ca = LocalCa {
        id: ca_id(),
        name: "CA".to_owned(),
        key_store_id: key_store.id,
        parent_local_ca_id: None,
        key_id: None,
        signer_id: None,
        subject_dn: "CN=CA".to_owned(),
        definition: "{}".to_owned(),
        status: LocalCaStatus::AwaitingCertificate,
        approval_id: None,
        certificate_id: None,
        created_at: NOW,
        created_by: "admin".to_owned(),
        deleted_at: None,
        transition: None,
    };
    let mut write = store.begin().await.unwrap();
    write.insert_key_store(&key_store).await.unwrap();
    write.insert_local_ca(&ca).await.unwrap();
    write.commit_unaudited(crate::store::Unaudited::Fixture).await.unwrap();
}

/// Does one write, and says what it said.
macro_rules! write {
    ($test:expr, $method:ident($($argument:expr),*)) => {{
        let mut write = $test.store.begin().await.unwrap();
        let said = write.$method($($argument),*).await.unwrap();
        write.commit_unaudited(crate::store::Unaudited::Fixture).await.unwrap();
        said
    }};
}

#[tokio::test]
async fn one_holder_at_a_time_has_the_claim_until_it_runs_out_or_is_given_back() {
    for (engine, test) in both().await {
        insert_unfinished(&test.store).await;

        assert!(write!(test, claim_local_ca(claim(1), NOW, LATER)), "{engine}");
        let early = LATER - Duration::MILLISECOND;
        assert!(!write!(test, claim_local_ca(claim(2), early, LATER)), "{engine}");
        assert!(
            write!(test, claim_local_ca(claim(2), LATER, LATER + Duration::MINUTE)),
            "{engine}"
        );

        // Not the first one's any more.
        write!(test, release_local_ca(claim(1)));
        assert!(!write!(test, claim_local_ca(claim(3), LATER, LATER)), "{engine}");
        write!(test, release_local_ca(claim(2)));
        assert!(write!(test, claim_local_ca(claim(3), NOW, LATER)), "{engine}");
    }
}

#[tokio::test]
async fn a_claim_of_a_clock_that_was_far_ahead_holds_nobody_up() {
    for (engine, test) in both().await {
        insert_unfinished(&test.store).await;
        let year = Duration::days(365);

        assert!(write!(test, claim_local_ca(claim(1), NOW + year, LATER + year)), "{engine}");
        assert!(write!(test, claim_local_ca(claim(2), NOW, LATER)), "{engine}");
    }
}

#[tokio::test]
async fn who_does_not_hold_the_claim_changes_nothing() {
    for (engine, test) in both().await {
        insert_unfinished(&test.store).await;
        write!(test, claim_local_ca(claim(1), NOW, LATER));
        let before = test.store.local_ca(ca_id()).await.unwrap();
        let (key, signer) = (KeyId::from_bytes([2; 12]), SignerId::from_bytes([3; 12]));

        for is_held in [
            write!(test, set_local_ca_key(claim(2), key, signer)),
            write!(test, set_local_ca_definition(claim(2), "{1}", LATER)),
            write!(test, set_local_ca_awaiting(claim(2), ApprovalId::from_bytes([4; 12]))),
            write!(test, set_local_ca_removing(claim(2), LATER)),
            write!(test, keep_local_ca(claim(2))),
            write!(test, remove_unfinished_local_ca(claim(2))),
        ] {
            assert!(!is_held, "{engine}");
        }

        assert_eq!(test.store.local_ca(ca_id()).await.unwrap(), before, "{engine}");
        assert!(write!(test, set_local_ca_key(claim(1), key, signer)), "{engine}");
    }
}

#[tokio::test]
async fn one_that_is_being_removed_goes_live_only_after_it_was_kept() {
    for (engine, test) in both().await {
        insert_unfinished(&test.store).await;
        let certificate = CertificateId::from_bytes([5; 12]);
        write!(test, claim_local_ca(claim(1), NOW, LATER));
        assert!(write!(test, set_local_ca_removing(claim(1), LATER)), "{engine}");

        assert!(!write!(test, set_local_ca_live(ca_id(), certificate)), "{engine}");
        assert!(write!(test, keep_local_ca(claim(1))), "{engine}");
        assert!(write!(test, set_local_ca_live(ca_id(), certificate)), "{engine}");

        // And one that is live is nobody's to remove.
        assert!(!write!(test, claim_local_ca(claim(2), LATER, LATER)), "{engine}");
        assert!(!write!(test, set_local_ca_removing(claim(1), LATER)), "{engine}");
        assert!(!write!(test, remove_unfinished_local_ca(claim(1))), "{engine}");
    }
}

#[tokio::test]
async fn only_one_that_is_being_removed_is_removed() {
    for (engine, test) in both().await {
        insert_unfinished(&test.store).await;
        write!(test, claim_local_ca(claim(1), NOW, LATER));

        assert!(!write!(test, remove_unfinished_local_ca(claim(1))), "{engine}");
        write!(test, set_local_ca_removing(claim(1), LATER));
        assert_eq!(test.store.unfinished_local_cas().await.unwrap().len(), 1, "{engine}");
        assert!(write!(test, remove_unfinished_local_ca(claim(1))), "{engine}");

        assert_eq!(test.store.local_ca(ca_id()).await.unwrap(), None, "{engine}");
    }
}
