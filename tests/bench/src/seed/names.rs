//! Names of seeded certificates, so that searches among them mean something.

use chancery_tests::forge::der::{octets, oid, sequence, tlv};
use chancery_tests::forge::dns;
use chancery_tests::forge::oids::SUBJECT_ALT_NAME;
use chancery_tests::forge::subject::name;

const ROLES: [&str; 8] = ["api", "build", "cache", "db", "mail", "proxy", "vpn", "www"];
const SITES: [&str; 7] = ["berlin", "lagos", "lima", "osaka", "oslo", "perth", "quebec"];
const UNITS: [&str; 6] = ["Accounts", "Logistics", "Research", "Sales", "Support", "Transport"];

/// Of the certificate with this number.
#[derive(Debug)]
pub(super) struct Names {
    number: u64,
    host: String,
    unit: &'static str,
}

impl Names {
    pub(super) fn of(number: u64) -> Self {
        let (role, site) = (pick(&ROLES, number), pick(&SITES, number));
        let host = format!("{role}-{number}.{site}.example.test");
        Self { number, host, unit: pick(&UNITS, number) }
    }

    /// DER of the subject.
    pub(super) fn subject(&self) -> Vec<u8> {
        let text = |text: &str| tlv(0x0c, text.as_bytes());
        let attributes = [
            ("2.5.4.10", text("Example")),
            ("2.5.4.11", text(self.unit)),
            ("2.5.4.3", text(&self.host)),
        ];
        name(&attributes)
    }

    /// The extension with a name or two, and an address of every seventh.
    pub(super) fn extension(&self) -> Vec<u8> {
        let mut names = vec![dns(&self.host)];
        if self.number.is_multiple_of(3) {
            names.push(dns(&format!("{}.{}.example.test", self.number, self.unit.to_lowercase())));
        }
        if self.number.is_multiple_of(7) {
            let [.., second, third, fourth] = self.number.to_be_bytes();
            names.push(tlv(0x87, &[10, second, third, fourth]));
        }
        sequence(&[oid(SUBJECT_ALT_NAME), octets(&sequence(&names))])
    }
}

/// The same one for the same number, all of them equally often.
fn pick(from: &'static [&'static str], number: u64) -> &'static str {
    nth(from, number).copied().unwrap_or_default()
}

/// One of them for each number, all equally often; of none, none.
pub(super) fn nth<T>(from: &[T], number: u64) -> Option<&T> {
    let number = number.checked_rem(u64::try_from(from.len()).ok()?)?;
    from.get(usize::try_from(number).ok()?)
}
