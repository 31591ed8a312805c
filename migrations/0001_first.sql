-- Times are Unix milliseconds, flags 0 or 1, ids 24 lower-case hexadecimal characters, lists JSON
-- text. One text for SQLite and PostgreSQL.

CREATE TABLE team (
    team_id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    description TEXT NOT NULL,
    internal_group TEXT NOT NULL,
    dont_send_emails_on_issue SMALLINT NOT NULL,
    dont_send_reminder_emails SMALLINT NOT NULL,
    ip_white_list TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    created_by TEXT NOT NULL
);

-- `user` is a reserved word in PostgreSQL.
CREATE TABLE account (
    user_id TEXT PRIMARY KEY,
    username TEXT NOT NULL,
    -- Lower case: two names that differ in case alone are one name.
    username_key TEXT NOT NULL UNIQUE,
    email TEXT NOT NULL,
    user_group TEXT NOT NULL,
    enabled SMALLINT NOT NULL,
    must_change_password SMALLINT NOT NULL,
    password_hash TEXT NOT NULL,
    -- Goes up when every token of the user ends at once.
    token_version BIGINT NOT NULL,
    failed_logins BIGINT NOT NULL,
    -- No login is tried before this moment; of an administrator's account alone.
    delayed_until BIGINT NOT NULL,
    locked SMALLINT NOT NULL,
    last_login_at BIGINT,
    last_login_address TEXT,
    created_at BIGINT NOT NULL,
    created_by TEXT NOT NULL
);

CREATE TABLE membership (
    team_id TEXT NOT NULL REFERENCES team (team_id),
    user_id TEXT NOT NULL REFERENCES account (user_id),
    PRIMARY KEY (team_id, user_id)
);
CREATE INDEX membership_by_user ON membership (user_id);

-- Tokens that ended before their time (logout). A row may go once the token has expired anyway.
CREATE TABLE ended_token (
    token_id TEXT PRIMARY KEY,
    expires_at BIGINT NOT NULL
);

CREATE TABLE key_store (
    key_store_id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    token TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    created_by TEXT NOT NULL,
    deleted_at BIGINT,
    deleted_by TEXT
);
-- A deleted item's name is free.
CREATE UNIQUE INDEX key_store_live_name ON key_store (name) WHERE deleted_at IS NULL;

CREATE TABLE local_ca (
    local_ca_id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    key_store_id TEXT NOT NULL REFERENCES key_store (key_store_id),
    parent_local_ca_id TEXT REFERENCES local_ca (local_ca_id),
    -- The signer's key, once it is made.
    key_id TEXT,
    signer_id TEXT,
    subject_dn TEXT NOT NULL,
    -- Everything else of the request, as JSON: algorithms, lifetime, constraints, URLs, policy.
    definition TEXT NOT NULL,
    -- live, offline, awaiting-certificate, awaiting-approval, revoked
    status TEXT NOT NULL,
    approval_id TEXT,
    certificate_id TEXT,
    created_at BIGINT NOT NULL,
    created_by TEXT NOT NULL,
    deleted_at BIGINT,
    deleted_by TEXT
);
CREATE UNIQUE INDEX local_ca_live_name ON local_ca (name) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX local_ca_key ON local_ca (key_id);

CREATE TABLE profile (
    profile_id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    -- What a certificate of this profile may contain, as JSON.
    definition TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    created_by TEXT NOT NULL
);

CREATE TABLE cert_issuer (
    cert_issuer_id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    local_ca_id TEXT NOT NULL REFERENCES local_ca (local_ca_id),
    profile_id TEXT NOT NULL REFERENCES profile (profile_id),
    allow_dn_requests SMALLINT NOT NULL,
    allow_csr_requests SMALLINT NOT NULL,
    allowed_generators TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    created_by TEXT NOT NULL,
    deleted_at BIGINT,
    deleted_by TEXT
);
CREATE UNIQUE INDEX cert_issuer_live_name ON cert_issuer (name) WHERE deleted_at IS NULL;

-- Which teams may use an issuer; an issuer without a row is open to every team.
CREATE TABLE cert_issuer_team (
    cert_issuer_id TEXT NOT NULL REFERENCES cert_issuer (cert_issuer_id),
    team_id TEXT NOT NULL REFERENCES team (team_id),
    PRIMARY KEY (cert_issuer_id, team_id)
);
CREATE INDEX cert_issuer_team_by_team ON cert_issuer_team (team_id);

CREATE TABLE csr (
    csr_id TEXT PRIMARY KEY,
    der BYTEA NOT NULL
);

-- What stands in the certificate itself is read from `der`; columns repeat it only where a query
-- needs them.
CREATE TABLE certificate (
    -- Counts records in the order of recording; lists and searches go by it.
    record_no INTEGER PRIMARY KEY,
    certificate_id TEXT NOT NULL UNIQUE,
    -- SHA-256 over the issuer's Name (DER) and the authority key identifier, hexadecimal.
    issuer_key TEXT NOT NULL,
    -- Hexadecimal, an even number of digits, no sign octet.
    serial_number TEXT NOT NULL,
    der BYTEA NOT NULL,
    -- SHA-1 of the DER, hexadecimal.
    thumbprint TEXT NOT NULL,
    common_name TEXT NOT NULL,
    subject_dn TEXT NOT NULL,
    issuer_dn TEXT NOT NULL,
    -- SHA-256 of that text, hexadecimal: an index takes no text of any length.
    issuer_dn_key TEXT NOT NULL,
    -- `TYPE:value`, one a line.
    subject_alt_names TEXT NOT NULL,
    not_before BIGINT NOT NULL,
    not_after BIGINT NOT NULL,
    is_ca SMALLINT NOT NULL,
    cert_issuer_id TEXT,
    local_ca_id TEXT,
    issuer_certificate_id TEXT,
    csr_id TEXT,
    owner_user_id TEXT NOT NULL,
    owner_username TEXT NOT NULL,
    team_id TEXT NOT NULL,
    extra_details TEXT,
    extra_emails TEXT,
    track_expiry SMALLINT NOT NULL,
    renewed SMALLINT NOT NULL,
    renewed_by_certificate_id TEXT,
    renews_certificate_id TEXT,
    revoked SMALLINT NOT NULL,
    revoked_at BIGINT,
    revocation_reason TEXT,
    has_key_data SMALLINT NOT NULL,
    imported_at BIGINT,
    ms_template_name TEXT,
    -- Where the signer's journal says that this was signed; NULL for what was not signed here.
    signer_id TEXT,
    journal_seq BIGINT,
    journal_hash TEXT,
    created_at BIGINT NOT NULL
);
-- The number first: a search has it alone.
CREATE UNIQUE INDEX certificate_serial_issuer ON certificate (serial_number, issuer_key);
CREATE INDEX certificate_thumbprint ON certificate (thumbprint);
CREATE INDEX certificate_journal ON certificate (signer_id, journal_seq);
-- What a search goes by. Each has its records in the order of recording, so that a page ends where
-- it is full.
CREATE INDEX certificate_by_team ON certificate (team_id, record_no);
CREATE INDEX certificate_by_owner ON certificate (owner_user_id, record_no);
CREATE INDEX certificate_by_cert_issuer ON certificate (cert_issuer_id, record_no);
CREATE INDEX certificate_by_issuer ON certificate (issuer_dn_key, record_no);
-- Moments in shelves of 30 days: within each shelf, too, the order is that of recording. Beside the
-- end of a life its shelf says whether it is revoked or renewed.
CREATE INDEX certificate_by_end ON certificate
    ((not_after / 2592000000 * 4 + revoked * 2 + renewed), record_no, not_after);
CREATE INDEX certificate_by_begin ON certificate
    ((not_before / 2592000000), record_no, not_before);

-- Certificates whose record an administrator deleted: reconciliation leaves them deleted.
CREATE TABLE certificate_tombstone (
    issuer_key TEXT NOT NULL,
    serial_number TEXT NOT NULL,
    deleted_at BIGINT NOT NULL,
    deleted_by TEXT NOT NULL,
    PRIMARY KEY (issuer_key, serial_number)
);

CREATE TABLE history (
    history_id TEXT PRIMARY KEY,
    certificate_id TEXT NOT NULL REFERENCES certificate (certificate_id),
    happened_at BIGINT NOT NULL,
    event TEXT NOT NULL,
    details TEXT NOT NULL
);
CREATE INDEX history_by_certificate ON history (certificate_id, happened_at, history_id);

-- The highest journal entry known of each signer, and how far reconciliation has read.
CREATE TABLE journal_head (
    signer_id TEXT PRIMARY KEY,
    seq BIGINT NOT NULL,
    hash TEXT NOT NULL,
    reconciled_seq BIGINT NOT NULL,
    reconciled_hash TEXT NOT NULL
);

-- Jobs that one API process at a time may run.
CREATE TABLE lease (
    name TEXT PRIMARY KEY,
    holder TEXT NOT NULL,
    until BIGINT NOT NULL
);

-- Facts about this installation: which steps of the first start are done, and by which rows.
CREATE TABLE installation (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
);
