//! What an import says of a revocation.

use time::OffsetDateTime;

use crate::certificate::RevocationReason;
use crate::certificate::history::HistoryEvent;
use crate::error::ApiError;
use crate::store::certificate::StoredCertificate;
use crate::timestamp;

/// A revocation that came with a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Revocation {
    /// Since when.
    pub at: OffsetDateTime,
    /// Why; never `removeFromCRL`.
    pub reason: RevocationReason,
}

/// The three fields as they were sent.
#[derive(Clone, Copy, Debug, Default)]
pub struct RevocationFields<'a> {
    /// `revoked`.
    pub revoked: Option<bool>,
    /// `revocationTime`.
    pub time: Option<&'a str>,
    /// `revocationReason`.
    pub reason: Option<&'a str>,
}

impl RevocationFields<'_> {
    /// The revocation that they tell of. Without a time it is now, without a reason `unspecified`;
    /// the reason `removeFromCRL` says that there is none.
    ///
    /// # Errors
    ///
    /// A field that can't be read, a time in the future, or time or reason without `revoked`.
    pub fn read(self, now: OffsetDateTime) -> Result<Option<Revocation>, ApiError> {
        let reason = self.reason.map(str::parse::<RevocationReason>).transpose();
        let reason =
            reason.map_err(|no| ApiError::invalid_field("revocationReason", no.to_string()))?;
        let time = self.time.map(|text| moment(text, now)).transpose()?;
        if reason == Some(RevocationReason::RemoveFromCrl) {
            return Ok(None);
        }
        if self.revoked != Some(true) {
            let given =
                [("revocationTime", time.is_some()), ("revocationReason", reason.is_some())];
            return match given.iter().find(|(_, is_given)| *is_given) {
                Some((field, _)) => Err(ApiError::invalid_field(
                    field,
                    "is given though revoked is not true; send revoked: true or leave it out",
                )),
                None => Ok(None),
            };
        }
        let reason = reason.unwrap_or(RevocationReason::Unspecified);
        Ok(Some(Revocation { at: time.unwrap_or(now), reason }))
    }
}

fn moment(text: &str, now: OffsetDateTime) -> Result<OffsetDateTime, ApiError> {
    let at = timestamp::read(text).ok_or_else(|| {
        let example = "is no moment; write it as 2026-11-27T22:37:28.000+00:00";
        ApiError::invalid_field("revocationTime", example)
    })?;
    if at > now {
        let message = "lies in the future; send the moment since which it is revoked";
        return Err(ApiError::invalid_field("revocationTime", message));
    }
    Ok(at)
}

impl Revocation {
    /// Whether it says more than the record: that one is not revoked, or on hold alone, and nobody
    /// has taken it off hold after this revocation. Any other revocation is final.
    pub fn is_newer_than(&self, stored: &StoredCertificate) -> bool {
        let row = &stored.certificate;
        if row.revoked {
            let on_hold = RevocationReason::CertificateHold.to_string();
            let is_on_hold = row.revocation_reason.as_ref() == Some(&on_hold);
            return is_on_hold && self.reason != RevocationReason::CertificateHold;
        }
        let released = stored.history.iter().filter(|it| it.event == HistoryEvent::Released);
        released.map(|it| it.happened_at).max().is_none_or(|at| self.at > at)
    }

    /// For a history.
    pub fn clause(&self) -> String {
        format!("revoked since {} ({})", timestamp::plain(self.at), self.reason)
    }
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    const NOW: OffsetDateTime = datetime!(2026-11-28 12:00:00 UTC);

    #[test]
    fn a_revocation_is_read_from_its_three_fields() {
        use RevocationReason as R;
        let before = datetime!(2026-11-01 10:00:00.5 UTC);
        let time = Some("2026-11-01 10:00:00.5");
        let some = |at, reason| Some(Revocation { at, reason });
        for (revoked, time, reason, expected) in [
            (None, None, None, None),
            (Some(false), None, None, None),
            (Some(true), None, None, some(NOW, R::Unspecified)),
            (Some(true), time, None, some(before, R::Unspecified)),
            (Some(true), time, Some("Key Compromise"), some(before, R::KeyCompromise)),
            (Some(true), time, Some("remove from CRL"), None),
            (None, time, Some("removeFromCRL"), None),
        ] {
            let read = RevocationFields { revoked, time, reason }.read(NOW).unwrap();
            assert_eq!(read, expected, "{revoked:?} {time:?} {reason:?}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_named() {
        for (revoked, time, reason, field) in [
            (Some(true), Some("yesterday"), None, "revocationTime"),
            (Some(true), Some("2026-11-28 12:00:00.001"), None, "revocationTime"),
            (Some(true), None, Some("stolen"), "revocationReason"),
            (Some(false), None, Some("superseded"), "revocationReason"),
            (None, Some("2026-11-01 10:00:00"), None, "revocationTime"),
        ] {
            let refused = RevocationFields { revoked, time, reason }.read(NOW).unwrap_err();
            assert!(refused.to_string().starts_with(field), "{refused}");
        }
    }
}
