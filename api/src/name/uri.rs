//! URIs as certificates hold them: absolute, ASCII, with a real host (RFC 5280, section 4.2.1.6).

use std::net::{IpAddr, Ipv6Addr};

use super::dns_name;

/// Why a text is no URI for a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UriProblem {
    /// No scheme in front.
    #[error("it has no scheme; write an absolute URI such as https://host.example/path")]
    NoScheme,
    /// Nothing behind the scheme.
    #[error("there is nothing behind its scheme")]
    Empty,
    /// A character that URIs can't hold as it is (RFC 3986, section 2).
    #[error("it holds {0:?}; write that character percent-encoded, a host as A-labels")]
    Character(char),
    /// `//` and no host name or IP address behind it.
    #[error("it has no valid host name or IP address behind //")]
    Host,
}

/// Checks an absolute URI.
///
/// # Errors
///
/// The first thing that is wrong.
pub fn check(uri: &str) -> Result<(), UriProblem> {
    let allowed = |c: &char| c.is_ascii_alphanumeric() || "-._~:/?#[]@!$&'()*+,;=%".contains(*c);
    let (scheme, rest) = uri.split_once(':').ok_or(UriProblem::NoScheme)?;
    let mut letters = scheme.chars();
    let scheme_fits = letters.next().is_some_and(|c| c.is_ascii_alphabetic())
        && letters.all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    if !scheme_fits {
        return Err(UriProblem::NoScheme);
    }
    if let Some(c) = uri.chars().find(|c| !allowed(c)) {
        return Err(UriProblem::Character(c));
    }
    if rest.is_empty() {
        return Err(UriProblem::Empty);
    }
    match host(uri) {
        None => Ok(()),
        Some(host) if is_host(host) => Ok(()),
        Some(_) => Err(UriProblem::Host),
    }
}

/// The host of a URI that has an authority, without user, port and brackets.
pub fn host(uri: &str) -> Option<&str> {
    let (_, rest) = uri.split_once(':')?;
    let authority = rest.strip_prefix("//")?.split(['/', '?', '#']).next()?;
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    match host.strip_prefix('[') {
        Some(literal) => literal.split_once(']').map(|(address, _)| address).or(Some("")),
        None => Some(host.split_once(':').map_or(host, |(host, _)| host)),
    }
}

fn is_host(host: &str) -> bool {
    host.parse::<IpAddr>().is_ok()
        || host.parse::<Ipv6Addr>().is_ok()
        || !host.starts_with('*') && dns_name::check(host).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absolute_uris_pass_and_everything_else_is_told_what_is_wrong() {
        use UriProblem as P;
        for (uri, outcome) in [
            ("https://a.example.test/x?y#z", Ok(())),
            ("https://u@a.example.test:8443/", Ok(())),
            ("http://[2001:db8::1]/", Ok(())),
            ("http://192.0.2.1/", Ok(())),
            ("spiffe://cluster/ns/x", Ok(())),
            ("urn:uuid:f81d4fae-7dec-11d0-a765-00a0c91e6bf6", Ok(())),
            ("/relative", Err(P::NoScheme)),
            ("a.example.test/x", Err(P::NoScheme)),
            ("1x:y", Err(P::NoScheme)),
            ("http:", Err(P::Empty)),
            ("http:///nohost", Err(P::Host)),
            ("http://a..b/", Err(P::Host)),
            ("http://[x/", Err(P::Host)),
            ("https://exa mple.test/", Err(P::Character(' '))),
            ("https://münchen.example.test/", Err(P::Character('ü'))),
            ("https://a.test\0.b.test/", Err(P::Character('\0'))),
        ] {
            assert_eq!(check(uri), outcome, "{uri}");
        }
    }
}
