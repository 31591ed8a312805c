//! Reading a body within its limits of size and time.

use std::time::Duration;

use axum::body::Body;
use http_body_util::BodyExt as _;
use tokio::time::{Instant, timeout_at};

use crate::error::{ApiError, Code};

/// All bytes of `body`, at most `limit` of them, within `wait`.
///
/// # Errors
///
/// [`Code::BodyTooLarge`], [`Code::RequestTimeout`], or [`Code::MalformedRequest`] where the
/// client broke off.
pub(crate) async fn read_body(
    mut body: Body,
    limit: usize,
    wait: Duration,
) -> Result<Vec<u8>, ApiError> {
    let deadline = Instant::now() + wait;
    let mut bytes = Vec::new();
    let mut length = 0_usize;
    loop {
        let frame = match timeout_at(deadline, body.frame()).await {
            Err(_) | Ok(None) if length > limit => return Err(too_large(limit)),
            Err(_) => return Err(too_slow(wait)),
            Ok(None) => return Ok(bytes),
            Ok(Some(frame)) => frame.map_err(|_| broken_off())?,
        };
        let Ok(data) = frame.into_data() else { continue };
        length = length.saturating_add(data.len());
        if length <= limit {
            bytes.extend_from_slice(&data);
        } else {
            // Most clients read the answer only when they have sent it all: what is not far beyond
            // the limit is read and thrown away, so that they see the 413.
            bytes = Vec::new();
            if length > limit.saturating_mul(DRAINED_LIMITS) {
                return Err(too_large(limit));
            }
        }
    }
}

fn too_large(limit: usize) -> ApiError {
    ApiError::refused(
        Code::BodyTooLarge,
        format!("the body is larger than {limit} bytes, which is the most that is read"),
    )
}

fn too_slow(wait: Duration) -> ApiError {
    let seconds = wait.as_secs();
    ApiError::refused(
        Code::RequestTimeout,
        format!("the body did not arrive within {seconds} s; send it again, faster"),
    )
}

fn broken_off() -> ApiError {
    ApiError::refused(Code::MalformedRequest, "the body broke off before its end")
}

const DRAINED_LIMITS: usize = 8;
