//! Where a request comes from.
//!
//! Peer:     whoever opened the connection.
//! Trusts:   `X-Forwarded-For` of the proxies of the configuration, and of nobody else.
//! Promises: an address that a client writes itself never counts.
//! Never:    takes the left end of the list: clients write that.

use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};

use axum::extract::{ConnectInfo, FromRequestParts};
use axum::http::request::Parts;
use axum::http::{Extensions, HeaderMap, HeaderName};

use crate::app::AppState;
use crate::ip_white_list::IpWhiteList;

/// The address that a request comes from, where that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientAddress(pub Option<IpAddr>);

impl ClientAddress {
    /// Of a request with these parts.
    pub fn of(extensions: &Extensions, headers: &HeaderMap, trusted: &IpWhiteList) -> Self {
        let peer = extensions.get::<ConnectInfo<SocketAddr>>();
        let peer = peer.map(|ConnectInfo(peer)| peer.ip().to_canonical());
        Self(peer.map(|peer| of(peer, headers, trusted)))
    }

    /// As text; empty where it is not known.
    pub fn text(self) -> String {
        self.0.map_or_else(String::new, |address| address.to_string())
    }
}

impl FromRequestParts<AppState> for ClientAddress {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Infallible> {
        Ok(Self::of(&parts.extensions, &parts.headers, &state.config.trusted_proxies))
    }
}

/// The nearest address that is no trusted proxy's. What can't be read ends the search at the proxy
/// that said it.
fn of(peer: IpAddr, headers: &HeaderMap, trusted: &IpWhiteList) -> IpAddr {
    let mut nearest = peer;
    if !trusted.holds(nearest) {
        return nearest;
    }
    let said: Vec<&[u8]> = headers
        .get_all(FORWARDED_FOR)
        .iter()
        .flat_map(|value| value.as_bytes().split(|b| *b == b','))
        .collect();
    for entry in said.into_iter().rev() {
        let Some(address) = address(entry) else { return nearest };
        nearest = address;
        if !trusted.holds(nearest) {
            return nearest;
        }
    }
    nearest
}

/// Some proxies write a port behind the address.
fn address(entry: &[u8]) -> Option<IpAddr> {
    let text = std::str::from_utf8(entry).ok()?.trim();
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let address = bare.parse().ok().or_else(|| Some(text.parse::<SocketAddr>().ok()?.ip()))?;
    Some(address.to_canonical())
}

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_trusted_proxies_are_believed_and_the_nearest_stranger_is_the_client() {
        let trusted = IpWhiteList::read("10.0.0.0/8, ::1").unwrap();
        for (peer, said, expected) in [
            ("192.0.2.1", &["198.51.100.1"][..], "192.0.2.1"),
            ("192.0.2.1", &[], "192.0.2.1"),
            ("10.0.0.1", &[], "10.0.0.1"),
            ("10.0.0.1", &["198.51.100.1"], "198.51.100.1"),
            ("10.0.0.1", &["6.6.6.6, 198.51.100.1"], "198.51.100.1"),
            ("10.0.0.1", &["6.6.6.6", "198.51.100.1 , 10.0.0.2"], "198.51.100.1"),
            ("10.0.0.1", &["10.0.0.3, 10.0.0.2"], "10.0.0.3"),
            ("10.0.0.1", &["6.6.6.6, garbage"], "10.0.0.1"),
            ("10.0.0.1", &["6.6.6.6, garbage, 10.0.0.2"], "10.0.0.2"),
            ("10.0.0.1", &[""], "10.0.0.1"),
            ("10.0.0.1", &["198.51.100.1:4711"], "198.51.100.1"),
            ("::1", &["[2001:db8::5]:4711"], "2001:db8::5"),
            ("::1", &["2001:db8::5"], "2001:db8::5"),
            ("::1", &["::ffff:198.51.100.1"], "198.51.100.1"),
        ] {
            let mut headers = HeaderMap::new();
            for value in said {
                headers.append(FORWARDED_FOR, value.parse().unwrap());
            }
            let found = of(peer.parse().unwrap(), &headers, &trusted);
            assert_eq!(found, expected.parse::<IpAddr>().unwrap(), "{peer} {said:?}");
        }
    }
}
