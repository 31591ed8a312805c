//! One connection, with a service that does what the frame says.

use chancery_shared::frame::{read_frame, write_frames};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::*;

/// Answers a frame with its own text.
#[derive(Clone, Default)]
struct Echo {
    release: Arc<Notify>,
    is_over: Arc<Notify>,
}

/// Is answered when the test says so.
const WAITS: &str = "waits";

impl Service for Echo {
    type Connection = ();
    type Reply = String;

    fn connected(&self, _: u32) {}

    async fn serve(&self, _: Arc<()>, frame: Arc<Zeroizing<Vec<u8>>>) -> (String, bool) {
        let text = String::from_utf8(frame.to_vec()).unwrap();
        if text == WAITS {
            self.release.notified().await;
            self.is_over.notify_one();
        }
        (text, true)
    }

    fn too_late(&self, frame: &[u8]) -> String {
        format!("too late: {}", String::from_utf8_lossy(frame))
    }
}

struct Client {
    socket: UnixStream,
    service: Echo,
    _stop: watch::Sender<bool>,
}

impl Client {
    fn connect() -> Self {
        let (socket, theirs) = UnixStream::pair().unwrap();
        let service = Echo::default();
        let (stop, stopped) = watch::channel(false);
        tokio::spawn(connection(theirs, 7, service.clone(), stopped));
        Self { socket, service, _stop: stop }
    }

    async fn send(&mut self, texts: &[&str]) {
        write_frames(&mut self.socket, texts).await.unwrap();
    }

    async fn next(&mut self) -> String {
        let frame = read_frame(&mut self.socket, FRAME_DEADLINE).await.unwrap().unwrap();
        serde_json::from_slice(&frame).unwrap()
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_past_its_deadline_is_told_so_at_once_and_goes_on_to_its_end() {
    let mut client = Client::connect();
    let sent_at = Instant::now();
    client.send(&[WAITS, "another"]).await;

    assert_eq!(client.next().await, "another");
    assert_eq!(client.next().await, "too late: waits");
    assert_eq!(sent_at.elapsed().as_secs(), REQUEST_DEADLINE.as_secs());

    client.service.release.notify_one();
    client.service.is_over.notified().await;
}

#[tokio::test(start_paused = true)]
async fn a_late_request_comes_to_its_end_while_its_peer_takes_no_reply() {
    let service = Echo::default();
    let no_reply = async |_| std::future::pending().await;
    tokio::spawn(serve_in_time(service.clone(), Arc::new(()), WAITS.into(), no_reply));
    tokio::time::sleep(REQUEST_DEADLINE + FRAME_DEADLINE).await;

    service.release.notify_one();

    let is_over = tokio::time::timeout(FRAME_DEADLINE, service.is_over.notified()).await;
    assert!(is_over.is_ok(), "it stands still");
}

#[tokio::test(start_paused = true)]
async fn what_goes_on_after_its_deadline_still_counts_as_in_flight() {
    let mut client = Client::connect();
    client.send(&[WAITS; IN_FLIGHT]).await;
    for _ in 0..IN_FLIGHT {
        assert_eq!(client.next().await, "too late: waits");
    }

    client.send(&["unread"]).await;
    let unread = tokio::time::timeout(REQUEST_DEADLINE, client.next()).await;
    assert!(unread.is_err(), "{unread:?}");

    client.service.release.notify_one();
    assert_eq!(client.next().await, "unread");
}
