-- Who did what: entries are added and never changed. Each process has a chain of its own.
CREATE TABLE audit_chain (
    chain_no BIGINT PRIMARY KEY,
    opened_at BIGINT NOT NULL,
    -- The chain before this one, as it was when this one began.
    previous_entry_no BIGINT NOT NULL,
    previous_hash BYTEA NOT NULL,
    last_entry_no BIGINT NOT NULL,
    last_hash BYTEA NOT NULL
);

CREATE TABLE audit (
    happened_at BIGINT NOT NULL,
    chain_no BIGINT NOT NULL,
    entry_no BIGINT NOT NULL,
    user_id TEXT,
    username TEXT,
    address TEXT,
    request_id TEXT,
    action TEXT NOT NULL,
    object_kind TEXT NOT NULL,
    object_id TEXT,
    object_name TEXT,
    object_before TEXT,
    object_after TEXT,
    result TEXT NOT NULL,
    times BIGINT NOT NULL,
    hash BYTEA NOT NULL,
    PRIMARY KEY (happened_at, chain_no, entry_no)
);
CREATE UNIQUE INDEX audit_by_chain ON audit (chain_no, entry_no);
CREATE INDEX audit_by_user ON audit (username, happened_at, chain_no, entry_no);
CREATE INDEX audit_by_object ON audit (object_id, happened_at, chain_no, entry_no)
    WHERE object_id IS NOT NULL;
CREATE INDEX audit_by_action ON audit (action, happened_at, chain_no, entry_no);
-- Most entries are of certificates: who asks for those goes through all.
CREATE INDEX audit_by_kind ON audit (object_kind, happened_at, chain_no, entry_no)
    WHERE object_kind <> 'certs';
CREATE INDEX audit_by_request ON audit (request_id) WHERE request_id IS NOT NULL;
CREATE INDEX audit_by_refusal ON audit (result, happened_at, chain_no, entry_no)
    WHERE result <> 'ok';

CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'the audit is append-only'; END $$;
CREATE TRIGGER audit_is_not_changed BEFORE UPDATE OR DELETE OR TRUNCATE ON audit
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER audit_chain_only_grows BEFORE UPDATE ON audit_chain FOR EACH ROW
    WHEN (NEW.chain_no <> OLD.chain_no OR NEW.opened_at <> OLD.opened_at
          OR NEW.previous_entry_no <> OLD.previous_entry_no
          OR NEW.previous_hash <> OLD.previous_hash OR NEW.last_entry_no < OLD.last_entry_no)
    EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER audit_chain_is_not_deleted BEFORE DELETE OR TRUNCATE ON audit_chain
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();
