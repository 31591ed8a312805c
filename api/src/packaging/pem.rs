//! PEM (RFC 7468) with CRLF line ends, as the record has it.

use der::pem::{LineEnding, encode_string};

/// One certificate.
pub fn certificate(der: &[u8]) -> String {
    labelled("CERTIFICATE", der)
}

/// One request.
pub fn request(der: &[u8]) -> String {
    labelled("CERTIFICATE REQUEST", der)
}

/// A PKCS #7 bag.
pub fn pkcs7(der: &[u8]) -> String {
    labelled("PKCS7", der)
}

/// A private key under a password.
pub fn encrypted_key(der: &[u8]) -> String {
    labelled("ENCRYPTED PRIVATE KEY", der)
}

fn labelled(label: &str, der: &[u8]) -> String {
    // The encoder fails only for labels and lengths that can't occur.
    encode_string(label, LineEnding::CRLF, der).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_64_characters_and_end_in_crlf() {
        let pem = certificate(&[0; 60]);

        let lines: Vec<&str> = pem.split("\r\n").collect();
        assert_eq!(lines[0], "-----BEGIN CERTIFICATE-----");
        assert_eq!((lines[1].len(), lines[2].len()), (64, 16));
        assert_eq!(&lines[3..], ["-----END CERTIFICATE-----", ""]);
    }
}
