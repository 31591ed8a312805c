-- Who may work on a Local CA that is not finished, and until when without saying so again.
ALTER TABLE local_ca ADD COLUMN claimed_by TEXT;
ALTER TABLE local_ca ADD COLUMN claimed_until BIGINT NOT NULL DEFAULT 0;
-- A CA that is being taken back has the status 'removing'.
