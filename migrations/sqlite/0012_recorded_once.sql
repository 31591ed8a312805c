-- Whoever records a certificate looks for it first, in the transaction that records it. As triggers the
-- same made SQLite copy each batch of rows into a table of its own and back, and keep every page that
-- the batch changed.

DROP TRIGGER certificate_from_elsewhere_is_there;
DROP TRIGGER certificate_is_there;
