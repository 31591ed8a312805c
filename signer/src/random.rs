//! Randomness for ids, nonces and names of boots.

/// `N` bytes from the crypto backend's generator.
///
/// The backend ends the process rather than give weak bytes; an error here would mean the same.
#[must_use]
pub(crate) fn bytes<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    if aws_lc_rs::rand::fill(&mut bytes).is_err() {
        tracing::error!("the random generator failed");
        std::process::abort();
    }
    bytes
}
