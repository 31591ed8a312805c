//! The return values of PKCS#11 v2.40 (section 3.6) and what each of them is answered with.

use cryptoki::context::Function;
use cryptoki::error::Rv;

use super::super::error::{CkrName, Remedy, remedy};

/// Value, name, remedy.
pub(super) const CODES: &[(u64, &str, Remedy)] = &[
    (0x01, "CKR_CANCEL", Remedy::AskCanary),
    (0x02, "CKR_HOST_MEMORY", Remedy::NewWorker),
    (0x03, "CKR_SLOT_ID_INVALID", Remedy::NewEpoch),
    (0x05, "CKR_GENERAL_ERROR", Remedy::AskCanary),
    (0x06, "CKR_FUNCTION_FAILED", Remedy::NewEpoch),
    (0x07, "CKR_ARGUMENTS_BAD", Remedy::Refuse),
    (0x08, "CKR_NO_EVENT", Remedy::AskCanary),
    (0x09, "CKR_NEED_TO_CREATE_THREADS", Remedy::AskCanary),
    (0x0a, "CKR_CANT_LOCK", Remedy::AskCanary),
    (0x10, "CKR_ATTRIBUTE_READ_ONLY", Remedy::Refuse),
    (0x11, "CKR_ATTRIBUTE_SENSITIVE", Remedy::Refuse),
    (0x12, "CKR_ATTRIBUTE_TYPE_INVALID", Remedy::Refuse),
    (0x13, "CKR_ATTRIBUTE_VALUE_INVALID", Remedy::Refuse),
    (0x1b, "CKR_ACTION_PROHIBITED", Remedy::Refuse),
    (0x20, "CKR_DATA_INVALID", Remedy::Refuse),
    (0x21, "CKR_DATA_LEN_RANGE", Remedy::Refuse),
    (0x30, "CKR_DEVICE_ERROR", Remedy::NewWorker),
    (0x31, "CKR_DEVICE_MEMORY", Remedy::NewWorker),
    (0x32, "CKR_DEVICE_REMOVED", Remedy::NewWorker),
    (0x40, "CKR_ENCRYPTED_DATA_INVALID", Remedy::Refuse),
    (0x41, "CKR_ENCRYPTED_DATA_LEN_RANGE", Remedy::Refuse),
    (0x50, "CKR_FUNCTION_CANCELED", Remedy::AskCanary),
    (0x51, "CKR_FUNCTION_NOT_PARALLEL", Remedy::AskCanary),
    (0x54, "CKR_FUNCTION_NOT_SUPPORTED", Remedy::Refuse),
    (0x60, "CKR_KEY_HANDLE_INVALID", Remedy::FindAgain),
    (0x62, "CKR_KEY_SIZE_RANGE", Remedy::Refuse),
    (0x63, "CKR_KEY_TYPE_INCONSISTENT", Remedy::Refuse),
    (0x64, "CKR_KEY_NOT_NEEDED", Remedy::AskCanary),
    (0x65, "CKR_KEY_CHANGED", Remedy::AskCanary),
    (0x66, "CKR_KEY_NEEDED", Remedy::AskCanary),
    (0x67, "CKR_KEY_INDIGESTIBLE", Remedy::AskCanary),
    (0x68, "CKR_KEY_FUNCTION_NOT_PERMITTED", Remedy::Refuse),
    (0x69, "CKR_KEY_NOT_WRAPPABLE", Remedy::AskCanary),
    (0x6a, "CKR_KEY_UNEXTRACTABLE", Remedy::AskCanary),
    (0x70, "CKR_MECHANISM_INVALID", Remedy::Refuse),
    (0x71, "CKR_MECHANISM_PARAM_INVALID", Remedy::Refuse),
    (0x82, "CKR_OBJECT_HANDLE_INVALID", Remedy::FindAgain),
    (0x90, "CKR_OPERATION_ACTIVE", Remedy::NewSession),
    (0x91, "CKR_OPERATION_NOT_INITIALIZED", Remedy::NewSession),
    (0xa0, "CKR_PIN_INCORRECT", Remedy::Stop),
    (0xa1, "CKR_PIN_INVALID", Remedy::Stop),
    (0xa2, "CKR_PIN_LEN_RANGE", Remedy::Stop),
    (0xa3, "CKR_PIN_EXPIRED", Remedy::Stop),
    (0xa4, "CKR_PIN_LOCKED", Remedy::Stop),
    (0xb0, "CKR_SESSION_CLOSED", Remedy::NewSession),
    (0xb1, "CKR_SESSION_COUNT", Remedy::NewSession),
    (0xb3, "CKR_SESSION_HANDLE_INVALID", Remedy::NewSession),
    (0xb4, "CKR_SESSION_PARALLEL_NOT_SUPPORTED", Remedy::AskCanary),
    (0xb5, "CKR_SESSION_READ_ONLY", Remedy::AskCanary),
    (0xb6, "CKR_SESSION_EXISTS", Remedy::AskCanary),
    (0xb7, "CKR_SESSION_READ_ONLY_EXISTS", Remedy::AskCanary),
    (0xb8, "CKR_SESSION_READ_WRITE_SO_EXISTS", Remedy::AskCanary),
    (0xc0, "CKR_SIGNATURE_INVALID", Remedy::AskCanary),
    (0xc1, "CKR_SIGNATURE_LEN_RANGE", Remedy::AskCanary),
    (0xd0, "CKR_TEMPLATE_INCOMPLETE", Remedy::Refuse),
    (0xd1, "CKR_TEMPLATE_INCONSISTENT", Remedy::Refuse),
    (0xe0, "CKR_TOKEN_NOT_PRESENT", Remedy::NewWorker),
    (0xe1, "CKR_TOKEN_NOT_RECOGNIZED", Remedy::NewEpoch),
    (0xe2, "CKR_TOKEN_WRITE_PROTECTED", Remedy::AskCanary),
    (0xf0, "CKR_UNWRAPPING_KEY_HANDLE_INVALID", Remedy::AskCanary),
    (0xf1, "CKR_UNWRAPPING_KEY_SIZE_RANGE", Remedy::AskCanary),
    (0xf2, "CKR_UNWRAPPING_KEY_TYPE_INCONSISTENT", Remedy::AskCanary),
    (0x100, "CKR_USER_ALREADY_LOGGED_IN", Remedy::AskCanary),
    (0x101, "CKR_USER_NOT_LOGGED_IN", Remedy::NewEpoch),
    (0x102, "CKR_USER_PIN_NOT_INITIALIZED", Remedy::AskCanary),
    (0x103, "CKR_USER_TYPE_INVALID", Remedy::AskCanary),
    (0x104, "CKR_USER_ANOTHER_ALREADY_LOGGED_IN", Remedy::AskCanary),
    (0x105, "CKR_USER_TOO_MANY_TYPES", Remedy::AskCanary),
    (0x110, "CKR_WRAPPED_KEY_INVALID", Remedy::AskCanary),
    (0x112, "CKR_WRAPPED_KEY_LEN_RANGE", Remedy::AskCanary),
    (0x113, "CKR_WRAPPING_KEY_HANDLE_INVALID", Remedy::AskCanary),
    (0x114, "CKR_WRAPPING_KEY_SIZE_RANGE", Remedy::AskCanary),
    (0x115, "CKR_WRAPPING_KEY_TYPE_INCONSISTENT", Remedy::AskCanary),
    (0x120, "CKR_RANDOM_SEED_NOT_SUPPORTED", Remedy::AskCanary),
    (0x121, "CKR_RANDOM_NO_RNG", Remedy::AskCanary),
    (0x130, "CKR_DOMAIN_PARAMS_INVALID", Remedy::Refuse),
    (0x140, "CKR_CURVE_NOT_SUPPORTED", Remedy::Refuse),
    (0x150, "CKR_BUFFER_TOO_SMALL", Remedy::AskCanary),
    (0x160, "CKR_SAVED_STATE_INVALID", Remedy::AskCanary),
    (0x170, "CKR_INFORMATION_SENSITIVE", Remedy::AskCanary),
    (0x180, "CKR_STATE_UNSAVEABLE", Remedy::AskCanary),
    (0x190, "CKR_CRYPTOKI_NOT_INITIALIZED", Remedy::NewEpoch),
    (0x191, "CKR_CRYPTOKI_ALREADY_INITIALIZED", Remedy::AskCanary),
    (0x1a0, "CKR_MUTEX_BAD", Remedy::NewWorker),
    (0x1a1, "CKR_MUTEX_NOT_LOCKED", Remedy::NewWorker),
    (0x1b0, "CKR_NEW_PIN_MODE", Remedy::AskCanary),
    (0x1b1, "CKR_NEXT_OTP", Remedy::AskCanary),
    (0x1b5, "CKR_EXCEEDED_MAX_ITERATIONS", Remedy::AskCanary),
    (0x1b6, "CKR_FIPS_SELF_TEST_FAILED", Remedy::AskCanary),
    (0x1b7, "CKR_LIBRARY_LOAD_FAILED", Remedy::AskCanary),
    (0x1b8, "CKR_PIN_TOO_WEAK", Remedy::AskCanary),
    (0x1b9, "CKR_PUBLIC_KEY_INVALID", Remedy::AskCanary),
    (0x200, "CKR_FUNCTION_REJECTED", Remedy::Refuse),
    (0x8000_0001, "CKR_VENDOR_0x80000001", Remedy::AskCanary),
];

/// All of them where `CHANCERY_TEST_FAULTS` is `all`, else one of each remedy.
pub(super) fn chosen() -> Vec<(u64, &'static str, Remedy)> {
    let all = std::env::var_os("CHANCERY_TEST_FAULTS").is_some_and(|which| which == "all");
    let mut chosen: Vec<(u64, &str, Remedy)> = Vec::new();
    for code in CODES {
        if all || chosen.iter().all(|other| other.2 != code.2) {
            chosen.push(*code);
        }
    }
    chosen
}

#[test]
fn each_return_value_has_its_name_and_its_remedy() {
    for (value, name, expected) in CODES {
        let error = Rv::from(*value).into_result(Function::Sign).unwrap_err();

        assert_eq!((CkrName::of(&error).as_str(), remedy(&error)), (*name, *expected));
    }
}
