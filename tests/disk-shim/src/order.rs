//! Orders: `<call> <act> <number> <folder>`, such as `sync fail 5 /home/journal` (5 is `EIO`) or
//! `sync delay 5 /home` (milliseconds). `write` counts what changes a file's length too. One that
//! fails `once` instead of `fail` does so for one call of the process, until it is told otherwise.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Mutex;

/// What a program asks of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    /// Other bytes or another length.
    Write,
    /// On disk, please.
    Sync,
}

/// What happens first, or instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    /// It waits so many milliseconds.
    Delay(u64),
    /// It fails with this `errno`.
    Fail(i32),
}

/// The order that failed a call already and was to do so once.
static SPENT: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// What the first order that fits says.
pub(crate) fn due(orders: &[u8], call: Call, path: &Path) -> Option<Act> {
    let mut orders = orders.split(|byte| *byte == b'\n');
    let (line, once, act) = orders.find_map(|line| fitting(line, call, path))?;
    if once {
        let mut spent = SPENT.lock().ok()?;
        if *spent == line {
            return None;
        }
        line.clone_into(&mut spent);
    }
    Some(act)
}

fn fitting<'a>(line: &'a [u8], call: Call, path: &Path) -> Option<(&'a [u8], bool, Act)> {
    let mut words = line.splitn(4, |byte| *byte == b' ');
    let mut word = || words.next();
    let wanted = match word()? {
        b"write" => Call::Write,
        b"sync" => Call::Sync,
        _ => return None,
    };
    let how = word()?;
    let number: i32 = std::str::from_utf8(word()?).ok()?.parse().ok()?;
    let folder = Path::new(OsStr::from_bytes(word()?));
    let act = match how {
        b"delay" => Act::Delay(u64::try_from(number).ok()?),
        b"fail" | b"once" => Act::Fail(number),
        _ => return None,
    };
    (wanted == call && path.starts_with(folder)).then_some((line, how == b"once", act))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORDERS: &[u8] = b"sync delay 5 /a b\nwrite fail 28 /c\nwrite once 5 /d\nnonsense\n";

    #[test]
    fn an_order_holds_for_its_call_below_its_folder() {
        for (call, path, expected) in [
            (Call::Sync, "/a b/c", Some(Act::Delay(5))),
            (Call::Write, "/a b/c", None),
            (Call::Sync, "/a bc", None),
            (Call::Write, "/c/d/e", Some(Act::Fail(28))),
            (Call::Sync, "/c", None),
            (Call::Write, "/e", None),
        ] {
            assert_eq!(due(ORDERS, call, Path::new(path)), expected, "{call:?} {path}");
        }
    }

    #[test]
    fn what_fails_once_fails_once() {
        assert_eq!(due(ORDERS, Call::Write, Path::new("/d/x")), Some(Act::Fail(5)));
        assert_eq!(due(ORDERS, Call::Write, Path::new("/d/x")), None);
    }
}
