//! Addresses that fail too often wait: their failures are counted, logins that pass are not.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};

use time::{Duration, OffsetDateTime};

/// Counts the failures of addresses in the memory of this process.
#[derive(Debug, Default)]
pub struct AddressThrottle(Mutex<HashMap<IpAddr, Window>>);

#[derive(Clone, Copy, Debug)]
struct Window {
    began: OffsetDateTime,
    failures: u32,
}

impl Window {
    fn is_over(&self, now: OffsetDateTime) -> bool {
        // A clock that was set back must not hold anyone for longer.
        now - self.began >= LENGTH || now < self.began
    }
}

impl AddressThrottle {
    /// How long `address` must wait, where it has failed `most` times within a minute.
    pub fn wait(&self, address: IpAddr, most: u32, now: OffsetDateTime) -> Option<Duration> {
        let windows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let window = windows.get(&household(address))?;
        if window.is_over(now) || window.failures < most {
            return None;
        }
        Some(window.began + LENGTH - now)
    }

    /// Counts a failure.
    pub fn failed(&self, address: IpAddr, now: OffsetDateTime) {
        let mut windows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let address = household(address);
        if windows.len() >= MOST && !windows.contains_key(&address) {
            windows.retain(|_, window| !window.is_over(now));
            if windows.len() >= MOST {
                let oldest = windows.iter().min_by_key(|(_, window)| window.began);
                if let Some(oldest) = oldest.map(|(address, _)| *address) {
                    windows.remove(&oldest);
                }
            }
        }
        let window = windows.entry(address).or_insert(Window { began: now, failures: 0 });
        if window.is_over(now) {
            *window = Window { began: now, failures: 0 };
        }
        window.failures = window.failures.saturating_add(1);
    }
}

/// Whoever has one address of a /64 has all of them.
pub(super) fn household(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => address.into(),
        IpAddr::V6(address) => {
            Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX)).into()
        }
    }
}

const LENGTH: Duration = Duration::MINUTE;
/// So many addresses are remembered.
const MOST: usize = 10_000;

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    const NOW: OffsetDateTime = datetime!(2026-11-28 02:00:00 UTC);

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn an_address_waits_for_the_rest_of_its_minute_and_no_other_address_does() {
        let throttle = AddressThrottle::default();
        for _ in 0..3 {
            assert_eq!(throttle.wait(address("192.0.2.1"), 3, NOW), None);
            throttle.failed(address("192.0.2.1"), NOW);
        }

        let later = NOW + Duration::seconds(20);

        let wait = throttle.wait(address("192.0.2.1"), 3, later);
        assert_eq!(wait, Some(Duration::seconds(40)));
        assert_eq!(throttle.wait(address("192.0.2.2"), 3, later), None);
        assert_eq!(throttle.wait(address("192.0.2.1"), 3, NOW + LENGTH), None);
        assert_eq!(throttle.wait(address("192.0.2.1"), 3, NOW - Duration::SECOND), None);
    }

    #[test]
    fn addresses_of_one_network_of_64_bits_count_as_one() {
        let throttle = AddressThrottle::default();

        throttle.failed(address("2001:db8::1"), NOW);

        assert!(throttle.wait(address("2001:db8::2"), 1, NOW).is_some());
        assert!(throttle.wait(address("2001:db8:0:1::2"), 1, NOW).is_none());
    }

    #[test]
    fn a_flood_of_addresses_takes_no_more_memory() {
        let throttle = AddressThrottle::default();

        for number in 0..u32::try_from(MOST).unwrap() + 100 {
            throttle.failed(IpAddr::V4(number.into()), NOW);
        }

        assert_eq!(throttle.0.lock().unwrap().len(), MOST);
    }
}
