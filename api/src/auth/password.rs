//! Passwords: Argon2id (RFC 9106), a few at a time, equally slow whether or not the user exists.

use std::net::IpAddr;
use std::sync::Arc;

use argon2::password_hash::phc::PasswordHash;
use argon2::{Argon2, PasswordHasher as _, PasswordVerifier as _};
use serde::Deserialize;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use zeroize::Zeroizing;

use super::client_address::ClientAddress;
use super::seats::{Seat, Seats};
use crate::random::Random;

/// A password as someone typed it: never printed, wiped when it goes.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
pub struct Password(Zeroizing<String>);

impl From<String> for Password {
    fn from(text: String) -> Self {
        Self(Zeroizing::new(text))
    }
}

impl std::fmt::Debug for Password {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Password(..)")
    }
}

impl Password {
    /// The one in a file or a line of one: without the end of the line, and without the byte order mark
    /// that some editors put in front, which nobody types.
    pub fn of_file(text: &str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        Self::from(text.trim_end_matches(['\r', '\n']).to_owned())
    }

    /// Whether it may be set as a new one: anything that a login can send may be in it.
    ///
    /// # Errors
    ///
    /// [`BadPassword`].
    pub fn check_new(&self, at_least: usize) -> Result<(), BadPassword> {
        let length = self.0.chars().count();
        if !(at_least..=MAX_LENGTH).contains(&length) {
            return Err(BadPassword::Length { at_least });
        }
        if self.0.contains('\0') { Err(BadPassword::Nul) } else { Ok(()) }
    }
}

/// Hashes and checks passwords. Clones share one queue.
#[derive(Clone)]
pub struct Passwords {
    random: Arc<dyn Random>,
    /// One hash takes a processor and 19 MiB.
    turns: Arc<Semaphore>,
    /// Who finds no seat comes back later: a queue without end would starve everyone in it.
    seats: Seats,
    /// Checked where there is no user, so that the answer takes as long.
    stand_in: Arc<str>,
}

/// Why a password was neither hashed nor checked.
#[derive(Debug, thiserror::Error)]
pub enum PasswordError {
    /// Too many at once: come back later.
    #[error("too many passwords are being checked")]
    Busy,
    /// A stored hash can't be read, or there is no memory for the work.
    #[error("the password can't be hashed")]
    Hash(#[source] argon2::password_hash::Error),
    /// The work was cut off; only while the process stops.
    #[error("the work was cut off")]
    CutOff,
}

impl Passwords {
    /// Room for hashes on half of the processors: the other half issues certificates, however many
    /// log in. Hashes once, which takes a moment.
    ///
    /// # Errors
    ///
    /// [`PasswordError::Hash`] where there is no memory for it.
    pub fn new(random: Arc<dyn Random>) -> Result<Self, PasswordError> {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let turns = (processors / 2).max(1);
        let stand_in = hash_with("a password of nobody", &salt(&*random))?;
        Ok(Self {
            random,
            turns: Arc::new(Semaphore::new(turns)),
            seats: Seats::new(turns + WAITING),
            stand_in: stand_in.into(),
        })
    }

    /// The hash of `password`, as a PHC string.
    ///
    /// # Errors
    ///
    /// See [`PasswordError`].
    pub async fn hash(&self, password: Password) -> Result<String, PasswordError> {
        let salt = salt(&*self.random);
        self.work(None, move || hash_with(&password.0, &salt)).await
    }

    /// Whether `password`, typed at `address`, is the one of `hash`. Without a hash the answer is no,
    /// and takes as long.
    ///
    /// # Errors
    ///
    /// See [`PasswordError`].
    pub async fn verify(
        &self,
        address: ClientAddress,
        password: Password,
        hash: Option<String>,
    ) -> Result<bool, PasswordError> {
        let exists = hash.is_some();
        let hash = hash.unwrap_or_else(|| self.stand_in.to_string());
        let matches = self.work(address.0, move || verify_with(&password.0, &hash)).await?;
        Ok(matches && exists)
    }

    async fn work<T: Send + 'static>(
        &self,
        address: Option<IpAddr>,
        work: impl FnOnce() -> Result<T, PasswordError> + Send + 'static,
    ) -> Result<T, PasswordError> {
        let seat = self.seats.take(address).ok_or(PasswordError::Busy)?;
        let turn = Arc::clone(&self.turns).acquire_owned().await;
        let turn = turn.map_err(|_| PasswordError::CutOff)?;
        // The permits travel along: a caller that goes away doesn't free the processor.
        let held: (Seat, OwnedSemaphorePermit) = (seat, turn);
        let done = tokio::task::spawn_blocking(move || {
            let result = work();
            drop(held);
            result
        });
        done.await.map_err(|_| PasswordError::CutOff)?
    }
}

/// Why a new password is not taken.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadPassword {
    /// It is too short or too long.
    #[error("must have {at_least} to {MAX_LENGTH} characters")]
    Length {
        /// The setting `passwordMinLength`.
        at_least: usize,
    },
    /// No body of a request may have it.
    #[error("must have no NUL character, which no login takes")]
    Nul,
}

fn salt(random: &dyn Random) -> [u8; 16] {
    let mut salt = [0; 16];
    random.fill(&mut salt);
    salt
}

fn hash_with(password: &str, salt: &[u8]) -> Result<String, PasswordError> {
    let hash = Argon2::default().hash_password_with_salt(password.as_bytes(), salt);
    hash.map(|hash| hash.to_string()).map_err(PasswordError::Hash)
}

fn verify_with(password: &str, hash: &str) -> Result<bool, PasswordError> {
    let hash = PasswordHash::new(hash).map_err(argon2::password_hash::Error::from);
    let hash = hash.map_err(PasswordError::Hash)?;
    match Argon2::default().verify_password(password.as_bytes(), &hash) {
        Ok(()) => Ok(true),
        Err(argon2::password_hash::Error::PasswordInvalid) => Ok(false),
        Err(error) => Err(PasswordError::Hash(error)),
    }
}

const WAITING: usize = 64;

/// A longer text is no password that anyone types, only work.
pub const MAX_LENGTH: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SystemRandom;

    const NOWHERE: ClientAddress = ClientAddress(None);

    fn text(text: &str) -> Password {
        Password::from(text.to_owned())
    }

    #[tokio::test]
    async fn a_hash_knows_its_password_and_no_other() {
        let passwords = Passwords::new(Arc::new(SystemRandom)).unwrap();

        let hash = passwords.hash(text("correct horse battery")).await.unwrap();
        let again = passwords.hash(text("correct horse battery")).await.unwrap();

        assert!(hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{hash}");
        assert_ne!(hash, again, "each has a salt of its own");
        for (password, expected) in
            [("correct horse battery", true), ("correct horse batterz", false), ("", false)]
        {
            let found =
                passwords.verify(NOWHERE, text(password), Some(hash.clone())).await.unwrap();
            assert_eq!(found, expected, "{password}");
        }
    }

    #[tokio::test]
    async fn without_a_user_even_the_stand_ins_password_is_wrong() {
        let passwords = Passwords::new(Arc::new(SystemRandom)).unwrap();

        assert!(!passwords.verify(NOWHERE, text("a password of nobody"), None).await.unwrap());
    }

    #[tokio::test]
    async fn who_finds_no_seat_is_told_to_come_back() {
        let passwords = Passwords::new(Arc::new(SystemRandom)).unwrap();
        let taken: Vec<_> = std::iter::from_fn(|| passwords.seats.take(None)).collect();

        let result = passwords.verify(NOWHERE, text("x"), None).await;
        drop(taken);

        assert!(matches!(result, Err(PasswordError::Busy)), "{result:?}");
    }

    #[test]
    fn a_password_has_12_to_1024_characters_of_any_kind() {
        let kilo = "x".repeat(1024);
        for (password, passes) in [
            ("elevenchars", false),
            ("twelve chars", true),
            ("zwölf Zeiche", true),
            (&kilo, true),
            (&format!("{kilo}y"), false),
            ("twelve\0chars", false),
            ("twelve\u{feff}chars", true),
        ] {
            assert_eq!(text(password).check_new(12).is_ok(), passes, "{password:.20}");
        }
    }

    #[test]
    fn a_file_has_a_password_without_what_an_editor_puts_around_it() {
        for (file, expected) in [
            ("twelve chars", "twelve chars"),
            ("twelve chars\n", "twelve chars"),
            ("twelve chars\r\n", "twelve chars"),
            ("\u{feff}twelve chars\n", "twelve chars"),
            (" twelve chars ", " twelve chars "),
            ("twelve\u{feff}chars", "twelve\u{feff}chars"),
        ] {
            assert_eq!(Password::of_file(file), text(expected), "{file:?}");
        }
    }
}
