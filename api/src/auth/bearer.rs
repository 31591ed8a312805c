//! Bearer tokens: JWTs (RFC 7519), HMAC-SHA-256, checked against the service's own clock.

use std::collections::HashSet;

use aws_lc_rs::digest::{SHA256, digest};
use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chancery_shared::id::{RowId, UserId};
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation};
use serde::{Deserialize, Serialize};
use time::{Duration, OffsetDateTime};

use super::token_keys::TokenKey;
use crate::memo::Memo;

/// Issues and checks bearer tokens.
pub struct BearerTokens {
    keys: Vec<Key>,
    validation: Validation,
    /// What the tokens said that were verified lately, by their SHA-256: most requests come with one
    /// that an earlier request had.
    known: Memo<[u8; 32], Claims>,
}

struct Key {
    id: String,
    /// What each token that it signs begins with, up to the first dot.
    header: String,
    encoding: EncodingKey,
    decoding: DecodingKey,
}

/// What a token says. Whether its user may still do anything is for the store to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claims {
    /// The user.
    pub sub: UserId,
    /// Issued at, in Unix seconds.
    pub iat: i64,
    /// Expires at, in Unix seconds.
    pub exp: i64,
    /// The token's own id, by which it can be ended.
    pub jti: RowId,
    /// The user's token version at that time.
    pub ver: u64,
}

impl Claims {
    /// When the token expires.
    pub fn expires_at(&self) -> OffsetDateTime {
        OffsetDateTime::from_unix_timestamp(self.exp).unwrap_or(OffsetDateTime::UNIX_EPOCH)
    }

    /// Whether `now` is within the token's time, by our clock and without leeway.
    ///
    /// # Errors
    ///
    /// [`BearerError::Invalid`] or [`BearerError::Expired`].
    fn check_time(&self, now: OffsetDateTime) -> Result<(), BearerError> {
        let now = now.unix_timestamp();
        if self.iat > now.saturating_add(CLOCK_DIFFERENCE) || self.exp <= self.iat {
            return Err(BearerError::Invalid);
        }
        if self.exp <= now { Err(BearerError::Expired) } else { Ok(()) }
    }
}

/// Why a request has no usable token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BearerError {
    /// None came with it.
    #[error("this needs a login: send Authorization: Bearer with the token of POST /api/login")]
    Missing,
    /// It is broken, foreign or ended.
    #[error("the token is not valid; log in again")]
    Invalid,
    /// It is past its time.
    #[error("the token has expired; log in again")]
    Expired,
}

impl BearerTokens {
    /// With these keys; the last one signs.
    pub fn new(keys: &[TokenKey]) -> Self {
        let keys = keys.iter().map(|key| Key {
            id: key.id.clone(),
            header: header_text(&key.id),
            encoding: EncodingKey::from_secret(&key.secret),
            decoding: DecodingKey::from_secret(&key.secret),
        });
        // The algorithm is ours, never the header's choice. The times are for
        // Claims::check_time, by our clock.
        let mut validation = Validation::new(ALGORITHM);
        validation.validate_exp = false;
        validation.required_spec_claims = HashSet::new();
        Self { keys: keys.collect(), validation, known: Memo::default() }
    }

    /// A token for `user`; `None` without a key.
    pub fn issue(
        &self,
        user: UserId,
        version: u64,
        id: RowId,
        now: OffsetDateTime,
        lifetime: Duration,
    ) -> Option<String> {
        let key = self.keys.last()?;
        let iat = now.unix_timestamp();
        let exp = iat.saturating_add(lifetime.whole_seconds());
        let claims = Claims { sub: user, iat, exp, jti: id, ver: version };
        jsonwebtoken::encode(&header(&key.id), &claims, &key.encoding).ok()
    }

    /// What `token` says, if one of our keys signed it, and whether `now` is within its time: it opens
    /// nothing where it is not.
    ///
    /// # Errors
    ///
    /// [`BearerError::Invalid`].
    pub fn verify(
        &self,
        token: &str,
        now: OffsetDateTime,
    ) -> Result<(Claims, Result<(), BearerError>), BearerError> {
        if token.len() > MAX_LENGTH {
            return Err(BearerError::Invalid);
        }
        let mut hash = [0; 32];
        hash.copy_from_slice(digest(&SHA256, token.as_bytes()).as_ref());
        let claims = match self.known.get(&hash) {
            Some(claims) => *claims,
            None => *self.known.keep(hash, self.read(token)?),
        };
        Ok((claims, claims.check_time(now)))
    }

    fn read(&self, token: &str) -> Result<Claims, BearerError> {
        let key = self.key_of(token).ok_or(BearerError::Invalid)?;
        let read = jsonwebtoken::decode(token, &key.decoding, &self.validation);
        read.map(|token| token.claims).map_err(|_| BearerError::Invalid)
    }

    /// The key that the token names, mostly without decoding its header a second time.
    fn key_of(&self, token: &str) -> Option<&Key> {
        let (text, _) = token.split_once('.')?;
        let known = self.keys.iter().find(|key| key.header == text);
        known.or_else(|| {
            let id = jsonwebtoken::decode_header(token).ok()?.kid?;
            self.keys.iter().find(|key| key.id == id)
        })
    }
}

fn header(key_id: &str) -> Header {
    Header { kid: Some(key_id.to_owned()), ..Header::new(ALGORITHM) }
}

fn header_text(key_id: &str) -> String {
    serde_json::to_vec(&header(key_id)).map(|json| URL_SAFE_NO_PAD.encode(json)).unwrap_or_default()
}

/// The token of the `Authorization` header. The word `Bearer` may stand there twice: the explorer
/// adds it, and people type it too.
///
/// # Errors
///
/// [`BearerError::Missing`], or [`BearerError::Invalid`] where the header is of another form.
pub fn of_request(headers: &HeaderMap) -> Result<&str, BearerError> {
    let mut all = headers.get_all(AUTHORIZATION).iter();
    let value = all.next().ok_or(BearerError::Missing)?;
    if all.next().is_some() {
        return Err(BearerError::Invalid);
    }
    let text = value.to_str().map_err(|_| BearerError::Invalid)?;
    let token = after_scheme(text).ok_or(BearerError::Invalid)?;
    let token = after_scheme(token).unwrap_or(token);
    if token.is_empty() { Err(BearerError::Missing) } else { Ok(token) }
}

/// What follows the scheme, whose case does not matter (RFC 9110, section 11.1).
fn after_scheme(text: &str) -> Option<&str> {
    let text = text.trim_matches(' ');
    if text.eq_ignore_ascii_case("bearer") {
        return Some("");
    }
    let (scheme, rest) = text.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| rest.trim_matches(' '))
}

const ALGORITHM: Algorithm = Algorithm::HS256;
/// Ours have about 300 bytes.
const MAX_LENGTH: usize = 2048;
/// Two hosts' clocks may differ by so many seconds: a token may seem issued that much later.
const CLOCK_DIFFERENCE: i64 = 60;

#[cfg(test)]
mod tests;
