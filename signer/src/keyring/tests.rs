//! What the keyring has seen holds against a journal that came back from an older copy.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chancery_shared::id::SignerId;
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

    fn open(&self) -> (Keyring, Option<JournalHead>) {
        let (clock, signer_id) = (Arc::new(SystemClock), SignerId::from_bytes([1; 12]));
        let folder = self.journal();
        let (journal, recovered) =
            Journal::open(&folder, Options::default(), clock, signer_id).unwrap();
        Keyring::open(self.file(), journal, &folder, &recovered).unwrap()
    }

    /// One change in the journal, and what the journal was before the last three.
    async fn behind(&self) -> JournalHead {
        let (keyring, _) = self.open();
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

    let (keyring, lost) = home.open();
    // A change that is made meanwhile must not let the file forget it.
    change(&keyring, 9).await;
    keyring.journal.close().await;
    let (keyring, still_lost) = home.open();
    keyring.change().await.make(accept(known)).await.unwrap();
    keyring.journal.close().await;
    let (keyring, accepted) = home.open();

    assert_eq!((lost, still_lost, accepted), (Some(known), Some(known), None));
    assert!(keyring.is_accepted(&known));
}

#[tokio::test]
async fn a_higher_head_covers_the_one_that_the_keyring_knows() {
    let home = Home::new();
    let known = home.behind().await;
    let higher = JournalHead { seq: known.seq + 5, ..known };

    let (keyring, _) = home.open();
    keyring.change().await.make(accept(higher)).await.unwrap();
    keyring.journal.close().await;

    assert_eq!(home.open().1, None);
}

#[tokio::test]
async fn an_acceptance_that_the_file_could_not_follow_counts_at_the_next_start() {
    let home = Home::new();
    let known = home.behind().await;
    // Ordinary entries above the head that is missing, then its acceptance; and the same at once.
    for changes in [8, 0] {
        let (keyring, lost) = home.open();
        let before = segment(&home.journal());
        let file = fs::read(home.file()).unwrap();
        for _ in 0..changes {
            keyring.journal.append(Event::TornTailCut { bytes: 1 }).await.unwrap();
        }
        keyring.change().await.make(accept(known)).await.unwrap();
        keyring.journal.close().await;
        fs::write(home.file(), &file).unwrap();

        let (keyring, accepted) = home.open();

        assert_eq!((lost, accepted), (Some(known), None), "{changes} entries");
        assert!(keyring.is_accepted(&known), "{changes} entries");
        keyring.journal.close().await;
        fs::write(home.file(), file).unwrap();
        fs::write(before.0, before.1).unwrap();
    }
}
