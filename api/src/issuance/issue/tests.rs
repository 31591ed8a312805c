//! Issuance with a signer and a store that can fail.

use chancery_shared::id::Id;
use chancery_shared::wire::{Refusal, RefusalCode};
use time::macros::datetime;

use self::fakes::{Late, NOW, Signer, Store, body, head, ids, try_issue, try_preview};
use super::*;
use crate::certificate::CertificateFacts;
use crate::certificate::history::HistoryEvent;
use crate::inventory::profile_definition::ProfileDefinition;
use crate::issuance::signing::{SignedTbs, SigningError};
use crate::signer_client::SignerError;

mod account;
mod fakes;

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
    assert_eq!(facts.recorded.subject_alt_names, ["DNS:pem-001.example.test", "IP:192.0.2.9"]);
    // The CA lives for 100 days: the certificate is cut to it.
    assert_eq!(facts.recorded.not_after, datetime!(2027-03-08 11:54:59 UTC));
    assert_eq!(issued.certificate_id, ids().certificate_id);
    assert_eq!(issued.pem, pem::certificate(&row.certificate.der));
    assert_eq!(row.certificate.csr_id, Some(ids().csr_id));
    assert_eq!(row.history[0].event, HistoryEvent::Created);
    assert_eq!(
        row.history[0].details,
        "User alice created the certificate; a CSR was provided; it ends with the CA certificate, \
         before the profile's lifetime is over"
    );
    assert_eq!(row.certificate.journal, Some(head()));
    assert_eq!(row.certificate.extra_details.as_deref(), Some("rack 12"));
    assert_eq!(row.certificate.extra_emails.as_deref(), Some(emails.as_slice()));
}

#[tokio::test]
async fn the_history_says_where_the_certificate_departs_from_the_request() {
    let short = || ProfileDefinition { lifetime_in_minutes: 60 * 24, ..ProfileDefinition::first() };
    let without_names = || ProfileDefinition { include_sans_from_csr: false, ..short() };
    let with_cn = || ProfileDefinition { add_cn_as_dns_san: true, ..short() };
    for (csr, profile, told) in [
        (&include_bytes!("../../../../tests/cases/attr/attr-013.pem")[..], short(), ""),
        (
            include_bytes!("../../../../tests/cases/attr/attr-013.pem"),
            with_cn(),
            "; the CN was added as a name (rule addCnAsDnsSan of the profile)",
        ),
        (
            include_bytes!("../../../../tests/cases/pem/pem-001.pem"),
            without_names(),
            "; the names of the CSR were left out (rule includeSansFromCsr of the profile)",
        ),
        (
            include_bytes!("../../../../tests/cases/san/san-021.pem"),
            short(),
            "; names that stood in the CSR more than once stand there once",
        ),
        (
            include_bytes!("../../../../tests/cases/attr/attr-023.pem"),
            short(),
            "; extKeyUsage of the CSR: the profile decided otherwise",
        ),
        (include_bytes!("../../../../tests/cases/attr/attr-035.pem"), short(), ""),
        (
            include_bytes!("../../../../tests/cases/attr/attr-020.pem"),
            short(),
            "; 1.3.6.1.4.1.55555.9.8 of the CSR: left out, not known here",
        ),
        (
            include_bytes!("../../../../tests/cases/dn/dn-005.pem"),
            short(),
            "; CN was put right from PrintableString to UTF8String",
        ),
    ] {
        let (signer, store) = (Signer::new(None), Store::default());
        let request = CsrRequestBody { csr, ..body() };

        let preview = try_preview(&signer, profile.clone(), request).unwrap();
        try_issue(&signer, &store, profile, request).await.unwrap();

        let history = store.rows.lock().unwrap()[0].history.clone();
        assert_eq!(
            history[0].details,
            format!("User alice created the certificate; a CSR was provided{told}")
        );
        assert_eq!(history, [preview.history]);
    }
}

#[tokio::test]
async fn a_name_that_the_body_writes_in_another_case_is_the_csr_s() {
    let (signer, store) = (Signer::new(None), Store::default());
    let profile = ProfileDefinition {
        include_sans_from_csr: false,
        lifetime_in_minutes: 60 * 24,
        ..ProfileDefinition::first()
    };
    let names = ["DNS:PEM-001.example.test".to_owned()];

    let request = CsrRequestBody { subject_alt_names: &names, ..body() };
    try_issue(&signer, &store, profile, request).await.unwrap();

    let details = store.rows.lock().unwrap()[0].history[0].details.clone();
    assert_eq!(details, "User alice created the certificate; a CSR was provided");
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
    let journaled = SignedTbs {
        tbs: parts[0].der.to_vec(),
        signature: parts[2].content[1..].to_vec(),
        journal: head(),
    };

    let csr = made.csr.as_deref();
    let history_id = Id::from_bytes([10; 12]);
    let made_by = MadeBy::Reconciliation { at: NOW + time::Duration::minutes(1), history_id };
    let found = new_record(&context, &journaled, csr, made_by).unwrap();

    assert_eq!(found.certificate, made.certificate);
    assert_eq!(found.csr, made.csr);
    let [created, recovered] = &found.history[..] else { panic!("two entries") };
    assert_eq!(*created, made.history[0]);
    assert_eq!((recovered.id, recovered.event), (history_id, HistoryEvent::Recovered));
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
async fn the_answer_has_the_id_of_the_record_that_there_is_whoever_made_it() {
    for (engine, test) in crate::store::testing::both().await {
        let (signer, late) = (Signer::new(None), Late(&test.store));

        let issuing = try_issue(&signer, &late, ProfileDefinition::first(), body());
        let issued = Box::pin(issuing).await.unwrap();

        assert_eq!(issued.certificate_id, Late::id(), "{engine}");
        assert!(test.store.certificate(Late::id()).await.unwrap().is_some(), "{engine}");
    }
}

fn policy_refusal() -> SigningError {
    let rule = Some("tbs.issuer".to_owned());
    let detail = "no".to_owned();
    let code = RefusalCode::PolicyViolation;
    SignerError::Refused(Refusal { code, rule, detail, retry_after_ms: None }).into()
}

#[tokio::test]
async fn a_request_that_the_signer_refuses_for_its_proof_is_told_what_is_at_fault() {
    let (signer, store) = (Signer::new(Some(policy_refusal)), Store::default());
    let bit_flipped = include_bytes!("../../../../tests/cases/key/key-034.pem");
    let request = CsrRequestBody { csr: bit_flipped, ..body() };

    let refused = try_issue(&signer, &store, ProfileDefinition::first(), request).await;

    assert_eq!(
        refused.unwrap_err().to_string(),
        "the csr does not prove possession of its key: the signature does not verify; sign it, as \
         it is, with the private key of its public key"
    );
}

#[tokio::test]
async fn a_refusal_of_the_signer_leaves_no_record() {
    let (signer, store) = (Signer::new(Some(policy_refusal)), Store::default());

    let refused = try_issue(&signer, &store, ProfileDefinition::first(), body()).await;

    assert!(matches!(
        refused,
        Err(IssueError::Signing(SigningError::Signer(SignerError::Refused(_))))
    ));
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
    let nameless = include_bytes!("../../../../tests/cases/dn/dn-017.pem");

    for (profile, request, message) in [
        (
            first(),
            CsrRequestBody::default(),
            "the csr is empty; paste the request as PEM or base64",
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

    let rows = store.rows.lock().unwrap();
    let told = &rows[0].history[0].details;
    assert!(told.contains("; its subject was turned (reverseCsrDn of the request)"), "{told}");
    let subject = &rows[0].certificate.subject_dn;
    assert_eq!(subject, "DC=test, DC=example, DC=corp, OU=Servers, CN=dn-022.example.test");
}
