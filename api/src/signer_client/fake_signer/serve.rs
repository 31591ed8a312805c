//! The fake's socket: a task per connection, a task per request.

use std::sync::Arc;
use std::time::Duration;

use aws_lc_rs::rand;
use chancery_shared::bytes::{ConnectionNonce, Fixed};
use chancery_shared::frame::{encode, read_frame};
use chancery_shared::wire::v1::{Reply, Request, VERSION};
use chancery_shared::wire::{JournalHead, Outcome, ReplyEnvelope, RequestEnvelope};
use serde_json::value::RawValue;
use tokio::io::AsyncWriteExt as _;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::{Reaction, Shared};

/// What a request's task hands to the connection's writer.
enum Out {
    Bytes(Vec<u8>),
    Close,
}

pub(super) async fn accept(listener: UnixListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    while let Ok((socket, _)) = listener.accept().await {
        connections.spawn(connection(socket, Arc::clone(&shared)));
    }
}

async fn connection(socket: UnixStream, shared: Arc<Shared>) {
    let mut nonce = Fixed([0; 16]);
    rand::fill(&mut nonce.0).unwrap();
    let (mut reader, mut writer) = socket.into_split();
    let (out, mut outgoing) = mpsc::channel(64);
    let mut requests = JoinSet::new();
    let reading = async {
        while let Ok(Some(frame)) = read_frame(&mut reader, Duration::from_secs(5)).await {
            requests.spawn(request(frame, nonce, Arc::clone(&shared), out.clone()));
        }
    };
    let writing = async {
        while let Some(Out::Bytes(bytes)) = outgoing.recv().await {
            writer.write_all(&bytes).await.unwrap();
        }
    };
    tokio::select! { () = reading => {}, () = writing => {} }
}

async fn request(
    frame: Vec<u8>,
    nonce: ConnectionNonce,
    shared: Arc<Shared>,
    out: mpsc::Sender<Out>,
) {
    let envelope: RequestEnvelope<&RawValue> = serde_json::from_slice(&frame).unwrap();
    let id = envelope.id;
    let request: Request = serde_json::from_str(envelope.body.get()).unwrap();
    let reaction = (shared.script.lock().unwrap())(&request);
    let serve = |request| {
        let (head, outcome) = shared.signer.lock().unwrap().serve(request, nonce);
        reply(id, head, outcome)
    };
    let (bytes, closes) = match reaction {
        Reaction::Answer => (serve(request), false),
        Reaction::AnswerWhen(told) => {
            let bytes = serve(request);
            told.notified().await;
            (bytes, false)
        }
        Reaction::Refuse(refusal) => (reply(id, None, Outcome::Refused(refusal)), false),
        Reaction::Reply(other) => (reply(id, None, Outcome::Done(other)), false),
        Reaction::Close => (Vec::new(), true),
        Reaction::DoAndClose => {
            serve(request);
            (Vec::new(), true)
        }
        Reaction::DoAndCloseMidReply => {
            let bytes = serve(request);
            (bytes[..bytes.len() / 2].to_vec(), true)
        }
        Reaction::Frame(body) => (encode(&body).unwrap(), false),
        Reaction::Raw(bytes) => (bytes, false),
    };
    let _ = out.send(Out::Bytes(bytes)).await;
    if closes {
        let _ = out.send(Out::Close).await;
    }
}

fn reply(id: u64, journal: Option<JournalHead>, outcome: Outcome<Reply>) -> Vec<u8> {
    let envelope = ReplyEnvelope { version: VERSION, id: Some(id), journal, outcome };
    encode(&serde_json::to_vec(&envelope).unwrap()).unwrap()
}
