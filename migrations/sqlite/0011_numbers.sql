-- Serial numbers and thumbprints come in no order: in a tree each costs a certificate a page of its
-- own. They are indexed with the texts, in large batches, as words: a serial number with the beginning
-- of its issuer's key behind it, a thumbprint as it is. What was recorded later is read from the rows.

CREATE VIRTUAL TABLE certificate_text_numbers
    USING fts5(text, content = '', columnsize = 0, detail = none, tokenize = 'ascii');
INSERT INTO certificate_text_numbers (rowid, text)
SELECT record_no, serial_number || 'x' || substr(issuer_key, 1, 16) || ' ' || thumbprint
  FROM certificate
 WHERE record_no <= (SELECT indexed_up_to FROM certificate_text_progress)
 ORDER BY record_no;
DROP INDEX certificate_thumbprint;

-- Before the row goes: after it, 0004's trigger moves the mark back where it was the newest.
CREATE TRIGGER certificate_numbers_deleted BEFORE DELETE ON certificate
WHEN old.record_no <= (SELECT indexed_up_to FROM certificate_text_progress)
BEGIN
    INSERT INTO certificate_text_numbers (certificate_text_numbers, rowid, text)
    VALUES ('delete', old.record_no,
            old.serial_number || 'x' || substr(old.issuer_key, 1, 16) || ' ' || old.thumbprint);
END;

-- A certificate is recorded once. One of an end entity that was signed here names one entry of the
-- journal, and those come in order. Any other is looked for among all: one from elsewhere names
-- none, one of a CA that of its signature or that of its installation.
CREATE UNIQUE INDEX certificate_entry ON certificate (signer_id, journal_seq, serial_number);
DROP INDEX certificate_journal;
CREATE UNIQUE INDEX certificate_from_elsewhere ON certificate (serial_number, issuer_key)
    WHERE signer_id IS NULL;
DROP INDEX certificate_serial_issuer;

-- The new row is left out where its certificate came from elsewhere before.
CREATE TRIGGER certificate_from_elsewhere_is_there BEFORE INSERT ON certificate
WHEN EXISTS (
    SELECT 1 FROM certificate
     WHERE signer_id IS NULL
       AND serial_number = new.serial_number AND issuer_key = new.issuer_key)
BEGIN SELECT RAISE(IGNORE); END;

-- Or where it has a record of any kind.
CREATE TRIGGER certificate_is_there BEFORE INSERT ON certificate
WHEN (new.signer_id IS NULL OR new.is_ca = 1) AND EXISTS (
    SELECT 1 FROM certificate
     WHERE record_no IN (SELECT rowid FROM certificate_text_numbers
                          WHERE certificate_text_numbers MATCH
                                '"' || new.serial_number || 'x' || substr(new.issuer_key, 1, 16) || '"')
       AND serial_number = new.serial_number AND issuer_key = new.issuer_key
     UNION ALL
    SELECT 1 FROM certificate
     WHERE record_no > (SELECT indexed_up_to FROM certificate_text_progress)
       AND serial_number = new.serial_number AND issuer_key = new.issuer_key)
BEGIN SELECT RAISE(IGNORE); END;
