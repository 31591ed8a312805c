//! The serial number by construction, and the times.

use chancery_shared::bytes::Fixed;
use time::Duration;
use time::macros::datetime;

use super::*;

const NOW: OffsetDateTime = datetime!(2026-11-28 12:00:00.5 UTC);
const NAME: &[u8] = &[0x30, 0x00];
/// Any well-formed value does: what it means is not judged here.
const SPKI: &[u8] = &[0x30, 0x02, 0x05, 0x00];

fn fields(validity: Period) -> Fields<'static> {
    let extensions = Vec::new();
    let signature_algorithm = SignatureAlgorithm::EcdsaSha256;
    Fields { signature_algorithm, issuer: NAME, validity, subject: NAME, spki: SPKI, extensions }
}

fn period(lifetime: Duration, within: Option<Period>) -> Result<Period, DraftError> {
    Period::new(NOW, Duration::minutes(5), lifetime, within)
}

#[test]
fn the_serial_number_is_made_from_nonce_and_bytes_and_has_twenty_octets() {
    let validity = period(Duration::days(1), None).unwrap();
    let nonce: SerialNonce = Fixed([7; 40]);

    let draft = lay_out(&fields(validity), nonce).unwrap();

    // The serial's tag follows the header of the TBS and the version.
    let at = 2 + VERSION_3.len();
    let serial = draft.tbs[at + 2..at + 22].to_vec();
    let mut blank = draft.tbs.clone();
    blank[at + 2..at + 22].fill(0);
    blank[at + 2] = 0x40;
    let hash = digest(&SHA256, &[&[7; 40][..], &blank].concat());
    assert_eq!(draft.tbs[at..at + 2], [0x02, 0x14]);
    assert_eq!(serial[0], hash.as_ref()[0] & 0x3f | 0x40);
    assert_eq!(serial[1..], hash.as_ref()[1..20]);
    let other = lay_out(&fields(validity), Fixed([8; 40])).unwrap();
    assert_ne!(other.tbs, draft.tbs);
}

#[test]
fn the_whole_life_counts_both_ends_and_stays_within_the_issuers() {
    let issuer = Period {
        not_before: datetime!(2026-11-28 11:58:00 UTC),
        not_after: datetime!(2026-12-01 00:00:00 UTC),
    };

    let free = period(Duration::days(1), None).unwrap();
    let cut = period(Duration::days(30), Some(issuer)).unwrap();

    assert_eq!(free.not_before, datetime!(2026-11-28 11:55:00 UTC));
    assert_eq!(free.not_after, datetime!(2026-11-29 11:54:59 UTC));
    assert_eq!(cut, issuer);
    let last = Period { not_after: datetime!(2026-11-28 12:00:00 UTC), ..issuer };
    assert_eq!(period(Duration::days(1), Some(last)), Ok(last), "its last second has begun");
    let over = Period { not_after: datetime!(2026-11-28 11:59:59 UTC), ..issuer };
    assert_eq!(period(Duration::days(1), Some(over)), Err(DraftError::CaExpired));
}

#[test]
fn years_from_2050_on_are_generalized_time() {
    for (at, tag) in
        [(datetime!(2049-12-31 23:59:59 UTC), 0x17), (datetime!(2050-01-01 0:00 UTC), 0x18)]
    {
        let validity = Period { not_before: NOW, not_after: at };

        let der = validity.to_der().unwrap();

        // SEQUENCE header, then a UTCTime of 15 octets in all, then notAfter.
        assert_eq!(der[2 + 15], tag, "{at}");
    }
    let beyond = NOW.replace_year(9999).unwrap() + Duration::days(1);
    assert!(Period { not_before: NOW, not_after: beyond }.to_der().is_ok());
    let before = Period { not_before: datetime!(1969-12-31 23:59:59 UTC), not_after: NOW };
    assert_eq!(before.to_der(), Err(DraftError::Validity));
}

#[test]
fn a_draft_over_the_limit_of_the_wire_is_refused() {
    let validity = period(Duration::days(1), None).unwrap();
    let oid = der::asn1::ObjectIdentifier::new_unwrap("1.2.3");
    let extn_value = der::asn1::OctetString::new(vec![0; MAX_DER]).unwrap();
    let extension = Extension { extn_id: oid, critical: false, extn_value };

    let refused =
        lay_out(&Fields { extensions: vec![extension], ..fields(validity) }, Fixed([0; 40]));

    assert_eq!(refused, Err(DraftError::TooLarge));
}
