//! The text of `certData` to the DER of one certificate.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use crate::echo::cut;

/// Most bytes of a certificate. Those with a signature of the largest kind and hundreds of names
/// need a quarter of it.
pub(super) const MAX_CERTIFICATE: usize = 256 * 1024;

/// Why a text holds no certificate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum CertificateTextError {
    /// Nothing, or blanks.
    #[error("is empty; send one certificate as PEM or as base64 of its DER")]
    Empty,
    /// More than one block of PEM.
    #[error("holds {0} blocks of PEM; send one certificate at a time, without its chain")]
    SeveralBlocks(usize),
    /// PEM of something else.
    #[error("is a {0}, not a CERTIFICATE; send what begins with -----BEGIN CERTIFICATE-----")]
    OtherLabel(String),
    /// Armour that can't be read.
    #[error("has damaged PEM armour; send it from -----BEGIN CERTIFICATE----- to its END line")]
    Damaged,
    /// Neither PEM nor base64.
    #[error("is neither PEM nor base64 of a certificate's DER")]
    NotBase64,
    /// Over [`MAX_CERTIFICATE`].
    #[error("has {0} bytes; a certificate of at most {MAX_CERTIFICATE} is taken")]
    TooLarge(usize),
}

/// The DER in `text`. What it holds is not judged here.
///
/// # Errors
///
/// Says what is wrong with the text, and what would pass.
pub(super) fn to_der(text: &str) -> Result<Vec<u8>, CertificateTextError> {
    let text = text.trim_start_matches('\u{feff}').trim();
    let der = match text.matches(BEGIN).count() {
        _ if text.is_empty() => return Err(CertificateTextError::Empty),
        0 if text.contains("-----") => return Err(CertificateTextError::Damaged),
        0 => base64(text)?,
        1 => armoured(text)?,
        several => return Err(CertificateTextError::SeveralBlocks(several)),
    };
    match der.len() {
        0 => Err(CertificateTextError::NotBase64),
        bytes if bytes > MAX_CERTIFICATE => Err(CertificateTextError::TooLarge(bytes)),
        _ => Ok(der),
    }
}

fn armoured(text: &str) -> Result<Vec<u8>, CertificateTextError> {
    let block = pem::parse(text).map_err(|_| CertificateTextError::Damaged)?;
    if !LABELS.contains(&block.tag()) {
        return Err(CertificateTextError::OtherLabel(cut(block.tag())));
    }
    Ok(block.into_contents())
}

fn base64(text: &str) -> Result<Vec<u8>, CertificateTextError> {
    let digits: Vec<u8> = text
        .bytes()
        .filter(|byte| !byte.is_ascii_whitespace())
        .map(|byte| match byte {
            b'-' => b'+',
            b'_' => b'/',
            other => other,
        })
        .collect();
    let lenient =
        GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    let engine = GeneralPurpose::new(&alphabet::STANDARD, lenient);
    engine.decode(digits).map_err(|_| CertificateTextError::NotBase64)
}

const BEGIN: &str = "-----BEGIN ";

/// RFC 7468, section 5.1, and what older tools write.
const LABELS: [&str; 2] = ["CERTIFICATE", "X509 CERTIFICATE"];

#[cfg(test)]
mod tests {
    use super::*;

    const PEM: &str = include_str!("../../../../tests/cases/crt/crt-014.cert.pem");

    fn der() -> Vec<u8> {
        pem::parse(PEM).unwrap().into_contents()
    }

    #[test]
    fn a_certificate_is_read_in_every_form_that_tools_write() {
        let base64 = base64::engine::general_purpose::STANDARD.encode(der());
        let url_safe = base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(der());
        let lines: Vec<_> =
            base64.as_bytes().chunks(64).map(|it| str::from_utf8(it).unwrap()).collect();
        let old = PEM.replace("CERTIFICATE", "X509 CERTIFICATE");
        for text in [
            PEM.to_owned(),
            PEM.replace('\n', "\r\n"),
            format!("\u{feff}subject=/CN=x\n\n{PEM}\n\n"),
            PEM.replace('\n', " "),
            old,
            format!(" {base64}\r\n"),
            lines.join("\n"),
            url_safe,
        ] {
            assert_eq!(to_der(&text), Ok(der()), "{text}");
        }
    }

    #[test]
    fn what_is_no_one_certificate_is_refused_with_the_reason() {
        use CertificateTextError as E;
        let key = PEM.replace("CERTIFICATE", "PRIVATE KEY");
        let large = base64::engine::general_purpose::STANDARD.encode(vec![0; MAX_CERTIFICATE + 1]);
        for (text, problem) in [
            (String::new(), E::Empty),
            (" \r\n".to_owned(), E::Empty),
            (format!("{PEM}{PEM}"), E::SeveralBlocks(2)),
            (format!("{PEM}{key}"), E::SeveralBlocks(2)),
            (key, E::OtherLabel("PRIVATE KEY".to_owned())),
            (PEM.replace("-----END", "----END"), E::Damaged),
            (PEM.replace("-----BEGIN", "----BEGIN"), E::Damaged),
            ("certificate".to_owned() + "!", E::NotBase64),
            ("=".to_owned(), E::NotBase64),
            (large, E::TooLarge(MAX_CERTIFICATE + 1)),
        ] {
            assert_eq!(to_der(&text), Err(problem), "{}", cut(&text));
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_the_reader_panic(before: String, at in 0_usize..900, inside: String) {
            let mut text = PEM.to_owned();
            if text.is_char_boundary(at) {
                text.insert_str(at, &inside);
            }

            let _ = to_der(&format!("{before}{text}"));
            let _ = to_der(&inside);
        }
    }
}
