//! Frames: a big-endian `u32` length, then that many bytes, never more than the limit.

use std::io;
use std::time::Duration;

use serde::Serialize;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use zeroize::Zeroizing;

/// No frame is longer: room for a request with a large TBS and its CSR, none for an attack.
pub const MAX_FRAME: usize = 256 * 1024;

/// Why there is no frame.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The announced length is over [`MAX_FRAME`]; nothing of the body was read or allocated.
    #[error("a frame of {length} bytes is longer than {MAX_FRAME}")]
    TooLong {
        /// The announced length, in bytes.
        length: usize,
    },
    /// The peer began a frame and did not finish it in time.
    #[error("the frame was not complete in time")]
    TooSlow,
    /// The message of a frame can't be written as JSON.
    #[error("a message can't be written as JSON")]
    NotJson(#[source] serde_json::Error),
    /// The connection ended inside a frame, or failed.
    #[error("the connection failed")]
    Io(#[from] io::Error),
}

/// Reads one frame; `None` where the peer closed the connection between two frames.
///
/// The wait for the first byte has no deadline. From then on the frame must be complete
/// `within` that time.
///
/// # Errors
///
/// A longer frame is refused before a byte of its body is read or allocated.
pub async fn read_frame(
    socket: &mut (impl AsyncRead + Unpin),
    within: Duration,
) -> Result<Option<Vec<u8>>, FrameError> {
    let mut length = [0; 4];
    let begun = socket.read(&mut length).await?;
    if begun == 0 {
        return Ok(None);
    }
    let rest = async {
        socket.read_exact(length.get_mut(begun..).unwrap_or_default()).await?;
        let length = u32::from_be_bytes(length) as usize;
        if length > MAX_FRAME {
            return Err(FrameError::TooLong { length });
        }
        let mut frame = vec![0; length];
        socket.read_exact(&mut frame).await?;
        Ok(Some(frame))
    };
    tokio::time::timeout(within, rest).await.map_err(|_| FrameError::TooSlow)?
}

/// Writes a frame for each body, all by one write, and flushes them.
///
/// # Errors
///
/// A body over [`MAX_FRAME`] is refused, and none after it is written; those before it are.
pub async fn write_frames(
    socket: &mut (impl AsyncWrite + Unpin),
    bodies: &[impl AsRef<[u8]>],
) -> Result<(), FrameError> {
    let length = bodies.iter().map(|body| HEADER + body.as_ref().len()).sum();
    // The copies are wiped: a frame may hold a data key.
    let mut frames = Zeroizing::new(Vec::with_capacity(length));
    let appended = bodies.iter().try_for_each(|body| append(&mut frames, body.as_ref()));
    socket.write_all(&frames).await?;
    socket.flush().await?;
    appended
}

/// Length and body as one buffer, so that one write sends both.
///
/// # Errors
///
/// [`FrameError::TooLong`] over the limit.
pub fn encode(body: &[u8]) -> Result<Vec<u8>, FrameError> {
    let mut frame = Vec::with_capacity(HEADER + body.len());
    append(&mut frame, body)?;
    Ok(frame)
}

/// Length and the JSON of `message` as one buffer, which is not wiped by itself.
///
/// # Errors
///
/// [`FrameError::TooLong`] over the limit, [`FrameError::NotJson`].
pub fn of_json(message: &impl Serialize) -> Result<Vec<u8>, FrameError> {
    let mut frame = Vec::with_capacity(USUAL);
    frame.extend([0; HEADER]);
    serde_json::to_writer(&mut frame, message).map_err(FrameError::NotJson)?;
    let (header, body) = frame.split_at_mut(HEADER);
    header.copy_from_slice(&length_of(body)?);
    Ok(frame)
}

fn append(frames: &mut Vec<u8>, body: &[u8]) -> Result<(), FrameError> {
    frames.extend(length_of(body)?);
    frames.extend(body);
    Ok(())
}

fn length_of(body: &[u8]) -> Result<[u8; HEADER], FrameError> {
    let length = body.len();
    let header = u32::try_from(length).ok().filter(|_| length <= MAX_FRAME);
    Ok(header.ok_or(FrameError::TooLong { length })?.to_be_bytes())
}

/// Room for what asks for a certificate with its CSR: it need not grow.
const USUAL: usize = 4096;

/// Length of what stands before a body: its length.
const HEADER: usize = 4;

/// The same frames for threads without a runtime: the token workers.
pub mod blocking {
    use std::io::{ErrorKind, Read, Write};

    use zeroize::Zeroizing;

    use super::{FrameError, MAX_FRAME, encode};

    /// Reads one frame; `None` where the peer closed the connection between two frames.
    ///
    /// # Errors
    ///
    /// As [`super::read_frame`], without a deadline.
    pub fn read_frame(socket: &mut impl Read) -> Result<Option<Vec<u8>>, FrameError> {
        let mut length = [0; 4];
        let [first, rest @ ..] = &mut length;
        match socket.read_exact(std::slice::from_mut(first)) {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(None),
            other => other?,
        }
        socket.read_exact(rest)?;
        let length = u32::from_be_bytes(length) as usize;
        if length > MAX_FRAME {
            return Err(FrameError::TooLong { length });
        }
        let mut frame = vec![0; length];
        socket.read_exact(&mut frame)?;
        Ok(Some(frame))
    }

    /// Writes one frame and flushes it.
    ///
    /// # Errors
    ///
    /// A body over the limit is refused before a byte is written.
    pub fn write_frame(socket: &mut impl Write, body: &[u8]) -> Result<(), FrameError> {
        socket.write_all(&Zeroizing::new(encode(body)?))?;
        socket.flush()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_secs(5);

    #[tokio::test]
    async fn a_frame_comes_back_as_it_was_written() {
        let mut wire = Vec::new();
        write_frames(&mut wire, &[b"hello".as_slice(), b"", b"world"]).await.unwrap();

        let mut read = wire.as_slice();
        for body in [b"hello".as_slice(), b"", b"world"] {
            let frame = read_frame(&mut read, SOON).await.unwrap();

            assert_eq!(frame.as_deref(), Some(body));
        }
        assert!(matches!(read_frame(&mut read, SOON).await, Ok(None)));
    }

    #[tokio::test]
    async fn a_body_over_the_limit_is_refused_and_those_before_it_are_written() {
        let (first, long) = (b"first".to_vec(), vec![0; MAX_FRAME + 1]);
        let mut wire = Vec::new();

        let refused = write_frames(&mut wire, &[&first, &long, &first]).await;

        assert!(matches!(refused, Err(FrameError::TooLong { .. })));
        let mut read = wire.as_slice();
        assert_eq!(read_frame(&mut read, SOON).await.unwrap(), Some(first));
        assert!(matches!(read_frame(&mut read, SOON).await, Ok(None)));
    }

    #[tokio::test]
    async fn a_frame_of_json_is_that_of_its_text_and_has_the_same_limit() {
        for length in [0, 1, USUAL, MAX_FRAME - 2] {
            let message = "x".repeat(length);

            let frame = of_json(&message).unwrap();

            let read = read_frame(&mut frame.as_slice(), SOON).await.unwrap();
            assert_eq!(read.unwrap(), serde_json::to_vec(&message).unwrap());
        }
        let refused = of_json(&"x".repeat(MAX_FRAME - 1));
        assert!(matches!(refused, Err(FrameError::TooLong { length }) if length == MAX_FRAME + 1));
    }

    #[tokio::test]
    async fn a_frame_over_the_limit_is_refused_by_its_length_alone() {
        let wire = u32::try_from(MAX_FRAME + 1).unwrap().to_be_bytes();

        let refused = read_frame(&mut wire.as_slice(), SOON).await;

        assert!(matches!(refused, Err(FrameError::TooLong { length }) if length == MAX_FRAME + 1));
    }

    #[tokio::test]
    async fn a_connection_that_ends_inside_a_frame_is_an_error_and_between_frames_is_none() {
        assert!(matches!(read_frame(&mut [].as_slice(), SOON).await, Ok(None)));
        for cut in [&[0_u8][..], &[0, 0, 0, 2], &[0, 0, 0, 2, 1]] {
            assert!(matches!(read_frame(&mut &*cut, SOON).await, Err(FrameError::Io(_))));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_frame_that_is_begun_must_be_finished_in_time() {
        let (mut peer, mut socket) = tokio::io::duplex(64);
        tokio::io::AsyncWriteExt::write_all(&mut peer, &[0, 0]).await.unwrap();

        let refused = read_frame(&mut socket, SOON).await;

        assert!(matches!(refused, Err(FrameError::TooSlow)));
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_make_the_reader_panic(bytes: Vec<u8>) {
            let _ = blocking::read_frame(&mut bytes.as_slice());
        }
    }
}
