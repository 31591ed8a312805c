-- Thumbprints come in no order: in a tree each costs a certificate a page of its own. They are
-- indexed with the texts, in large batches; what was recorded later, a search reads itself.

CREATE VIRTUAL TABLE certificate_text_thumbprint
    USING fts5(text, content = '', columnsize = 0, detail = none, tokenize = 'ascii');
INSERT INTO certificate_text_thumbprint (rowid, text)
SELECT record_no, thumbprint
  FROM certificate
 WHERE record_no <= (SELECT indexed_up_to FROM certificate_text_progress)
 ORDER BY record_no;
DROP INDEX certificate_thumbprint;

CREATE TRIGGER certificate_thumbprint_deleted BEFORE DELETE ON certificate
WHEN old.record_no <= (SELECT indexed_up_to FROM certificate_text_progress)
BEGIN
    INSERT INTO certificate_text_thumbprint (certificate_text_thumbprint, rowid, text)
    VALUES ('delete', old.record_no, old.thumbprint);
END;
