//! CSR Generators: which key pairs the service makes for those who ask with a DN.

/// The names of the generators, in the order in which they are shown.
pub const NAMES: [&str; 6] =
    ["RSA 2048", "RSA 3072", "RSA 4096", "ECDSA P-256", "ECDSA P-384", "Ed25519"];
