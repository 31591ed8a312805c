-- Serial numbers and thumbprints come in no order: in a tree each costs a certificate a page of its
-- own. They are indexed with the texts, in large batches, as words of one text; what was recorded
-- later is read from the rows.

CREATE VIRTUAL TABLE certificate_text_numbers
    USING fts5(text, content = '', columnsize = 0, detail = none, tokenize = 'ascii');
INSERT INTO certificate_text_numbers (rowid, text)
SELECT record_no, serial_number || ' ' || thumbprint
  FROM certificate
 WHERE record_no <= (SELECT indexed_up_to FROM certificate_text_progress)
 ORDER BY record_no;
DROP INDEX certificate_thumbprint;

CREATE TRIGGER certificate_numbers_deleted BEFORE DELETE ON certificate
WHEN old.record_no <= (SELECT indexed_up_to FROM certificate_text_progress)
BEGIN
    INSERT INTO certificate_text_numbers (certificate_text_numbers, rowid, text)
    VALUES ('delete', old.record_no, old.serial_number || ' ' || old.thumbprint);
END;

-- A certificate is recorded once. One that was signed here has its entry in the journal, and those
-- come in order; one from elsewhere has none, and is looked for among all.
CREATE UNIQUE INDEX certificate_entry ON certificate (signer_id, journal_seq, serial_number);
DROP INDEX certificate_journal;
CREATE UNIQUE INDEX certificate_from_elsewhere ON certificate (serial_number, issuer_key)
    WHERE signer_id IS NULL;
DROP INDEX certificate_serial_issuer;

CREATE TRIGGER certificate_from_elsewhere_is_there BEFORE INSERT ON certificate
WHEN EXISTS (
    SELECT 1 FROM certificate
     WHERE signer_id IS NULL
       AND serial_number = new.serial_number AND issuer_key = new.issuer_key)
BEGIN SELECT RAISE(IGNORE); END;

CREATE TRIGGER certificate_signed_here_is_there BEFORE INSERT ON certificate
WHEN new.signer_id IS NULL AND (
    EXISTS (
        SELECT 1
          FROM certificate_text_numbers
          JOIN certificate ON certificate.record_no = certificate_text_numbers.rowid
         WHERE certificate_text_numbers MATCH '"' || new.serial_number || '"'
           AND serial_number = new.serial_number AND issuer_key = new.issuer_key)
    OR EXISTS (
        SELECT 1 FROM certificate
         WHERE record_no > (SELECT indexed_up_to FROM certificate_text_progress)
           AND serial_number = new.serial_number AND issuer_key = new.issuer_key))
BEGIN SELECT RAISE(IGNORE); END;
