//! Moments as text, in the forms that clients of this service parse.

use time::format_description::BorrowedFormatItem;
use time::format_description::well_known::Rfc3339;
use time::macros::format_description;
use time::{Date, OffsetDateTime};

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

/// The moment that a client wrote: ISO 8601 with `T` or a blank between date and time, which may have
/// no seconds or up to nine digits of one, and an offset, without which it is UTC. `None` where it is
/// none.
pub fn read(text: &str) -> Option<OffsetDateTime> {
    let (date, time) = text.trim().split_once(['T', 't', ' '])?;
    let (time, offset) = match time.find(['Z', 'z', '+', '-', ' ']) {
        // A `+` that was not written as %2B comes as a blank.
        Some(at) => time.split_at_checked(at).map(|(t, o)| (t, o.replacen(' ', "+", 1)))?,
        None => (time, "Z".to_owned()),
    };
    let seconds = if time.matches(':').count() == 2 { "" } else { ":00" };
    // The offset without a colon, as old Java clients write it.
    let offset = if offset.len() == 5 {
        format!("{}:{}", offset.get(..3)?, offset.get(3..)?)
    } else {
        offset
    };
    OffsetDateTime::parse(&format!("{date}T{time}{seconds}{offset}"), &Rfc3339).ok()
}

/// Unix milliseconds, as the store keeps moments.
pub fn to_millis(moment: OffsetDateTime) -> i64 {
    let millis = moment.unix_timestamp_nanos().div_euclid(1_000_000);
    // `OffsetDateTime` ends at the year 9999, far inside of `i64`.
    i64::try_from(millis).unwrap_or(i64::MAX)
}

/// The moment that [`to_millis`] was given, cut to milliseconds; 1970 or the end of the calendar where
/// a stored number lies outside of it.
pub fn from_millis(millis: i64) -> OffsetDateTime {
    OffsetDateTime::from_unix_timestamp_nanos(i128::from(millis) * 1_000_000).unwrap_or(
        if millis < 0 {
            OffsetDateTime::UNIX_EPOCH
        } else {
            time::macros::datetime!(9999-12-31 23:59:59 UTC)
        },
    )
}

/// The first and the last millisecond of what a client calls a moment: `2026-11-27T22:37:28.000+00:00`
/// or less of it, UTC where it does not say. A date alone is its whole day.
pub fn span(text: &str) -> Option<(i64, i64)> {
    let text = text.trim();
    if let Ok(date) = Date::parse(text, DATE) {
        let begin = to_millis(date.midnight().assume_utc());
        return Some((begin, begin + 86_400_000 - 1));
    }
    let moment = read(text)?;
    // What lies between two milliseconds is after the first and before the second.
    let (last, rest) = (to_millis(moment), moment.nanosecond() % 1_000_000);
    Some((last + i64::from(rest != 0), last))
}

fn text(moment: OffsetDateTime, format: &[BorrowedFormatItem<'_>]) -> String {
    // Every component stands in every moment, so formatting can't fail.
    moment.to_offset(time::UtcOffset::UTC).format(format).unwrap_or_default()
}

const WITH_OFFSET: &[BorrowedFormatItem<'_>] = format_description!(
    "[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:3][offset_hour sign:mandatory]:[offset_minute]"
);
const DATE: &[BorrowedFormatItem<'_>] = format_description!("[year]-[month]-[day]");
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
    fn a_moment_is_read_in_each_form_that_clients_write() {
        for text in [
            "2026-11-27T22:37:28",
            "2026-11-27 22:37:28",
            "2026-11-27T22:37:28Z",
            "2026-11-27T22:37:28.000+00:00",
            "2026-11-28T00:37:28.000000000+02:00",
            "2026-11-27T14:37:28.0-0800",
            " 2026-11-27 22:37:28.0 ",
        ] {
            assert_eq!(read(text), Some(datetime!(2026-11-27 22:37:28 UTC)), "{text}");
        }
        for text in
            ["", "2026-11-27", "2026-13-27T22:37:28Z", "1795820248", "27.11.2026 22:37:28", "ä"]
        {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn a_moment_of_a_client_may_leave_out_what_is_usual() {
        let moment = 1_795_819_048_000;
        for text in [
            "2026-11-27T22:37:28.000+00:00",
            "2026-11-27T22:37:28.000 00:00",
            "2026-11-27T22:37:28Z",
            "2026-11-27 22:37:28",
            "2026-11-28T00:37:28+0200",
            "2026-11-27T22:37:28.000000000",
        ] {
            assert_eq!(span(text), Some((moment, moment)), "{text}");
        }
        assert_eq!(span("2026-11-27T22:37:28.0000001"), Some((moment + 1, moment)));
        assert_eq!(span("2026-11-27T22:37"), Some((moment - 28_000, moment - 28_000)));
        assert_eq!(span("2026-11-27").map(|(from, to)| to - from), Some(86_399_999));
        for text in ["", "now", "2026-13-01", "2026-11-27T25:00", "1795819048", "2026-11-27T1:2:3é"]
        {
            assert_eq!(span(text), None, "{text}");
        }
    }

    #[test]
    fn milliseconds_round_trip_before_and_after_the_epoch() {
        for moment in [datetime!(1950-01-01 00:00:00.001 UTC), datetime!(2026-11-28 02:00 UTC)] {
            assert_eq!(from_millis(to_millis(moment)), moment);
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_the_reader_panic(text: String, ascii in "[0-9T:+. -]{0,40}") {
            let _ = read(&text);
            let _ = read(&ascii);
        }

        #[test]
        fn what_is_told_is_read_again(millis in -62_135_596_800_000_i64..253_402_300_799_999) {
            let moment = from_millis(millis);

            proptest::prop_assert_eq!(read(&with_offset(moment)), Some(moment));
            proptest::prop_assert_eq!(read(&plain_with_milliseconds(moment)), Some(moment));
        }
    }
}
