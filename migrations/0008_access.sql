-- Tokens of machines: shown once, then known by their hash alone. Their user's end ends them.
CREATE TABLE api_token (
    token_id TEXT PRIMARY KEY,
    user_id TEXT NOT NULL REFERENCES account (user_id),
    name TEXT NOT NULL,
    -- SHA-256 of the secret, hexadecimal: the secret is random and needs no slow hash.
    secret_hash TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    created_by TEXT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX api_token_by_user ON api_token (user_id);

-- What everyone may see.
CREATE INDEX certificate_is_ca ON certificate (record_no) WHERE is_ca = 1;
