//! What waits, what was decided, and what the disk keeps of it.

use chancery_shared::wire::Context;
use chancery_shared::wire::v1::{ApprovalStatus, KeyChange, Request};
use tempfile::TempDir;

use super::*;

const BEGIN: OffsetDateTime = OffsetDateTime::UNIX_EPOCH;
const DAY: time::Duration = time::Duration::days(1);

fn open(folder: &TempDir, now: OffsetDateTime, decided: &Decided) -> Approvals {
    let path = folder.path().join("approvals");
    Approvals::open(path, now, |_, _| Ok::<_, io::Error>(decided.clone())).unwrap()
}

fn empty() -> (TempDir, Approvals) {
    let folder = tempfile::tempdir().unwrap();
    let approvals = open(&folder, BEGIN, &Decided::Nothing);
    (folder, approvals)
}

fn id(number: u8) -> ApprovalId {
    ApprovalId::from_bytes([number; 12])
}

fn request(number: u8) -> ParkedRequest {
    let key_id = chancery_shared::id::KeyId::from_bytes([1; 12]);
    let change = KeyChange { key_id, reason: "a test".into(), context: Context::default() };
    ParkedRequest {
        approval_id: id(number),
        request: Request::EnableKey(change),
        summary: "a test".into(),
        parked_at: BEGIN,
        fate: Fate::Waiting,
    }
}

async fn park(approvals: &Approvals, number: u8) {
    approvals.place(BEGIN).await.unwrap().park(request(number)).await.unwrap();
}

fn status(approvals: &Approvals, number: u8) -> Option<ApprovalStatus> {
    approvals.find(id(number)).map(|request| request.status(BEGIN))
}

fn files(folder: &TempDir) -> usize {
    std::fs::read_dir(folder.path().join("approvals")).unwrap().count()
}

#[tokio::test]
async fn no_more_than_may_wait_and_a_decision_makes_room() {
    let (_folder, approvals) = empty();
    for number in 0..u8::try_from(MAX_WAITING).unwrap() {
        park(&approvals, number).await;
    }

    assert!(matches!(approvals.place(BEGIN).await, Err(ApprovalError::Full)));

    approvals.begin(id(7), BEGIN, 0).await.unwrap();
    assert!(approvals.place(BEGIN).await.is_ok());
}

#[tokio::test]
async fn a_request_is_decided_by_one_at_a_time_and_waits_again_if_nothing_came_of_it() {
    let (_folder, approvals) = empty();
    park(&approvals, 1).await;

    approvals.begin(id(1), BEGIN, 0).await.unwrap();
    let second = approvals.begin(id(1), BEGIN, 0).await;
    assert!(matches!(second, Err(ApprovalError::Closed)));
    assert_eq!(status(&approvals, 1), Some(ApprovalStatus::Waiting));

    approvals.end(id(1), Fate::Waiting).await.unwrap();
    approvals.begin(id(1), BEGIN, 0).await.unwrap();
    approvals.end(id(1), Fate::Denied).await.unwrap();
    assert!(matches!(approvals.begin(id(1), BEGIN, 0).await, Err(ApprovalError::Closed)));
}

#[tokio::test]
async fn a_decision_that_was_cut_off_is_what_the_journal_says_it_is() {
    let signature = Some(chancery_shared::bytes::Bytes(vec![1]));
    for (decided, expected) in [
        (Decided::Nothing, ApprovalStatus::Waiting),
        (Decided::Denied, ApprovalStatus::Denied),
        (Decided::Done { signature: None }, ApprovalStatus::Approved { signature: None }),
        (Decided::Done { signature: signature.clone() }, ApprovalStatus::Approved { signature }),
    ] {
        let (folder, approvals) = empty();
        park(&approvals, 1).await;
        approvals.begin(id(1), BEGIN, 41).await.unwrap();

        let asked = Mutex::new(Vec::new());
        let path = folder.path().join("approvals");
        let approvals = Approvals::open(path, BEGIN, |request, after| {
            asked.lock().unwrap().push((request.approval_id, after));
            Ok::<_, io::Error>(decided.clone())
        });

        assert_eq!(*asked.lock().unwrap(), [(id(1), 41)]);
        assert_eq!(status(&approvals.unwrap(), 1), Some(expected.clone()));
        // The file says so too: the journal is asked once.
        assert_eq!(status(&open(&folder, BEGIN, &Decided::Nothing), 1), Some(expected));
    }
}

#[tokio::test]
async fn what_ended_is_let_go_in_memory_as_on_disk_once_it_was_kept_as_long_as_it_could_wait() {
    let (folder, approvals) = empty();
    for number in 1..=4 {
        park(&approvals, number).await;
    }
    approvals.begin(id(1), BEGIN, 0).await.unwrap();
    approvals.end(id(1), Fate::Denied).await.unwrap();
    approvals.begin(id(2), BEGIN, 0).await.unwrap();
    approvals.end(id(2), Fate::Approved { signature: None }).await.unwrap();
    approvals.begin(id(3), BEGIN, 0).await.unwrap();

    approvals.prune(BEGIN + DAY * 14).await;
    assert_eq!((approvals.parked().len(), files(&folder)), (4, 4));

    approvals.prune(BEGIN + DAY * 15).await;
    // One that is being done is not let go.
    assert_eq!(approvals.parked().keys().copied().collect::<Vec<_>>(), [id(3)]);
    assert_eq!(files(&folder), 1);
}

#[tokio::test]
async fn a_request_that_nobody_decides_expires_and_can_not_be_decided_then() {
    let (_folder, approvals) = empty();
    park(&approvals, 1).await;
    let late = BEGIN + DAY * 7;

    assert!(approvals.waiting(late).is_empty());
    assert!(matches!(approvals.begin(id(1), late, 0).await, Err(ApprovalError::Closed)));
    assert_eq!(approvals.find(id(1)).unwrap().status(late), ApprovalStatus::Expired);
}

#[tokio::test]
async fn what_the_disk_refuses_is_neither_parked_nor_decided() {
    let (folder, approvals) = empty();
    park(&approvals, 1).await;
    std::fs::rename(folder.path().join("approvals"), folder.path().join("away")).unwrap();

    let parked = approvals.place(BEGIN).await.unwrap().park(request(2)).await;
    let begun = approvals.begin(id(1), BEGIN, 0).await;

    assert!(matches!(parked, Err(ApprovalError::Io(_))));
    assert!(matches!(begun, Err(ApprovalError::Io(_))));
    assert_eq!(approvals.find(id(2)), None);
    assert_eq!(approvals.waiting(BEGIN).len(), 1);
}
