//! Several items in one call, one after the other: whoever asked is told how far that came.

use std::sync::Arc;

use super::refusal::{list, named};
use crate::error::{ApiError, Code};
use crate::store::retention::Retained;

/// What becomes of each of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Becomes {
    /// It is removed for good.
    Gone,
    /// It is restored.
    Live,
}

impl Becomes {
    fn as_str(self) -> &'static str {
        match self {
            Self::Gone => "gone for good",
            Self::Live => "live again",
        }
    }
}

/// What whoever asked is told where `items` were taken in their order and that at `index` failed with
/// `error`: the error itself, where it was the first and nothing is left to be asked for again;
/// after others are done a refusal keeps its code, as [`Code::OutcomeUnknown`] does, and all else is
/// [`Code::PartlyDone`]. Then the message says what is done and `dependants` what is left.
pub(super) fn so_far(
    error: ApiError,
    becomes: Becomes,
    items: &[Arc<Retained>],
    index: usize,
) -> ApiError {
    let (done, left) = items.split_at(index.min(items.len()));
    let is_unknown = error.code() == Code::OutcomeUnknown;
    if done.is_empty() && (!is_unknown || left.len() < 2) {
        return error;
    }
    tracing::warn!(
        done = done.len(), left = left.len(), error = %crate::log::Chain(&error),
        "several items were to change, and not all have"
    );
    let code = match error.code() {
        code if is_unknown || !code.status().is_server_error() => code,
        _ => Code::PartlyDone,
    };
    let what = match done {
        [] => "nothing".to_owned(),
        done => list(done),
    };
    let (cause, becomes, left_over) = (error.message(), becomes.as_str(), list(left));
    let message =
        format!("{cause}; {becomes} by now: {what}; left, and to be asked for again: {left_over}");
    ApiError::refused(code, message).with_dependants(named(left))
}
