//! Failed token operations, sorted by what to do next.

use std::fmt;

use cryptoki::error::{Error as Cryptoki, RvError};
use serde::{Deserialize, Serialize};

/// Why the token did not do what it was asked, as the rest of the signer sees it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// Too many requests wait already: ask again later.
    #[error("too many requests wait for the token")]
    Busy,
    /// The token is away or being brought back; it goes on by itself.
    #[error("the token is not reachable")]
    Unavailable,
    /// The token did not answer in time; no signature has left.
    #[error("the token did not answer in time")]
    DeadlineExceeded,
    /// Stop, and tell an operator: trying again can lock the token.
    #[error("the token refused the PIN; nothing is tried until the PIN file changes")]
    PinRefused,
    /// The token does not hold this key.
    #[error("the token does not hold the key")]
    KeyGone,
    /// The token holds as many keys as it may.
    #[error("the token holds {max} keys and may hold no more")]
    KeyLimit {
        /// `max_keys` of the configuration.
        max: u32,
    },
    /// The token refused this request; trying again changes nothing.
    #[error("the token refused the operation with {ckr}")]
    Refused {
        /// The name of the return value.
        ckr: CkrName,
    },
    /// The key makes no such signatures, or the request is for another key.
    #[error("the key makes no such signature")]
    WrongAlgorithm,
    /// The token returned a signature that its public key does not verify.
    #[error("the token returned a signature that does not verify")]
    WrongSignature,
    /// The sealed bytes are not what `seal` made on this token.
    #[error("the sealed bytes do not open")]
    SealBroken,
    /// A data key has 32 bytes.
    #[error("a data key to be sealed has 32 bytes")]
    NotADataKey,
    /// The public key that the token returned is none of this kind.
    #[error("the token returned a public key that is not of the kind asked for")]
    BadPublicKey,
    /// The worker could not be started, or its state folder can't be written.
    #[error("the token's worker could not be started")]
    NoWorker,
}

/// The name of a return value, such as `CKR_PIN_INCORRECT`; for failures on this side of the
/// module, a name without `CKR_`.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(transparent)]
pub struct CkrName(String);

impl CkrName {
    /// The name of what went wrong.
    pub(super) fn of(error: &Cryptoki) -> Self {
        Self(match error {
            Cryptoki::Pkcs11(RvError::VendorDefined(code), _) => format!("CKR_VENDOR_{code:#x}"),
            Cryptoki::Pkcs11(value, _) => screaming("CKR", &format!("{value:?}")),
            Cryptoki::LibraryLoading(_) => "LIBRARY_LOADING".to_owned(),
            Cryptoki::NullFunctionPointer => "NULL_FUNCTION_POINTER".to_owned(),
            Cryptoki::MissingSymbol(_) => "MISSING_SYMBOL".to_owned(),
            _ => "UNREADABLE_ANSWER".to_owned(),
        })
    }

    /// For failures that no return value stands for.
    pub(super) fn fixed(name: &'static str) -> Self {
        Self(name.to_owned())
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CkrName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// `PinIncorrect` with prefix `CKR` becomes `CKR_PIN_INCORRECT`.
fn screaming(prefix: &str, camel: &str) -> String {
    let mut name = prefix.to_owned();
    for letter in camel.chars() {
        if letter.is_ascii_uppercase() {
            name.push('_');
        }
        name.push(letter.to_ascii_uppercase());
    }
    name
}

/// What to do after a failed call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Remedy {
    /// Per request: trying again changes nothing.
    Refuse,
    /// Replace the session, once.
    NewSession,
    /// Find the object again, once.
    FindAgain,
    /// The value does not say: ask the canary key whether the token still signs.
    AskCanary,
    /// Finalise, initialise, log in, find again.
    NewEpoch,
    /// The process is to be replaced.
    NewWorker,
    /// Nothing more with this PIN.
    Stop,
}

/// Sorts a failed call. PKCS#11 v3.0, section 5.1 has the meanings; the measured behaviour of
/// modules has the last word.
pub(super) fn remedy(error: &Cryptoki) -> Remedy {
    use RvError as R;
    let Cryptoki::Pkcs11(value, _) = error else { return Remedy::NewWorker };
    match value {
        R::ArgumentsBad
        | R::AttributeReadOnly
        | R::AttributeSensitive
        | R::AttributeTypeInvalid
        | R::AttributeValueInvalid
        | R::ActionProhibited
        | R::CurveNotSupported
        | R::DataInvalid
        | R::DataLenRange
        | R::DomainParamsInvalid
        | R::EncryptedDataInvalid
        | R::EncryptedDataLenRange
        | R::FunctionNotSupported
        | R::FunctionRejected
        | R::KeyFunctionNotPermitted
        | R::KeySizeRange
        | R::KeyTypeInconsistent
        | R::MechanismInvalid
        | R::MechanismParamInvalid
        | R::TemplateIncomplete
        | R::TemplateInconsistent => Remedy::Refuse,
        R::SessionHandleInvalid
        | R::SessionClosed
        | R::SessionCount
        | R::OperationActive
        | R::OperationNotInitialized => Remedy::NewSession,
        R::ObjectHandleInvalid | R::KeyHandleInvalid => Remedy::FindAgain,
        R::CryptokiNotInitialized
        | R::UserNotLoggedIn
        | R::FunctionFailed
        | R::SlotIdInvalid
        | R::TokenNotRecognized => Remedy::NewEpoch,
        R::DeviceError
        | R::DeviceRemoved
        | R::DeviceMemory
        | R::TokenNotPresent
        | R::HostMemory
        | R::MutexBad
        | R::MutexNotLocked => Remedy::NewWorker,
        R::PinIncorrect | R::PinLocked | R::PinExpired | R::PinInvalid | R::PinLenRange => {
            Remedy::Stop
        }
        // General errors (in SoftHSM2 bad input, a bad GCM tag and a dead token look the same), the
        // vendors' own, and what no call of ours should give.
        _ => Remedy::AskCanary,
    }
}

#[cfg(test)]
mod tests {
    use cryptoki::context::Function;

    use super::*;

    fn failed(value: RvError) -> Cryptoki {
        Cryptoki::Pkcs11(value, Function::Sign)
    }

    #[test]
    fn a_return_value_keeps_the_name_that_the_standard_gives_it() {
        for (value, name) in [
            (RvError::PinIncorrect, "CKR_PIN_INCORRECT"),
            (RvError::GeneralError, "CKR_GENERAL_ERROR"),
            (RvError::UserNotLoggedIn, "CKR_USER_NOT_LOGGED_IN"),
            (RvError::VendorDefined(0x8000_0001), "CKR_VENDOR_0x80000001"),
        ] {
            assert_eq!(CkrName::of(&failed(value)).as_str(), name);
        }
    }
}
