//! Whether the service can do its work, and if not, why: asked by `/health/ready`.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::Code;

/// Why one part can't do its work at the moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotReady {
    /// The code that requests are refused with meanwhile.
    pub code: Code,
    /// One sentence for an operator.
    pub message: String,
}

/// The parts that must be able to work. Clones share one list; any module may add to it at start.
#[derive(Clone, Default)]
pub struct Readiness(Arc<Mutex<Vec<Part>>>);

type Answer = Pin<Box<dyn Future<Output = Result<(), NotReady>> + Send>>;

#[derive(Clone)]
struct Part {
    name: &'static str,
    ask: Arc<dyn Fn() -> Answer + Send + Sync>,
}

impl Readiness {
    /// Adds the part `name`, asked by `ask`, which should answer at once.
    pub fn add<F, A>(&self, name: &'static str, ask: F)
    where
        F: Fn() -> A + Send + Sync + 'static,
        A: Future<Output = Result<(), NotReady>> + Send + 'static,
    {
        let ask = Arc::new(move || Box::pin(ask()) as Answer);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(Part { name, ask });
    }

    /// Asks every part, in the order they were added.
    pub async fn ask(&self) -> Vec<(&'static str, Result<(), NotReady>)> {
        let parts = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut answers = Vec::with_capacity(parts.len());
        for part in parts {
            answers.push((part.name, (part.ask)().await));
        }
        answers
    }
}
