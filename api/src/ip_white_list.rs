//! White lists of IP addresses: single ones, ranges and networks, with commas between them.

use std::net::IpAddr;

use crate::echo::cut;

/// Why a text is no white list.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WhiteListProblem {
    /// An entry that is none of the three.
    #[error(
        "{:?} is no IP address; write 192.0.2.1, 192.0.2.1-192.0.2.9, 192.0.2.0/24 or the same \
         of IPv6, with commas between several",
        cut(.0)
    )]
    Entry(String),
    /// A range that holds nothing.
    #[error("the range {:?} ends before it begins", cut(.0))]
    Backwards(String),
    /// A network with bits of a host, which may be meant as either.
    #[error("{:?} is no network; write {network}/{length}, or the address alone", cut(text))]
    HostBits {
        /// As written.
        text: String,
        /// The network that it lies in.
        network: IpAddr,
        /// Its length.
        length: u32,
    },
}

/// A list that is sound.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IpWhiteList(Vec<(IpAddr, IpAddr)>);

impl IpWhiteList {
    /// Reads a list. Semicolons and line ends separate as commas do.
    ///
    /// # Errors
    ///
    /// The first entry that is wrong.
    pub fn read(list: &str) -> Result<Self, WhiteListProblem> {
        let entries = list.split([',', ';', '\n']).map(str::trim);
        let entries = entries.filter(|entry| !entry.is_empty()).map(read_entry);
        let read: Vec<_> = entries.collect::<Result<_, _>>()?;
        // Whoever writes something means to shut someone out; an empty list lets everyone in.
        if read.is_empty() && !list.trim().is_empty() {
            return Err(WhiteListProblem::Entry(list.trim().to_owned()));
        }
        Ok(Self(read))
    }

    /// Whether it has no entry.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether an entry holds the address. One of IPv4 in the clothes of IPv6 is one of IPv4.
    pub fn holds(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|(first, last)| {
            first.is_ipv4() == address.is_ipv4() && (first..=last).contains(&&address)
        })
    }
}

/// First and last address of an entry.
fn read_entry(entry: &str) -> Result<(IpAddr, IpAddr), WhiteListProblem> {
    let malformed = || WhiteListProblem::Entry(entry.to_owned());
    let address = |text: &str| match text.trim().parse::<IpAddr>() {
        Ok(address) => Ok(address.to_canonical()),
        Err(_) => Err(malformed()),
    };
    if let Some((first, last)) = entry.split_once('-') {
        let (first, last) = (address(first)?, address(last)?);
        return match (first.is_ipv4() == last.is_ipv4(), first <= last) {
            (true, true) => Ok((first, last)),
            (true, false) => Err(WhiteListProblem::Backwards(entry.to_owned())),
            (false, _) => Err(malformed()),
        };
    }
    let Some((base, length)) = entry.split_once('/') else {
        return address(entry).map(|only| (only, only));
    };
    let length = prefix_length(length.trim()).ok_or_else(malformed)?;
    let (base, length) = unmapped(base.trim().parse().map_err(|_| malformed())?, length);
    let (network, last) = network(base, length).ok_or_else(malformed)?;
    if network == base {
        return Ok((network, last));
    }
    Err(WhiteListProblem::HostBits { text: entry.to_owned(), network, length })
}

/// A network of IPv4 in the clothes of IPv6 is one of IPv4; a greater one around them all is not.
fn unmapped(base: IpAddr, length: u32) -> (IpAddr, u32) {
    match (base.to_canonical(), length.checked_sub(96)) {
        (IpAddr::V4(inner), Some(rest)) if base.is_ipv6() => (inner.into(), rest),
        _ => (base, length),
    }
}

/// As RFC 4632 writes it: digits alone, without a zero in front.
fn prefix_length(text: &str) -> Option<u32> {
    let length = text.parse::<u8>().ok()?;
    (length.to_string() == text).then_some(length.into())
}

/// First and last address of the network of this length that the address lies in; `None` where it
/// is longer than addresses are.
fn network(address: IpAddr, length: u32) -> Option<(IpAddr, IpAddr)> {
    match address {
        IpAddr::V4(address) => {
            let mask = u32::MAX.checked_shl(32_u32.checked_sub(length)?).unwrap_or(0);
            let first = address.to_bits() & mask;
            let of = |bits: u32| IpAddr::from(bits.to_be_bytes());
            Some((of(first), of(first | !mask)))
        }
        IpAddr::V6(address) => {
            let mask = u128::MAX.checked_shl(128_u32.checked_sub(length)?).unwrap_or(0);
            let first = address.to_bits() & mask;
            let of = |bits: u128| IpAddr::from(bits.to_be_bytes());
            Some((of(first), of(first | !mask)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_ranges_and_networks_of_both_kinds_pass() {
        for list in [
            "",
            " ",
            "192.0.2.1",
            "192.0.2.1, 2001:db8::1;192.0.2.7\n192.0.2.9",
            "192.0.2.1-192.0.2.9",
            "2001:db8::1 - 2001:db8::ff",
            "192.0.2.0/24",
            "192.0.2.1/32",
            "0.0.0.0/0",
            "::/0",
            "2001:db8::/32",
            "2001:db8::1/128",
            "::ffff:192.0.2.0/120",
            "::ffff:192.0.2.1/128",
            "::ffff:0:0/96",
            "::ffff:192.0.2.1-::ffff:192.0.2.9",
            "::ffff:192.0.2.1-192.0.2.9",
        ] {
            assert!(IpWhiteList::read(list).is_ok(), "{list:?}");
        }
    }

    #[test]
    fn everything_else_is_told_by_its_entry() {
        for (list, said) in [
            ("garbage", "\"garbage\" is no IP address"),
            (" , ", "\",\" is no IP address"),
            ("192.0.2.1,x", "\"x\" is no IP address"),
            ("192.0.2", "\"192.0.2\" is no IP address"),
            ("192.0.2.256", "\"192.0.2.256\" is no IP address"),
            ("192.0.2.1 192.0.2.2", "\"192.0.2.1 192.0.2.2\" is no IP address"),
            ("192.0.2.0/33", "\"192.0.2.0/33\" is no IP address"),
            ("::/129", "\"::/129\" is no IP address"),
            ("192.0.2.0/-1", "\"192.0.2.0/-1\" is no IP address"),
            ("192.0.2.1-::1", "\"192.0.2.1-::1\" is no IP address"),
            ("192.0.2.1-", "\"192.0.2.1-\" is no IP address"),
            ("192.0.2.9-192.0.2.1", "the range \"192.0.2.9-192.0.2.1\" ends before it begins"),
            ("192.0.2.1/24", "\"192.0.2.1/24\" is no network; write 192.0.2.0/24"),
            ("2001:db8::1/64", "\"2001:db8::1/64\" is no network; write 2001:db8::/64"),
            ("::ffff:192.0.2.1/120", "\"::ffff:192.0.2.1/120\" is no network; write 192.0.2.0/24"),
            ("::ffff:0:0/95", "\"::ffff:0:0/95\" is no network; write ::fffe:0:0/95"),
            ("::ffff:192.0.2.0/129", "\"::ffff:192.0.2.0/129\" is no IP address"),
            ("::1-::ffff:192.0.2.1", "\"::1-::ffff:192.0.2.1\" is no IP address"),
            ("::ffff:192.0.2.9-::ffff:192.0.2.1", "the range \"::ffff:192.0.2.9-"),
            ("*.example.test", "\"*.example.test\" is no IP address"),
        ] {
            let problem = IpWhiteList::read(list).unwrap_err().to_string();
            assert!(problem.starts_with(said), "{list:?}: {problem}");
        }
    }

    #[test]
    fn a_list_holds_the_addresses_of_its_entries_and_no_other() {
        let list = "192.0.2.7, 198.51.100.3-198.51.100.5, 203.0.113.0/28, 2001:db8::/64, ::1";
        let list = IpWhiteList::read(list).unwrap();
        for (address, expected) in [
            ("192.0.2.7", true),
            ("192.0.2.8", false),
            ("198.51.100.2", false),
            ("198.51.100.3", true),
            ("198.51.100.5", true),
            ("198.51.100.6", false),
            ("203.0.113.15", true),
            ("203.0.113.16", false),
            ("::ffff:192.0.2.7", true),
            ("2001:db8::ffff", true),
            ("2001:db8:0:1::", false),
            ("::1", true),
            ("::2", false),
            ("0.0.0.1", false),
        ] {
            assert_eq!(list.holds(address.parse().unwrap()), expected, "{address}");
        }
        assert!(!IpWhiteList::default().holds("192.0.2.7".parse().unwrap()));
        assert!(IpWhiteList::read("0.0.0.0/0").unwrap().holds("255.255.255.255".parse().unwrap()));
    }

    #[test]
    fn an_entry_of_ipv4_in_the_clothes_of_ipv6_holds_addresses_of_ipv4_in_either() {
        for entry in [
            "::ffff:198.51.100.7",
            "::ffff:198.51.100.0/120",
            "::ffff:198.51.100.7/128",
            "::ffff:c633:6400/120",
            "::ffff:198.51.100.5-::ffff:198.51.100.9",
            "198.51.100.5-::ffff:198.51.100.9",
        ] {
            let list = IpWhiteList::read(entry).unwrap();
            for (address, expected) in [
                ("198.51.100.7", true),
                ("::ffff:198.51.100.7", true),
                ("198.51.101.7", false),
                ("::ffff:198.51.101.7", false),
                ("::198.51.100.7", false),
            ] {
                assert_eq!(list.holds(address.parse().unwrap()), expected, "{entry} {address}");
            }
        }
        assert!(IpWhiteList::read("::ffff:0:0/96").unwrap().holds("192.0.2.1".parse().unwrap()));
        assert!(!IpWhiteList::read("::/0").unwrap().holds("192.0.2.1".parse().unwrap()));
    }
}
