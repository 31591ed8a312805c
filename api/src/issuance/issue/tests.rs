use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use aws_lc_rs::encoding::AsDer as _;
use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair as _};
use chancery_shared::bytes::{Fixed, SerialNonce};
use chancery_shared::certificate::assemble;
use chancery_shared::id::Id;
use chancery_shared::wire::algorithm::SignatureAlgorithm;
use chancery_shared::wire::{JournalHead, Refusal, RefusalCode};
use time::macros::datetime;

use super::*;
use crate::certificate::CertificateFacts;
use crate::certificate::history::HistoryEvent;
use crate::issuance::ca_certificate::{CaSubject, draft_own};
use crate::issuance::extensions::Pointers;
use crate::issuance::tbs::{Draft, DraftError};
use crate::name::dn_text;

const NOW: OffsetDateTime = datetime!(2026-11-28 12:00:00 UTC);
const CSR: &[u8] = include_bytes!("../../../../tests/cases/pem/pem-001.pem");

fn ids() -> NewIds {
    NewIds {
        certificate_id: Id::from_bytes([6; 12]),
        csr_id: Id::from_bytes([7; 12]),
        history_id: Id::from_bytes([8; 12]),
    }
}

fn head() -> JournalHead {
    JournalHead { signer_id: Id::from_bytes([9; 12]), seq: 7, hash: Fixed([1; 32]) }
}

/// A CA key in memory that signs what it is given, and keeps the context.
struct Signer {
    key: EcdsaKeyPair,
    answer: Option<fn() -> SigningError>,
    contexts: Mutex<Vec<IssuanceContext>>,
}

impl Signer {
    fn new(answer: Option<fn() -> SigningError>) -> Self {
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
            issuer_certificate_id: Id::from_bytes([5; 12]),
            ca: IssuingCa::new(&der, algorithm, Pointers::default()).unwrap(),
            profile,
        }
    }

    fn sign(&self, tbs: &[u8]) -> Vec<u8> {
        self.key.sign(&SystemRandom::new(), tbs).unwrap().as_ref().to_vec()
    }
}

impl Signing for Signer {
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
struct Store {
    failures: AtomicUsize,
    rows: Mutex<Vec<NewRecord>>,
}

impl Records for Store {
    type Error = std::fmt::Error;

    async fn insert(&self, record: &NewRecord) -> Result<Inserted, Self::Error> {
        let left = self.failures.load(Ordering::Relaxed);
        if left > 0 {
            self.failures.store(left - 1, Ordering::Relaxed);
            return Err(std::fmt::Error);
        }
        self.rows.lock().unwrap().push(record.clone());
        Ok(Inserted::New)
    }
}

async fn try_issue(
    signer: &Signer,
    store: &Store,
    profile: ProfileDefinition,
    request: CsrRequestBody<'_>,
) -> Result<Issued, IssueError> {
    let issuer = signer.issuer(profile);
    let requester = Requester {
        request_id: "r-1",
        user_id: Id::from_bytes([1; 12]),
        username: "alice",
        team_id: Id::from_bytes([2; 12]),
    };
    let issuance = CsrIssuance { requester, issuer: &issuer, request, ids: ids(), now: NOW };
    issue(issuance, signer, store).await
}

fn body() -> CsrRequestBody<'static> {
    CsrRequestBody { csr: CSR, ..CsrRequestBody::default() }
}

#[tokio::test]
async fn a_csr_becomes_a_certificate_and_its_record() {
    let (signer, store) = (Signer::new(None), Store::default());
    let names = ["IP:192.0.2.9".to_owned(), "DNS:PEM-001.example.test".to_owned()];
    let emails = ["ops@example.test".to_owned()];
    let request = CsrRequestBody {
        subject_alt_names: &names,
        extra_info: Some("rack 12"),
        extra_emails: &emails,
        ..body()
    };

    let issued = try_issue(&signer, &store, ProfileDefinition::first(), request).await.unwrap();

    let rows = store.rows.lock().unwrap();
    let row = &rows[0];
    let facts = CertificateFacts::read(&row.certificate.der).unwrap();
    assert_eq!(facts.subject_alt_names, ["DNS:pem-001.example.test", "IP:192.0.2.9"]);
    // The CA lives for 100 days: the certificate is cut to it.
    assert_eq!(facts.not_after, datetime!(2027-03-08 11:54:59 UTC));
    assert_eq!(issued.certificate_id, ids().certificate_id);
    assert_eq!(issued.pem, pem::certificate(&row.certificate.der));
    assert_eq!(row.csr.as_ref().unwrap().csr_id, ids().csr_id);
    assert_eq!(row.history.event, HistoryEvent::Created);
    assert_eq!(row.history.details, "User alice created the certificate; a CSR was provided");
    assert_eq!(row.journal, head());
    assert_eq!(row.certificate.extra_details.as_deref(), Some("rack 12"));
    assert_eq!(row.certificate.extra_emails.as_deref(), Some(emails.as_slice()));
}

#[tokio::test]
async fn reconciliation_makes_the_same_record_from_what_the_journal_has() {
    let (signer, store) = (Signer::new(None), Store::default());
    try_issue(&signer, &store, ProfileDefinition::first(), body()).await.unwrap();
    let made = store.rows.lock().unwrap().remove(0);
    let context = signer.contexts.lock().unwrap().remove(0);
    let der = &made.certificate.der;
    // What the journal holds: the TBS and the signature, whole.
    let parts = crate::asn1::Tlv::read(der).unwrap().children().unwrap();
    let signed = SignedTbs {
        tbs: parts[0].der.to_vec(),
        signature: parts[2].content[1..].to_vec(),
        journal: head(),
    };

    let csr = made.csr.as_ref().map(|csr| csr.der.as_slice());
    let found = NewRecord::of(&context, &signed, csr, MadeBy::Reconciliation(NOW)).unwrap();

    assert_eq!(found.certificate, made.certificate);
    assert_eq!(found.csr, made.csr);
    assert_eq!(found.history.event, HistoryEvent::Recovered);
}

#[tokio::test(start_paused = true)]
async fn a_store_that_stumbles_gets_the_record_again() {
    let signer = Signer::new(None);
    let store = Store { failures: RETRIES.len().into(), ..Store::default() };

    let issued = try_issue(&signer, &store, ProfileDefinition::first(), body()).await;

    assert!(issued.is_ok());
    assert_eq!(signer.contexts.lock().unwrap().len(), 1, "it is signed once");
}

#[tokio::test(start_paused = true)]
async fn a_store_that_is_away_leaves_the_id_under_which_the_record_will_appear() {
    let signer = Signer::new(None);
    let store = Store { failures: (RETRIES.len() + 1).into(), ..Store::default() };

    let refused = try_issue(&signer, &store, ProfileDefinition::first(), body()).await;

    let expected = ids().certificate_id;
    assert!(
        matches!(refused, Err(IssueError::NotRecorded { certificate_id, .. }) if certificate_id == expected)
    );
}

#[tokio::test]
async fn a_refusal_of_the_signer_leaves_no_record() {
    let refusal = || {
        let rule = Some("tbs.issuer".to_owned());
        let detail = "no".to_owned();
        let code = RefusalCode::PolicyViolation;
        SigningError::Refused(Refusal { code, rule, detail, retry_after_ms: None })
    };
    let (signer, store) = (Signer::new(Some(refusal)), Store::default());

    let refused = try_issue(&signer, &store, ProfileDefinition::first(), body()).await;

    assert!(matches!(refused, Err(IssueError::Signing(SigningError::Refused(_)))));
    assert!(store.rows.lock().unwrap().is_empty());
}

#[tokio::test]
async fn what_is_wrong_with_a_request_is_found_before_the_signer_is_asked() {
    let never = || panic!("the signer was asked");
    let (signer, store) = (Signer::new(Some(never)), Store::default());
    let narrow = ProfileDefinition {
        allowed_key_algorithms: vec!["RSA 2048".parse().unwrap()],
        ..ProfileDefinition::first()
    };
    let first = ProfileDefinition::first;
    let bad_name = ["UPN:x".to_owned()];
    let bad_email = ["x".to_owned()];
    let bit_flipped = include_bytes!("../../../../tests/cases/key/key-034.pem");
    let nameless = include_bytes!("../../../../tests/cases/dn/dn-017.pem");

    for (profile, request, message) in [
        (
            first(),
            CsrRequestBody::default(),
            "the csr is empty; paste the request as PEM or base64",
        ),
        (
            first(),
            CsrRequestBody { csr: bit_flipped, ..body() },
            "the csr does not prove possession of its key: the signature does not verify",
        ),
        (
            first(),
            CsrRequestBody { csr: nameless, ..body() },
            "the certificate would have no name at all; give a subject or an alternative name",
        ),
        (
            first(),
            CsrRequestBody { subject_alt_names: &bad_name, ..body() },
            "subjectAltNames: \"UPN:x\" is not accepted: the type \"UPN\" is not known; write DNS, EMAIL, IP or URI",
        ),
        (
            first(),
            CsrRequestBody { extra_emails: &bad_email, ..body() },
            "extraEmails: \"x\" is not a mail address such as user@host.example",
        ),
        (narrow, body(), "the profile does not allow this kind of key; it allows RSA 2048"),
    ] {
        let refused = try_issue(&signer, &store, profile, request).await.unwrap_err();
        assert_eq!(refused.to_string(), message);
    }
}

#[tokio::test]
async fn a_reversed_subject_has_the_same_attributes_turned() {
    let (signer, store) = (Signer::new(None), Store::default());
    let csr = include_bytes!("../../../../tests/cases/dn/dn-022.pem");
    let request = CsrRequestBody { csr, reverse_csr_dn: true, ..body() };

    try_issue(&signer, &store, ProfileDefinition::first(), request).await.unwrap();

    let subject = &store.rows.lock().unwrap()[0].certificate.subject_dn;
    assert_eq!(subject, "DC=test, DC=example, DC=corp, OU=Servers, CN=dn-022.example.test");
}
