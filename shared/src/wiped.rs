//! A buffer that leaves no copy of a secret in freed memory, however it grows.

use std::fmt;
use std::io;
use std::ops::Deref;

use serde::Serialize;
use zeroize::Zeroizing;

/// Bytes that are wiped when they are dropped, and where they lay before the buffer grew.
pub struct WipedBuffer {
    bytes: Zeroizing<Vec<u8>>,
}

impl fmt::Debug for WipedBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes, not shown", self.bytes.len())
    }
}

/// Room for a small message: most never grow.
const FIRST: usize = 1024;

impl Default for WipedBuffer {
    fn default() -> Self {
        Self { bytes: Zeroizing::new(Vec::with_capacity(FIRST)) }
    }
}

impl WipedBuffer {
    /// The compact JSON of a message that may hold a secret.
    ///
    /// # Errors
    ///
    /// As [`serde_json::to_writer`].
    pub fn of_json(message: &impl Serialize) -> serde_json::Result<Self> {
        let mut buffer = Self::default();
        serde_json::to_writer(&mut buffer, message)?;
        Ok(buffer)
    }

    /// Appends bytes.
    pub fn append(&mut self, more: &[u8]) {
        let needed = self.bytes.len() + more.len();
        if needed > self.bytes.capacity() {
            // A vector that grows by itself moves, and what it leaves behind is not wiped.
            let room = needed.max(2 * self.bytes.capacity());
            let mut larger = Zeroizing::new(Vec::with_capacity(room));
            larger.extend_from_slice(&self.bytes);
            self.bytes = larger;
        }
        self.bytes.extend_from_slice(more);
    }
}

impl Deref for WipedBuffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl AsRef<[u8]> for WipedBuffer {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl io::Write for WipedBuffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.append(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_never_grows_where_it_lies() {
        let mut buffer = WipedBuffer::default();
        let mut whole = Vec::new();

        for length in [0, 1, FIRST - 1, 1, 7, 5 * FIRST, 3] {
            let (before, room) = (buffer.bytes.as_ptr(), buffer.bytes.capacity());
            let grows = buffer.len() + length > room;
            let more: Vec<u8> = (0..length).map(|n| u8::try_from(n % 251).unwrap()).collect();
            buffer.append(&more);
            whole.extend(more);

            assert_eq!(*buffer, *whole);
            // Either nothing moved, or the old place was dropped, and wiped, by itself.
            assert!(grows || (buffer.bytes.as_ptr(), buffer.bytes.capacity()) == (before, room));
        }
    }

    #[test]
    fn json_is_what_serde_json_makes_of_it() {
        let message = vec!["a \"text\""; 500];

        let json = WipedBuffer::of_json(&message).unwrap();

        assert_eq!(*json, *serde_json::to_vec(&message).unwrap());
    }
}
