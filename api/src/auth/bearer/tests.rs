//! Which tokens pass.

use axum::http::HeaderValue;
use time::macros::datetime;
use zeroize::Zeroizing;

use super::*;
use crate::memo::MOST;

const NOW: OffsetDateTime = datetime!(2026-11-28 02:00:00 UTC);
const SECRET: [u8; 32] = [7; 32];

fn key(id: &str, byte: u8) -> TokenKey {
    TokenKey { id: id.to_owned(), secret: Zeroizing::new(vec![byte; 32]) }
}

fn tokens() -> BearerTokens {
    BearerTokens::new(&[key("old", 1), key("new", 7)])
}

fn issued() -> String {
    let (user, id) = (UserId::from_bytes([1; 12]), RowId::from_bytes([2; 12]));
    tokens().issue(user, 3, id, NOW, Duration::MINUTE).unwrap()
}

/// What a token says that opens something at `now`.
fn passes(tokens: &BearerTokens, token: &str, now: OffsetDateTime) -> Result<Claims, BearerError> {
    let (claims, in_time) = tokens.verify(token, now)?;
    in_time.map(|()| claims)
}

/// A token with these claims, signed with the key of the service.
fn signed(claims: &serde_json::Value) -> String {
    let header = Header { kid: Some("new".to_owned()), ..Header::new(ALGORITHM) };
    jsonwebtoken::encode(&header, claims, &EncodingKey::from_secret(&SECRET)).unwrap()
}

#[test]
fn a_token_passes_until_the_second_it_expires_in() {
    let token = issued();

    let claims = passes(&tokens(), &token, NOW).unwrap();

    let expected = Claims {
        sub: UserId::from_bytes([1; 12]),
        iat: NOW.unix_timestamp(),
        exp: NOW.unix_timestamp() + 60,
        jti: RowId::from_bytes([2; 12]),
        ver: 3,
    };
    assert_eq!(claims, expected);
    let last = NOW + Duration::milliseconds(59_999);
    assert_eq!(passes(&tokens(), &token, last), Ok(expected));
    let over = NOW + Duration::MINUTE;
    assert_eq!(passes(&tokens(), &token, over), Err(BearerError::Expired));
}

#[test]
fn a_token_of_the_former_key_still_passes_and_of_a_removed_one_does_not() {
    let former = BearerTokens::new(&[key("old", 1)]);
    let token = former.issue(
        UserId::from_bytes([1; 12]),
        3,
        RowId::from_bytes([2; 12]),
        NOW,
        Duration::MINUTE,
    );
    let token = token.unwrap();

    assert!(passes(&tokens(), &token, NOW).is_ok());
    let rotated = BearerTokens::new(&[key("new", 7)]);
    assert_eq!(passes(&rotated, &token, NOW), Err(BearerError::Invalid));
    let same_id = BearerTokens::new(&[key("old", 2)]);
    assert_eq!(passes(&same_id, &token, NOW), Err(BearerError::Invalid));
}

#[test]
fn a_token_that_is_known_is_judged_by_the_time_as_any_other() {
    let (tokens, token) = (tokens(), issued());
    let first = passes(&tokens, &token, NOW);

    assert_eq!(passes(&tokens, &token, NOW), first);
    assert_eq!(passes(&tokens, &token, NOW + Duration::MINUTE), Err(BearerError::Expired));
    let early = NOW - Duration::seconds(CLOCK_DIFFERENCE + 1);
    assert_eq!(passes(&tokens, &token, early), Err(BearerError::Invalid));
}

#[test]
fn no_more_tokens_are_kept_than_there_is_room_for_and_all_pass() {
    let tokens = tokens();
    for number in 0..=MOST {
        let mut id = [0; 12];
        id[..8].copy_from_slice(&number.to_be_bytes());
        let id = RowId::from_bytes(id);
        let user = UserId::from_bytes([1; 12]);
        let token = tokens.issue(user, 3, id, NOW, Duration::MINUTE).unwrap();

        for _ in 0..2 {
            assert_eq!(passes(&tokens, &token, NOW).unwrap().jti, id);
        }
        assert!(tokens.known.len() <= MOST);
    }
}

#[test]
fn a_token_that_was_touched_is_invalid() {
    let (tokens, token) = (tokens(), issued());
    // The genuine one is known: nothing near it passes for its sake.
    passes(&tokens, &token, NOW).unwrap();
    let (rest, signature) = token.rsplit_once('.').unwrap();
    let (header, payload) = rest.split_once('.').unwrap();
    let mut touched = vec![
        format!("{rest}."),
        rest.to_owned(),
        format!("{token}.d"),
        format!("{token}.d.e"),
        format!("{token}="),
        format!("{header}.{payload} .{signature}"),
        format!("{header}.{payload}\n.{signature}"),
        format!("{header}.{}.{signature}", payload.replacen('e', "f", 1)),
        format!("{header}..{signature}"),
        "..".to_owned(),
        String::new(),
        format!("a.{}.c", "x".repeat(16 * 1024)),
    ];
    // Each other last character, those too that would decode to the same bytes.
    let last = signature.chars().last().unwrap();
    for other in ('A'..='Z').chain('a'..='z').chain('0'..='9').chain(['-', '_']) {
        if other != last {
            let mut text = token.clone();
            text.pop();
            text.push(other);
            touched.push(text);
        }
    }

    for text in touched {
        assert_eq!(passes(&tokens, &text, NOW), Err(BearerError::Invalid), "{text:.400}");
    }
}

#[test]
fn a_token_of_another_algorithm_or_header_is_invalid() {
    let claims = serde_json::json!({
        "sub": "01".repeat(12), "iat": NOW.unix_timestamp(), "exp": NOW.unix_timestamp() + 60,
        "jti": "02".repeat(12), "ver": 3
    });
    assert!(passes(&tokens(), &signed(&claims), NOW).is_ok());
    let part = |text: &str| {
        use base64::Engine as _;
        base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(text)
    };
    let payload = part(&claims.to_string());
    let none = part(r#"{"alg":"none","kid":"new"}"#);
    let es256 = part(r#"{"alg":"ES256","kid":"new"}"#);
    let header = Header { kid: Some("new".to_owned()), ..Header::new(Algorithm::HS512) };
    let hs512 = jsonwebtoken::encode(&header, &claims, &EncodingKey::from_secret(&SECRET)).unwrap();
    let header = Header::new(ALGORITHM);
    let no_key =
        jsonwebtoken::encode(&header, &claims, &EncodingKey::from_secret(&SECRET)).unwrap();

    for text in [
        format!("{none}.{payload}."),
        format!("{none}.{payload}"),
        format!("{es256}.{payload}.{}", "A".repeat(86)),
        hs512,
        no_key,
    ] {
        assert_eq!(passes(&tokens(), &text, NOW), Err(BearerError::Invalid), "{text}");
    }
}

#[test]
fn claims_of_another_form_are_invalid() {
    let now = NOW.unix_timestamp();
    let (user, id) = ("01".repeat(12), "02".repeat(12));
    for claims in [
        serde_json::json!({"sub": user, "iat": now, "exp": "tomorrow", "jti": id, "ver": 3}),
        serde_json::json!({"sub": user, "iat": now, "exp": -1, "jti": id, "ver": 3}),
        serde_json::json!({"sub": user, "iat": now, "exp": 1e308, "jti": id, "ver": 3}),
        serde_json::json!({"sub": user, "iat": now, "exp": null, "jti": id, "ver": 3}),
        serde_json::json!({"sub": user, "iat": now, "jti": id, "ver": 3}),
        serde_json::json!({"sub": user, "iat": 4_102_444_800_i64, "exp": 4_102_444_800_i64, "jti": id, "ver": 3}),
        serde_json::json!({"sub": user, "iat": now + 61, "exp": now + 100, "jti": id, "ver": 3}),
        serde_json::json!({"sub": "admin", "iat": now, "exp": now + 60, "jti": id, "ver": 3}),
        serde_json::json!({"sub": user, "iat": now, "exp": now + 60, "jti": id}),
        serde_json::json!({"sub": user, "iat": now, "exp": now + 60, "jti": id, "ver": -1}),
        serde_json::json!({}),
    ] {
        let found = passes(&tokens(), &signed(&claims), NOW);
        assert_eq!(found, Err(BearerError::Invalid), "{claims}");
    }
}

#[test]
fn the_scheme_may_be_doubled_and_of_any_case_but_nothing_else_passes() {
    for (value, expected) in [
        ("Bearer abc", Ok("abc")),
        ("bearer abc", Ok("abc")),
        ("BEARER  abc ", Ok("abc")),
        ("Bearer Bearer abc", Ok("abc")),
        ("Bearer bearer abc", Ok("abc")),
        ("Bearer \"abc\"", Ok("\"abc\"")),
        ("Bearer", Err(BearerError::Missing)),
        ("Bearer Bearer", Err(BearerError::Missing)),
        ("abc", Err(BearerError::Invalid)),
        ("Basic abc", Err(BearerError::Invalid)),
        ("", Err(BearerError::Invalid)),
    ] {
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, HeaderValue::from_static(value));
        assert_eq!(of_request(&headers), expected, "{value}");
    }
    assert_eq!(of_request(&HeaderMap::new()), Err(BearerError::Missing));
    let mut twice = HeaderMap::new();
    twice.append(AUTHORIZATION, HeaderValue::from_static("Bearer a"));
    twice.append(AUTHORIZATION, HeaderValue::from_static("Bearer b"));
    assert_eq!(of_request(&twice), Err(BearerError::Invalid));
    let quoted = format!("\"{}\"", issued());
    assert_eq!(passes(&tokens(), &quoted, NOW), Err(BearerError::Invalid));
}

#[test]
fn a_token_whose_header_is_written_otherwise_passes_by_its_key_all_the_same() {
    let token = issued();
    let (header, rest) = token.split_once('.').unwrap();
    assert_eq!(header, header_text("new"));
    let (payload, _) = rest.split_once('.').unwrap();
    for (header, is_accepted) in [
        (r#"{"kid":"new","alg":"HS256","typ":"JWT"}"#, true),
        (r#"{ "alg": "HS256", "kid": "new" }"#, true),
        (r#"{"alg":"HS256","kid":"unknown"}"#, false),
        (r#"{"alg":"HS256"}"#, false),
        (r#"{"alg":"none","kid":"new"}"#, false),
        (r#"{"alg":"HS512","kid":"new"}"#, false),
    ] {
        let signed = format!("{}.{payload}", URL_SAFE_NO_PAD.encode(header));
        let mac = aws_lc_rs::hmac::Key::new(aws_lc_rs::hmac::HMAC_SHA256, &SECRET);
        let mac = aws_lc_rs::hmac::sign(&mac, signed.as_bytes());
        let token = format!("{signed}.{}", URL_SAFE_NO_PAD.encode(mac));

        assert_eq!(passes(&tokens(), &token, NOW).is_ok(), is_accepted, "{header}");
    }
}
