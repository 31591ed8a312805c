-- What a CRL and a record that comes back still have to know of a certificate whose record was
-- deleted while it was revoked.
ALTER TABLE certificate_tombstone ADD COLUMN local_ca_id TEXT;
ALTER TABLE certificate_tombstone ADD COLUMN not_after BIGINT;
ALTER TABLE certificate_tombstone ADD COLUMN revoked_at BIGINT;
ALTER TABLE certificate_tombstone ADD COLUMN revocation_reason TEXT;

-- Few rows each: the records of CAs, and links between a certificate and the one in its place.
CREATE INDEX certificate_of_ca ON certificate (certificate_id) WHERE is_ca = 1;
CREATE INDEX certificate_renewed_by ON certificate (renewed_by_certificate_id)
    WHERE renewed_by_certificate_id IS NOT NULL;
CREATE INDEX certificate_renews ON certificate (renews_certificate_id)
    WHERE renews_certificate_id IS NOT NULL;
