//! When a certificate may begin and end.

use time::{Duration, OffsetDateTime};

use super::tbs::Tbs;
use super::violation::PolicyViolation;

/// How far notBefore may lie ahead of the signer's clock. Both processes read one kernel clock;
/// this is for a clock that is set back a little between drafting and checking.
const AHEAD: Duration = Duration::seconds(10);

/// A request may be this old when it is checked: the time to serve it, and as much to send it.
/// Without it a draft at the edge of the back-date window would pass or not by chance.
const ON_ITS_WAY: Duration = Duration::seconds(60);

/// The bounds of one certificate's life.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// Of the policy.
    pub(super) backdate_minutes: u32,
    /// Of the policy, for this kind of certificate.
    pub(super) max_days: u32,
    /// The CA certificate's notAfter, unless the certificate is the CA's own.
    pub(super) issuer_ends: Option<OffsetDateTime>,
}

/// Checks notBefore and notAfter against the clock and their bounds.
pub(super) fn check(
    tbs: &Tbs<'_>,
    bounds: Bounds,
    now: OffsetDateTime,
) -> Result<(), PolicyViolation> {
    let (not_before, not_after) = (tbs.not_before.at, tbs.not_after.at);
    let backdate = Duration::minutes(i64::from(bounds.backdate_minutes));
    let earliest = now.checked_sub(backdate + ON_ITS_WAY).unwrap_or(now);
    if not_before < earliest {
        return Err(PolicyViolation::NotBeforeTooEarly(earliest));
    }
    let latest = now.checked_add(AHEAD).unwrap_or(now);
    if not_before > latest {
        return Err(PolicyViolation::NotBeforeInFuture(latest));
    }
    if not_after <= not_before {
        return Err(PolicyViolation::NotAfterFirst);
    }
    // RFC 5280, section 4.1.2.5: the second of notAfter still belongs to the validity.
    if now - not_after >= Duration::SECOND {
        return Err(PolicyViolation::AlreadyOver);
    }
    let validity = not_after - not_before + Duration::SECOND;
    if validity > Duration::days(i64::from(bounds.max_days)) {
        return Err(PolicyViolation::ValidityTooLong(bounds.max_days));
    }
    match bounds.issuer_ends {
        Some(end) if not_after > end => Err(PolicyViolation::BeyondIssuer(end)),
        _ => Ok(()),
    }
}
