//! Values of a DN string: quotation marks and escapes.

use super::DnTextError;

/// A value in quotation marks: only `\"` and `\\` are escapes inside (RFC 2253, section 4).
pub(super) fn quoted(cursor: &mut Cursor) -> Result<String, DnTextError> {
    let at = cursor.position();
    cursor.next();
    let mut value = String::new();
    loop {
        match cursor.next() {
            Some('"') => break,
            Some('\\') => match cursor.next() {
                Some(c @ ('"' | '\\')) => value.push(c),
                Some(c) => value.extend(['\\', c]),
                None => return Err(DnTextError::BadQuote { at }),
            },
            Some(c) => value.push(c),
            None => return Err(DnTextError::BadQuote { at }),
        }
    }
    cursor.skip_blanks();
    match cursor.peek() {
        None | Some(',' | ';' | '+') => Ok(value),
        Some(_) => Err(DnTextError::BadQuote { at }),
    }
}

/// A value without quotation marks, as the bytes that its escapes stand for.
pub(super) fn plain(cursor: &mut Cursor) -> Result<Vec<u8>, DnTextError> {
    let mut value = Vec::new();
    // Up to here the value counts; unescaped blanks behind it don't.
    let mut end = 0;
    while let Some(c) = cursor.peek().filter(|c| !",;+".contains(*c)) {
        let at = cursor.position();
        cursor.next();
        match c {
            '"' => return Err(DnTextError::BadQuote { at }),
            '\\' => escaped(cursor, &mut value).ok_or(DnTextError::BadEscape { at })?,
            c => value.extend(c.encode_utf8(&mut [0; 4]).bytes()),
        }
        if c != ' ' {
            end = value.len();
        }
    }
    value.truncate(end);
    Ok(value)
}

fn escaped(cursor: &mut Cursor, value: &mut Vec<u8>) -> Option<()> {
    let first = cursor.next()?;
    if let (Some(high), Some(low)) =
        (first.to_digit(16), cursor.peek().and_then(|second| second.to_digit(16)))
    {
        cursor.next();
        value.push(u8::try_from(high * 16 + low).ok()?);
        return Some(());
    }
    " \"#+,;<=>\\".contains(first).then(|| value.extend(first.encode_utf8(&mut [0; 4]).bytes()))
}

/// The string, character by character.
pub(super) struct Cursor {
    chars: Vec<char>,
    at: usize,
}

impl Cursor {
    pub(super) fn new(text: &str) -> Self {
        Self { chars: text.chars().collect(), at: 0 }
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += 1;
        Some(c)
    }

    pub(super) fn skip_blanks(&mut self) {
        while self.peek() == Some(' ') {
            self.at += 1;
        }
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    /// Where the next character stands, from 1.
    pub(super) fn position(&self) -> usize {
        self.at + 1
    }
}
