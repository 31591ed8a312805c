//! A page of memory that is never written to swap, for a private key that waits for its owner.

use zeroize::Zeroize as _;

/// PKCS#8 of the largest key that waits, RSA 4096, has less than 2,400 bytes.
const SIZE: usize = 4096;

/// Nothing else lies on it, so that it can be locked by itself.
#[repr(align(4096))]
struct Page([u8; SIZE]);

/// One private key, or none. It stays locked for as long as the process lives, so it is to be used
/// again; what was on it is wiped first.
pub(super) struct LockedPage {
    page: Box<Page>,
    length: usize,
}

impl LockedPage {
    /// An empty one, and whether it is locked.
    pub(super) fn new() -> (Self, region::Result<()>) {
        let page = Box::new(Page([0; SIZE]));
        // To unlock it would undo `mlockall` for this page, so nobody ever does.
        let locked = region::lock(page.0.as_ptr(), SIZE).map(std::mem::forget);
        (Self { page, length: 0 }, locked)
    }

    /// Copies a key here; says whether it has room.
    pub(super) fn hold(&mut self, key: &[u8]) -> bool {
        self.wipe();
        let Some(room) = self.page.0.get_mut(..key.len()) else { return false };
        room.copy_from_slice(key);
        self.length = key.len();
        true
    }

    /// The key.
    pub(super) fn key(&self) -> &[u8] {
        self.page.0.get(..self.length).unwrap_or_default()
    }

    pub(super) fn wipe(&mut self) {
        self.page.0.zeroize();
        self.length = 0;
    }
}

impl Drop for LockedPage {
    fn drop(&mut self) {
        self.wipe();
    }
}

impl std::fmt::Debug for LockedPage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LockedPage(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_holds_one_key_and_nothing_of_the_one_before() {
        let (mut page, _) = LockedPage::new();

        assert!(page.hold(&[7; 2400]));
        assert_eq!(page.key(), [7; 2400]);
        assert!(page.hold(&[8; 10]));

        assert_eq!(page.key(), [8; 10]);
        assert!(page.page.0[10..].iter().all(|byte| *byte == 0));
        assert!(!page.hold(&[9; SIZE + 1]));
        assert_eq!(page.key(), [0; 0]);
        assert!(page.page.0.iter().all(|byte| *byte == 0));
    }
}
