-- Trigrams of what searches look into. The tables hold no text: what they find is looked at in the
-- row. They are filled in large batches, up to `indexed_up_to`; what was recorded later, a search
-- reads itself. Two marks (U+0002) stand before each text, and before each of several names.

CREATE VIRTUAL TABLE certificate_text_subject
    USING fts5(text, content = '', columnsize = 0, detail = none, tokenize = 'trigram');
CREATE VIRTUAL TABLE certificate_text_names
    USING fts5(text, content = '', columnsize = 0, detail = none, tokenize = 'trigram');
CREATE VIRTUAL TABLE certificate_text_details
    USING fts5(text, content = '', columnsize = 0, detail = none, tokenize = 'trigram');

CREATE TABLE certificate_text_progress (
    indexed_up_to BIGINT NOT NULL
);
INSERT INTO certificate_text_progress (indexed_up_to) VALUES (0);

CREATE TRIGGER certificate_details_changed AFTER UPDATE OF extra_details ON certificate
WHEN old.record_no <= (SELECT indexed_up_to FROM certificate_text_progress)
BEGIN
    INSERT INTO certificate_text_details (certificate_text_details, rowid, text)
    SELECT 'delete', old.record_no, char(2, 2) || old.extra_details
     WHERE old.extra_details IS NOT NULL;
    INSERT INTO certificate_text_details (rowid, text)
    SELECT new.record_no, char(2, 2) || new.extra_details
     WHERE new.extra_details IS NOT NULL;
END;

CREATE TRIGGER certificate_deleted AFTER DELETE ON certificate
WHEN old.record_no <= (SELECT indexed_up_to FROM certificate_text_progress)
BEGIN
    INSERT INTO certificate_text_subject (certificate_text_subject, rowid, text)
    VALUES ('delete', old.record_no, char(2, 2) || old.subject_dn);
    INSERT INTO certificate_text_names (certificate_text_names, rowid, text)
    VALUES ('delete', old.record_no,
            char(2, 2) || replace(old.subject_alt_names, char(10), char(10, 2, 2)));
    INSERT INTO certificate_text_details (certificate_text_details, rowid, text)
    SELECT 'delete', old.record_no, char(2, 2) || old.extra_details
     WHERE old.extra_details IS NOT NULL;
    -- The number of the newest record may be given out again.
    UPDATE certificate_text_progress
       SET indexed_up_to =
               min(indexed_up_to, coalesce((SELECT max(record_no) FROM certificate), 0));
END;
