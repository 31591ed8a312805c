//! What the API and the signer must agree on, and nothing else: frames, ids, wire
//! types, how requests, signatures and names are read, and which keys are no one's own.

pub mod bad_keys;
pub mod bytes;
pub mod certificate;
pub mod csr;
pub mod fail_point;
pub mod frame;
pub mod hexadecimal;
pub mod id;
pub mod lookalike;
pub mod signature;
pub mod text;
pub mod weak_key;
pub mod wiped;
pub mod wire;
