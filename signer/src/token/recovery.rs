//! How far a signing worker goes for one request before it gives up: each remedy once.

use super::error::Remedy;

/// What was tried for one request so far.
#[derive(Debug, Default)]
pub(super) struct Ladder {
    session_replaced: bool,
    found_again: bool,
    epoch_begun: bool,
}

/// What to do next for the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Try again; the session is a new one.
    Again,
    /// Forget the object's handle and try again.
    FindAgain,
    /// Open the token again, then try again.
    NewEpoch,
    /// The request is at fault: the token works.
    Refuse,
    /// The token works and does not hold the object.
    Gone,
    /// The process is of no more use.
    Lost,
    /// Nothing more with this PIN, by no process.
    Stop,
}

/// What went wrong with a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// A call failed.
    Failed(Remedy),
    /// The token was searched and the object was not found.
    NotFound,
}

impl Ladder {
    /// The next step. `canary_signs` is asked only where the answer depends on it.
    pub(super) fn next(&mut self, trouble: Trouble, canary_signs: impl Fn() -> bool) -> Step {
        match trouble {
            Trouble::Failed(Remedy::Refuse) => Step::Refuse,
            Trouble::Failed(Remedy::NewWorker) => Step::Lost,
            Trouble::Failed(Remedy::Stop) => Step::Stop,
            Trouble::Failed(Remedy::NewSession) if !self.session_replaced => {
                self.session_replaced = true;
                Step::Again
            }
            Trouble::Failed(Remedy::FindAgain) if !self.found_again => {
                self.found_again = true;
                Step::FindAgain
            }
            Trouble::Failed(Remedy::AskCanary) if canary_signs() => Step::Refuse,
            // A folder that went away answers searches with nothing, and without an error.
            _ if !self.epoch_begun => {
                self.epoch_begun = true;
                // What was tried before was tried with another view of the token.
                self.session_replaced = false;
                self.found_again = false;
                Step::NewEpoch
            }
            Trouble::NotFound | Trouble::Failed(Remedy::FindAgain) => Step::Gone,
            Trouble::Failed(Remedy::NewSession | Remedy::NewEpoch) if canary_signs() => {
                Step::Refuse
            }
            Trouble::Failed(_) => Step::Lost,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The steps for a request that fails the same way for ever.
    fn steps(trouble: Trouble, canary_signs: bool) -> Vec<Step> {
        let mut ladder = Ladder::default();
        let mut steps = Vec::new();
        loop {
            let step = ladder.next(trouble, || canary_signs);
            steps.push(step);
            if matches!(step, Step::Refuse | Step::Gone | Step::Lost | Step::Stop) {
                return steps;
            }
        }
    }

    #[test]
    fn each_kind_of_trouble_climbs_its_own_ladder_and_none_for_ever() {
        use Remedy as R;
        use Step as S;
        let failed = Trouble::Failed;
        for (trouble, canary_signs, expected) in [
            (failed(R::Refuse), true, vec![S::Refuse]),
            (failed(R::NewWorker), true, vec![S::Lost]),
            (failed(R::Stop), true, vec![S::Stop]),
            (failed(R::NewSession), true, vec![S::Again, S::NewEpoch, S::Again, S::Refuse]),
            (failed(R::NewSession), false, vec![S::Again, S::NewEpoch, S::Again, S::Lost]),
            (failed(R::FindAgain), true, vec![S::FindAgain, S::NewEpoch, S::FindAgain, S::Gone]),
            (Trouble::NotFound, true, vec![S::NewEpoch, S::Gone]),
            (failed(R::AskCanary), true, vec![S::Refuse]),
            (failed(R::AskCanary), false, vec![S::NewEpoch, S::Lost]),
            (failed(R::NewEpoch), true, vec![S::NewEpoch, S::Refuse]),
            (failed(R::NewEpoch), false, vec![S::NewEpoch, S::Lost]),
        ] {
            assert_eq!(steps(trouble, canary_signs), expected, "{trouble:?}");
        }
    }
}
