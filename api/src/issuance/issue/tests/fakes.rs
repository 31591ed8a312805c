//! A signer and a store in memory.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use aws_lc_rs::encoding::AsDer as _;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair as _};
use chancery_shared::bad_keys::BadKeys;
use chancery_shared::bytes::{Fixed, SerialNonce};
use chancery_shared::certificate::assemble;
use chancery_shared::id::{CertificateId, Id, KeyId};
use chancery_shared::wire::JournalHead;
use chancery_shared::wire::algorithm::SignatureAlgorithm;
use time::OffsetDateTime;
use time::macros::datetime;

use crate::inventory::profile_definition::ProfileDefinition;
use crate::issuance::ca_certificate::{CaSubject, draft_own};
use crate::issuance::context::IssuanceContext;
use crate::issuance::csr_issuance::{
    CsrIssuance, CsrRequestBody, Issued, Issuer, NewIds, Requester,
};
use crate::issuance::extensions::Pointers;
use crate::issuance::issue::issue;
use crate::issuance::issue_error::IssueError;
use crate::issuance::issuing_ca::IssuingCa;
use crate::issuance::new_record::Records;
use crate::issuance::preview::{Preview, preview};
use crate::issuance::signing::{SignedTbs, Signing, SigningError, SigningRequest};
use crate::issuance::tbs::{Draft, DraftError};
use crate::name::dn_text;
use crate::store::certificate::{Inserted, NewCertificate};

pub(super) const NOW: OffsetDateTime = datetime!(2026-11-28 12:00:00 UTC);
pub(super) const CSR: &[u8] = include_bytes!("../../../../../tests/cases/pem/pem-001.pem");

pub(super) fn ids() -> NewIds {
    NewIds {
        certificate_id: Id::from_bytes([6; 12]),
        csr_id: Id::from_bytes([7; 12]),
        history_id: Id::from_bytes([8; 12]),
    }
}

pub(super) fn head() -> JournalHead {
    JournalHead { signer_id: Id::from_bytes([9; 12]), seq: 7, hash: Fixed([1; 32]) }
}

/// A CA key in memory that signs what it is given, and keeps the context.
pub(super) struct Signer {
    key: EcdsaKeyPair,
    answer: Option<fn() -> SigningError>,
    pub(super) contexts: Mutex<Vec<IssuanceContext>>,
}

impl Signer {
    pub(super) fn new(answer: Option<fn() -> SigningError>) -> Self {
        let key = EcdsaKeyPair::generate(&ECDSA_P256_SHA256_ASN1_SIGNING).unwrap();
        Self { key, answer, contexts: Mutex::default() }
    }

    fn issuer(&self, profile: ProfileDefinition) -> Issuer {
        let name = dn_text::parse("CN=Test CA,O=Example").unwrap();
        let spki = self.key.public_key().as_der().unwrap();
        let subject = CaSubject {
            name: &name,
            spki: spki.as_ref(),
            lifetime_in_days: 100,
            path_length: None,
            name_constraints: None,
            policies: &[],
        };
        let algorithm = SignatureAlgorithm::EcdsaSha256;
        let own = draft_own(&subject, algorithm, Fixed([1; 40]), NOW).unwrap();
        let der = assemble(&own.tbs, &self.sign(&own.tbs)).unwrap();
        Issuer {
            cert_issuer_id: Id::from_bytes([3; 12]),
            local_ca_id: Id::from_bytes([4; 12]),
            key_id: Id::from_bytes([5; 12]),
            token: "local".to_owned(),
            issuer_certificate_id: Id::from_bytes([5; 12]),
            ca: IssuingCa::new(&der, algorithm, Pointers::default()).unwrap(),
            chain: vec![der],
            profile,
        }
    }

    fn sign(&self, tbs: &[u8]) -> Vec<u8> {
        self.key.sign(&SystemRandom::new(), tbs).unwrap().as_ref().to_vec()
    }
}

impl Signing for Signer {
    fn check_key(&self, _: KeyId) -> Result<(), SigningError> {
        Ok(())
    }

    async fn sign_certificate<D>(
        &self,
        request: SigningRequest<'_, D>,
    ) -> Result<SignedTbs, SigningError>
    where
        D: Fn(SerialNonce) -> Result<Draft, DraftError> + Send + Sync,
    {
        if let Some(answer) = self.answer {
            return Err(answer());
        }
        let context = IssuanceContext::from_wire(&request.context).unwrap();
        self.contexts.lock().unwrap().push(context);
        let Draft { tbs, .. } = (request.draft)(Fixed([2; 40])).map_err(SigningError::Draft)?;
        let signature = self.sign(&tbs);
        Ok(SignedTbs { tbs, signature, journal: head() })
    }
}

/// A store that fails so many times before it takes a record.
#[derive(Default)]
pub(super) struct Store {
    pub(super) failures: AtomicUsize,
    pub(super) rows: Mutex<Vec<NewCertificate>>,
}

impl Records for Store {
    type Error = std::fmt::Error;

    async fn insert(&self, record: Arc<NewCertificate>) -> Result<Inserted, Self::Error> {
        let left = self.failures.load(Ordering::Relaxed);
        if left > 0 {
            self.failures.store(left - 1, Ordering::Relaxed);
            return Err(std::fmt::Error);
        }
        let id = record.certificate.id;
        self.rows.lock().unwrap().push(Arc::unwrap_or_clone(record));
        Ok(Inserted::New(id))
    }
}

/// A real store in which reconciliation has made the record of each certificate already, under
/// ids of its own.
pub(super) struct Late<'a>(pub(super) &'a crate::store::Store);

impl Late<'_> {
    pub(super) fn id() -> CertificateId {
        Id::from_bytes([77; 12])
    }
}

impl Records for Late<'_> {
    type Error = crate::store::StoreError;

    async fn insert(&self, record: Arc<NewCertificate>) -> Result<Inserted, Self::Error> {
        let mut recovered = NewCertificate::clone(&record);
        recovered.certificate.id = Self::id();
        recovered.certificate.csr_id = Some(Id::from_bytes([78; 12]));
        recovered.history.clear();
        self.0.insert_certificate(recovered).await?;
        self.0.insert(record).await
    }
}

pub(super) async fn try_issue<R: Records>(
    signer: &Signer,
    store: &R,
    profile: ProfileDefinition,
    request: CsrRequestBody<'_>,
) -> Result<Issued, IssueError> {
    let (issuer, bad_keys) = (signer.issuer(profile), BadKeys::shipped());
    let future = issue(issuance(&issuer, &bad_keys, request), signer, store);
    assert_send(&future);
    future.await
}

pub(super) fn try_preview(
    signer: &Signer,
    profile: ProfileDefinition,
    request: CsrRequestBody<'_>,
) -> Result<Preview, IssueError> {
    let (issuer, bad_keys) = (signer.issuer(profile), BadKeys::shipped());
    preview(&issuance(&issuer, &bad_keys, request))
}

fn issuance<'a>(
    issuer: &'a Issuer,
    bad_keys: &'a BadKeys,
    request: CsrRequestBody<'a>,
) -> CsrIssuance<'a> {
    let requester = Requester {
        request_id: "r-1",
        user_id: Id::from_bytes([1; 12]),
        username: "alice",
        team_id: Id::from_bytes([2; 12]),
    };
    CsrIssuance { requester, issuer, request, bad_keys, ids: ids(), now: NOW }
}

/// Handlers move between threads.
fn assert_send(_: &impl Send) {}

pub(super) fn body() -> CsrRequestBody<'static> {
    CsrRequestBody { csr: CSR, ..CsrRequestBody::default() }
}
