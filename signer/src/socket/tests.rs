//! One connection, with a service that does what the frame says.

use std::sync::atomic::{AtomicBool, Ordering};

use chancery_shared::frame::{read_frame, write_frames};
use tokio::sync::Notify;

use super::*;

/// Answers a frame with its own text, but for the two below.
#[derive(Clone, Default)]
struct Echo {
    release: Arc<Notify>,
    is_released: Arc<AtomicBool>,
}

const WAITS: &str = "waits";
const PANICS: &str = "panics";
const LATE: &str = "too late";

impl Service for Echo {
    type Connection = ();
    type Reply = String;

    fn connected(&self, _: u32) {}

    async fn serve(&self, _: Arc<()>, frame: Arc<Zeroizing<Vec<u8>>>) -> (String, bool) {
        let text = String::from_utf8(frame.to_vec()).unwrap();
        assert_ne!(text, PANICS);
        if text == WAITS {
            self.release.notified().await;
            self.is_released.store(true, Ordering::Release);
        }
        (text, true)
    }

    fn too_late(&self, frame: &[u8]) -> String {
        format!("{LATE}: {}", String::from_utf8_lossy(frame))
    }
}

struct Client {
    socket: UnixStream,
    service: Echo,
    server: JoinHandle<()>,
    _stop: watch::Sender<bool>,
}

impl Client {
    fn connect() -> Self {
        let (socket, theirs) = UnixStream::pair().unwrap();
        let service = Echo::default();
        let (stop, stopped) = watch::channel(false);
        let server = tokio::spawn(connection(theirs, 7, service.clone(), stopped));
        Self { socket, service, server, _stop: stop }
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
    client.send(&[WAITS, "another"]).await;

    assert_eq!(client.next().await, "another");
    assert_eq!(client.next().await, "too late: waits");
    assert!(!client.service.is_released.load(Ordering::Acquire));

    client.service.release.notify_one();
    drop(client.socket);
    client.server.await.unwrap();
    assert!(client.service.is_released.load(Ordering::Acquire), "it was cut off");
}

#[tokio::test(start_paused = true)]
async fn a_panic_ends_its_own_request_alone_and_its_peer_hears_of_it() {
    let mut client = Client::connect();
    client.send(&[PANICS]).await;
    assert_eq!(client.next().await, "too late: panics");

    client.send(&["another"]).await;
    assert_eq!(client.next().await, "another");
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
