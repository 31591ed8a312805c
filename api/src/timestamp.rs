//! Moments as text, in the forms that clients of this service parse.

use time::OffsetDateTime;
use time::format_description::BorrowedFormatItem;
use time::macros::format_description;

/// `2026-11-27T22:37:28.000+00:00`: always milliseconds and offset, always UTC.
pub fn with_offset(moment: OffsetDateTime) -> String {
    text(moment, WITH_OFFSET)
}

/// `2026-11-27 22:37:28`, UTC.
pub fn plain(moment: OffsetDateTime) -> String {
    text(moment, PLAIN)
}

/// `2026-11-27 22:37:28.000`, UTC.
pub fn plain_with_milliseconds(moment: OffsetDateTime) -> String {
    text(moment, PLAIN_WITH_MILLISECONDS)
}

/// Unix milliseconds, as the store keeps moments.
pub fn to_millis(moment: OffsetDateTime) -> i64 {
    let millis = moment.unix_timestamp_nanos().div_euclid(1_000_000);
    // `OffsetDateTime` ends at the year 9999, far inside of `i64`.
    i64::try_from(millis).unwrap_or(i64::MAX)
}

/// The moment that [`to_millis`] was given, cut to milliseconds; the nearest one that can be
/// named where a stored number lies outside of the calendar.
pub fn from_millis(millis: i64) -> OffsetDateTime {
    OffsetDateTime::from_unix_timestamp_nanos(i128::from(millis) * 1_000_000).unwrap_or(
        if millis < 0 {
            OffsetDateTime::UNIX_EPOCH
        } else {
            time::macros::datetime!(9999-12-31 23:59:59 UTC)
        },
    )
}

fn text(moment: OffsetDateTime, format: &[BorrowedFormatItem<'_>]) -> String {
    // Every component stands in every moment, so formatting can't fail.
    moment.to_offset(time::UtcOffset::UTC).format(format).unwrap_or_default()
}

const WITH_OFFSET: &[BorrowedFormatItem<'_>] = format_description!(
    "[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:3][offset_hour sign:mandatory]:[offset_minute]"
);
const PLAIN: &[BorrowedFormatItem<'_>] =
    format_description!("[year]-[month]-[day] [hour]:[minute]:[second]");
const PLAIN_WITH_MILLISECONDS: &[BorrowedFormatItem<'_>] =
    format_description!("[year]-[month]-[day] [hour]:[minute]:[second].[subsecond digits:3]");

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    #[test]
    fn a_moment_is_told_in_utc_in_each_form() {
        let moment = datetime!(2026-11-28 00:37:28.0049 +02:00);

        assert_eq!(with_offset(moment), "2026-11-27T22:37:28.004+00:00");
        assert_eq!(plain(moment), "2026-11-27 22:37:28");
        assert_eq!(plain_with_milliseconds(moment), "2026-11-27 22:37:28.004");
    }

    #[test]
    fn milliseconds_round_trip_before_and_after_the_epoch() {
        for moment in [datetime!(1950-01-01 00:00:00.001 UTC), datetime!(2026-11-28 02:00 UTC)] {
            assert_eq!(from_millis(to_millis(moment)), moment);
        }
    }
}
