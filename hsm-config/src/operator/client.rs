//! One question and its answer over the operator socket.

use std::io;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use chancery_shared::frame::{FrameError, blocking};
use chancery_shared::wire::operator::{Reply, Request};
use chancery_shared::wire::{Outcome, Refusal, ReplyEnvelope, RequestEnvelope, v1};

/// The signer serves a request within 30 s; an answer that takes longer does not come.
const PATIENCE: Duration = Duration::from_secs(35);

/// A connection to the signer's operator socket.
#[derive(Debug)]
pub(crate) struct OperatorSocket {
    stream: UnixStream,
}

/// Why there is no answer, or which one.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OperatorError {
    /// No socket, or no one behind it.
    #[error("the signer does not answer at {} ({source}): is it running on this home?", path.display())]
    NotRunning {
        /// Of the socket.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The signer closes the connection of any other user before a byte is read.
    #[error("the signer hung up: only the user whose uid is operator_uid in signer.toml may ask")]
    HungUp,
    /// The connection broke.
    #[error("the connection to the signer broke ({0})")]
    Frame(#[from] FrameError),
    /// The answer is not one that this version knows.
    #[error("the signer's answer was not understood ({0})")]
    Answer(#[from] serde_json::Error),
    /// An ordinary no.
    #[error("refused ({code}): {detail}")]
    Refused {
        /// The stable code.
        code: String,
        /// The signer's sentence.
        detail: String,
    },
}

impl OperatorSocket {
    /// Connects to the socket at `path`.
    ///
    /// # Errors
    ///
    /// The signer does not listen there, or this user may not reach it.
    pub(crate) fn connect(path: &Path) -> Result<Self, OperatorError> {
        let connected = UnixStream::connect(path).and_then(|stream| {
            stream.set_read_timeout(Some(PATIENCE))?;
            stream.set_write_timeout(Some(PATIENCE))?;
            Ok(Self { stream })
        });
        connected.map_err(|source| OperatorError::NotRunning { path: path.to_owned(), source })
    }

    /// Asks and waits for the answer.
    ///
    /// # Errors
    ///
    /// A refusal is one; the connection may be used no more after any other.
    pub(crate) fn ask(mut self, request: &Request) -> Result<Reply, OperatorError> {
        let envelope = RequestEnvelope { version: v1::VERSION, id: 1, body: request };
        let frame = serde_json::to_vec(&envelope)?;
        // A peer that is not admitted finds the socket closed while it still writes.
        let answer = blocking::write_frame(&mut self.stream, &frame)
            .and_then(|()| blocking::read_frame(&mut self.stream));
        let answer = match answer {
            Err(FrameError::Io(error)) if is_hang_up(&error) => None,
            other => other?,
        };
        let answer = answer.ok_or(OperatorError::HungUp)?;
        let ReplyEnvelope { outcome, .. } = serde_json::from_slice(&answer)?;
        match outcome {
            Outcome::Done(reply) => Ok(reply),
            Outcome::Refused(Refusal { code, detail, .. }) => {
                let code = serde_json::to_string(&code)?.trim_matches('"').to_owned();
                Err(OperatorError::Refused { code, detail })
            }
        }
    }
}

fn is_hang_up(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset)
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;
    use std::thread;

    use chancery_shared::wire::operator::Nothing;

    use super::*;

    /// Serves one connection with `serve`, and asks it for `pending`.
    fn ask_one(serve: impl FnOnce(UnixStream) + Send + 'static) -> Result<Reply, OperatorError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("operator.sock");
        let listener = UnixListener::bind(&path).unwrap();
        let signer = thread::spawn(move || serve(listener.accept().unwrap().0));
        let answer = OperatorSocket::connect(&path).unwrap().ask(&Request::Pending(Nothing {}));
        signer.join().unwrap();
        answer
    }

    fn answering(json: &'static str) -> impl FnOnce(UnixStream) + Send {
        move |mut stream| {
            let asked = blocking::read_frame(&mut stream).unwrap().unwrap();
            assert_eq!(asked, br#"{"version":1,"id":1,"body":{"pending":{}}}"#);
            blocking::write_frame(&mut stream, json.as_bytes()).unwrap();
        }
    }

    #[test]
    fn an_answer_comes_back_in_its_type() {
        let answer =
            ask_one(answering(r#"{"version":1,"id":1,"outcome":{"done":{"pending":[]}}}"#));

        assert_eq!(answer.unwrap(), Reply::Pending(Vec::new()));
    }

    #[test]
    fn a_refusal_is_told_with_its_code() {
        let answer = ask_one(answering(
            r#"{"version":1,"id":1,"outcome":{"refused":{"code":"unknown-approval",
                "detail":"there is no such approval"}}}"#,
        ));

        let told = answer.unwrap_err().to_string();
        assert_eq!(told, "refused (unknown-approval): there is no such approval");
    }

    #[test]
    fn a_closed_connection_is_told_as_the_wrong_user() {
        assert!(matches!(ask_one(drop), Err(OperatorError::HungUp)));
    }

    #[test]
    fn a_signer_that_is_not_there_is_told_with_the_path() {
        let error = OperatorSocket::connect(Path::new("/no/operator.sock")).unwrap_err();

        assert!(error.to_string().starts_with("the signer does not answer at /no/operator.sock"));
    }
}
