//! What waits, what was decided, and what the disk keeps of it.

use chancery_shared::wire::Context;
use chancery_shared::wire::v1::{ApprovalStatus, KeyChange, Request};
use tempfile::TempDir;

use super::*;

const BEGIN: OffsetDateTime = OffsetDateTime::UNIX_EPOCH;
const DAY: time::Duration = time::Duration::days(1);

fn open(folder: &TempDir, decided: &Decided) -> Approvals {
    let path = folder.path().join("approvals");
    Approvals::open(path, |_, _| Ok::<_, io::Error>(decided.clone())).unwrap()
}

fn empty() -> (TempDir, Approvals) {
    let folder = tempfile::tempdir().unwrap();
    let approvals = open(&folder, &Decided::Nothing);
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
        parked_seq: 41,
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
async fn what_has_ended_never_waits_again() {
    let done = Fate::Approved { signature: None };
    let deciding = Fate::Deciding { after: 41 };
    for (fate, next, expected) in [
        (deciding.clone(), Fate::Waiting, Fate::Waiting),
        (deciding.clone(), Fate::Expired, Fate::Expired),
        (Fate::Waiting, Fate::Expired, Fate::Expired),
        (Fate::Expired, Fate::Waiting, Fate::Expired),
        (Fate::Expired, Fate::Denied, Fate::Expired),
        (Fate::Expired, done.clone(), done.clone()),
        (done.clone(), Fate::Expired, done.clone()),
        (done.clone(), Fate::Waiting, done.clone()),
        (Fate::Denied, Fate::Waiting, Fate::Denied),
    ] {
        let (folder, approvals) = empty();
        let request = ParkedRequest { fate: fate.clone(), ..request(1) };
        approvals.place(BEGIN).await.unwrap().park(request).await.unwrap();

        approvals.end(id(1), next.clone()).await.unwrap();

        assert_eq!(approvals.find(id(1)).unwrap().fate, expected, "{fate:?}, {next:?}");
        assert_eq!(status(&open(&folder, &Decided::Nothing), 1), status(&approvals, 1));
    }
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
        let approvals = Approvals::open(path, |request, after| {
            asked.lock().unwrap().push((request.approval_id, after));
            Ok::<_, io::Error>(decided.clone())
        });

        assert_eq!(*asked.lock().unwrap(), [(id(1), 41)]);
        let approvals = approvals.unwrap();
        assert_eq!(status(&approvals, 1), Some(expected.clone()));
        approvals.catch_up().await;
        // The file says so too: the journal is asked once.
        assert_eq!(status(&open(&folder, &Decided::Nothing), 1), Some(expected));
    }
}

#[tokio::test]
async fn what_nobody_asks_for_any_more_is_let_go_oldest_first_where_too_many_are_kept() {
    let (folder, approvals) = empty();
    let ids = (0..=KEPT).map(|number| {
        let [high, low] = u16::try_from(number).unwrap().to_be_bytes();
        ApprovalId::from_bytes([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, high, low])
    });
    let ids: Vec<_> = ids.collect();
    for approval_id in ids.clone() {
        let fate = Fate::Deciding { after: 41 };
        let request = ParkedRequest { approval_id, fate, ..request(0) };
        approvals.place(BEGIN).await.unwrap().park(request).await.unwrap();
    }
    let late = BEGIN + DAY * 365;

    // What is being decided is never let go, and of the others as few as make room.
    approvals.prune(late).await;
    assert_eq!(files(&folder), KEPT + 1);
    for approval_id in [ids[1], ids[2]] {
        approvals.end(approval_id, Fate::Denied).await.unwrap();
    }
    approvals.prune(BEGIN + DAY * 14).await;
    assert_eq!(files(&folder), KEPT + 1);

    approvals.prune(late).await;

    assert_eq!((approvals.parked().len(), files(&folder)), (KEPT, KEPT));
    assert_eq!(approvals.find(ids[1]), None);
    assert!(approvals.find(ids[2]).is_some());
}

#[tokio::test]
async fn a_clock_that_was_ahead_costs_nothing_that_waits() {
    let (folder, approvals) = empty();
    park(&approvals, 1).await;

    approvals.prune(BEGIN + DAY * 365).await;
    let reopened = open(&folder, &Decided::Nothing);

    assert_eq!((approvals.waiting(BEGIN).len(), reopened.waiting(BEGIN).len()), (1, 1));
}

#[tokio::test]
async fn an_end_that_the_disk_refused_is_written_when_it_takes_it() {
    let (folder, approvals) = empty();
    park(&approvals, 1).await;
    approvals.begin(id(1), BEGIN, 41).await.unwrap();
    let (path, away) = (folder.path().join("approvals"), folder.path().join("away"));
    std::fs::rename(&path, &away).unwrap();
    approvals.end(id(1), Fate::Expired).await.unwrap_err();
    approvals.catch_up().await;

    assert_eq!(status(&approvals, 1), Some(ApprovalStatus::Expired));

    std::fs::rename(&away, &path).unwrap();
    approvals.catch_up().await;
    assert_eq!(status(&open(&folder, &Decided::Nothing), 1), Some(ApprovalStatus::Expired));
}

#[tokio::test]
async fn a_decision_that_was_cut_off_is_known_although_the_disk_is_full() {
    let (folder, approvals) = empty();
    park(&approvals, 1).await;
    approvals.begin(id(1), BEGIN, 41).await.unwrap();
    let path = folder.path().join("approvals");
    let refuse = |_: &ParkedRequest, _| {
        // Nothing can be written beside the file any more.
        std::fs::create_dir_all(path.join(format!("{}.json.new/full", id(1)))).unwrap();
        Ok::<_, io::Error>(Decided::Denied)
    };

    let approvals = Approvals::open(path.clone(), refuse).unwrap();

    assert_eq!(status(&approvals, 1), Some(ApprovalStatus::Denied));
}

#[tokio::test]
async fn only_what_waited_when_the_signer_started_may_have_been_decided_before() {
    let (folder, approvals) = empty();
    park(&approvals, 1).await;
    park(&approvals, 3).await;
    approvals.begin(id(3), BEGIN, 42).await.unwrap();
    let approvals = open(&folder, &Decided::Nothing);
    park(&approvals, 2).await;

    assert_eq!([1, 2, 3].map(|it| approvals.is_doubtful(id(it))), [true, false, true]);
    approvals.make_sure(id(1));
    assert!(!approvals.is_doubtful(id(1)));
}

#[tokio::test]
async fn a_file_that_can_not_be_read_is_counted_and_left_and_keeps_nobody_out() {
    let (folder, approvals) = empty();
    park(&approvals, 1).await;
    let path = folder.path().join("approvals");
    let stored = std::fs::read_to_string(path.join(format!("{}.json", id(1)))).unwrap();
    for (number, content) in [
        (2, "{".to_owned()),
        (3, String::new()),
        (4, stored.replace(&id(1).to_string(), &id(4).to_string()).replace(": 1,", ": 2,")),
        (5, stored.clone()),
        (6, stored.replace("parkedSeq", "parkedAfter")),
    ] {
        std::fs::write(path.join(format!("{}.json", id(number))), content).unwrap();
    }

    let approvals = open(&folder, &Decided::Nothing);

    assert_eq!(*approvals.unreadable(), (2..=6).map(id).collect());
    assert_eq!(approvals.parked().keys().copied().collect::<Vec<_>>(), [id(1)]);
    assert_eq!(files(&folder), 6);
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
