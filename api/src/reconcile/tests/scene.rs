//! A service whose signer has signed what the service has not recorded.

use chancery_shared::bytes::Bytes;
use chancery_shared::id::{CertificateId, Id};
use chancery_shared::wire::algorithm::{KeyAlgorithm, SignatureAlgorithm};
use chancery_shared::wire::journal::{Event, Intent};
use chancery_shared::wire::v1::{CreateCaKey, KeyCreated, KeyRole, SignCertificate};
use chancery_shared::wire::{Context, JournalHead};
use time::Duration;

use crate::issuance::ca_certificate::{CaSubject, draft_own};
use crate::issuance::context::IssuanceContext;
use crate::issuance::new_record::{MadeBy, new_record};
use crate::issuance::signing::SignedTbs;
use crate::name::dn_text;
use crate::reconcile::{ReconcileError, Report, run_once};
use crate::signer_client::{ConnectionHandle, Signing};
use crate::store::certificate::{NewCertificate, StoredCertificate};
use crate::store::journal_head::KnownJournal;
use crate::store::testing::{TestStore, both, sqlite};
use crate::testing::{Api, api_on};

pub(super) const CSR: &[u8] = &[0x30, 0x03, 0x02, 0x01, 0x07];

pub(super) struct Scene {
    pub(super) api: Api,
    pub(super) key: KeyCreated,
}

/// A certificate that was signed, and the record that its request would make.
pub(super) struct Signed {
    pub(super) context: IssuanceContext,
    pub(super) record: NewCertificate,
}

impl Signed {
    pub(super) fn id(&self) -> CertificateId {
        self.context.certificate_id
    }
}

/// A scene on each engine.
pub(super) async fn scenes() -> Vec<(&'static str, Scene)> {
    let mut scenes = Vec::new();
    for (engine, store) in both().await {
        scenes.push((engine, Scene::on(store).await));
    }
    scenes
}

pub(super) async fn scene() -> Scene {
    Scene::on(sqlite().await).await
}

impl Scene {
    async fn on(store: TestStore) -> Self {
        let api = api_on(store, |_| ()).await;
        let request = CreateCaKey {
            token: "local".into(),
            key_algorithm: KeyAlgorithm::EcdsaP256,
            signature_algorithm: SignatureAlgorithm::EcdsaSha256,
            role: KeyRole::Ca,
            policy: None,
            context: Context::default(),
        };
        let key = api.state.signer.create_ca_key(request).await.unwrap().value;
        Self { api, key }
    }

    /// What a request knows before it asks the signer.
    pub(super) fn context(&self) -> IssuanceContext {
        let state = &self.api.state;
        IssuanceContext {
            request_id: "r-1".into(),
            requested_at: state.clock.now(),
            actor_user_id: self.api.member_id(),
            actor_username: "member".into(),
            owner_user_id: self.api.member_id(),
            owner_username: "member".into(),
            team_id: self.api.default_team,
            cert_issuer_id: Some(Id::from_bytes([3; 12])),
            local_ca_id: Some(Id::from_bytes([4; 12])),
            issuer_certificate_id: Some(Id::from_bytes([5; 12])),
            certified_local_ca_id: None,
            certificate_id: state.new_id(),
            csr_id: Some(state.new_id()),
            history_id: state.new_id(),
            csr_generator_name: None,
            renews_certificate_id: None,
            extra_info: Some("rack 12".into()),
            extra_emails: vec!["ops@example.test".into()],
            track_expiry: true,
            departures: Vec::new(),
        }
    }

    /// Has the signer sign; nothing is recorded.
    pub(super) async fn sign(&self) -> Signed {
        let context = self.context();
        let signed = self.sign_for(context.to_wire().unwrap()).await;
        let record = new_record(&context, &signed, Some(CSR), MadeBy::Request).unwrap();
        Signed { context, record }
    }

    pub(super) async fn sign_for(&self, context: Context) -> SignedTbs {
        let (tbs, serial_nonce, connection) = self.draft().await;
        let request = SignCertificate {
            key_id: self.key.key_id,
            tbs: Bytes(tbs.clone()),
            csr: Bytes(CSR.to_vec()),
            serial_nonce,
            context,
        };
        let answer = self.api.state.signer.sign_certificate(connection, request).await.unwrap();
        let Signing::Signed(signature) = answer.value else { panic!("nothing needs approval") };
        SignedTbs { tbs, signature, journal: answer.head.unwrap() }
    }

    /// Any TBS that is one, with a serial number of its own.
    pub(super) async fn draft(
        &self,
    ) -> (Vec<u8>, chancery_shared::bytes::SerialNonce, ConnectionHandle) {
        let state = &self.api.state;
        let (nonce, connection) = state.signer.serial_nonce().await.unwrap();
        let name = dn_text::parse("CN=Test CA,O=Example").unwrap();
        let subject = CaSubject {
            name: &name,
            spki: &self.key.spki.0,
            lifetime_in_days: 100,
            path_length: None,
            name_constraints: None,
            policies: &[],
        };
        let algorithm = SignatureAlgorithm::EcdsaSha256;
        let draft = draft_own(&subject, algorithm, nonce, state.clock.now()).unwrap();
        (draft.tbs, nonce, connection)
    }

    /// Writes an intent that the signer is still working on.
    pub(super) async fn open_intent(&self) -> JournalHead {
        let (tbs, serial_nonce, _) = self.draft().await;
        let context = self.context().to_wire().unwrap();
        self.append(Event::Intent(Box::new(Intent {
            operation: "sign-certificate".into(),
            key_id: self.key.key_id,
            tbs: Bytes(tbs),
            csr: None,
            serial_nonce,
            approval_id: None,
            context,
        })))
    }

    pub(super) fn append(&self, event: Event) -> JournalHead {
        self.api.fake.signer().journal.append(event)
    }

    pub(super) fn head(&self) -> JournalHead {
        self.api.fake.signer().journal.head()
    }

    /// Records what the request would have recorded.
    pub(super) async fn record(&self, signed: &Signed) {
        self.api.state.store.insert_certificate(signed.record.clone()).await.unwrap();
    }

    /// Lets every request that runs be over, for both clocks.
    pub(super) fn wait(&self, time: Duration) {
        self.api.clock.advance(time);
        let now = self.api.state.clock.now();
        self.api.fake.signer().set_time(now);
    }

    /// A pass once no request can run any more.
    pub(super) async fn reconcile_later(&self) -> Result<Report, ReconcileError> {
        self.wait(Duration::minutes(1));
        run_once(&self.api.state).await
    }

    pub(super) async fn stored(&self, id: CertificateId) -> Option<StoredCertificate> {
        self.api.state.store.certificate(id).await.unwrap()
    }

    pub(super) async fn known(&self) -> KnownJournal {
        let known = self.api.state.store.known_journals().await.unwrap();
        let [known] = known[..] else { panic!("one signer, one row") };
        known
    }

    pub(super) async fn execute(&self, sql: &str) {
        self.api.state.store.execute_for_test(sql).await;
    }
}
