//! The frame decoder, with a runtime and without: the same frames, then the request in each.
#![no_main]

use std::time::Duration;

use chancery_fuzz::within_bounds;
use chancery_shared::frame::{blocking, read_frame};
use chancery_shared::wire::RequestEnvelope;
use chancery_shared::wire::v1::Request;
use libfuzzer_sys::fuzz_target;
use serde_json::value::RawValue;
use tokio::runtime::{Builder, Runtime};

thread_local! {
    static RUNTIME: Runtime = Builder::new_current_thread().enable_time().build().unwrap();
}

fuzz_target!(|input: &[u8]| {
    RUNTIME.with(|runtime| within_bounds(|| runtime.block_on(decode(input))));
});

/// As the signer reads it.
fn request(frame: &[u8]) -> Option<Request> {
    let whole: Option<RequestEnvelope<Request>> = serde_json::from_slice(frame).ok();
    let envelope: Option<RequestEnvelope<&RawValue>> = serde_json::from_slice(frame).ok();
    let body = envelope.and_then(|envelope| serde_json::from_str(envelope.body.get()).ok());
    assert!(whole.is_none() || whole.map(|whole| whole.body) == body);
    body
}

async fn decode(input: &[u8]) {
    let (mut socket, mut pipe) = (input, input);
    loop {
        let frame = read_frame(&mut socket, Duration::from_secs(5)).await;
        let same = blocking::read_frame(&mut pipe);
        match (frame, same) {
            (Ok(Some(frame)), Ok(Some(same))) => {
                assert_eq!(frame, same);
                let _ = request(&frame);
            }
            (Ok(None), Ok(None)) | (Err(_), Err(_)) => return,
            (frame, same) => panic!("{frame:?} is not {same:?}"),
        }
    }
}
