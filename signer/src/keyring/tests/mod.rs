//! The keyring, its file and its journal: what these tests share.

mod file;
mod lost;
mod rebuild;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chancery_shared::bytes::Bytes;
use chancery_shared::id::SignerId;
use chancery_shared::wire::Context;
use chancery_shared::wire::algorithm::{KeyAlgorithm, SignatureAlgorithm};
use chancery_shared::wire::journal::KeyEvent;
use chancery_shared::wire::policy::Policy;
use chancery_shared::wire::v1::KeyRole;
use tempfile::TempDir;

use super::*;
use crate::clock::SystemClock;
use crate::journal::Options;

/// A signer's folder, gone with the test.
struct Home(TempDir);

impl Home {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn journal(&self) -> PathBuf {
        self.0.path().join("journal")
    }

    fn file(&self) -> PathBuf {
        self.0.path().join("keyring.json")
    }

    fn open(&self) -> Keyring {
        let (clock, signer_id) = (Arc::new(SystemClock), SignerId::from_bytes([1; 12]));
        let folder = self.journal();
        let (journal, recovered) =
            Journal::open(&folder, Options::default(), clock, signer_id).unwrap();
        Keyring::open(self.file(), journal, &folder, &recovered).unwrap()
    }

    async fn reopen(&self, keyring: Keyring) -> Keyring {
        keyring.journal.close().await;
        self.open()
    }

    /// Lets the file be written, or not.
    fn let_file_be_written(&self, may: bool) {
        let in_the_way = self.0.path().join("keyring.json.new");
        let done = if may { fs::remove_dir(in_the_way) } else { fs::create_dir(in_the_way) };
        done.unwrap();
    }

    /// One change in the journal, and what the journal was before the last three.
    async fn behind(&self) -> JournalHead {
        let keyring = self.open();
        change(&keyring, 1).await;
        let older = segment(&self.journal());
        let mut head = None;
        for number in 2..5 {
            head = Some(change(&keyring, number).await);
        }
        keyring.journal.close().await;
        let (file, text) = older;
        fs::write(file, text).unwrap();
        head.unwrap()
    }
}

fn segment(journal: &Path) -> (PathBuf, Vec<u8>) {
    let file = journal.join("00000000000000000001.journal");
    let text = fs::read(&file).unwrap();
    (file, text)
}

async fn change(keyring: &Keyring, number: u8) -> JournalHead {
    let key_id = KeyId::from_bytes([number; 12]);
    keyring.change().await.make(Event::KeyDestroyed { key_id }).await.unwrap()
}

fn accept(missing: JournalHead) -> Event {
    Event::JournalAccepted { missing, operator_uid: 1000 }
}

fn key_id() -> KeyId {
    KeyId::from_bytes([77; 12])
}

/// A live key.
async fn make_key(keyring: &Keyring) {
    let change = keyring.change().await;
    change.make(pending()).await.unwrap();
    change.make(Event::KeyCreated { key_id: key_id(), spki: Bytes(vec![1]) }).await.unwrap();
}

pub(super) fn pending() -> Event {
    Event::KeyPending {
        key_id: key_id(),
        token: "T".into(),
        key_algorithm: KeyAlgorithm::EcdsaP256,
        signature_algorithm: SignatureAlgorithm::EcdsaSha256,
        role: KeyRole::Ca,
        policy: Policy::shipped(),
        context: Context::default(),
    }
}

async fn disable(keyring: &Keyring) -> Result<JournalHead, JournalError> {
    let event = KeyEvent { key_id: key_id(), reason: "a test".into(), context: Context::default() };
    keyring.change().await.make(Event::KeyDisabled(event)).await
}

fn life(keyring: &Keyring) -> Option<Life> {
    keyring.key(key_id()).map(|key| key.life)
}
