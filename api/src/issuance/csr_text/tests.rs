//! The text forms of a CSR.

use super::*;

const DER: &[u8] =
    b"\x30\x82\x01\x00 it is only text here, long enough for two lines of base64 in PEM";

fn pem(label: &str, end: &str) -> String {
    let base64 = base64_of(DER);
    let (head, tail) = base64.split_at(64);
    format!("-----BEGIN {label}-----{end}{head}{end}{tail}{end}-----END {label}-----{end}")
}

fn base64_of(bytes: &[u8]) -> String {
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

fn request(end: &str) -> String {
    pem("CERTIFICATE REQUEST", end)
}

#[test]
fn every_form_of_the_contract_gives_the_same_der() {
    let url_safe = base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(DER);
    let base64 = base64_of(DER);
    let utf16 = |text: &str, unit: fn(u16) -> [u8; 2]| {
        text.encode_utf16().flat_map(unit).collect::<Vec<u8>>()
    };
    let marked = format!("\u{feff}{}", request("\r\n"));
    for form in [
        request("\n").into_bytes(),
        request("\r\n").into_bytes(),
        request("\r").into_bytes(),
        request(" ").into_bytes(),
        request("").into_bytes(),
        request("  \t\r\n\r\n").into_bytes(),
        pem("NEW CERTIFICATE REQUEST", "\n").into_bytes(),
        marked.clone().into_bytes(),
        utf16(&marked, u16::to_le_bytes),
        utf16(&marked, u16::to_be_bytes),
        utf16(&request("\r\n"), u16::to_le_bytes),
        utf16(&base64, u16::to_be_bytes),
        format!("Certificate Request:\n    Data: -\n{}-- \nRegards\n", request("\n")).into_bytes(),
        format!("{}{}", request("\n"), pem("CERTIFICATE", "\n")).into_bytes(),
        base64.clone().into_bytes(),
        format!("\n {}\n{} \n", &base64[..40], &base64[40..]).into_bytes(),
        url_safe.into_bytes(),
        base64_of(marked.as_bytes()).into_bytes(),
        base64_of(&utf16(&request("\r\n"), u16::to_le_bytes)).into_bytes(),
        DER.to_vec(),
    ] {
        assert_eq!(to_der(&form).as_deref(), Ok(DER), "{}", String::from_utf8_lossy(&form));
    }
}

#[test]
fn everything_else_is_refused_with_the_reason() {
    use CsrTextError as E;
    let other = |label: &str| E::OtherLabel { label: label.into() };
    let good = request("\n");
    for (text, reason) in [
        (String::new(), E::Empty),
        (" \r\n\t".into(), E::Empty),
        (format!("{good}{good}"), E::MoreThanOne),
        (pem("PUBLIC KEY", "\n"), other("PUBLIC KEY")),
        (pem("certificate request", "\n"), E::DamagedHeader),
        (good.replace("-----B", "----B"), E::DamagedHeader),
        (good.replace("-----", "\u{2013}\u{2013}"), E::DamagedHeader),
        (good.replace("-----END CERTIFICATE REQUEST-----\n", ""), E::NoEnd),
        (
            good.replace("END CERT", "END NEW CERT"),
            E::LabelsDiffer {
                begin: "CERTIFICATE REQUEST".into(),
                end: "NEW CERTIFICATE REQUEST".into(),
            },
        ),
        (good.replacen("-----\n", "-----\nComment: x\n\n", 1), E::Headers),
        (good.replacen("-----\n", "-----\n> ", 1), E::NotBase64 { line: 2, character: '>' }),
        (
            format!("a\rb\r\n{}", good.replacen('M', "&#43;", 1)),
            E::NotBase64 { line: 4, character: '&' },
        ),
        (good.replacen("-----\n", "-----\nA", 1), E::Incomplete),
        ("SPKAC=MIG+\nCN=x\n".into(), E::Spkac),
        (base64_of(pem("PUBLIC KEY", "\n").as_bytes()), other("PUBLIC KEY")),
        (pem("CERTIFICATE REQUEST", "\n").replace("MIIBACBp", "MIIB=CBp"), E::Incomplete),
        ("x".repeat(MAX_TEXT + 1), E::TooLarge),
    ] {
        assert_eq!(to_der(text.as_bytes()), Err(reason), "{text:.200}");
    }
    assert_eq!(to_der(&[0xff, 0xfe, 0x41]), Err(E::NotText));
    assert_eq!(to_der(&[0x80, 0x81, 0x82]), Err(E::NotText));
    let large = [&[0x30, 0x82][..], &vec![0; MAX_DER]].concat();
    assert_eq!(to_der(&large), Err(E::TooLarge));
}

proptest::proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic(bytes: Vec<u8>) {
        let _ = to_der(&bytes);
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "(-----BEGIN |CERTIFICATE REQUEST|-----END |-----|[\\r\\nA-Za-z0-9+/=: ]{0,9}){0,12}") {
        let _ = to_der(text.as_bytes());
    }
}
