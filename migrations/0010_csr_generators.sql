-- Which key pairs the service makes for those who ask with a DN.
CREATE TABLE csr_generator (
    csr_generator_id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    -- rsa-2048 and so on, as the signer's wire names kinds of keys.
    key_algorithm TEXT NOT NULL,
    -- rsa-pkcs1-sha256 and so on: how the CSR is signed.
    signature_algorithm TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    created_by TEXT NOT NULL
);
