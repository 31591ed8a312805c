//! Seats for those whose password is being checked or waits for that: so many and no more, of which
//! no address takes more than half.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::throttle::household;

/// How many sit there, by address.
type Taken = Arc<Mutex<HashMap<IpAddr, usize>>>;

/// All seats. Clones share them.
#[derive(Clone, Debug)]
pub(super) struct Seats {
    free: Arc<Semaphore>,
    most_of_one: usize,
    taken: Taken,
}

/// One that is taken.
#[derive(Debug)]
pub(super) struct Seat {
    _place: OwnedSemaphorePermit,
    of: Option<(IpAddr, Taken)>,
}

impl Seats {
    /// So many.
    pub(super) fn new(number: usize) -> Self {
        let free = Arc::new(Semaphore::new(number));
        Self { free, most_of_one: number.div_ceil(2), taken: Taken::default() }
    }

    /// A seat for whoever comes from `address`; `None` where there is none for them.
    pub(super) fn take(&self, address: Option<IpAddr>) -> Option<Seat> {
        let place = Arc::clone(&self.free).try_acquire_owned().ok()?;
        let Some(address) = address.map(household) else {
            return Some(Seat { _place: place, of: None });
        };
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let of_one = taken.entry(address).or_default();
        if *of_one >= self.most_of_one {
            return None;
        }
        *of_one += 1;
        Some(Seat { _place: place, of: Some((address, Arc::clone(&self.taken))) })
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let Some((address, taken)) = self.of.take() else { return };
        let mut taken = taken.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(of_one) = taken.get_mut(&address) {
            *of_one = of_one.saturating_sub(1);
            if *of_one == 0 {
                taken.remove(&address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_takes_all_they_can_get_leaves_seats_to_others() {
        let seats = Seats::new(6);
        let from = |address: &str| seats.take(Some(address.parse().unwrap()));

        let flood: Vec<_> = (0..9).filter_map(|_| from("192.0.2.1")).collect();

        assert_eq!(flood.len(), 3);
        let (other, unknown) = (from("192.0.2.2"), seats.take(None));
        assert!(other.is_some() && unknown.is_some() && from("192.0.2.1").is_none());
        let last = from("2001:db8::1");
        assert!(last.is_some() && from("192.0.2.3").is_none(), "there are six");
        drop(flood);
        assert!(from("192.0.2.1").is_some());
        drop((other, unknown, last));
        assert!(seats.taken.lock().unwrap().is_empty(), "nobody is remembered");
    }
}
