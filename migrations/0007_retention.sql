-- What is under way with a Local CA ('deleting', 'restoring', 'removing') and by whom, as JSON: its key
-- changes first, then the row. Whoever works on it has the claim.
ALTER TABLE local_ca ADD COLUMN transition TEXT;
ALTER TABLE local_ca ADD COLUMN transition_by TEXT;
-- A name that is being restored is taken.
DROP INDEX local_ca_live_name;
CREATE UNIQUE INDEX local_ca_live_name ON local_ca (name)
    WHERE deleted_at IS NULL OR transition = 'restoring';

-- API processes that are, or were within minutes: what they would purge must be the same.
CREATE TABLE api_process (
    process_id TEXT PRIMARY KEY,
    purge_after_days BIGINT NOT NULL,
    seen_at BIGINT NOT NULL
);
