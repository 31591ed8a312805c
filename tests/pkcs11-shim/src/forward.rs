//! The functions that can be told to fail; all others go straight to the module behind.

use std::ffi::c_void;
use std::sync::OnceLock;

use cryptoki_sys::{
    CK_ATTRIBUTE, CK_BBOOL, CK_BYTE, CK_FLAGS, CK_FUNCTION_LIST, CK_FUNCTION_LIST_PTR_PTR, CK_INFO,
    CK_MECHANISM, CK_MECHANISM_INFO, CK_MECHANISM_TYPE, CK_NOTIFY, CK_OBJECT_HANDLE, CK_RV,
    CK_SESSION_HANDLE, CK_SESSION_INFO, CK_SLOT_ID, CK_SLOT_INFO, CK_TOKEN_INFO, CK_ULONG,
    CK_USER_TYPE, CK_UTF8CHAR, CKR_FUNCTION_NOT_SUPPORTED, CKR_GENERAL_ERROR, CKR_OK,
};
use libloading::{Library, Symbol};

use crate::order::{Instead, obey};

/// The module behind, and its functions with those of the shim in their places.
struct Modules {
    real: CK_FUNCTION_LIST,
    shim: CK_FUNCTION_LIST,
    _library: Library,
}

static MODULES: OnceLock<Option<Modules>> = OnceLock::new();

macro_rules! forwarded {
    ($($name:ident($($argument:ident: $type:ty),*);)*) => {
        /// Every function that an order can name (PKCS#11 v2.40, chapter 5).
        pub const FUNCTIONS: &[&str] = &["C_GetSlotList", $(stringify!($name)),*];

        $(
            #[expect(non_snake_case, reason = "the standard's names")]
            unsafe extern "C" fn $name($($argument: $type),*) -> CK_RV {
                match obey(stringify!($name)) {
                    Some(Instead::Value(value)) => return value,
                    Some(Instead::NoSlot) | None => {}
                }
                let real = MODULES.get().and_then(Option::as_ref).and_then(|it| it.real.$name);
                match real {
                    // SAFETY: the caller keeps the standard's promises, and they go on unchanged.
                    Some(real) => unsafe { real($($argument),*) },
                    None => CKR_FUNCTION_NOT_SUPPORTED,
                }
            }
        )*

        fn shimmed(real: &CK_FUNCTION_LIST) -> CK_FUNCTION_LIST {
            CK_FUNCTION_LIST { $($name: Some($name),)* C_GetSlotList: Some(slot_list), ..*real }
        }
    };
}

forwarded! {
    C_Initialize(a: *mut c_void);
    C_Finalize(a: *mut c_void);
    C_GetInfo(a: *mut CK_INFO);
    C_GetSlotInfo(a: CK_SLOT_ID, b: *mut CK_SLOT_INFO);
    C_GetTokenInfo(a: CK_SLOT_ID, b: *mut CK_TOKEN_INFO);
    C_GetMechanismList(a: CK_SLOT_ID, b: *mut CK_MECHANISM_TYPE, c: *mut CK_ULONG);
    C_GetMechanismInfo(a: CK_SLOT_ID, b: CK_MECHANISM_TYPE, c: *mut CK_MECHANISM_INFO);
    C_InitToken(a: CK_SLOT_ID, b: *mut CK_UTF8CHAR, c: CK_ULONG, d: *mut CK_UTF8CHAR);
    C_InitPIN(a: CK_SESSION_HANDLE, b: *mut CK_UTF8CHAR, c: CK_ULONG);
    C_SetPIN(a: CK_SESSION_HANDLE, b: *mut CK_UTF8CHAR, c: CK_ULONG, d: *mut CK_UTF8CHAR, e: CK_ULONG);
    C_OpenSession(a: CK_SLOT_ID, b: CK_FLAGS, c: *mut c_void, d: CK_NOTIFY, e: *mut CK_SESSION_HANDLE);
    C_CloseSession(a: CK_SESSION_HANDLE);
    C_GetSessionInfo(a: CK_SESSION_HANDLE, b: *mut CK_SESSION_INFO);
    C_Login(a: CK_SESSION_HANDLE, b: CK_USER_TYPE, c: *mut CK_UTF8CHAR, d: CK_ULONG);
    C_Logout(a: CK_SESSION_HANDLE);
    C_DestroyObject(a: CK_SESSION_HANDLE, b: CK_OBJECT_HANDLE);
    C_GetAttributeValue(a: CK_SESSION_HANDLE, b: CK_OBJECT_HANDLE, c: *mut CK_ATTRIBUTE, d: CK_ULONG);
    C_SetAttributeValue(a: CK_SESSION_HANDLE, b: CK_OBJECT_HANDLE, c: *mut CK_ATTRIBUTE, d: CK_ULONG);
    C_FindObjectsInit(a: CK_SESSION_HANDLE, b: *mut CK_ATTRIBUTE, c: CK_ULONG);
    C_FindObjects(a: CK_SESSION_HANDLE, b: *mut CK_OBJECT_HANDLE, c: CK_ULONG, d: *mut CK_ULONG);
    C_FindObjectsFinal(a: CK_SESSION_HANDLE);
    C_EncryptInit(a: CK_SESSION_HANDLE, b: *mut CK_MECHANISM, c: CK_OBJECT_HANDLE);
    C_Encrypt(a: CK_SESSION_HANDLE, b: *mut CK_BYTE, c: CK_ULONG, d: *mut CK_BYTE, e: *mut CK_ULONG);
    C_DecryptInit(a: CK_SESSION_HANDLE, b: *mut CK_MECHANISM, c: CK_OBJECT_HANDLE);
    C_Decrypt(a: CK_SESSION_HANDLE, b: *mut CK_BYTE, c: CK_ULONG, d: *mut CK_BYTE, e: *mut CK_ULONG);
    C_SignInit(a: CK_SESSION_HANDLE, b: *mut CK_MECHANISM, c: CK_OBJECT_HANDLE);
    C_Sign(a: CK_SESSION_HANDLE, b: *mut CK_BYTE, c: CK_ULONG, d: *mut CK_BYTE, e: *mut CK_ULONG);
    C_GenerateKey(a: CK_SESSION_HANDLE, b: *mut CK_MECHANISM, c: *mut CK_ATTRIBUTE, d: CK_ULONG, e: *mut CK_OBJECT_HANDLE);
    C_GenerateKeyPair(a: CK_SESSION_HANDLE, b: *mut CK_MECHANISM, c: *mut CK_ATTRIBUTE, d: CK_ULONG, e: *mut CK_ATTRIBUTE, f: CK_ULONG, g: *mut CK_OBJECT_HANDLE, h: *mut CK_OBJECT_HANDLE);
    C_GenerateRandom(a: CK_SESSION_HANDLE, b: *mut CK_BYTE, c: CK_ULONG);
}

/// As the others, and it can say that there is no slot.
unsafe extern "C" fn slot_list(
    present: CK_BBOOL,
    slots: *mut CK_SLOT_ID,
    count: *mut CK_ULONG,
) -> CK_RV {
    match obey("C_GetSlotList") {
        Some(Instead::Value(value)) => return value,
        Some(Instead::NoSlot) => {
            // SAFETY: the standard wants a place for the count there.
            unsafe { *count = 0 };
            return CKR_OK;
        }
        None => {}
    }
    match MODULES.get().and_then(Option::as_ref).and_then(|it| it.real.C_GetSlotList) {
        // SAFETY: the caller keeps the standard's promises, and they go on unchanged.
        Some(real) => unsafe { real(present, slots, count) },
        None => CKR_FUNCTION_NOT_SUPPORTED,
    }
}

fn load() -> Option<Modules> {
    type Get = unsafe extern "C" fn(CK_FUNCTION_LIST_PTR_PTR) -> CK_RV;
    // SAFETY: the module behind is what the test would have loaded without the shim.
    let library = unsafe { Library::new(std::env::var_os("SHIM_MODULE")?) }.ok()?;
    // SAFETY: the standard gives the function this type.
    let get: Symbol<'_, Get> = unsafe { library.get(b"C_GetFunctionList") }.ok()?;
    let mut list = std::ptr::null_mut();
    // SAFETY: the pointer is a place for the answer.
    if unsafe { get(&raw mut list) } != CKR_OK {
        return None;
    }
    // SAFETY: the module answered with its list, which stays while it is loaded; null is checked.
    let real = *unsafe { list.as_ref() }?;
    Some(Modules { real, shim: shimmed(&real), _library: library })
}

/// The one symbol of a module (PKCS#11 v2.40, section 5.4).
///
/// # Safety
///
/// `list` is a place for a pointer.
#[unsafe(no_mangle)]
#[expect(unreachable_pub, reason = "the loader reaches it")]
pub unsafe extern "C" fn C_GetFunctionList(list: CK_FUNCTION_LIST_PTR_PTR) -> CK_RV {
    let Some(modules) = MODULES.get_or_init(load) else { return CKR_GENERAL_ERROR };
    // SAFETY: the caller gave a place; the list is never written to, whatever the type says.
    unsafe { *list = (&raw const modules.shim).cast_mut() };
    CKR_OK
}
