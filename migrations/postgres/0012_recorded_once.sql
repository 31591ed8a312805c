-- Of SQLite alone: here one index of issuers and serial numbers tells.
SELECT 1;
