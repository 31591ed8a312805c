-- What a Local CA or an issuer leaves behind in the world is counted here alone: revoked and imported
-- certificates have no part in it.
CREATE INDEX certificate_unexpired ON certificate (local_ca_id, not_after, cert_issuer_id)
    WHERE revoked = 0 AND local_ca_id IS NOT NULL;
