//! Which string types attributes may have, and values in a wrong one put right.
//!
//! Devices write `*` into PrintableStrings and countries as UTF8String. What such a value says is
//! clear, so a subject is certified with the same text in the right type, and the history says so.

use der::Tag;
use der::asn1::ObjectIdentifier;

use super::attribute_type::{AttributeType, Syntax, shown};
use super::directory_string::{decode_value, is_printable};
use super::distinguished_name::{Attribute, DistinguishedName};
use super::subject_rules::NameProblem;
use crate::asn1;

/// A value that was written in another string type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Corrected {
    /// The attribute's type.
    pub type_id: ObjectIdentifier,
    /// The same as shown.
    pub attribute: String,
    /// DER of the value that it has now.
    pub value: Vec<u8>,
    /// The string type that it had.
    pub from: &'static str,
    /// The string type that it has.
    pub to: &'static str,
}

/// The same name with each value in a string type that its attribute may have, as far as that can
/// be done without changing a character; a name without such values stays byte for byte.
///
/// # Errors
///
/// A value is too long for DER.
pub fn correct(name: &DistinguishedName) -> der::Result<(DistinguishedName, Vec<Corrected>)> {
    let mut corrected = Vec::new();
    let mut rdns = name.rdns().to_vec();
    // A name that is wrong in other ways is refused, not sorted in passing.
    let is_canonical = DistinguishedName::from_rdns(rdns.clone())?.der() == name.der();
    for attribute in rdns.iter_mut().flatten().filter(|_| is_canonical) {
        if let Some((value, change)) = in_right_type(attribute) {
            attribute.value = value;
            corrected.push(change);
        }
    }
    if corrected.is_empty() {
        return Ok((name.clone(), corrected));
    }
    Ok((DistinguishedName::from_rdns(rdns)?, corrected))
}

fn in_right_type(attribute: &Attribute) -> Option<(Vec<u8>, Corrected)> {
    let tag = *attribute.value.first()?;
    let text = decode_value(&attribute.value)?;
    // Of a type that isn't known, no one here can say which string type would be right.
    let known = AttributeType::by_oid(attribute.type_id)?;
    // What TeletexString means beyond ASCII depends on whom one asks.
    let is_clear = tag != TELETEX_STRING || text.is_ascii();
    if !is_clear || fits(Some(known.syntax), tag, &text) {
        return None;
    }
    let value = encode(&text, attribute.type_id, Some(known)).ok()?;
    let to = string_type(*value.first()?);
    let change = Corrected {
        type_id: attribute.type_id,
        attribute: shown(attribute.type_id),
        value: value.clone(),
        from: string_type(tag),
        to,
    };
    Some((value, change))
}

/// The string types that a syntax allows, and how to say so.
pub(super) fn allowed(syntax: Option<Syntax>) -> (&'static [u8], &'static str) {
    match syntax {
        Some(Syntax::Directory) => {
            (&[0x13, 0x0c, 0x1e, TELETEX_STRING], "PrintableString or UTF8String")
        }
        Some(Syntax::Printable | Syntax::Country) => (&[0x13], "PrintableString"),
        Some(Syntax::Ia5) => (&[0x16], "IA5String"),
        Some(Syntax::Unstructured) | None => {
            (&[0x13, 0x0c, 0x1e, TELETEX_STRING, 0x16], "PrintableString, UTF8String or IA5String")
        }
    }
}

/// Whether a value of this string type may stand there, and its type has all of its characters.
pub(super) fn fits(syntax: Option<Syntax>, tag: u8, text: &str) -> bool {
    let (tags, _) = allowed(syntax);
    let has_characters = match tag {
        0x13 => is_printable(text),
        0x1e => text.chars().all(|c| c <= '\u{ffff}'),
        TELETEX_STRING => text.is_ascii(),
        _ => true,
    };
    tags.contains(&tag) && has_characters
}

/// `text` as a value of the type: PrintableString where that is enough, else what comes next.
pub(super) fn encode(
    text: &str,
    type_id: ObjectIdentifier,
    known: Option<&AttributeType>,
) -> Result<Vec<u8>, NameProblem> {
    let charset = |fits: fn(&str) -> bool, ascii| {
        let misfit = text.chars().find(|c| !fits(c.encode_utf8(&mut [0; 4])));
        misfit.map(|character| {
            let attribute = shown(type_id);
            NameProblem::Charset { attribute, character, ascii }
        })
    };
    let (tag, misfit) = match known.map_or(Syntax::Directory, |known| known.syntax) {
        Syntax::Directory | Syntax::Unstructured if is_printable(text) => {
            (Tag::PrintableString, None)
        }
        Syntax::Directory | Syntax::Unstructured => (Tag::Utf8String, None),
        Syntax::Country if !text.is_ascii() => {
            let attribute = shown(type_id);
            return Err(NameProblem::Country { attribute });
        }
        // Two letters or refused, by the rules for every name.
        Syntax::Country => (Tag::PrintableString, None),
        Syntax::Printable => (Tag::PrintableString, charset(is_printable, false)),
        Syntax::Ia5 => (Tag::Ia5String, charset(str::is_ascii, true)),
    };
    match misfit {
        Some(problem) => Err(problem),
        None => asn1::encode(tag, text.as_bytes()).map_err(NameProblem::NotDer),
    }
}

const TELETEX_STRING: u8 = 0x14;

fn string_type(tag: u8) -> &'static str {
    match tag {
        0x0c => "UTF8String",
        0x12 => "NumericString",
        0x13 => "PrintableString",
        TELETEX_STRING => "TeletexString",
        0x16 => "IA5String",
        0x1a => "VisibleString",
        0x1c => "UniversalString",
        0x1e => "BMPString",
        _ => "string of another type",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name::attribute_type::{ATTRIBUTE_TYPES, COMMON_NAME, COUNTRY, EMAIL_ADDRESS};
    use crate::name::subject_rules;

    /// Rightly a NumericString (X.520), which is not known here.
    const X121_ADDRESS: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.4.24");
    const PRIVATE: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.6.1.4.1.55555.4");

    fn name(type_id: ObjectIdentifier, tag: u8, content: &[u8]) -> DistinguishedName {
        let value = [&[tag, u8::try_from(content.len()).unwrap()], content].concat();
        DistinguishedName::from_rdns(vec![vec![Attribute { type_id, value }]]).unwrap()
    }

    #[test]
    fn a_value_in_a_wrong_string_type_keeps_its_text_and_gets_the_right_one() {
        for (type_id, tag, content, to) in [
            (COMMON_NAME, 0x13, &b"*.example.test"[..], "UTF8String"),
            (COMMON_NAME, 0x16, b"a.example.test", "PrintableString"),
            (COMMON_NAME, 0x1a, b"a@example.test", "UTF8String"),
            (COMMON_NAME, 0x12, b"12345", "PrintableString"),
            (COMMON_NAME, 0x1c, b"\0\0\0K\0\x01\xf6\x3a", "UTF8String"),
            (COMMON_NAME, 0x1e, b"\xd8\x3d\xde\x3a", "UTF8String"),
            (COUNTRY, 0x0c, b"de", "PrintableString"),
            (EMAIL_ADDRESS, 0x0c, b"a@example.test", "IA5String"),
        ] {
            let sent = name(type_id, tag, content);

            let (right, changes) = correct(&sent).unwrap();

            let text = decode_value(&sent.rdns()[0][0].value).unwrap();
            assert_eq!(decode_value(&right.rdns()[0][0].value).unwrap(), text);
            assert_eq!(changes.len(), 1, "{text}");
            assert_eq!((changes[0].from, changes[0].to), (string_type(tag), to), "{text}");
            assert_eq!(correct(&right).unwrap(), (right, Vec::new()));
        }
    }

    #[test]
    fn what_is_right_or_beyond_help_stays_byte_for_byte() {
        for (type_id, tag, content) in [
            (COMMON_NAME, 0x13, &b"a.example.test"[..]),
            (COMMON_NAME, 0x0c, "Käse".as_bytes()),
            (COMMON_NAME, 0x1e, b"\0K"),
            (COMMON_NAME, 0x14, b"plain"),
            (COMMON_NAME, 0x14, b"K\xe4se"),
            (COMMON_NAME, 0x1c, b"\0\0\0"),
            (COMMON_NAME, 0x04, b"octets"),
            (COMMON_NAME, 0x12, b"12a"),
            (EMAIL_ADDRESS, 0x0c, "jürgen@example.test".as_bytes()),
            (X121_ADDRESS, 0x12, b"2624"),
            (PRIVATE, 0x1a, b"visible"),
            (PRIVATE, 0x1c, b"\0\0\0K"),
        ] {
            let sent = name(type_id, tag, content);

            assert_eq!(correct(&sent).unwrap(), (sent, Vec::new()), "{content:?}");
        }
    }

    #[test]
    fn a_type_that_is_not_known_is_refused_by_its_number() {
        for (type_id, tag, content) in
            [(X121_ADDRESS, 0x12, &b"2624"[..]), (PRIVATE, 0x1a, b"visible")]
        {
            let (sent, _) = correct(&name(type_id, tag, content)).unwrap();

            let refused = subject_rules::check(&sent).unwrap_err().to_string();

            assert!(refused.contains(&type_id.to_string()), "{refused}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_value_changes_its_text_whatever_its_type(
            tag: u8,
            content in proptest::collection::vec(proptest::num::u8::ANY, 0..100),
            known in 0..ATTRIBUTE_TYPES.len(),
        ) {
            let sent = name(ATTRIBUTE_TYPES[known].oid, tag, &content);

            let (right, _) = correct(&sent).unwrap();

            let text = |name: &DistinguishedName| decode_value(&name.rdns()[0][0].value);
            proptest::prop_assert_eq!(text(&right), text(&sent));
            proptest::prop_assert_eq!(correct(&right).unwrap(), (right, Vec::new()));
        }
    }
}
