//! Bytes of a file as text: UTF-8, or UTF-16 as Windows writes it, with a byte order mark or not.

/// The text; `None` where the bytes are none.
pub(super) fn to_text(bytes: &[u8]) -> Option<String> {
    match bytes {
        [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes),
        // Text that begins with an ASCII character, and has no mark.
        [1..=0x7f, 0, ..] => utf16(bytes, u16::from_le_bytes),
        [0, 1..=0x7f, ..] => utf16(bytes, u16::from_be_bytes),
        _ => {
            let text = std::str::from_utf8(bytes).ok()?;
            // The text of a JSON string can carry UTF-16 that someone decoded as bytes.
            Some(text.strip_prefix('\u{feff}').unwrap_or(text).to_owned())
        }
    }
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Option<String> {
    let (units, rest) = bytes.as_chunks::<2>();
    if !rest.is_empty() {
        return None;
    }
    char::decode_utf16(units.iter().copied().map(unit)).collect::<Result<_, _>>().ok()
}
