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

-- What administrators have set; a setting without a row has its default. Values are JSON.
CREATE TABLE setting (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL,
    changed_at BIGINT NOT NULL,
    changed_by TEXT NOT NULL
);

-- Keys that key data is sealed under, each sealed itself under a key that never leaves its token.
CREATE TABLE data_key (
    data_key_id TEXT PRIMARY KEY,
    token TEXT NOT NULL,
    sealed BYTEA NOT NULL,
    created_at BIGINT NOT NULL
);

-- Private keys that are kept for a while: packages that their owner's password opens, sealed.
CREATE TABLE key_data (
    certificate_id TEXT PRIMARY KEY REFERENCES certificate (certificate_id),
    data_key_id TEXT NOT NULL REFERENCES data_key (data_key_id),
    p12 BYTEA,
    jks BYTEA,
    pem BYTEA,
    kept_at BIGINT NOT NULL
);
CREATE INDEX key_data_by_age ON key_data (kept_at);
CREATE INDEX key_data_by_key ON key_data (data_key_id);
