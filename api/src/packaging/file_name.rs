//! A file's name from a certificate's, as a header says it (RFC 6266): safe on every system, whatever
//! stands in the certificate.

use std::fmt::Write as _;

use crate::name::is_invisible;

/// The value of `Content-Disposition` for a download of a certificate with this common name.
pub fn attachment(common_name: &str, extension: &str) -> String {
    let plain = stem(common_name, |c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    let mut header = format!("attachment; filename=\"{plain}.{extension}\"");
    if !common_name.is_ascii() {
        let full = stem(common_name, |c| {
            c.is_ascii_alphanumeric() || "-_.".contains(c) || (!c.is_ascii() && !is_hidden(c))
        });
        header.push_str("; filename*=UTF-8''");
        for byte in format!("{full}.{extension}").bytes() {
            match byte {
                b'-' | b'_' | b'.' => header.push(byte.into()),
                _ if byte.is_ascii_alphanumeric() => header.push(byte.into()),
                // Writing to a String can't fail.
                _ => drop(write!(header, "%{byte:02X}")),
            }
        }
    }
    header
}

/// What of the name may stand in one; `certificate` where nothing of it may.
fn stem(common_name: &str, may_stand: impl Fn(char) -> bool) -> String {
    let mut stem: String =
        common_name.chars().take(LONGEST).map(|c| if may_stand(c) { c } else { '_' }).collect();
    // A dot in front hides a file, a hyphen makes an option of it, dots alone lead elsewhere.
    stem = stem.trim_matches(['.', '-', '_']).to_owned();
    let first = stem.split('.').next().unwrap_or_default();
    if stem.is_empty() {
        stem.push_str(NAMELESS);
    } else if DEVICES.iter().any(|device| device.eq_ignore_ascii_case(first)) {
        stem.insert_str(0, "certificate-");
    }
    stem
}

fn is_hidden(c: char) -> bool {
    c.is_control() || c.is_whitespace() || is_invisible(c)
}

const NAMELESS: &str = "certificate";

/// Characters: with 4 bytes each and an extension still a name that file systems take.
const LONGEST: usize = 60;

/// Windows opens these whatever follows the first dot.
const DEVICES: [&str; 22] = [
    "CON", "PRN", "AUX", "NUL", "COM1", "COM2", "COM3", "COM4", "COM5", "COM6", "COM7", "COM8",
    "COM9", "LPT1", "LPT2", "LPT3", "LPT4", "LPT5", "LPT6", "LPT7", "LPT8", "LPT9",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_after_the_certificate_and_nothing_in_it_leads_elsewhere() {
        for (name, header) in [
            ("www.example.test", "attachment; filename=\"www.example.test.cer\""),
            ("*.example.test", "attachment; filename=\"example.test.cer\""),
            ("", "attachment; filename=\"certificate.cer\""),
            ("../../etc/passwd", "attachment; filename=\"etc_passwd.cer\""),
            ("..\\..\\x", "attachment; filename=\"x.cer\""),
            ("C:\\x", "attachment; filename=\"C__x.cer\""),
            ("...", "attachment; filename=\"certificate.cer\""),
            ("-rf", "attachment; filename=\"rf.cer\""),
            ("nul", "attachment; filename=\"certificate-nul.cer\""),
            ("Con.example", "attachment; filename=\"certificate-Con.example.cer\""),
            ("a\r\nSet-Cookie: x=1", "attachment; filename=\"a__Set-Cookie__x_1.cer\""),
            ("a\"; filename=\"b.exe", "attachment; filename=\"a___filename__b.exe.cer\""),
            ("\0", "attachment; filename=\"certificate.cer\""),
            (
                "Käse & Söhne",
                "attachment; filename=\"K_se___S_hne.cer\"; \
                 filename*=UTF-8''K%C3%A4se___S%C3%B6hne.cer",
            ),
            (
                "\u{202e}gpj.exe",
                "attachment; filename=\"gpj.exe.cer\"; filename*=UTF-8''gpj.exe.cer",
            ),
        ] {
            assert_eq!(attachment(name, "cer"), header, "{name:?}");
        }
    }

    #[test]
    fn a_long_name_is_cut() {
        let header = attachment(&"x".repeat(5000), "pem");

        assert_eq!(header, format!("attachment; filename=\"{}.pem\"", "x".repeat(LONGEST)));
        assert!(attachment(&"\u{1f512}".repeat(5000), "pem").len() < 1000);
    }

    proptest::proptest! {
        #[test]
        fn whatever_the_name_the_header_is_one_line_of_ascii(name: String) {
            let header = attachment(&name, "cer");

            proptest::prop_assert!(header.bytes().all(|b| (0x20..0x7f).contains(&b)), "{}", header);
            proptest::prop_assert!(!header.contains(['/', '\\']));
        }
    }
}
