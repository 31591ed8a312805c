//! What can happen to a certificate, in the words of its history.

use std::fmt;
use std::str::FromStr;

/// What can happen. Stored by its text: a change is a migration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HistoryEvent {
    /// It was issued.
    Created,
    /// Its key was downloaded.
    Downloaded,
    /// Extra information, addresses or the tracking of its end.
    DetailsUpdated,
    /// It has another owner.
    OwnerChanged,
    /// It belongs to another team.
    TeamChanged,
    /// Another certificate replaces it.
    Renewed,
    /// It was revoked.
    Revoked,
    /// It was taken off hold.
    Released,
    /// It came from elsewhere.
    Imported,
    /// Its key is no longer kept.
    KeyDataRemoved,
    /// Someone was told that it ends soon.
    ReminderSent,
    /// A mail could not be sent.
    MailFailed,
    /// Its record was made from the signer's journal.
    Recovered,
}

impl HistoryEvent {
    const ALL: [(Self, &'static str); 13] = [
        (Self::Created, "created"),
        (Self::Downloaded, "downloaded"),
        (Self::DetailsUpdated, "details updated"),
        (Self::OwnerChanged, "owner changed"),
        (Self::TeamChanged, "team changed"),
        (Self::Renewed, "renewed"),
        (Self::Revoked, "revoked"),
        (Self::Released, "released"),
        (Self::Imported, "imported"),
        (Self::KeyDataRemoved, "key data removed"),
        (Self::ReminderSent, "reminder sent"),
        (Self::MailFailed, "mail failed"),
        (Self::Recovered, "recovered"),
    ];
}

impl fmt::Display for HistoryEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = Self::ALL.iter().find(|(event, _)| event == self);
        f.write_str(named.map_or("", |(_, name)| name))
    }
}

/// The text is no event.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no event of a certificate's history")]
pub struct NotAnEvent(String);

impl FromStr for HistoryEvent {
    type Err = NotAnEvent;

    fn from_str(text: &str) -> Result<Self, NotAnEvent> {
        let named = Self::ALL.iter().find(|(_, name)| *name == text);
        named.map(|(event, _)| *event).ok_or_else(|| NotAnEvent(text.to_owned()))
    }
}
