//! Tag, length, value: enough DER to build anything, wrong things too.

/// One element.
#[must_use]
pub fn tlv(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut element = vec![tag];
    let length = content.len().to_be_bytes();
    let digits: Vec<u8> = length.iter().copied().skip_while(|byte| *byte == 0).collect();
    match (digits.as_slice(), u8::try_from(digits.len())) {
        ([], _) => element.push(0),
        ([short], _) if *short < 0x80 => element.push(*short),
        (long, Ok(count)) => {
            element.push(0x80 | count);
            element.extend(long);
        }
        (_, Err(_)) => {}
    }
    element.extend(content);
    element
}

/// A SEQUENCE of these elements.
#[must_use]
pub fn sequence(elements: &[Vec<u8>]) -> Vec<u8> {
    tlv(0x30, &elements.concat())
}

/// A SET of these elements, in the order given.
#[must_use]
pub fn set(elements: &[Vec<u8>]) -> Vec<u8> {
    tlv(0x31, &elements.concat())
}

/// A constructed context-specific element.
#[must_use]
pub fn context(number: u8, elements: &[Vec<u8>]) -> Vec<u8> {
    tlv(0xa0 | number, &elements.concat())
}

/// An INTEGER with this content.
#[must_use]
pub fn integer(content: &[u8]) -> Vec<u8> {
    tlv(2, content)
}

/// A BOOLEAN.
#[must_use]
pub fn boolean(value: bool) -> Vec<u8> {
    tlv(1, &[if value { 0xff } else { 0 }])
}

/// An OCTET STRING.
#[must_use]
pub fn octets(content: &[u8]) -> Vec<u8> {
    tlv(4, content)
}

/// A BIT STRING of whole octets.
#[must_use]
pub fn bits(content: &[u8]) -> Vec<u8> {
    tlv(3, &[&[0], content].concat())
}

/// An OBJECT IDENTIFIER in dotted form.
#[must_use]
pub fn oid(dotted: &str) -> Vec<u8> {
    let arcs: Vec<u64> = dotted.split('.').filter_map(|arc| arc.parse().ok()).collect();
    let mut content = Vec::new();
    if let [first, second, rest @ ..] = arcs.as_slice() {
        push_arc(&mut content, first * 40 + second);
        for arc in rest {
            push_arc(&mut content, *arc);
        }
    }
    tlv(6, &content)
}

fn push_arc(content: &mut Vec<u8>, arc: u64) {
    let mut groups = vec![u8::try_from(arc & 0x7f).unwrap_or_default()];
    let mut rest = arc >> 7;
    while rest > 0 {
        groups.push(u8::try_from(rest & 0x7f).unwrap_or_default() | 0x80);
        rest >>= 7;
    }
    groups.reverse();
    content.extend(groups);
}
