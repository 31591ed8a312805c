//! What every name has to obey before it may stand in a certificate (RFC 5280, section 4.1.2.4).

use der::asn1::ObjectIdentifier;

use super::attribute_type::{AttributeType, Syntax, shown};
use super::directory_string::forbidden_character;
use super::distinguished_name::{Attribute, DistinguishedName};

/// Why a name may not stand in a certificate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameProblem {
    /// Not the DER of a Name.
    #[error("the name is not well-formed DER ({0})")]
    NotDer(der::Error),
    /// An RDN is a SET of nothing.
    #[error("the name has an RDN without any attribute")]
    EmptyRdn,
    /// The attributes of an RDN are not in DER's order.
    #[error("the attributes of a multi-valued RDN are not in the order that DER demands")]
    Unsorted,
    /// One type twice in one RDN (X.501, section 9.3).
    #[error("{attribute} stands twice in one RDN; write two RDNs")]
    TwiceInRdn {
        /// The type, as shown.
        attribute: String,
    },
    /// A value of a known type that is no string, or not one of its string type.
    #[error("the value of {attribute} is not a valid string")]
    NotAString {
        /// The type, as shown.
        attribute: String,
    },
    /// A value of no characters.
    #[error("{attribute} is empty; leave it out or give it a value")]
    Empty {
        /// The type, as shown.
        attribute: String,
    },
    /// Longer than the type allows.
    #[error("{attribute} has {length} characters, at most {upper_bound} are allowed")]
    TooLong {
        /// The type, as shown.
        attribute: String,
        /// Its length in characters.
        length: usize,
        /// Most that would pass.
        upper_bound: usize,
    },
    /// Not two letters.
    #[error("{attribute} must be a country code of exactly two letters, such as DE")]
    Country {
        /// The type, as shown.
        attribute: String,
    },
    /// A control character, or one that changes how others are shown.
    #[error("{attribute} holds the character U+{:04X}, which no name may hold", u32::from(*character))]
    Character {
        /// The type, as shown.
        attribute: String,
        /// The character.
        character: char,
    },
    /// A character that the type's string type can't hold.
    #[error("{attribute} holds {character:?}; it may hold {} only", if *ascii { "ASCII" } else { "letters, digits and ' ( ) + , - . / : = ? and blanks" })]
    Charset {
        /// The type, as shown.
        attribute: String,
        /// The character.
        character: char,
        /// Whether ASCII would pass.
        ascii: bool,
    },
}

/// Checks structure, lengths and characters of every attribute.
///
/// A string type that the standard does not foresee is let pass where its text is sound, because
/// a request's subject is never re-encoded.
///
/// # Errors
///
/// The first thing that is wrong, by the name of its attribute.
pub fn check(name: &DistinguishedName) -> Result<(), NameProblem> {
    let canonical =
        DistinguishedName::from_rdns(name.rdns().to_vec()).map_err(NameProblem::NotDer)?;
    for rdn in name.rdns() {
        if rdn.is_empty() {
            return Err(NameProblem::EmptyRdn);
        }
        for (i, attribute) in rdn.iter().enumerate() {
            let same = |other: &Attribute| other.type_id == attribute.type_id;
            if rdn.iter().take(i).any(same) {
                return Err(NameProblem::TwiceInRdn { attribute: shown(attribute.type_id) });
            }
            check_value(attribute)?;
        }
    }
    if canonical.der() != name.der() {
        return Err(NameProblem::Unsorted);
    }
    Ok(())
}

fn check_value(attribute: &Attribute) -> Result<(), NameProblem> {
    let known = AttributeType::by_oid(attribute.type_id);
    let name = || shown(attribute.type_id);
    let text = match (attribute.text(), known) {
        (Some(text), _) => text,
        (None, Some(_)) => return Err(NameProblem::NotAString { attribute: name() }),
        // A type of someone's own may hold any value, as long as it is one.
        (None, None) => return one_value(attribute.type_id, &attribute.value),
    };
    if text.is_empty() {
        return Err(NameProblem::Empty { attribute: name() });
    }
    if let Some(character) = forbidden_character(&text) {
        return Err(NameProblem::Character { attribute: name(), character });
    }
    let Some(known) = known else { return Ok(()) };
    let length = text.chars().count();
    if known.syntax == Syntax::Country {
        let two_letters = length == 2 && text.chars().all(|c| c.is_ascii_alphabetic());
        return if two_letters { Ok(()) } else { Err(NameProblem::Country { attribute: name() }) };
    }
    if length > known.upper_bound {
        let upper_bound = known.upper_bound;
        return Err(NameProblem::TooLong { attribute: name(), length, upper_bound });
    }
    Ok(())
}

fn one_value(type_id: ObjectIdentifier, value: &[u8]) -> Result<(), NameProblem> {
    match crate::asn1::Tlv::read(value) {
        // A broken string of a known string type is refused whatever the attribute is.
        Ok(tlv) if !is_string(tlv.tag) => Ok(()),
        _ => Err(NameProblem::NotAString { attribute: shown(type_id) }),
    }
}

fn is_string(tag: der::Tag) -> bool {
    use der::Tag as T;
    matches!(
        tag,
        T::Utf8String
            | T::PrintableString
            | T::Ia5String
            | T::NumericString
            | T::VisibleString
            | T::TeletexString
            | T::BmpString
    )
}
