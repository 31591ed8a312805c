-- What is looked up by its key alone is one tree instead of two or three: each tree costs every
-- certificate a page that changes.

CREATE TABLE csr_by_id (
    csr_id TEXT PRIMARY KEY,
    der BYTEA NOT NULL
) WITHOUT ROWID;
INSERT INTO csr_by_id (csr_id, der) SELECT csr_id, der FROM csr;
DROP TABLE csr;
ALTER TABLE csr_by_id RENAME TO csr;

CREATE TABLE history_by_certificate_id (
    history_id TEXT NOT NULL,
    certificate_id TEXT NOT NULL REFERENCES certificate (certificate_id),
    happened_at BIGINT NOT NULL,
    event TEXT NOT NULL,
    details TEXT NOT NULL,
    PRIMARY KEY (certificate_id, happened_at, history_id)
) WITHOUT ROWID;
INSERT INTO history_by_certificate_id (history_id, certificate_id, happened_at, event, details)
SELECT history_id, certificate_id, happened_at, event, details FROM history;
DROP TABLE history;
ALTER TABLE history_by_certificate_id RENAME TO history;
