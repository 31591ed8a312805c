//! Orders to the shim: which call of which function does what instead.

use std::fmt;
use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::sync::Mutex;
use std::time::Duration;

use cryptoki_sys::CK_RV;

/// What a call does instead of what it should.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// It returns this CKR value.
    Returns(CK_RV),
    /// It says that there is no slot with a token; for `C_GetSlotList` alone.
    FindsNoSlot,
    /// It never returns.
    Hangs,
    /// The process dies in it, as from a fault in the library.
    Crashes,
    /// It does what it should, so many milliseconds later.
    Delays(u32),
}

/// One line of the control file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// A function such as `C_Sign`, or `*` for all.
    pub function: String,
    /// What happens.
    pub action: Action,
    /// In this process alone; `None`: in each.
    pub pid: Option<u32>,
    /// So many calls of a process do what they should first.
    pub after: u32,
    /// So many calls of a process are hit then; `None`: all.
    pub times: Option<u32>,
}

impl Order {
    /// Every call of `function`, in every process.
    #[must_use]
    pub fn always(function: &str, action: Action) -> Self {
        Self { function: function.to_owned(), action, pid: None, after: 0, times: None }
    }

    fn parse(line: &str) -> Option<Self> {
        let mut words = line.split(' ');
        let function = words.next()?.to_owned();
        let action = Action::parse(words.next()?)?;
        let mut number = || words.next()?.parse::<u32>().ok();
        let (pid, after, times) = (number()?, number()?, number()?);
        let unless_zero = |number| Some(number).filter(|number| *number != 0);
        Some(Self { function, action, pid: unless_zero(pid), after, times: unless_zero(times) })
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { function, action, pid, after, times } = self;
        let (pid, times) = (pid.unwrap_or(0), times.unwrap_or(0));
        write!(f, "{function} {action} {pid} {after} {times}")
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Returns(value) => write!(f, "return:{value}"),
            Self::FindsNoSlot => f.write_str("no-slot"),
            Self::Hangs => f.write_str("hang"),
            Self::Crashes => f.write_str("crash"),
            Self::Delays(milliseconds) => write!(f, "delay:{milliseconds}"),
        }
    }
}

impl Action {
    fn parse(word: &str) -> Option<Self> {
        match word.split_once(':') {
            Some(("return", value)) => Some(Self::Returns(value.parse().ok()?)),
            Some(("delay", value)) => Some(Self::Delays(value.parse().ok()?)),
            None if word == "no-slot" => Some(Self::FindsNoSlot),
            None if word == "hang" => Some(Self::Hangs),
            None if word == "crash" => Some(Self::Crashes),
            _ => None,
        }
    }
}

/// What a call answers in place of the module; `None`: it is to be forwarded.
pub(crate) enum Instead {
    Value(CK_RV),
    NoSlot,
}

/// The calls of this process that met each line of the control file since it was last written.
static MET: Mutex<(i128, Vec<u32>)> = Mutex::new((0, Vec::new()));

/// Obeys the first order that fits this call.
pub(crate) fn obey(function: &str) -> Option<Instead> {
    match due(function)? {
        Action::Returns(value) => Some(Instead::Value(value)),
        Action::FindsNoSlot => Some(Instead::NoSlot),
        Action::Crashes => std::process::abort(),
        Action::Hangs => loop {
            std::thread::park();
        },
        Action::Delays(milliseconds) => {
            std::thread::sleep(Duration::from_millis(milliseconds.into()));
            None
        }
    }
}

fn due(function: &str) -> Option<Action> {
    let mut file = File::open(std::env::var_os("SHIM_CONTROL")?).ok()?;
    let mut text = String::new();
    file.read_to_string(&mut text).ok()?;
    if text.is_empty() {
        return None;
    }
    let metadata = file.metadata().ok()?;
    let written = i128::from(metadata.mtime()) * 1_000_000_000 + i128::from(metadata.mtime_nsec());
    let orders: Vec<_> = text.lines().filter_map(Order::parse).collect();
    let mut met = MET.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if met.0 != written {
        *met = (written, vec![0; orders.len()]);
    }
    let own = std::process::id();
    for (order, calls) in orders.iter().zip(&mut met.1) {
        let fits = (order.function == function || order.function == "*")
            && order.pid.is_none_or(|pid| pid == own);
        if !fits {
            continue;
        }
        *calls = calls.saturating_add(1);
        let call = *calls - 1;
        let end = order.times.map(|times| order.after.saturating_add(times));
        if call >= order.after && end.is_none_or(|end| call < end) {
            return Some(order.action);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_is_read_as_it_was_written() {
        for action in [
            Action::Returns(0x30),
            Action::FindsNoSlot,
            Action::Hangs,
            Action::Crashes,
            Action::Delays(250),
        ] {
            let mut order = Order::always("C_Sign", action);
            assert_eq!(Order::parse(&order.to_string()), Some(order.clone()));
            (order.pid, order.after, order.times) = (Some(7), 2, Some(3));
            assert_eq!(Order::parse(&order.to_string()), Some(order));
        }
    }

    #[test]
    fn half_an_order_is_none() {
        for line in ["", "C_Sign", "C_Sign hang", "C_Sign hang 0 0", "C_Sign return:x 0 0 0"] {
            assert_eq!(Order::parse(line), None, "{line}");
        }
    }
}
