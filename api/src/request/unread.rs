//! A body that nobody reads: passed over before the answer, so that the connection goes on.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody, to_bytes};
use hyper::body::{Frame, SizeHint};
use tokio::sync::oneshot;
use tokio::time::timeout;

/// A body that comes back when it is dropped before its end.
#[derive(Debug)]
struct Lent {
    body: Body,
    back: Option<oneshot::Sender<Body>>,
}

/// Where a lent body comes back.
#[derive(Debug)]
pub(super) struct Unread(oneshot::Receiver<Body>);

/// Lends `body` to whoever answers the request; there is nothing to come back where it is empty.
pub(super) fn lend(body: Body) -> (Body, Option<Unread>) {
    if body.is_end_stream() {
        return (body, None);
    }
    let (back, unread) = oneshot::channel();
    (Body::new(Lent { body, back: Some(back) }), Some(Unread(unread)))
}

impl Unread {
    /// What nobody takes in ends the connection under a client that is still sending it, and with it
    /// the next request there; clients that speak HTTP/2 may even lose the answer. So it is thrown
    /// away unread, where it is small and comes soon.
    pub(super) async fn pass_over(mut self) {
        if let Ok(body) = self.0.try_recv() {
            let _ = timeout(PATIENCE, to_bytes(body, SMALL)).await;
        }
    }
}

impl HttpBody for Lent {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        if !matches!(frame, Some(Ok(_))) {
            self.back = None;
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if let Some(back) = self.back.take()
            && !self.body.is_end_stream()
        {
            let _ = back.send(std::mem::take(&mut self.body));
        }
    }
}

/// A larger body, or one that takes longer, is not waited for.
const SMALL: usize = 64 * 1024;
const PATIENCE: Duration = Duration::from_secs(1);
