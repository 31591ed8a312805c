//! The journal decides, however far the file is behind.

use super::*;

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
async fn a_key_counts_until_it_is_destroyed_on_whichever_token_it_is() {
    let home = Home::new();
    let keyring = home.open();
    let count = |keyring: &Keyring| ["T", "other"].map(|token| keyring.keys_on(token));

    make_key(&keyring).await;
    assert_eq!((keyring.keys_in_all(), count(&keyring)), (1, [1, 0]));

    keyring.change().await.make(Event::KeyDestroyed { key_id: key_id() }).await.unwrap();
    assert_eq!((keyring.keys_in_all(), count(&keyring)), (0, [0, 0]));
}
