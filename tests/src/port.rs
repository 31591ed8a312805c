//! Ports that nobody else takes between the choice and the program that listens on it.

use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Context as _;

/// Below those that Linux hands to connections that go out (`ip_local_port_range`): a port that
/// it may hand out can be gone before a program that was told of it listens there.
const RANGE: Range<u16> = 10_000..32_768;

/// How many a process passes over before it begins to come upon its neighbour's.
const APART: usize = 97;

/// A free TCP port of this machine. No test of any process gets it while this one lives.
#[derive(Debug)]
pub(crate) struct Port {
    number: u16,
    // The same number of UDP, which nothing here listens on: held until this process drops it or
    // ends, however it ends.
    _claim: UdpSocket,
}

impl Port {
    /// One that is free.
    ///
    /// # Errors
    ///
    /// No port of the range is free.
    pub(crate) fn claim() -> anyhow::Result<Self> {
        static TRIED: AtomicUsize = AtomicUsize::new(0);
        let first = usize::try_from(std::process::id())? * APART;
        RANGE
            .map(|_| first + TRIED.fetch_add(1, Ordering::Relaxed))
            .find_map(Self::try_claim)
            .with_context(|| format!("no port of {RANGE:?} is free"))
    }

    fn try_claim(nth: usize) -> Option<Self> {
        let number = RANGE.start + u16::try_from(nth % RANGE.len()).ok()?;
        let claim = UdpSocket::bind((Ipv4Addr::LOCALHOST, number)).ok()?;
        TcpListener::bind((Ipv4Addr::UNSPECIFIED, number)).ok()?;
        Some(Self { number, _claim: claim })
    }

    /// The number to tell a program.
    #[must_use]
    pub(crate) fn number(&self) -> u16 {
        self.number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_that_live_are_the_same_and_each_can_be_listened_on() {
        let ports: Vec<_> = (0..50).map(|_| Port::claim().unwrap()).collect();
        let numbers: std::collections::BTreeSet<_> = ports.iter().map(Port::number).collect();
        assert_eq!(numbers.len(), ports.len());
        for port in &ports {
            assert!(RANGE.contains(&port.number()));
            TcpListener::bind((Ipv4Addr::LOCALHOST, port.number())).unwrap();
            assert!(Port::try_claim(usize::from(port.number() - RANGE.start)).is_none());
        }
    }
}
