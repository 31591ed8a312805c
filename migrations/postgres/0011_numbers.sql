-- Of SQLite alone: the trees of serial numbers and thumbprints stay here.
SELECT 1;
