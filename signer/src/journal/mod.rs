//! Stand-in.
/// Stand-in.
#[derive(Debug)]
pub struct Verified;
/// Stand-in.
#[derive(Debug)]
pub struct VerifyError;
/// Stand-in.
pub fn verify(_: &std::path::Path) -> Result<Verified, VerifyError> {
    Ok(Verified)
}
