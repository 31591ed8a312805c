//! The envelope of a request, on either socket: whose reply it wants, and its body.

use chancery_shared::wire::{RequestEnvelope, v1};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::refusal::RequestError;

/// The id and the body of a frame.
///
/// # Errors
///
/// [`RequestError::UnsupportedVersion`] or [`RequestError::Malformed`], with the id where one can be
/// read.
pub(crate) fn open<Body: DeserializeOwned>(
    frame: &[u8],
) -> Result<(u64, Body), (Option<u64>, RequestError)> {
    let malformed = |id| move |error| (id, RequestError::Malformed(error));
    // As almost every frame is: gone through once.
    let whole: serde_json::Result<RequestEnvelope<Body>> = serde_json::from_slice(frame);
    let (id, version, body) = if let Ok(RequestEnvelope { id, version, body }) = whole {
        (id, version, Ok(body))
    } else {
        // What its body is worth is for its version to say.
        let envelope: RequestEnvelope<&RawValue> =
            serde_json::from_slice(frame).map_err(malformed(None))?;
        let RequestEnvelope { id, version, body } = envelope;
        (id, version, serde_json::from_str(body.get()))
    };
    if version != v1::VERSION {
        return Err((Some(id), RequestError::UnsupportedVersion { version }));
    }
    Ok((id, body.map_err(malformed(Some(id)))?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_opened_by_its_version_and_its_id_told_wherever_there_is_one() {
        for (frame, told) in [
            (r#"{"version":1,"id":7,"body":"words"}"#, "7 words"),
            (r#"{"body":"words","id":7,"version":1}"#, "7 words"),
            (r#"{"version":2,"id":7,"body":"words"}"#, "Some(7) version 2"),
            (r#"{"version":2,"id":7,"body":{"new":[1]}}"#, "Some(7) version 2"),
            (r#"{"version":1,"id":7,"body":{"new":[1]}}"#, "Some(7) malformed"),
            (r#"{"version":1,"id":7,"body":"words","more":1}"#, "None malformed"),
            (r#"{"version":1,"id":7,"id":8,"body":"words"}"#, "None malformed"),
            (r#"{"version":1,"id":"7","body":"words"}"#, "None malformed"),
            (r#"{"version":1,"id":7,"body":"words"} "more""#, "None malformed"),
            ("words", "None malformed"),
        ] {
            let opened = match open::<String>(frame.as_bytes()) {
                Ok((id, body)) => format!("{id} {body}"),
                Err((id, RequestError::UnsupportedVersion { version })) => {
                    format!("{id:?} version {version}")
                }
                Err((id, _)) => format!("{id:?} malformed"),
            };

            assert_eq!(opened, told, "{frame}");
        }
    }
}
