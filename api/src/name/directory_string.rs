//! Strings inside names: the ASN.1 string types as text, and text as the right one of them.

use std::fmt::Write as _;

use der::Tag;

use crate::asn1::Tlv;

/// The text of a string value, whatever string type it has; `None` where it is no string or its
/// bytes are none of that type.
pub(crate) fn decode(tag: Tag, content: &[u8]) -> Option<String> {
    match tag {
        Tag::Utf8String => std::str::from_utf8(content).ok().map(str::to_owned),
        Tag::NumericString
            if !content.iter().all(|byte| byte.is_ascii_digit() || *byte == b' ') =>
        {
            None
        }
        Tag::PrintableString | Tag::Ia5String | Tag::NumericString | Tag::VisibleString => {
            content.is_ascii().then(|| content.iter().copied().map(char::from).collect())
        }
        // T.61 as everyone writes it: Latin-1.
        Tag::TeletexString => Some(content.iter().copied().map(char::from).collect()),
        Tag::BmpString => {
            let (units, rest) = content.as_chunks::<2>();
            if !rest.is_empty() {
                return None;
            }
            let units = units.iter().copied().map(u16::from_be_bytes);
            char::decode_utf16(units).collect::<Result<_, _>>().ok()
        }
        _ => None,
    }
}

/// The text of a value in DER, if it is a string.
pub(crate) fn decode_value(der: &[u8]) -> Option<String> {
    // UniversalString is no type that DER readers here know; its shape is that of any other.
    if let [UNIVERSAL_STRING, rest @ ..] = der {
        let octets = [&[OCTET_STRING], rest].concat();
        let (units, rest) = Tlv::read(&octets).ok()?.content.as_chunks::<4>();
        let units = units.iter().copied().map(u32::from_be_bytes).map(char::from_u32);
        return units.collect::<Option<String>>().filter(|_| rest.is_empty());
    }
    let tlv = Tlv::read(der).ok()?;
    decode(tlv.tag, tlv.content)
}

const OCTET_STRING: u8 = 0x04;
const UNIVERSAL_STRING: u8 = 0x1c;

/// Whether PrintableString can hold `text` (X.680, section 41.4).
pub(crate) fn is_printable(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric() || " '()+,-./:=?".contains(c))
}

/// The first character that no name may hold: it would change how the rest is shown, or end a
/// line in a log or a mail.
pub(crate) fn forbidden_character(text: &str) -> Option<char> {
    text.chars().find(|c| c.is_control() || is_invisible(*c))
}

/// Line separators, direction overrides and characters of no width. The two joiners (U+200C,
/// U+200D) stay allowed: scripts and emoji are written with them.
pub(crate) fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{061c}' | '\u{feff}'
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{fff9}'..='\u{fffb}')
}

/// `text` as RFC 4514, section 2.4, writes a value. What can't be seen is written in hexadecimal.
pub(crate) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let last = text.chars().count().saturating_sub(1);
    for (i, c) in text.chars().enumerate() {
        match c {
            ',' | '+' | '"' | '\\' | '<' | '>' | ';' => escaped.extend(['\\', c]),
            '#' if i == 0 => escaped.push_str("\\#"),
            ' ' if i == 0 || i == last => escaped.push_str("\\ "),
            c if c.is_control() || is_invisible(c) => {
                for byte in c.encode_utf8(&mut [0; 4]).bytes() {
                    // Writing to a String can't fail.
                    let _ = write!(escaped, "\\{byte:02X}");
                }
            }
            c => escaped.push(c),
        }
    }
    escaped
}
