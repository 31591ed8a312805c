//! Why an item stays as it is, in the words of HTTP.

use std::sync::Arc;

use super::state::TooLate;
use crate::echo::cut;
use crate::error::{ApiError, Code, Dependant};
use crate::store::local_ca::LocalCaStatus;
use crate::store::retention::{ItemId, Retained, Transition};
use crate::timestamp;

/// Why an item stays as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// There is none, or none any more.
    NotFound(ItemId),
    /// It is on its way from one state to another.
    Changing(Arc<Retained>, Transition),
    /// Its making is not finished.
    Unfinished(Arc<Retained>),
    /// It is deleted already.
    Deleted(Arc<Retained>),
    /// It is live.
    Live(Arc<Retained>),
    /// It was to go along as a deleted item, and is live again.
    Restored(Arc<Retained>),
    /// These stand on it.
    InUse(Arc<Retained>, Vec<Arc<Retained>>),
    /// The time to restore it is over.
    TooLate(Arc<Retained>, TooLate),
    /// A live item has its name.
    NameTaken(Arc<Retained>, Arc<Retained>),
    /// It stands on these, which are deleted.
    NoneBelow(Arc<Retained>, Vec<Arc<Retained>>),
    /// Nothing new may stand on it: it is this.
    NoGround(Arc<Retained>, &'static str),
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::NotFound(id) => ApiError::not_found(kind_words(id)),
            Refusal::Changing(item, transition) if item.awaits.is_some() => {
                let (words, transition) = (words(&item), transition.as_str());
                let id = item.awaits.map(|id| id.to_string()).unwrap_or_default();
                state(format!(
                    "{words} is {transition} and waits for the signer's operator: chancery-hsm \
                     approve {id} restores it, chancery-hsm deny {id} leaves it deleted, and so does \
                     deleting it (without force)"
                ))
            }
            Refusal::Changing(item, transition) => {
                let (words, transition) = (words(&item), transition.as_str());
                state(format!("{words} is {transition}; look again in a moment"))
            }
            Refusal::Unfinished(item) => {
                let (words, left) = (words(&item), unfinished(item.status));
                state(format!("{words} {left}"))
            }
            Refusal::Deleted(item) => {
                let (words, since) = (words(&item), since(&item));
                state(format!("{words} was deleted {since} already; restore or force-delete it"))
            }
            Refusal::Live(item) => {
                state(format!("{} is live; there is nothing to restore", words(&item)))
            }
            Refusal::Restored(item) => {
                let message = format!(
                    "{} was restored meanwhile; delete it first if it is to go along",
                    words(&item)
                );
                ApiError::refused(Code::InUse, message).with_dependants(named(&[item]))
            }
            Refusal::InUse(item, dependants) => {
                let (words, list) = (words(&item), list(&dependants));
                let message = if dependants.iter().all(|dependant| dependant.deleted.is_some()) {
                    format!(
                        "{words} is in use by {list}, deleted already; force-delete that first, or all \
                         of it with {words} by ?withDependants=true"
                    )
                } else {
                    format!("{words} is in use by {list}; delete what stands on it first")
                };
                ApiError::refused(Code::InUse, message).with_dependants(named(&dependants))
            }
            Refusal::TooLate(item, late) => {
                let (words, end) = (words(&item), timestamp::plain(late.purge_at));
                state(format!("{words} could be restored until {end}; it is being purged"))
            }
            Refusal::NameTaken(item, other) => {
                let (kind, name) = (kind_words(item.id), cut(&item.name));
                let message = format!(
                    "there is a live {kind} {name} meanwhile; delete that one first to restore this"
                );
                ApiError::refused(Code::NameTaken, message).with_dependants(named(&[other]))
            }
            Refusal::NoneBelow(item, missing) => {
                let message = format!(
                    "{} stands on {}, which is deleted; restore that first, or both with \
                     ?withDependencies=true",
                    words(&item),
                    list(&missing)
                );
                state(message).with_dependants(named(&missing))
            }
            Refusal::NoGround(item, what) => {
                let message = format!("{} is {what}; nothing new can stand on it", words(&item));
                let code = match item.id {
                    ItemId::LocalCa(_) => Code::CaNotLive,
                    ItemId::KeyStore(_) | ItemId::CertIssuer(_) => Code::WrongState,
                };
                ApiError::refused(code, message)
            }
        }
    }
}

fn state(message: String) -> ApiError {
    ApiError::refused(Code::WrongState, message)
}

fn unfinished(status: Option<LocalCaStatus>) -> &'static str {
    match status {
        Some(LocalCaStatus::AwaitingApproval) => {
            "waits for the signer's operator; once denied (chancery-hsm deny) it goes by itself"
        }
        Some(LocalCaStatus::Removing) => "is being taken back; it goes by itself",
        _ => "is still being made; look again in a moment",
    }
}

fn since(item: &Retained) -> String {
    let Some((at, by)) = &item.deleted else { return String::new() };
    format!("at {} by {}", timestamp::plain(*at), cut(by))
}

/// Kind and name.
fn words(item: &Retained) -> String {
    format!("the {} {}", kind_words(item.id), cut(&item.name))
}

/// What people call its kind.
fn kind_words(id: ItemId) -> &'static str {
    match id {
        ItemId::KeyStore(_) => "Key Store",
        ItemId::LocalCa(_) => "Local CA",
        ItemId::CertIssuer(_) => "Certificate Issuer",
    }
}

pub(super) fn list(items: &[Arc<Retained>]) -> String {
    let shown = items.iter().take(SHOWN).map(|item| words(item));
    let mut list = shown.collect::<Vec<_>>().join(", ");
    if let Some(more) = items.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        list = format!("{list} and {more} more");
    }
    list
}

/// So many are named in a sentence; `dependants` has all.
const SHOWN: usize = 5;

/// As errors and answers name items.
pub fn named(items: &[Arc<Retained>]) -> Vec<Dependant> {
    let name = |item: &Arc<Retained>| {
        let (kind, id) = in_path(item.id);
        Dependant { kind: kind.to_owned(), id, name: item.name.clone() }
    };
    items.iter().map(name).collect()
}

/// Kind and id, as paths have them.
pub(super) fn in_path(id: ItemId) -> (&'static str, String) {
    match id {
        ItemId::KeyStore(id) => ("keystores", id.to_string()),
        ItemId::LocalCa(id) => ("localca", id.to_string()),
        ItemId::CertIssuer(id) => ("ca", id.to_string()),
    }
}
