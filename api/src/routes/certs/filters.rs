//! Filters as they come in, checked: what they name is looked up, what they bound is bounded.

use chancery_shared::id::CertIssuerId;
use serde_json::Value;
use time::{Duration, OffsetDateTime};

use super::super::json::certificate_search::CertificateSearch;
use super::super::validate::Faults;
use crate::app::AppState;
use crate::certificate::text_filter::{TextFilter, TextKind};
use crate::error::ApiError;
use crate::records::visibility::Sight;
use crate::reference::by_either;
use crate::store::account::Account;
use crate::store::certificate::search::{RecordNo, Search, Span, States};
use crate::store::team::Team;
use crate::timestamp::{self, to_millis};

/// A search that may be made.
#[derive(Debug)]
pub(super) struct Checked {
    /// `None`: a filter names what does not exist, so that nothing can be found.
    pub(super) search: Option<Search>,
    pub(super) after: Option<RecordNo>,
    /// As it was asked for.
    pub(super) limit: Option<u32>,
}

/// Checks all of it, so that one answer names every field at fault. What the user does not see is not
/// looked for.
pub(super) async fn check(
    state: &AppState,
    sight: Sight,
    asked: &CertificateSearch,
) -> Result<Checked, ApiError> {
    let now = state.clock.now();
    let mut faults = Faults::default();
    check_lengths(&mut faults, asked);
    // Nothing that long or odd is looked at any further.
    faults.finish()?;

    let mut faults = Faults::default();
    let limit = limit(&mut faults, asked);
    let after = after(&mut faults, state, asked.after.as_ref()).await?;
    let mut search = Search {
        subject_dn: text(&mut faults, "subjectDn", DN, asked.subject_dn.as_deref()),
        issuer_dn: text(&mut faults, "issuerDn", DN, asked.issuer_dn.as_deref()),
        common_name: text(
            &mut faults,
            "commonName",
            TextKind::CommonName,
            asked.common_name.as_deref(),
        ),
        subject_alt_names: text(
            &mut faults,
            "san",
            TextKind::AlternativeNames,
            asked.san.as_deref(),
        ),
        extra_details: text(&mut faults, "extraInfo", TextKind::Free, asked.extra_info.as_deref()),
        serial_number: serial_number(&mut faults, asked.serial_number.as_deref()),
        thumbprint: thumbprint(&mut faults, asked.thumbprint.as_deref()),
        not_before: Span {
            from: moment(
                &mut faults,
                "validFromFrom",
                Edge::From,
                asked.valid_from_from.as_deref(),
            ),
            to: moment(&mut faults, "validFromTo", Edge::To, asked.valid_from_to.as_deref()),
        },
        not_after: Span {
            from: moment(&mut faults, "validToFrom", Edge::From, asked.valid_to_from.as_deref()),
            to: moment(&mut faults, "validToTo", Edge::To, asked.valid_to_to.as_deref()),
        },
        viewer: sight.viewer(),
        ..Search::default()
    };
    if let Some(days) = days(&mut faults, asked.expiring_in_days.as_ref()) {
        let end = to_millis(now.saturating_add(Duration::days(days)));
        search.not_after = search.not_after.and(Span { from: last_over(now) + 1, to: end });
    }
    if let Some(status) = &asked.status {
        match with_status(&search, status, now) {
            Some(with_status) => search = with_status,
            None => faults.add("status", "must be Active, Expired, Revoked or Renewed"),
        }
    }
    faults.finish()?;
    let is_known = look_up(state, asked, &mut search).await?;
    Ok(Checked { search: is_known.then_some(search), after, limit })
}

/// `false` where a filter names what does not exist.
async fn look_up(
    state: &AppState,
    asked: &CertificateSearch,
    search: &mut Search,
) -> Result<bool, ApiError> {
    let store = &state.store;
    if let Some(name) = &asked.team_name {
        search.team_id = by_either::<Team>(store, name).await?.map(|team| team.id);
    }
    if let Some(name) = &asked.owner_username {
        search.owner_user_id = by_either::<Account>(store, name).await?.map(|user| user.id);
    }
    if let Some(name) = &asked.ca_name {
        // Also those that are deleted: what they issued is there.
        search.cert_issuer_ids = Some(match name.parse::<CertIssuerId>() {
            Ok(id) => vec![id],
            Err(_) => store.cert_issuers_named(name).await?,
        });
    }
    Ok((asked.team_name.is_none() || search.team_id.is_some())
        && (asked.owner_username.is_none() || search.owner_user_id.is_some()))
}

const DN: TextKind = TextKind::DistinguishedName;

fn check_lengths(faults: &mut Faults, asked: &CertificateSearch) {
    for (field, value) in [
        ("subjectDn", &asked.subject_dn),
        ("issuerDn", &asked.issuer_dn),
        ("commonName", &asked.common_name),
        ("san", &asked.san),
        ("serialNumber", &asked.serial_number),
        ("thumbprint", &asked.thumbprint),
        ("status", &asked.status),
        ("caName", &asked.ca_name),
        ("teamName", &asked.team_name),
        ("ownerUsername", &asked.owner_username),
        ("extraInfo", &asked.extra_info),
        ("validFromFrom", &asked.valid_from_from),
        ("validFromTo", &asked.valid_from_to),
        ("validToFrom", &asked.valid_to_from),
        ("validToTo", &asked.valid_to_to),
    ] {
        let Some(value) = value else { continue };
        if value.contains('\0') {
            faults.add(field, "has a NUL character; leave it out");
        }
        faults.check_length(field, value, MOST_CHARACTERS);
    }
}

fn text(
    faults: &mut Faults,
    field: &str,
    kind: TextKind,
    value: Option<&str>,
) -> Option<TextFilter> {
    match TextFilter::new(kind, value?) {
        Ok(filter) => Some(filter),
        Err(error) => {
            faults.add(field, error.to_string());
            None
        }
    }
}

/// As it is stored: an even number of digits, none in vain.
fn serial_number(faults: &mut Faults, value: Option<&str>) -> Option<String> {
    let Some(digits) = hexadecimal(value?) else {
        faults.add("serialNumber", "must be hexadecimal digits, with or without colons");
        return None;
    };
    let digits = digits.trim_start_matches('0');
    let width = digits.len().next_multiple_of(2).max(2);
    Some(format!("{digits:0>width$}"))
}

fn thumbprint(faults: &mut Faults, value: Option<&str>) -> Option<String> {
    let digits = hexadecimal(value?).filter(|digits| digits.len() == SHA1_DIGITS);
    if digits.is_none() {
        let message = "must be the 40 hexadecimal digits of a SHA-1 value, with or without colons";
        faults.add("thumbprint", message);
    }
    digits
}

/// Lower case, without what stands between. A dialogue that shows thumbprints puts a mark before
/// them that no one sees.
fn hexadecimal(value: &str) -> Option<String> {
    let is_between = |c: char| c == ':' || c.is_whitespace() || c == '\u{200e}';
    let digits: String = value.chars().filter(|c| !is_between(*c)).collect();
    let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit());
    is_number.then(|| digits.to_ascii_lowercase())
}

#[derive(Clone, Copy)]
enum Edge {
    From,
    To,
}

fn moment(faults: &mut Faults, field: &str, edge: Edge, value: Option<&str>) -> i64 {
    let open = match edge {
        Edge::From => Span::default().from,
        Edge::To => Span::default().to,
    };
    let Some(value) = value else { return open };
    let Some(span) = timestamp::span(value) else {
        faults.add(field, "must be a moment such as 2026-11-27T22:37:28+00:00, or a date");
        return open;
    };
    match edge {
        Edge::From => span.0,
        Edge::To => span.1,
    }
}

fn with_status(search: &Search, status: &str, now: OffsetDateTime) -> Option<Search> {
    let over = last_over(now);
    let is_over = Span { to: over, ..Span::default() };
    let is_not = Span { from: over + 1, ..Span::default() };
    let (wanted, not_after) = match status.to_ascii_lowercase().as_str() {
        "active" => (States::UNTOUCHED, is_not),
        "expired" => (States::NOT_REVOKED, is_over),
        "revoked" => (States::REVOKED, Span::default()),
        "renewed" => (States::RENEWED, is_not),
        _ => return None,
    };
    Some(Search { states: wanted, not_after: search.not_after.and(not_after), ..search.clone() })
}

/// The last end of a life that is over, as [`crate::certificate::is_over`] has it.
fn last_over(now: OffsetDateTime) -> i64 {
    to_millis(now) - 1000
}

fn days(faults: &mut Faults, value: Option<&Value>) -> Option<i64> {
    let days = number(value?).filter(|days| *days <= MOST_DAYS);
    if days.is_none() {
        faults.add("expiringInDays", format!("must be a number from 0 to {MOST_DAYS}"));
    }
    days.map(i64::from)
}

fn limit(faults: &mut Faults, asked: &CertificateSearch) -> Option<u32> {
    let mut agreed: Option<u32> = None;
    for (field, value) in [("certsPerPage", &asked.certs_per_page), ("limit", &asked.limit)] {
        let Some(value) = value else { continue };
        match number(value).filter(|limit| (1..=MOST_PER_PAGE).contains(limit)) {
            None => faults.add(field, format!("must be a number from 1 to {MOST_PER_PAGE}")),
            Some(limit) if agreed.is_some_and(|other| other != limit) => {
                faults.add(field, "differs from certsPerPage, which says the same; send one");
            }
            limit => agreed = limit,
        }
    }
    agreed
}

fn number(value: &Value) -> Option<u32> {
    match value {
        Value::Number(number) => number.as_u64()?.try_into().ok(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

async fn after(
    faults: &mut Faults,
    state: &AppState,
    value: Option<&Value>,
) -> Result<Option<RecordNo>, ApiError> {
    let text = match value {
        None => return Ok(None),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    // An id has 24 digits, a number never so many.
    let after = match (text.parse(), text.parse()) {
        (Ok(number), _) => Some(number),
        (_, Ok(id)) => state.store.record_no(id).await?,
        _ => None,
    };
    if after.is_none() {
        let message = "must be what the Link header of the page before says, or the id of a record";
        faults.add("after", message);
    }
    Ok(after)
}

const MOST_CHARACTERS: usize = 1024;
const SHA1_DIGITS: usize = 40;
/// A hundred years.
const MOST_DAYS: u32 = 36_500;
/// So many make a page at most.
const MOST_PER_PAGE: u32 = 1000;
