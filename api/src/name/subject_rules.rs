//! What every name has to obey before it may stand in a certificate (RFC 5280, section 4.1.2.4).

use super::attribute_type::{AttributeType, DOMAIN_COMPONENT, Syntax, shown};
use super::directory_string::forbidden_character;
use super::distinguished_name::{Attribute, DistinguishedName};
use super::{dns_name, string_types};
use crate::echo::cut;

/// Why a name may not stand in a certificate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameProblem {
    /// Not the DER of a Name.
    #[error("the name is not well-formed DER ({0}); only a Name in DER passes")]
    NotDer(der::Error),
    /// An RDN is a SET of nothing.
    #[error("the name has an RDN without any attribute; leave that RDN out")]
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
    /// A value that is no string, or not one of its string type.
    #[error(
        "the value of {attribute} is not a valid string; write it as UTF8String or PrintableString"
    )]
    NotAString {
        /// The type, as shown.
        attribute: String,
    },
    /// A string type that the attribute may not have.
    #[error("the value of {attribute} must be a {expected}, with characters that this type has")]
    StringType {
        /// The type, as shown.
        attribute: String,
        /// What would pass.
        expected: &'static str,
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
    /// A domainComponent that is no label of a host name.
    #[error(
        "DC={} must be one label of a host name, such as example: letters, digits, hyphens and \
         underscores; write a DC for each label",
        cut(value)
    )]
    DomainComponent {
        /// The value.
        value: String,
    },
    /// A control character, or one that changes how others are shown.
    #[error(
        "{attribute} holds the character U+{:04X}, which no name may hold; leave it out",
        u32::from(*character)
    )]
    Character {
        /// The type, as shown.
        attribute: String,
        /// The character.
        character: char,
    },
    /// A character that the type's string type can't hold.
    #[error("{attribute} holds {character:?}; it may hold {} only", charset(*ascii))]
    Charset {
        /// The type, as shown.
        attribute: String,
        /// The character.
        character: char,
        /// Whether ASCII would pass.
        ascii: bool,
    },
}

fn charset(ascii: bool) -> &'static str {
    if ascii { "ASCII" } else { "letters, digits, blanks and ' ( ) + , - . / : = ?" }
}

/// Checks structure, string types, lengths and characters of every attribute.
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
    let text = attribute.text().ok_or_else(|| NameProblem::NotAString { attribute: name() })?;
    check_string_type(attribute, known.map(|known| known.syntax), &text)?;
    if text.is_empty() {
        return Err(NameProblem::Empty { attribute: name() });
    }
    if let Some(character) = forbidden_character(&text) {
        return Err(NameProblem::Character { attribute: name(), character });
    }
    let length = text.chars().count();
    if known.is_some_and(|known| known.syntax == Syntax::Country) {
        let two_letters = length == 2 && text.chars().all(|c| c.is_ascii_alphabetic());
        return if two_letters { Ok(()) } else { Err(NameProblem::Country { attribute: name() }) };
    }
    // The bound of the longest types, ub-name, for those that no bound is known of.
    let upper_bound = known.map_or(32_768, |known| known.upper_bound);
    if length > upper_bound {
        return Err(NameProblem::TooLong { attribute: name(), length, upper_bound });
    }
    // RFC 4519, section 2.4.
    if attribute.type_id == DOMAIN_COMPONENT && !dns_name::is_label(&text) {
        return Err(NameProblem::DomainComponent { value: text });
    }
    Ok(())
}

fn check_string_type(
    attribute: &Attribute,
    syntax: Option<Syntax>,
    text: &str,
) -> Result<(), NameProblem> {
    let tag = attribute.value.first().copied().unwrap_or_default();
    if string_types::fits(syntax, tag, text) {
        return Ok(());
    }
    let (_, expected) = string_types::allowed(syntax);
    Err(NameProblem::StringType { attribute: shown(attribute.type_id), expected })
}
