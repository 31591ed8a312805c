//! The file is written anew from the journal, and from nothing else.

use super::*;
use crate::keyring::{RebuildError, Rebuilt, rebuild};

impl Home {
    fn rebuild(&self) -> Result<Rebuilt, RebuildError> {
        rebuild(&self.file(), &self.journal())
    }
}

#[tokio::test]
async fn a_damaged_file_becomes_the_one_that_was_there() {
    let home = Home::new();
    let keyring = home.open();
    make_key(&keyring).await;
    disable(&keyring).await.unwrap();
    keyring.journal.close().await;
    let whole = fs::read(home.file()).unwrap();
    fs::write(home.file(), &whole[..whole.len() / 2]).unwrap();

    let rebuilt = home.rebuild().unwrap();

    assert_eq!(fs::read(home.file()).unwrap(), whole);
    assert_eq!((rebuilt.keys, rebuilt.lost), (1, None));
    assert_eq!(life(&home.open()), Some(Life::Disabled));
}

#[tokio::test]
async fn what_the_file_says_of_keys_counts_for_nothing() {
    let home = Home::new();
    let keyring = home.open();
    make_key(&keyring).await;
    let with_live_key = fs::read_to_string(home.file()).unwrap();
    disable(&keyring).await.unwrap();
    let head = keyring.journal.head();
    keyring.journal.close().await;
    // Seen up to the end, and yet the key is still live there.
    let forged = with_live_key
        .replace("\"seq\": 2", "\"seq\": 3")
        .lines()
        .map(|line| {
            let is_hash = line.trim_start().starts_with("\"hash\"");
            if is_hash { format!("\"hash\": \"{}\"", head.hash) } else { line.to_owned() }
        })
        .collect::<String>();
    fs::write(home.file(), forged).unwrap();
    let keyring = home.open();
    assert_eq!((keyring.lost(), life(&keyring)), (None, Some(Life::Live)));
    keyring.journal.close().await;

    home.rebuild().unwrap();

    assert_eq!(life(&home.open()), Some(Life::Disabled));
}

#[tokio::test]
async fn nothing_is_rebuilt_beside_a_signer_or_from_a_broken_journal() {
    let home = Home::new();
    let keyring = home.open();
    make_key(&keyring).await;
    let file = fs::read(home.file()).unwrap();

    let running = home.rebuild();
    keyring.journal.close().await;
    let (segment, mut text) = segment(&home.journal());
    let middle = text.len() / 2;
    text[middle] ^= 1;
    fs::write(segment, text).unwrap();
    let broken = home.rebuild();

    assert!(matches!(running, Err(RebuildError::Journal(JournalError::Locked { .. }))));
    assert!(matches!(broken, Err(RebuildError::Damaged(_))), "{broken:?}");
    assert_eq!(fs::read(home.file()).unwrap(), file);
}

#[tokio::test]
async fn a_head_that_the_journal_lacks_stays_missing() {
    let home = Home::new();
    let known = home.behind().await;

    assert_eq!(home.rebuild().unwrap().lost, Some(known));
    let keyring = home.open();
    assert_eq!(keyring.lost(), Some(known));
    keyring.change().await.make(accept(known)).await.unwrap();
    keyring.journal.close().await;

    assert_eq!(home.rebuild().unwrap().lost, None);
    let keyring = home.open();
    assert!(keyring.lost().is_none() && keyring.is_accepted(&known));
}
