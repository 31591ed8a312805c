//! The rules, each shown by a draft that breaks it alone.

mod ordinary;
