//! Reconciliation against a fake signer with a real hash chain.

mod journal;
mod recovery;
mod reverse;
mod scene;
mod task;
