//! Entries while they are made.

use std::sync::atomic::Ordering;

use aws_lc_rs::digest::{SHA256, digest};
use chancery_shared::hexadecimal;
use chancery_shared::id::UserId;
use serde::Serialize;
use time::OffsetDateTime;

use super::{Asker, Origin};
use crate::app::App;
use crate::error::Code;
use crate::store::audit::{AuditEntry, OK, SYSTEM};

/// An entry of something that is being done by the request that this task works on, or by the
/// service itself where there is none.
#[derive(Clone, Debug)]
pub struct AuditDraft(AuditEntry);

impl App {
    /// Begins the entry of a write: `action` as the interface calls it (`create`, `change`), `kind` as
    /// in the path (`teams`).
    pub fn audited(&self, action: &'static str, kind: &'static str) -> AuditDraft {
        AuditDraft::new(self.clock.now(), action, kind)
    }
}

impl AuditDraft {
    /// The same, at `happened_at`.
    pub fn new(happened_at: OffsetDateTime, action: &'static str, kind: &'static str) -> Self {
        let origin = Origin::here();
        let mut entry = blank(happened_at);
        entry.action = action.into();
        entry.object_kind = kind.into();
        match origin {
            Some(origin) => {
                origin.has_entry.store(true, Ordering::Release);
                entry.request_id = Some(origin.request_id.as_str().to_owned());
                entry.address.clone_from(&origin.address);
                if let Some(asker) = origin.asker.get() {
                    name(&mut entry, asker);
                }
            }
            None => entry.username = Some(SYSTEM.to_owned()),
        }
        Self(entry)
    }

    /// What it is done to: its id, and what people call it.
    #[must_use]
    pub fn on(mut self, id: &impl ToString, name: &str) -> Self {
        self.0.object_id = Some(id.to_string());
        self.0.object_name = Some(short(name));
        self
    }

    /// Who does it, where the request does not say.
    #[must_use]
    pub fn by(mut self, id: UserId, name: &str) -> Self {
        // The token of another user's request has no part in it.
        self.0.api_token_id = self.0.api_token_id.filter(|_| self.0.user_id == Some(id));
        self.0.user_id = Some(id);
        self.0.username = Some(name.to_owned());
        self
    }

    /// Which request it belongs to, where this is not its task any more.
    #[must_use]
    pub fn in_request(mut self, request_id: &str) -> Self {
        self.0.request_id = Some(request_id.to_owned());
        self
    }

    /// What the thing was before. An item as the API shows it, or fields named one by one: never the
    /// body of a request, which may hold a secret.
    #[must_use]
    pub fn before(mut self, item: impl Serialize) -> Self {
        self.0.before = json(&item);
        self
    }

    /// What the thing is now; the same holds.
    #[must_use]
    pub fn after(mut self, item: impl Serialize) -> Self {
        self.0.after = json(&item);
        self
    }
}

impl From<AuditDraft> for AuditEntry {
    fn from(AuditDraft(entry): AuditDraft) -> Self {
        entry
    }
}

/// The entry of an answer that has none yet: what was refused, with its code, and what succeeded
/// without a write.
pub(super) fn of_answer(
    origin: &Origin,
    happened_at: OffsetDateTime,
    refused: Option<Code>,
) -> AuditEntry {
    let Origin { request_id, address, operation, asker, subject, .. } = origin;
    let mut entry = blank(happened_at);
    entry.action = operation.action.clone().into();
    entry.object_kind = operation.kind.clone().into();
    entry.object_id.clone_from(&operation.object_id);
    entry.request_id = Some(request_id.as_str().to_owned());
    entry.address.clone_from(address);
    let mut token_of = operation.token_of.clone();
    if let Some(subject) = subject.get() {
        entry.object_id = Some(subject.id.clone());
        entry.object_name = Some(short(&subject.name));
        token_of = subject.token_of.map(|id| id.to_string()).or(token_of);
    }
    if let Some(user) = token_of {
        // Of a token that was not made there is nothing before.
        let field = if entry.object_id.is_some() { &mut entry.before } else { &mut entry.after };
        *field = json(&serde_json::json!({"userId": user}));
    }
    if let Some(asker) = asker.get() {
        name(&mut entry, asker);
    }
    if let Some(code) = refused {
        entry.result = text(code).into();
    }
    entry
}

fn name(entry: &mut AuditEntry, asker: &Asker) {
    entry.user_id = Some(asker.user_id);
    entry.username.clone_from(&asker.username);
    entry.api_token_id = asker.api_token_id;
}

/// One that says nothing yet.
pub(super) fn blank(happened_at: OffsetDateTime) -> AuditEntry {
    AuditEntry {
        happened_at,
        user_id: None,
        api_token_id: None,
        username: None,
        address: None,
        request_id: None,
        action: "".into(),
        object_kind: "".into(),
        object_id: None,
        object_name: None,
        before: None,
        after: None,
        result: OK.into(),
        times: 1,
    }
}

/// As answers have it.
fn text(code: Code) -> String {
    match serde_json::to_value(code) {
        Ok(serde_json::Value::String(text)) => text,
        _ => format!("{code:?}"),
    }
}

/// PostgreSQL has no NUL in a text; no entry takes more room than what it is about.
fn short(text: &str) -> String {
    text.chars().take(MAX_NAME).map(|c| if c == '\0' { '\u{fffd}' } else { c }).collect()
}

/// What is too long is told by its length and its hash.
fn json(item: &impl Serialize) -> Option<String> {
    let text = serde_json::to_string(item).ok()?;
    if text.len() <= MAX_JSON {
        return Some(text);
    }
    let sha256 = hexadecimal::encode(digest(&SHA256, text.as_bytes()));
    Some(serde_json::json!({"bytes": text.len(), "sha256": sha256}).to_string())
}

const MAX_NAME: usize = 256;
const MAX_JSON: usize = 64 * 1024;
