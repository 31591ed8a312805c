//! Extensions whose values the record and its view show (RFC 5280, section 4.2), and two of
//! Microsoft's.

use der::asn1::ObjectIdentifier as Oid;

pub(super) const SUBJECT_KEY_IDENTIFIER: Oid = Oid::new_unwrap("2.5.29.14");
pub(super) const KEY_USAGE: Oid = Oid::new_unwrap("2.5.29.15");
pub(super) const SUBJECT_ALT_NAME: Oid = Oid::new_unwrap("2.5.29.17");
pub(super) const BASIC_CONSTRAINTS: Oid = Oid::new_unwrap("2.5.29.19");
pub(super) const CRL_DISTRIBUTION_POINTS: Oid = Oid::new_unwrap("2.5.29.31");
pub(super) const CERTIFICATE_POLICIES: Oid = Oid::new_unwrap("2.5.29.32");
pub(super) const AUTHORITY_KEY_IDENTIFIER: Oid = Oid::new_unwrap("2.5.29.35");
pub(super) const EXTENDED_KEY_USAGE: Oid = Oid::new_unwrap("2.5.29.37");
pub(super) const AUTHORITY_INFO_ACCESS: Oid = Oid::new_unwrap("1.3.6.1.5.5.7.1.1");
pub(super) const MS_TEMPLATE_NAME: Oid = Oid::new_unwrap("1.3.6.1.4.1.311.20.2");
pub(super) const MS_TEMPLATE: Oid = Oid::new_unwrap("1.3.6.1.4.1.311.21.7");
