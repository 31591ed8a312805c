//! The text of a `csr` field, in every form that people and tools send, to the DER of one request.
//!
//! Accepted: PEM with either label (RFC 7468, section 7), any line ends or none, text around it;
//! base64 alone, standard or URL-safe, on one line or many; all of it also as UTF-16 or with a
//! byte order mark; DER itself where a file was uploaded.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use chancery_shared::wire::MAX_DER;

/// A text over this is refused unread: no request of [`MAX_DER`] needs half of it.
pub const MAX_TEXT: usize = 256 * 1024;

/// Why a text holds no request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CsrTextError {
    /// Nothing, or blanks.
    #[error("the csr is empty; paste the request as PEM or base64")]
    Empty,
    /// Over [`MAX_TEXT`], or a request over [`MAX_DER`].
    #[error("the csr is too large; a request has at most {MAX_DER} bytes")]
    TooLarge,
    /// Bytes that are no text in UTF-8 or UTF-16, and no DER.
    #[error("the csr is neither text in UTF-8 or UTF-16 nor DER")]
    NotText,
    /// PEM of something else, and no request.
    #[error("the csr is a {label}, not a CERTIFICATE REQUEST; paste what begins with that line")]
    OtherLabel {
        /// The words behind BEGIN.
        label: String,
    },
    /// A BEGIN line that is not spelt as it should be.
    #[error(
        "the BEGIN line of the csr is damaged; it must read -----BEGIN CERTIFICATE REQUEST----- \
         in capitals with five hyphens on each side"
    )]
    DamagedHeader,
    /// An END line that is missing.
    #[error("the END line of the csr is missing; it must read -----END CERTIFICATE REQUEST-----")]
    NoEnd,
    /// An END line with another label than the BEGIN line.
    #[error("the csr begins as {begin} and ends as {end}; the two must agree")]
    LabelsDiffer {
        /// Of the BEGIN line.
        begin: String,
        /// Of the END line.
        end: String,
    },
    /// The form of browsers' `keygen` (SPKAC).
    #[error("the csr is a SPKAC of a browser, not a PKCS #10 request; make one with another tool")]
    Spkac,
    /// Two requests.
    #[error("the csr holds more than one request; send one at a time")]
    MoreThanOne,
    /// Header lines inside the armour (RFC 1421).
    #[error("the csr has header lines such as Comment: inside the armour; remove them")]
    Headers,
    /// A character that base64 does not have.
    #[error(
        "line {line} of the csr holds {character:?}, which is not base64; paste the request \
         as its tool wrote it"
    )]
    NotBase64 {
        /// From 1, in the text as sent.
        line: usize,
        /// The character.
        character: char,
    },
    /// Base64 of a wrong length, or with padding in the middle.
    #[error("the base64 of the csr is incomplete or damaged; copy it again, whole")]
    Incomplete,
}

/// The DER of the one request in `bytes`. What the DER holds is not judged here.
///
/// # Errors
///
/// Says what is wrong with the text and, where one can act on it, what would pass.
pub fn to_der(bytes: &[u8]) -> Result<Vec<u8>, CsrTextError> {
    if bytes.len() > MAX_TEXT {
        return Err(CsrTextError::TooLarge);
    }
    let der = if looks_like_der(bytes) {
        bytes.to_vec()
    } else {
        let text = encoding::to_text(bytes).ok_or(CsrTextError::NotText)?;
        text_to_der(text.trim_start_matches('\u{feff}'))?
    };
    if der.len() > MAX_DER {
        return Err(CsrTextError::TooLarge);
    }
    Ok(der)
}

fn text_to_der(text: &str) -> Result<Vec<u8>, CsrTextError> {
    if text.chars().all(char::is_whitespace) {
        return Err(CsrTextError::Empty);
    }
    match armour::find(text)? {
        Some(body) => base64(&body),
        None if text.trim_start().starts_with("SPKAC=") => Err(CsrTextError::Spkac),
        None => base64(&armour::Body { text, first_line: 1 }).and_then(opened),
    }
}

/// What base64 without armour stood for: DER or, where a file was encoded whole, its text.
fn opened(bytes: Vec<u8>) -> Result<Vec<u8>, CsrTextError> {
    let text = encoding::to_text(&bytes).filter(|_| !looks_like_der(&bytes));
    match text.as_deref().map(armour::find) {
        Some(Ok(Some(body))) => base64(&body),
        Some(Err(problem)) => Err(problem),
        Some(Ok(None)) | None => Ok(bytes),
    }
}

/// A SEQUENCE whose length takes two or more octets: no text begins so.
fn looks_like_der(bytes: &[u8]) -> bool {
    matches!(bytes, [0x30, 0x80..=0x84, ..])
}

fn base64(body: &armour::Body<'_>) -> Result<Vec<u8>, CsrTextError> {
    let mut digits = String::with_capacity(body.text.len());
    for (i, line) in armour::lines(body.text).enumerate() {
        for character in line.chars().filter(|c| !c.is_whitespace()) {
            match character {
                '-' => digits.push('+'),
                '_' => digits.push('/'),
                c if c.is_ascii_alphanumeric() || "+/=".contains(c) => digits.push(c),
                _ => {
                    let line = body.first_line + i;
                    return Err(CsrTextError::NotBase64 { line, character });
                }
            }
        }
    }
    let lenient = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(false);
    let engine = GeneralPurpose::new(&alphabet::STANDARD, lenient);
    let der = engine.decode(digits).map_err(|_| CsrTextError::Incomplete)?;
    if der.is_empty() { Err(CsrTextError::Incomplete) } else { Ok(der) }
}

mod armour;
mod encoding;
#[cfg(test)]
mod tests;
