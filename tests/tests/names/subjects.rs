//! Generated subjects: every known attribute type, every string type, escapes, multi-valued RDNs,
//! values up to their bounds; and what each must read as.

use chancery_tests::forge::der::{oid, sequence, set, tlv};

use super::random::Random;

/// A subject and what RFC 4514 makes of it, in the form of the record.
#[derive(Clone, Debug)]
pub(crate) struct Subject {
    pub(crate) der: Vec<u8>,
    pub(crate) text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Values {
    /// DirectoryString, in every string type that is taken or put right.
    Directory,
    Printable,
    Country,
    Ia5,
    /// A label of a host name.
    Label,
    /// Without a keyword: only in hexadecimal.
    Private,
}

/// Type, keyword, values, most characters.
type Type = (&'static str, &'static str, Values, usize);

/// Types with a keyword, and one without. Where 32,768 characters are allowed, a certificate has no
/// room for them.
const TYPES: [Type; 27] = [
    ("2.5.4.3", "CN", Values::Directory, 64),
    ("2.5.4.4", "SN", Values::Directory, 3_000),
    ("2.5.4.5", "serialNumber", Values::Printable, 64),
    ("2.5.4.6", "C", Values::Country, 2),
    ("2.5.4.7", "L", Values::Directory, 128),
    ("2.5.4.8", "ST", Values::Directory, 128),
    ("2.5.4.9", "STREET", Values::Directory, 128),
    ("2.5.4.10", "O", Values::Directory, 64),
    ("2.5.4.11", "OU", Values::Directory, 64),
    ("2.5.4.12", "title", Values::Directory, 64),
    ("2.5.4.13", "description", Values::Directory, 1_024),
    ("2.5.4.15", "businessCategory", Values::Directory, 128),
    ("2.5.4.17", "postalCode", Values::Directory, 40),
    ("2.5.4.20", "telephoneNumber", Values::Printable, 32),
    ("2.5.4.41", "name", Values::Directory, 3_000),
    ("2.5.4.42", "GN", Values::Directory, 3_000),
    ("2.5.4.43", "initials", Values::Directory, 3_000),
    ("2.5.4.44", "generationQualifier", Values::Directory, 3_000),
    ("2.5.4.46", "dnQualifier", Values::Printable, 64),
    ("2.5.4.65", "pseudonym", Values::Directory, 128),
    ("2.5.4.97", "organizationIdentifier", Values::Directory, 256),
    ("0.9.2342.19200300.100.1.1", "UID", Values::Directory, 256),
    ("0.9.2342.19200300.100.1.25", "DC", Values::Label, 63),
    ("1.2.840.113549.1.9.1", "emailAddress", Values::Ia5, 255),
    ("1.2.840.113549.1.9.2", "unstructuredName", Values::Directory, 255),
    ("1.3.6.1.4.1.311.60.2.1.3", "jurisdictionC", Values::Country, 2),
    ("1.3.6.1.4.1.55555.4", "1.3.6.1.4.1.55555.4", Values::Private, 64),
];

const PRINTABLE: &str = "ABCXYZabcxyz0189 '()+,-/:=?";
const LABEL: &str = "abcdefXYZ0189";
const ASCII: &str = "ABCabc019 !\"#$%&'()*+,-/:;<=>?[\\]^_`{|}~";
const PLANE: &str = "Aä, ß+\"é\\ñ#Ø;<Ж> ł=ع中文日本한국ก";
const ANY: &str = "Aä ,😀+𝔘\"\\𠀀é#";

/// The string types by tag, and what each is made of.
const STRINGS: [(u8, &str); 8] = [
    (0x13, PRINTABLE),
    (0x0c, ANY),
    (0x0c, PLANE),
    (0x1e, PLANE),
    (0x14, ASCII),
    (0x16, ASCII),
    (0x1a, ASCII),
    (0x1c, ANY),
];

/// A subject of up to six RDNs.
pub(crate) fn subject(random: &mut Random) -> Subject {
    let mut rdns: Vec<(Vec<u8>, String)> = Vec::new();
    for _ in 0..=random.below(6) {
        rdns.push(rdn(random));
    }
    let der: Vec<Vec<u8>> = rdns.iter().map(|(der, _)| der.clone()).collect();
    let texts: Vec<_> = rdns.iter().rev().map(|(_, text)| text.as_str()).collect();
    Subject { der: sequence(&der), text: texts.join(", ") }
}

fn rdn(random: &mut Random) -> (Vec<u8>, String) {
    let count = if random.one_in(4) { 2 + random.below(2) } else { 1 };
    let mut types: Vec<Type> = Vec::new();
    while types.len() < count {
        let one = random.pick(&TYPES);
        if !types.contains(&one) {
            types.push(one);
        }
    }
    let mut attributes: Vec<_> = types.into_iter().map(|one| attribute(random, one)).collect();
    // An RDN is sorted by its DER, and anew where a value was put into its right string type.
    attributes.sort_by(|a, b| a.sent.cmp(&b.sent));
    let der: Vec<Vec<u8>> = attributes.iter().map(|attribute| attribute.sent.clone()).collect();
    attributes.sort_by(|a, b| a.certified.cmp(&b.certified));
    let texts: Vec<_> = attributes.iter().rev().map(|attribute| attribute.text.as_str()).collect();
    (set(&der), texts.join("+"))
}

/// DER as the request has it and as the certificate has it, and the text of both.
struct Attribute {
    sent: Vec<u8>,
    certified: Vec<u8>,
    text: String,
}

fn attribute(random: &mut Random, at: Type) -> Attribute {
    let (type_id, keyword, values, most) = at;
    let length = match random.below(8) {
        0 => most,
        1 => 1,
        _ => 1 + random.below(most.min(24)),
    };
    let (tag, text) = match values {
        Values::Directory => {
            let (tag, alphabet) = random.pick(&STRINGS);
            (tag, random.text(alphabet, length))
        }
        Values::Printable => (random.pick(&[0x13, 0x0c, 0x16]), random.text(PRINTABLE, length)),
        Values::Country => (random.pick(&[0x13, 0x0c]), random.text("ACDEHUS", 2)),
        Values::Ia5 => (random.pick(&[0x16, 0x0c, 0x13]), random.text(PRINTABLE, length)),
        Values::Label => (random.pick(&[0x16, 0x0c, 0x13]), random.text(LABEL, length)),
        Values::Private => (0x0c, random.text(PLANE, length)),
    };
    // OpenSSL does not escape the # of a value that is nothing else.
    let text = if text == "#" { "x".to_owned() } else { text };
    let value = tlv(tag, &encode(tag, &text));
    let shown = match values {
        Values::Private => format!("#{}", hex::encode(&value)),
        _ => escaped(&text),
    };
    let right = right_tag(values, type_id, tag, &text);
    Attribute {
        sent: sequence(&[oid(type_id), value]),
        certified: sequence(&[oid(type_id), tlv(right, &encode(right, &text))]),
        text: format!("{keyword}={shown}"),
    }
}

/// The string type that the value has in the certificate.
fn right_tag(values: Values, type_id: &str, tag: u8, text: &str) -> u8 {
    let is_unstructured_name = type_id == "1.2.840.113549.1.9.2";
    match (values, tag) {
        (Values::Printable | Values::Country, _) => 0x13,
        (Values::Ia5 | Values::Label, _) => 0x16,
        (Values::Directory, 0x16) if is_unstructured_name => 0x16,
        (Values::Directory, 0x16 | 0x1a | 0x1c) => {
            if text.chars().all(|c| PRINTABLE.contains(c)) {
                0x13
            } else {
                0x0c
            }
        }
        _ => tag,
    }
}

fn encode(tag: u8, text: &str) -> Vec<u8> {
    match tag {
        0x1e => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
        0x1c => text.chars().flat_map(|c| u32::from(c).to_be_bytes()).collect(),
        _ => text.as_bytes().to_vec(),
    }
}

/// RFC 4514, section 2.4.
fn escaped(text: &str) -> String {
    let last = text.chars().count() - 1;
    let mut escaped = String::new();
    for (at, c) in text.chars().enumerate() {
        let is_special = ",+\"\\<>;".contains(c) || c == '#' && at == 0;
        if is_special || c == ' ' && (at == 0 || at == last) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}
