//! The client against a fake signer on a real socket.

mod asking;
mod losing;
mod watching;

use std::sync::Arc;
use std::time::Duration;

use chancery_shared::bytes::Bytes;
use chancery_shared::wire::algorithm::{KeyAlgorithm, SignatureAlgorithm};
use chancery_shared::wire::v1::{
    CreateCaKey, JournalPart, KeyCreated, KeyRole, Reply, Request, Seal, SignCertificate,
    TokenState,
};
use chancery_shared::wire::{Context, JournalHead, RefusalCode};
use futures::future::BoxFuture;
use tempfile::TempDir;
use tokio::sync::{Notify, mpsc};

use super::fake_signer::{FakeSigner, Reaction, refusal};
use super::*;
use crate::random::TestRandom;

/// A database without heads.
struct NoHeads;

impl JournalHeads for NoHeads {
    fn journal_heads(&self) -> BoxFuture<'_, Result<Vec<JournalHead>, HeadsUnknown>> {
        Box::pin(async { Ok(Vec::new()) })
    }
}

fn started() -> (TempDir, FakeSigner, SignerClient) {
    let folder = tempfile::tempdir().unwrap();
    let fake = FakeSigner::start(folder.path());
    let client = client(&fake, Arc::new(NoHeads));
    (folder, fake, client)
}

fn client(fake: &FakeSigner, heads: Arc<dyn JournalHeads>) -> SignerClient {
    let options = Options {
        // Long enough for a busy machine, and no test waits it out.
        wait_for_connection: Duration::from_secs(20),
        refresh_every: Duration::from_millis(20),
        back_off: (Duration::from_millis(1), Duration::from_millis(10)),
        ..Options::new(fake.socket.clone())
    };
    SignerClient::start(options, heads, Arc::new(TestRandom::default()))
}

async fn key(client: &SignerClient) -> KeyCreated {
    let request = CreateCaKey {
        token: "local".into(),
        key_algorithm: KeyAlgorithm::EcdsaP256,
        signature_algorithm: SignatureAlgorithm::EcdsaSha256,
        role: KeyRole::Ca,
        policy: None,
        context: Context::default(),
    };
    client.create_ca_key(request).await.unwrap().value
}

fn seal(byte: u8) -> Seal {
    Seal { token: "local".into(), bytes: Bytes(vec![byte; 32]), context: Context::default() }
}

async fn sign(client: &SignerClient, key: &KeyCreated) -> Result<Signing, SignerError> {
    let (serial_nonce, on) = client.serial_nonce().await?;
    sign_on(client, key, serial_nonce, on).await
}

async fn sign_on(
    client: &SignerClient,
    key: &KeyCreated,
    serial_nonce: chancery_shared::bytes::SerialNonce,
    on: ConnectionHandle,
) -> Result<Signing, SignerError> {
    let request = SignCertificate {
        key_id: key.key_id,
        tbs: Bytes(vec![0x30, 0]),
        csr: Bytes(vec![0x30, 0]),
        serial_nonce,
        context: Context::default(),
    };
    client.sign_certificate(on, request).await.map(|answer| answer.value)
}

/// Waits until the state is as wished.
async fn becomes(client: &SignerClient, wished: impl FnMut(&SignerState) -> bool) {
    client.watch_state().wait_for(wished).await.unwrap();
}
