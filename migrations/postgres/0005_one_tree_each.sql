-- An entry of a history is looked up by its certificate alone: one index instead of two.
ALTER TABLE history DROP CONSTRAINT history_pkey;
DROP INDEX history_by_certificate;
ALTER TABLE history ADD PRIMARY KEY (certificate_id, happened_at, history_id);
