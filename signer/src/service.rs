//! What each socket serves.

use std::sync::Arc;

use chancery_shared::bytes::Fixed;
use chancery_shared::wire::{ReplyEnvelope, RequestEnvelope, operator as operator_wire, v1};
use serde::de::IgnoredAny;
use zeroize::Zeroizing;

use crate::policy::ConnectionSerials;
use crate::refusal::RequestError;
use crate::signer::Signer;
use crate::socket::Service;
use crate::{operator, random, request};

/// The API socket: each connection has a nonce of its own.
#[derive(Clone)]
pub struct ApiService(pub Arc<Signer>);

impl Service for ApiService {
    type Connection = ConnectionSerials;
    type Reply = ReplyEnvelope<v1::Reply>;

    fn connected(&self, uid: u32) -> ConnectionSerials {
        tracing::debug!(uid, "the API connected");
        ConnectionSerials::new(Fixed(random::bytes()))
    }

    async fn serve(
        &self,
        connection: Arc<ConnectionSerials>,
        frame: Arc<Zeroizing<Vec<u8>>>,
    ) -> (Self::Reply, bool) {
        request::serve(Arc::clone(&self.0), connection, &frame).await
    }

    fn too_late(&self, frame: &[u8]) -> Self::Reply {
        request::envelope(id_of(frame), Err(RequestError::DeadlineExceeded))
    }
}

/// The operator socket.
#[derive(Clone)]
pub struct OperatorService(pub Arc<Signer>);

impl Service for OperatorService {
    type Connection = u32;
    type Reply = ReplyEnvelope<operator_wire::Reply>;

    fn connected(&self, uid: u32) -> u32 {
        uid
    }

    async fn serve(&self, uid: Arc<u32>, frame: Arc<Zeroizing<Vec<u8>>>) -> (Self::Reply, bool) {
        operator::serve(Arc::clone(&self.0), *uid, &frame).await
    }

    fn too_late(&self, frame: &[u8]) -> Self::Reply {
        operator::envelope(id_of(frame), Err(RequestError::DeadlineExceeded))
    }
}

fn id_of(frame: &[u8]) -> Option<u64> {
    serde_json::from_slice::<RequestEnvelope<IgnoredAny>>(frame).ok().map(|envelope| envelope.id)
}
