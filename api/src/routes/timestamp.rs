//! Times as the interface writes them: UTC, in the ISO form and in the plain one.

use time::{OffsetDateTime, UtcOffset};

/// `2026-11-27T22:37:28.000+00:00`.
pub fn iso(at: OffsetDateTime) -> String {
    format!("{}T{}.{:03}+00:00", date(at), clock(at), utc(at).millisecond())
}

/// `2026-11-27 22:37:28`.
pub fn plain(at: OffsetDateTime) -> String {
    format!("{} {}", date(at), clock(at))
}

/// `2026-11-27 22:37:28.000`.
pub fn plain_with_milliseconds(at: OffsetDateTime) -> String {
    format!("{} {}.{:03}", date(at), clock(at), utc(at).millisecond())
}

fn date(at: OffsetDateTime) -> String {
    let date = utc(at).date();
    format!("{:04}-{:02}-{:02}", date.year(), u8::from(date.month()), date.day())
}

fn clock(at: OffsetDateTime) -> String {
    let (hour, minute, second) = utc(at).to_hms();
    format!("{hour:02}:{minute:02}:{second:02}")
}

fn utc(at: OffsetDateTime) -> OffsetDateTime {
    at.to_offset(UtcOffset::UTC)
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    #[test]
    fn times_are_written_in_utc_with_every_digit() {
        let at = datetime!(2026-11-28 01:02:03.004_9 +02:00);

        assert_eq!(iso(at), "2026-11-27T23:02:03.004+00:00");
        assert_eq!(plain(at), "2026-11-27 23:02:03");
        assert_eq!(plain_with_milliseconds(at), "2026-11-27 23:02:03.004");
        assert_eq!(iso(datetime!(1950-01-01 0:00 UTC)), "1950-01-01T00:00:00.000+00:00");
    }
}
