//! Times in certificates, also those that the standard does not allow but that exist.

use der::Tag;
use time::{Date, Duration, Month, OffsetDateTime, Time};

use crate::asn1::Tlv;

/// Whether a life that ends with the second `not_after` is over at `now`: that second still belongs
/// to it, to its end (RFC 5280, section 4.1.2.5).
pub fn is_over(not_after: OffsetDateTime, now: OffsetDateTime) -> bool {
    now - not_after >= Duration::SECOND
}

/// Reads UTCTime or GeneralizedTime: seconds may be missing, an offset may stand for `Z`, the
/// year may lie before 1970.
pub(super) fn read(tlv: &Tlv<'_>) -> der::Result<OffsetDateTime> {
    let text = std::str::from_utf8(tlv.content).unwrap_or_default();
    let moment = match tlv.tag {
        Tag::UtcTime => number(text, 2).and_then(|(year, rest)| {
            // RFC 5280, section 4.1.2.5.1.
            rest_of(if year >= 50 { 1900 + year } else { 2000 + year }, rest)
        }),
        Tag::GeneralizedTime => number(text, 4).and_then(|(year, rest)| rest_of(year, rest)),
        other => return Err(other.unexpected_error(Some(Tag::UtcTime)).into()),
    };
    moment.ok_or_else(|| tlv.tag.value_error().into())
}

fn rest_of(year: u16, text: &str) -> Option<OffsetDateTime> {
    let (month, text) = number(text, 2)?;
    let (day, text) = number(text, 2)?;
    let (hour, text) = number(text, 2)?;
    let (minute, text) = number(text, 2)?;
    let (second, text) = number(text, 2).unwrap_or((0, text));
    let text = match text.strip_prefix('.') {
        Some(fraction) => fraction.trim_start_matches(|c: char| c.is_ascii_digit()),
        None => text,
    };
    let month = Month::try_from(u8::try_from(month).ok()?).ok()?;
    let date = Date::from_calendar_date(year.into(), month, u8::try_from(day).ok()?).ok()?;
    let [hour, minute, second] =
        [hour, minute, second].map(|part| u8::try_from(part).unwrap_or(u8::MAX));
    let local = date.with_time(Time::from_hms(hour, minute, second).ok()?).assume_utc();
    local.checked_sub(offset(text)?)
}

fn offset(text: &str) -> Option<Duration> {
    if text == "Z" {
        return Some(Duration::ZERO);
    }
    let (sign, text) = match text.split_at_checked(1)? {
        ("+", text) => (1, text),
        ("-", text) => (-1, text),
        _ => return None,
    };
    let (hours, text) = number(text, 2)?;
    let (minutes, text) = number(text, 2)?;
    text.is_empty().then(|| Duration::minutes((i64::from(hours) * 60 + i64::from(minutes)) * sign))
}

fn number(text: &str, digits: usize) -> Option<(u16, &str)> {
    let (digits, rest) = text.split_at_checked(digits)?;
    let is_number = digits.bytes().all(|b| b.is_ascii_digit());
    is_number.then(|| digits.parse().ok()).flatten().map(|number| (number, rest))
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    #[test]
    fn the_second_of_not_after_belongs_to_the_life_to_its_end() {
        let not_after = datetime!(2026-11-28 12:00:00 UTC);

        for (now, over) in [
            (datetime!(2026-11-28 11:59:59 UTC), false),
            (datetime!(2026-11-28 12:00:00 UTC), false),
            (datetime!(2026-11-28 12:00:00.999_999_999 UTC), false),
            (datetime!(2026-11-28 12:00:01 UTC), true),
        ] {
            assert_eq!(is_over(not_after, now), over, "{now}");
        }
    }
}
