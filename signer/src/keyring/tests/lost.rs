//! What was seen holds against a journal that came back from an older copy.

use super::*;

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

#[tokio::test]
async fn a_key_that_was_being_made_where_the_entries_end_is_unknown_once_their_loss_is_accepted() {
    let home = Home::new();
    let keyring = home.open();
    keyring.change().await.make(pending()).await.unwrap();
    let known = JournalHead { seq: 9, ..keyring.journal.head() };

    keyring.miss(known).await;
    assert!(keyring.key(key_id()).is_some());
    keyring.change().await.make(accept(known)).await.unwrap();
    // Nothing pending is left that a sweep would take off the token.
    assert!(keyring.key(key_id()).is_none());

    assert!(home.reopen(keyring).await.key(key_id()).is_none());
}
