//! The journal decides, however far the file is behind; but what the keyring has seen holds against
//! a journal that came back from an older copy.

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

#[tokio::test]
async fn a_head_that_the_journal_lacks_is_told_at_each_start_until_it_is_accepted() {
    let home = Home::new();
    let known = home.behind().await;

    let keyring = home.open();
    let lost = keyring.lost();
    // A change that is made meanwhile must not let the file forget it.
    change(&keyring, 9).await;
    let keyring = home.reopen(keyring).await;
    let still_lost = keyring.lost();
    keyring.change().await.make(accept(known)).await.unwrap();
    let keyring = home.reopen(keyring).await;

    assert_eq!((lost, still_lost, keyring.lost()), (Some(known), Some(known), None));
    assert!(keyring.is_accepted(&known));
}

#[tokio::test]
async fn a_higher_head_covers_the_one_that_the_keyring_knows() {
    let home = Home::new();
    let known = home.behind().await;
    let higher = JournalHead { seq: known.seq + 5, ..known };

    let keyring = home.open();
    keyring.change().await.make(accept(higher)).await.unwrap();

    assert_eq!(home.reopen(keyring).await.lost(), None);
}

#[tokio::test]
async fn an_acceptance_that_the_file_could_not_follow_counts_at_the_next_start() {
    let home = Home::new();
    let known = home.behind().await;
    // Ordinary entries above the head that is missing, then its acceptance; and the same at once.
    for changes in [8, 0] {
        let keyring = home.open();
        let lost = keyring.lost();
        let before = segment(&home.journal());
        let file = fs::read(home.file()).unwrap();
        for _ in 0..changes {
            keyring.journal.append(Event::TornTailCut { bytes: 1 }).await.unwrap();
        }
        keyring.change().await.make(accept(known)).await.unwrap();
        keyring.journal.close().await;
        fs::write(home.file(), &file).unwrap();

        let keyring = home.open();

        assert_eq!((lost, keyring.lost()), (Some(known), None), "{changes} entries");
        assert!(keyring.is_accepted(&known), "{changes} entries");
        keyring.journal.close().await;
        fs::write(home.file(), file).unwrap();
        fs::write(before.0, before.1).unwrap();
    }
}

fn key_id() -> KeyId {
    KeyId::from_bytes([77; 12])
}

/// A live key.
async fn make_key(keyring: &Keyring) {
    let change = keyring.change().await;
    let pending = Event::KeyPending {
        key_id: key_id(),
        token: "T".into(),
        key_algorithm: KeyAlgorithm::EcdsaP256,
        signature_algorithm: SignatureAlgorithm::EcdsaSha256,
        role: KeyRole::Ca,
        policy: Policy::shipped(),
        context: Context::default(),
    };
    change.make(pending).await.unwrap();
    change.make(Event::KeyCreated { key_id: key_id(), spki: Bytes(vec![1]) }).await.unwrap();
}

async fn disable(keyring: &Keyring) -> Result<JournalHead, JournalError> {
    let event = KeyEvent { key_id: key_id(), reason: "a test".into(), context: Context::default() };
    keyring.change().await.make(Event::KeyDisabled(event)).await
}

fn life(keyring: &Keyring) -> Option<Life> {
    keyring.key(key_id()).map(|key| key.life)
}

#[tokio::test]
async fn a_change_that_the_file_cannot_follow_stands_and_the_next_start_knows_it() {
    let home = Home::new();
    let keyring = home.open();
    make_key(&keyring).await;
    home.let_file_be_written(false);

    let made = disable(&keyring).await;

    assert_eq!(made.unwrap(), keyring.journal.head());
    assert_eq!(life(&keyring), Some(Life::Disabled));
    assert_eq!(life(&home.reopen(keyring).await), Some(Life::Disabled));
}

#[tokio::test]
async fn the_file_follows_as_soon_as_it_can_be_written_again() {
    let home = Home::new();
    let keyring = home.open();
    home.let_file_be_written(false);
    make_key(&keyring).await;
    assert!(!home.file().exists());

    home.let_file_be_written(true);
    keyring.save().await;

    let text = fs::read_to_string(home.file()).unwrap();
    assert!(text.contains(&key_id().to_string()), "{text}");
    assert!(text.contains(&format!("\"seq\": {}", keyring.journal.head().seq)), "{text}");
}

#[tokio::test]
async fn a_file_that_was_behind_at_a_start_is_written_anew() {
    let home = Home::new();
    let keyring = home.open();
    make_key(&keyring).await;
    let older = fs::read(home.file()).unwrap();
    disable(&keyring).await.unwrap();
    let newer = fs::read(home.file()).unwrap();
    keyring.journal.close().await;
    fs::write(home.file(), older).unwrap();

    home.open().save().await;

    assert_eq!(fs::read(home.file()).unwrap(), newer);
}

#[tokio::test]
async fn a_head_that_only_the_api_knows_stays_missing_over_restarts_until_it_is_accepted() {
    let home = Home::new();
    let keyring = home.open();
    make_key(&keyring).await;
    let known = JournalHead { seq: 9, ..keyring.journal.head() };

    keyring.miss(known).await;
    // What is made above the loss does not take its place.
    disable(&keyring).await.unwrap();
    let keyring = home.reopen(keyring).await;
    let lost = keyring.lost();
    keyring.change().await.make(accept(known)).await.unwrap();
    let keyring = home.reopen(keyring).await;

    assert_eq!((lost, keyring.lost()), (Some(known), None));
}

#[tokio::test]
async fn a_change_above_a_loss_holds_also_where_the_file_could_not_follow() {
    let home = Home::new();
    let keyring = home.open();
    make_key(&keyring).await;
    keyring.journal.close().await;
    let known = home.behind().await;

    let keyring = home.open();
    keyring.save().await;
    home.let_file_be_written(false);
    disable(&keyring).await.unwrap();
    let keyring = home.reopen(keyring).await;

    assert!(keyring.journal.head().seq < known.seq);
    assert_eq!((keyring.lost(), life(&keyring)), (Some(known), Some(Life::Disabled)));
}

#[tokio::test]
async fn a_journal_that_comes_back_whole_lacks_nothing_any_more() {
    let home = Home::new();
    let keyring = home.open();
    make_key(&keyring).await;
    let older = segment(&home.journal());
    disable(&keyring).await.unwrap();
    keyring.journal.close().await;
    let whole = segment(&home.journal());
    fs::write(&older.0, older.1).unwrap();
    let keyring = home.open();
    keyring.save().await;
    assert!(keyring.lost().is_some());
    keyring.journal.close().await;

    fs::write(whole.0, whole.1).unwrap();
    let keyring = home.open();

    assert_eq!((keyring.lost(), life(&keyring)), (None, Some(Life::Disabled)));
}

#[tokio::test]
async fn a_branch_that_was_written_to_is_missed_when_another_takes_its_place() {
    let home = Home::new();
    let known = home.behind().await;
    let keyring = home.open();
    let other = segment(&home.journal());
    let head = change(&keyring, 9).await;
    keyring.journal.close().await;

    fs::write(other.0, other.1).unwrap();

    let lost = [known, head].into_iter().max_by_key(|head| head.seq);
    assert_eq!(home.open().lost(), lost);
}
