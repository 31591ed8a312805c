//! Whose request it is that a task works on.

use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use chancery_shared::id::{RowId, UserId};

use super::Operation;
use crate::request::RequestId;
use crate::store::api_token::ApiToken;

tokio::task_local! {
    static ORIGIN: Arc<Origin>;
}

/// Where a request comes from, and what is found out about it on its way.
#[derive(Debug)]
pub struct Origin {
    pub(super) request_id: RequestId,
    pub(super) address: Option<String>,
    pub(super) operation: Operation,
    pub(super) asker: OnceLock<Asker>,
    /// What a refusal is about, where the path does not say.
    pub(super) subject: OnceLock<Subject>,
    pub(super) has_entry: AtomicBool,
}

/// Whose token came with a request.
#[derive(Debug)]
pub struct Asker {
    /// The user.
    pub user_id: UserId,
    /// That user's name; `None` where the user is gone.
    pub username: Option<String>,
    /// The token, where it is one of a machine.
    pub api_token_id: Option<RowId>,
}

/// What a refusal is about.
#[derive(Debug)]
pub(super) struct Subject {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) token_of: Option<UserId>,
}

impl Origin {
    /// Of a request of nobody yet.
    pub fn new(request_id: RequestId, address: Option<String>, operation: Operation) -> Self {
        Self {
            request_id,
            address,
            operation,
            asker: OnceLock::new(),
            subject: OnceLock::new(),
            has_entry: AtomicBool::new(false),
        }
    }

    /// Whether something that is done here has begun an entry of its own.
    pub(super) fn has_entry(&self) -> bool {
        self.has_entry.load(Ordering::Acquire)
    }

    /// Of the request that this task works on.
    pub(super) fn here() -> Option<Arc<Self>> {
        ORIGIN.try_with(Arc::clone).ok()
    }
}

/// Runs `work` as a part of the request `origin`.
pub async fn within<T>(origin: Arc<Origin>, work: impl Future<Output = T>) -> T {
    ORIGIN.scope(origin, work).await
}

/// The same future for a task of its own, which goes on for the request that begins it here.
///
/// Boxed: a task is moved several times while it begins and ends, and takes the room of its future
/// for both cases.
pub fn carried<T>(work: impl Future<Output = T>) -> impl Future<Output = T> {
    let origin = Origin::here();
    let work = Box::pin(work);
    async move {
        match origin {
            Some(origin) => ORIGIN.scope(origin, work).await,
            None => work.await,
        }
    }
}

/// Says what the refusal of this request is about: `id`, called `name`.
pub(crate) fn name_subject(id: &impl ToString, name: &str) {
    if let Some(origin) = Origin::here() {
        let (id, name) = (id.to_string(), name.to_owned());
        origin.subject.get_or_init(|| Subject { id, name, token_of: None });
    }
}

/// Says that the refusal of this request is about `token`, whoever's it is in the path.
pub(crate) fn name_token(token: &ApiToken) {
    if let Some(origin) = Origin::here() {
        let (id, name) = (token.id.to_string(), token.name.clone());
        origin.subject.get_or_init(|| Subject { id, name, token_of: Some(token.user_id) });
    }
}

/// Says that this request only reads, whatever its method is: its success is not told.
pub(crate) fn only_reads() {
    if let Some(origin) = Origin::here() {
        origin.has_entry.store(true, Ordering::Release);
    }
}

/// Says who makes the request; the first word counts.
pub(crate) fn belongs_to(asker: Asker) {
    if let Some(origin) = Origin::here() {
        origin.asker.get_or_init(|| asker);
    }
}
