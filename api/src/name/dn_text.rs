//! Distinguished names as people type them: RFC 4514, and the habits beside it.
//!
//! Beyond the RFC: blanks around separators, any case and several spellings of types, `OID.` in
//! front of dotted types, quoted values, and `;` as a separator (RFC 2253).
//!
//! The string's last RDN becomes the first of the DER, as RFC 4514 has it. Nothing is guessed: a
//! string that begins with the country is taken as written, and reads back as written.

use der::asn1::ObjectIdentifier;

use self::cursor::{Cursor, plain, quoted};
use super::attribute_type::AttributeType;
use super::distinguished_name::{Attribute, DistinguishedName};
use super::string_types;
use super::subject_rules::{self, NameProblem};
use crate::asn1;
use crate::echo::cut;

mod cursor;

/// Most bytes that a DN string may have.
pub const MAX_TEXT: usize = 8 * 1024;

/// Why a string is no distinguished name. Positions count characters from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DnTextError {
    /// Nothing, or blanks.
    #[error("the name is empty; write it as CN=name,O=organization")]
    Empty,
    /// More than [`MAX_TEXT`].
    #[error("the name is longer than {MAX_TEXT} bytes")]
    TooLong,
    /// Two separators without an attribute between them, or one at either end.
    #[error("an attribute is missing at position {at}; write TYPE=value between separators")]
    MissingAttribute {
        /// Where it should begin.
        at: usize,
    },
    /// No `=` where there should be one.
    #[error(
        "at position {at} there is no '='; write TYPE=value, and a comma, plus sign or semicolon \
         inside a value as \\, \\+ \\;"
    )]
    MissingEquals {
        /// Where the attribute begins.
        at: usize,
    },
    /// A type that is neither a known keyword nor a dotted object identifier.
    #[error(
        "the attribute type {0:?} is not known; write a keyword such as CN, O, OU, C, L, ST, DC, \
         UID or emailAddress, or a dotted object identifier"
    )]
    UnknownType(String),
    /// A backslash in front of what needs none, or of nothing.
    #[error("the backslash at position {at} escapes nothing; write a backslash itself as \\\\")]
    BadEscape {
        /// Where the backslash stands.
        at: usize,
    },
    /// Escaped bytes that are no UTF-8.
    #[error("the bytes escaped in the value of {attribute} are not UTF-8")]
    NotUtf8 {
        /// The type, as typed.
        attribute: String,
    },
    /// `"` that is not closed, or stands inside a value, or has something behind it.
    #[error("the quotation mark at position {at} is out of place; write it as \\\" inside a value")]
    BadQuote {
        /// Where it stands.
        at: usize,
    },
    /// `#` and no DER behind it.
    #[error(
        "the value of {attribute} begins with # but is not DER in hexadecimal; write \\# for a #"
    )]
    BadHex {
        /// The type, as typed.
        attribute: String,
    },
    /// The values don't fit their types.
    #[error(transparent)]
    Name(#[from] NameProblem),
}

/// Reads a DN string.
///
/// # Errors
///
/// Says what is wrong and where; nothing is dropped or guessed.
pub fn parse(text: &str) -> Result<DistinguishedName, DnTextError> {
    if text.len() > MAX_TEXT {
        return Err(DnTextError::TooLong);
    }
    if text.chars().all(|c| c == ' ') {
        return Err(DnTextError::Empty);
    }
    let mut cursor = Cursor::new(text);
    let mut rdns = Vec::new();
    let mut rdn = Vec::new();
    loop {
        rdn.push(attribute(&mut cursor)?);
        match cursor.next() {
            Some('+') => {}
            Some(_) => rdns.push(std::mem::take(&mut rdn)),
            None => break,
        }
    }
    rdns.push(rdn);
    rdns.reverse();
    let name = DistinguishedName::from_rdns(rdns).map_err(NameProblem::NotDer)?;
    subject_rules::check(&name)?;
    Ok(name)
}

/// One `type=value`; the cursor stands at the separator behind it, or at the end.
fn attribute(cursor: &mut Cursor) -> Result<Attribute, DnTextError> {
    cursor.skip_blanks();
    let at = cursor.position();
    let mut keyword = String::new();
    loop {
        match cursor.peek() {
            Some('=') => break,
            None | Some(',' | ';' | '+') if keyword.is_empty() => {
                return Err(DnTextError::MissingAttribute { at });
            }
            None | Some(',' | ';' | '+') => return Err(DnTextError::MissingEquals { at }),
            Some(c) => keyword.push(c),
        }
        cursor.next();
    }
    cursor.next();
    let keyword = keyword.trim_end_matches(' ').to_owned();
    let (type_id, known) = attribute_type(&keyword)?;
    cursor.skip_blanks();
    let value = match cursor.peek() {
        Some('#') => hex_value(cursor, &keyword)?,
        Some('"') => string_types::encode(&quoted(cursor)?, type_id, known)?,
        _ => {
            let bytes = plain(cursor)?;
            let text = String::from_utf8(bytes)
                .map_err(|_| DnTextError::NotUtf8 { attribute: keyword.clone() })?;
            string_types::encode(&text, type_id, known)?
        }
    };
    Ok(Attribute { type_id, value })
}

fn attribute_type(
    keyword: &str,
) -> Result<(ObjectIdentifier, Option<&'static AttributeType>), DnTextError> {
    if let Some(known) = AttributeType::by_keyword(keyword) {
        return Ok((known.oid, Some(known)));
    }
    let dotted = match keyword.get(..4) {
        Some(prefix) if prefix.eq_ignore_ascii_case("OID.") => keyword.get(4..).unwrap_or_default(),
        _ => keyword,
    };
    let oid = ObjectIdentifier::new(dotted).map_err(|_| DnTextError::UnknownType(cut(keyword)))?;
    Ok((oid, AttributeType::by_oid(oid)))
}

/// `#` and the DER of a value in hexadecimal.
fn hex_value(cursor: &mut Cursor, keyword: &str) -> Result<Vec<u8>, DnTextError> {
    cursor.next();
    let mut digits = String::new();
    while let Some(c) = cursor.peek().filter(|c| !",;+".contains(*c)) {
        digits.push(c);
        cursor.next();
    }
    let bytes = hex::decode(digits.trim_end_matches(' ')).ok();
    bytes
        .filter(|bytes| asn1::Tlv::read(bytes).is_ok())
        .ok_or_else(|| DnTextError::BadHex { attribute: keyword.to_owned() })
}

#[cfg(test)]
mod tests;
