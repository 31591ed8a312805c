//! Extra information and extra addresses of a request, within their bounds.

use crate::echo::cut;
use crate::name::email_address;

/// Most bytes of extra information.
pub const MAX_EXTRA_INFO: usize = 4 * 1024;

/// Most extra addresses.
pub const MAX_EXTRA_EMAILS: usize = 20;

/// Why extra information or addresses are refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExtraProblem {
    /// Over [`MAX_EXTRA_INFO`].
    #[error("{field} has {bytes} bytes, at most {MAX_EXTRA_INFO} are allowed")]
    InfoTooLong {
        /// The field that holds it.
        field: &'static str,
        /// So many.
        bytes: usize,
    },
    /// A control character other than tab and line ends.
    #[error("{field} holds the control character U+{character:04X}; write text and line ends")]
    InfoCharacter {
        /// The field that holds it.
        field: &'static str,
        /// Its code point.
        character: u32,
    },
    /// Over [`MAX_EXTRA_EMAILS`].
    #[error("extraEmails has {0} addresses, at most {MAX_EXTRA_EMAILS} are allowed")]
    TooManyEmails(usize),
    /// Not one address.
    #[error("extraEmails: {0:?} is not a mail address such as user@host.example")]
    Email(String),
}

impl ExtraProblem {
    /// The field at fault.
    pub fn field(&self) -> &'static str {
        match self {
            Self::InfoTooLong { field, .. } | Self::InfoCharacter { field, .. } => field,
            Self::TooManyEmails(_) | Self::Email(_) => "extraEmails",
        }
    }
}

/// Checks both. With these bounds they always fit into the journal's context, and so does what the
/// history tells beside them.
///
/// # Errors
///
/// The first bound that is broken.
pub fn check(info: Option<&str>, emails: &[String]) -> Result<(), ExtraProblem> {
    check_info("extraInfo", info.unwrap_or_default())?;
    check_emails(emails)
}

/// Checks extra information that stands in the field `field`.
///
/// # Errors
///
/// The first bound that is broken.
pub fn check_info(field: &'static str, info: &str) -> Result<(), ExtraProblem> {
    if info.len() > MAX_EXTRA_INFO {
        return Err(ExtraProblem::InfoTooLong { field, bytes: info.len() });
    }
    let is_bad = |c: &char| c.is_control() && !matches!(c, '\t' | '\n' | '\r');
    match info.chars().find(is_bad) {
        Some(c) => Err(ExtraProblem::InfoCharacter { field, character: c.into() }),
        None => Ok(()),
    }
}

/// Checks extra addresses.
///
/// # Errors
///
/// The first bound that is broken.
pub fn check_emails(emails: &[String]) -> Result<(), ExtraProblem> {
    if emails.len() > MAX_EXTRA_EMAILS {
        return Err(ExtraProblem::TooManyEmails(emails.len()));
    }
    match emails.iter().find(|email| email_address::check(email).is_err()) {
        Some(email) => Err(ExtraProblem::Email(cut(email))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::issuance::departures::MAX_DEPARTURES;

    #[test]
    fn what_passes_always_fits_into_the_context() {
        // A line end is two bytes in JSON, the worst of what passes.
        let info = "\n".repeat(MAX_EXTRA_INFO);
        let local = "u".repeat(64);
        let host = format!("{}.test", ["h".repeat(60), "h".repeat(60), "h".repeat(59)].join("."));
        let emails = vec![format!("{local}@{host}"); MAX_EXTRA_EMAILS];
        assert_eq!(check(Some(&info), &emails), Ok(()));

        // More clauses than there are pairs of string types and rules to tell of.
        let departures = vec!["\"".repeat(MAX_DEPARTURES / 32); 32];

        let context = super::super::context::tests::context();
        let largest = super::super::context::IssuanceContext {
            extra_info: Some(info),
            extra_emails: emails,
            departures,
            ..context
        };

        assert!(largest.to_wire().is_ok());
    }

    #[test]
    fn each_bound_is_named() {
        use ExtraProblem as P;
        let field = "extraInfo";
        let long = "x".repeat(MAX_EXTRA_INFO + 1);
        let many = vec!["a@example.test".to_owned(); MAX_EXTRA_EMAILS + 1];

        assert_eq!(
            check(Some(&long), &[]),
            Err(P::InfoTooLong { field, bytes: MAX_EXTRA_INFO + 1 })
        );
        assert_eq!(check(Some("a\0"), &[]), Err(P::InfoCharacter { field, character: 0 }));
        assert_eq!(check(None, &many), Err(P::TooManyEmails(MAX_EXTRA_EMAILS + 1)));
        assert_eq!(check(None, &["a".into()]), Err(P::Email("a".into())));
    }
}
