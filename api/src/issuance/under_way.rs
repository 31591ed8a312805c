//! Certificates that are being signed and recorded, and those who wait until none is that was let in
//! before a change.

use std::collections::BTreeMap;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

/// What a request has found out serves for so long; later it looks again before it asks the signer.
/// Another process, which does not see who is under way here, waits for longer than that.
pub const SERVES: Duration = Duration::from_millis(100);

/// Who is under way in this process.
#[derive(Debug, Default)]
pub struct UnderWay(watch::Sender<Rounds>);

/// Each change that is waited for begins a round.
#[derive(Debug, Default)]
struct Rounds {
    latest: u64,
    /// How many are under way, by the round in which they began.
    seats: BTreeMap<u64, usize>,
}

/// When a request began to look at what it is judged by.
#[derive(Clone, Copy, Debug)]
pub struct Since {
    round: u64,
    at: Instant,
}

impl Since {
    /// How long ago that was.
    pub fn age(&self) -> Duration {
        self.at.elapsed()
    }
}

/// The right to have something signed; it ends when this is dropped.
#[derive(Debug)]
pub struct Seat<'a> {
    under_way: &'a UnderWay,
    round: u64,
}

impl UnderWay {
    /// Now: to be asked before anything is looked at.
    pub fn since(&self) -> Since {
        Since { round: self.0.borrow().latest, at: Instant::now() }
    }

    /// Has whoever changes something from now on wait.
    pub fn enter(&self) -> Seat<'_> {
        let mut round = 0;
        self.0.send_modify(|rounds| {
            round = rounds.latest;
            *rounds.seats.entry(round).or_default() += 1;
        });
        Seat { under_way: self, round }
    }

    /// Returns once nobody is under way who entered before. Who enters later learns of it.
    pub async fn turn(&self) {
        let mut ended = 0;
        self.0.send_modify(|rounds| {
            ended = rounds.latest;
            rounds.latest += 1;
        });
        let is_over =
            |rounds: &Rounds| rounds.seats.keys().next().is_none_or(|earliest| *earliest > ended);
        // The sender lives in `self`, so waiting can't fail.
        let _ = self.0.subscribe().wait_for(is_over).await;
    }
}

impl Seat<'_> {
    /// Whether what was found out since then still serves: nothing was changed here after it, and
    /// nobody elsewhere has stopped waiting for it.
    pub fn serves(&self, since: Since) -> bool {
        self.round == since.round && since.age() < SERVES
    }
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        self.under_way.0.send_modify(|rounds| {
            if let Some(count) = rounds.seats.get_mut(&self.round) {
                *count -= 1;
                if *count == 0 {
                    rounds.seats.remove(&self.round);
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_change_waits_for_all_who_entered_before_it_and_for_nobody_else() {
        let under_way = UnderWay::default();
        let (first, second) = (under_way.enter(), under_way.enter());
        let mut one = Box::pin(under_way.turn());
        assert!(one.as_mut().now_or_never().is_none());
        let later = under_way.enter();
        let mut other = Box::pin(under_way.turn());

        drop(first);
        assert!(one.as_mut().now_or_never().is_none());
        drop(second);
        assert!(one.as_mut().now_or_never().is_some());
        assert!(other.as_mut().now_or_never().is_none());
        drop(later);
        assert!(other.as_mut().now_or_never().is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_found_out_serves_until_a_change_and_not_for_long() {
        let under_way = UnderWay::default();
        let since = under_way.since();
        assert!(under_way.enter().serves(since));

        under_way.turn().await;
        assert!(!under_way.enter().serves(since));

        let since = under_way.since();
        tokio::time::advance(SERVES).await;
        assert!(!under_way.enter().serves(since));
    }
}
