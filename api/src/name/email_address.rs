//! Mail addresses as certificates hold them: `addr-spec` alone (RFC 5280, section 4.2.1.6).

use super::dns_name;

/// The text is not one mail address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it is not one mail address; write local@host.example in ASCII, without name or brackets")]
pub struct NotAnAddress;

/// Checks one address: an atom with dots (RFC 5322, section 3.4.1), `@` and a host name.
///
/// # Errors
///
/// [`NotAnAddress`].
pub fn check(address: &str) -> Result<(), NotAnAddress> {
    let (local, host) = address.rsplit_once('@').ok_or(NotAnAddress)?;
    let is_atom = |atom: &str| {
        !atom.is_empty()
            && atom
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~".contains(&b))
    };
    let local_fits = local.len() <= 64 && local.split('.').all(is_atom);
    let host_fits = !host.starts_with('*') && dns_name::check(host).is_ok();
    if local_fits && host_fits && address.len() <= 254 { Ok(()) } else { Err(NotAnAddress) }
}

/// The host of an address.
pub fn host(address: &str) -> &str {
    address.rsplit_once('@').map_or("", |(_, host)| host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_plain_address_passes_and_nothing_else() {
        for address in ["a@example.test", "first.last+tag@mail.example.test", "root@localhost"] {
            assert_eq!(check(address), Ok(()), "{address}");
        }
        for text in [
            "",
            "nodomain",
            "@example.test",
            "a@",
            "Anna <a@example.test>",
            "a@b@example.test",
            "a@example.test,b@example.test",
            "a@example.test\r\nBcc: b@example.test",
            "jörg@example.test",
            "a..b@example.test",
            ".a@example.test",
            "a@*.example.test",
            "a@[192.0.2.1]",
            "a b@example.test",
        ] {
            assert_eq!(check(text), Err(NotAnAddress), "{text}");
        }
    }
}
