//! `/admin/audit`.
