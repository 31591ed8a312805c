//! The record of a certificate, field by field.

use std::collections::BTreeSet;
use std::path::Path;

use chancery_shared::bytes::Fixed;
use chancery_shared::id::Id;
use chancery_shared::wire::JournalHead;
use serde_json::Value;
use time::macros::datetime;

use super::odd::odd_certificates;
use super::*;
use crate::issuance::context::tests::context;
use crate::issuance::new_record::{MadeBy, new_record};
use crate::issuance::signing::SignedTbs;
use crate::settings;

const NOW: OffsetDateTime = datetime!(2026-11-28 12:00:00 UTC);

fn der(case: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cases/crt");
    let text = std::fs::read(folder.join(format!("{case}.cert.pem"))).unwrap();
    ::pem::parse(text).unwrap().into_contents()
}

fn stored(case: &str) -> StoredCertificate {
    let hash = Fixed([9; 32]);
    let journal = JournalHead { signer_id: Id::from_bytes([9; 12]), seq: 42, hash };
    // Taken apart and put together again, as if it had just been signed.
    let der = der(case);
    let parts = crate::asn1::Tlv::read(&der).unwrap().children().unwrap();
    let signature = parts[2].content[1..].to_vec();
    let signed = SignedTbs { tbs: parts[0].der.to_vec(), signature, journal };
    let mut new = new_record(&context(), &signed, None, MadeBy::Request).unwrap();
    // What assembles with one algorithm inside and another outside is not the same certificate.
    new.certificate.der = der;
    StoredCertificate {
        certificate: new.certificate,
        team_name: Some("Team".into()),
        cert_issuer_name: Some("Issuer".into()),
        history: new.history,
    }
}

fn as_of(now: OffsetDateTime) -> AsOf {
    let period = settings::Period { value: 1, unit: settings::TimeUnit::Days };
    AsOf { now, retention: Retention { period, over_at_change: None } }
}

fn record(case: &str) -> CertificateRecord {
    CertificateRecord::new(&stored(case), as_of(NOW)).unwrap()
}

#[test]
fn the_record_has_every_field_of_the_specification_in_its_order_and_then_ours() {
    let json = serde_json::to_string(&record("crt-014")).unwrap();

    let Value::Object(fields) = serde_json::from_str(&json).unwrap() else { panic!("{json}") };
    let specified = "id caId localCaId csrId pemCert commonName subjectDn issuerDn issuerCertId \
        serialNumber signatureAlgorithm hashAlgorithm keyUsages enhancedKeyUsages \
        subjectAlternativeNames validFrom validTo validFromStr validToStr ownerUserId \
        ownerUsername teamId active renewed renewedByCertId renewsCertId revoked history \
        extraDetails extraEmails trackExpiry isCa hasKeyData imported importTime aias cdps \
        thumbprint policies keySize eccCurve msTemplateName daysToExpiry status revocationTime \
        revocationReason issuerName teamName";
    let mut last = 0;
    for name in specified.split_whitespace() {
        let at = json.find(&format!("\"{name}\":")).unwrap_or_else(|| panic!("{name} is missing"));
        assert!(at >= last, "{name} stands too early");
        last = at;
    }
    assert_eq!(fields.len(), specified.split_whitespace().count());
    let nullable = [
        "renewedByCertId",
        "renewsCertId",
        "importTime",
        "eccCurve",
        "msTemplateName",
        "revocationTime",
        "revocationReason",
    ];
    for (name, value) in &fields {
        assert!(!value.is_null() || nullable.contains(&name.as_str()), "{name} is null");
    }
    assert_eq!(
        fields["history"],
        serde_json::json!([{
            "timestamp": "2026-11-28T12:00:00.123+00:00",
            "timestampStr": "2026-11-28 12:00:00.123",
            "event": "created",
            "details": "User alice created the certificate; a CSR was provided; keyUsage of the CSR \
                        was not taken",
        }])
    );
}

#[test]
fn odd_certificates_are_shown_as_they_are() {
    let mut seen = BTreeSet::new();
    for (case, field, shown) in odd_certificates() {
        let record = serde_json::to_value(record(case)).unwrap();
        assert_eq!(record[field], shown, "{case}");
        println!("ok    {case} {field} {shown}");
        seen.insert(case.to_owned());
    }
    let expired = record("crt-020").days_to_expiry;
    assert!(expired < 0.0 && expired.fract() != 0.0, "{expired}");
    let table = include_str!("../../../../tests/cases/table.jsonl");
    let rows = table.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let certificates = rows.filter(|row| row["use"] == "certificate");
    let listed: BTreeSet<_> =
        certificates.map(|row| row["id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(seen, listed);
}

#[test]
fn the_row_repeats_what_queries_need_and_the_days_have_a_fraction() {
    let row = stored("crt-014").certificate;

    assert_eq!(row.journal.unwrap().seq, 42);
    assert_eq!(row.created_at, context().requested_at);
    assert_eq!(row.thumbprint.len(), 40);
    assert_eq!(row.issuer_key.len(), 64);
    let half_a_day = datetime!(2026-11-29 00:00:08.64 UTC);
    assert!((days_between(NOW, half_a_day) - 0.5001).abs() < 1e-9);
    assert!(days_between(half_a_day, NOW) < 0.0);
}

#[test]
fn a_certificate_is_active_through_its_last_second_and_expired_from_then_on() {
    let stored = stored("crt-014");
    let last = stored.certificate.not_after;
    let shown = |now| {
        let record = CertificateRecord::new(&stored, as_of(now)).unwrap();
        (record.active, serde_json::to_value(record.status).unwrap())
    };

    assert_eq!(shown(last + time::Duration::milliseconds(999)), (true, "Active".into()));
    assert_eq!(shown(last + time::Duration::SECOND), (false, "Expired".into()));
}

proptest::proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic(bytes: Vec<u8>) {
        let _ = CertificateFacts::read(&bytes);
    }

    #[test]
    fn no_damage_to_a_certificate_makes_the_reader_panic(at in 0_usize..400, to: u8) {
        for case in ["crt-014", "crt-016", "crt-017"] {
            let mut der = der(case);
            if let Some(byte) = der.get_mut(at) {
                *byte = to;
            }
            let _ = CertificateFacts::read(&der);
        }
    }
}
