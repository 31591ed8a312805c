//! What passes as a body, and what is said about one that does not.

use axum::http::HeaderValue;
use serde::Deserialize;

use super::*;

#[derive(Debug, Deserialize, PartialEq)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Example {
    name: String,
    #[serde(default, deserialize_with = "empty_is_absent")]
    team_name: Option<String>,
    #[serde(default, deserialize_with = "empty_is_no_list")]
    extra_emails: Vec<String>,
    #[serde(default, deserialize_with = "empty_is_absent")]
    days: Option<u32>,
    #[serde(default)]
    inner: Option<Inner>,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Inner {
    flag: bool,
}

fn message(text: &str) -> String {
    let error = parse::<Example>(text.as_bytes()).unwrap_err();
    format!("{:?} {error}", error.code())
}

#[test]
fn a_list_has_an_end() {
    let list = |elements: usize| {
        let emails = vec!["a@example.test"; elements];
        serde_json::json!({"name": "x", "extraEmails": emails}).to_string()
    };

    assert_eq!(parse::<Example>(list(1_000).as_bytes()).unwrap().extra_emails.len(), 1_000);
    let refused = "InvalidRequest extraEmails: has more than 1000 elements";
    assert_eq!(message(&list(1_001)), refused);
}

#[test]
fn empty_means_absent_in_every_form_that_clients_send() {
    for empty in [r#""""#, "[]", r#"[""]"#, "[null]", "null", r#"["", null]"#] {
        let text = format!(
            r#"{{"name": "x", "teamName": {empty}, "extraEmails": {empty}, "days": {empty}}}"#
        );

        let example: Example = parse(text.as_bytes()).unwrap();

        assert_eq!((example.team_name, example.days), (None, None), "{empty}");
        assert_eq!(example.extra_emails, Vec::<String>::new(), "{empty}");
    }
}

#[test]
fn a_byte_order_mark_is_passed_over() {
    let example: Example =
        parse("\u{feff}{\"name\":\"x\",\"extraEmails\":[\"a@b\",\"\"]}".as_bytes()).unwrap();

    assert_eq!((example.name.as_str(), example.extra_emails), ("x", vec!["a@b".to_owned()]));
}

#[test]
fn a_body_that_does_not_fit_is_described_by_its_field_and_without_its_value() {
    for (text, expected) in [
        ("", "MalformedRequest the body is empty; send a JSON object"),
        (" \r\n", "MalformedRequest the body is empty; send a JSON object"),
        ("[]", "MalformedRequest the body must be a JSON object"),
        ("\"text\"", "MalformedRequest the body must be a JSON object"),
        ("null", "MalformedRequest the body must be a JSON object"),
        ("42", "MalformedRequest the body must be a JSON object"),
        (
            r#"{"nam": "x"}"#,
            "InvalidRequest nam: there is no such field; leave it out or spell it as documented",
        ),
        (
            r#"{"name": "x", "inner": {"flags": 1}}"#,
            "InvalidRequest inner.flags: there is no such field; leave it out or spell it as documented",
        ),
        ("{}", "InvalidRequest name: is missing"),
        (r#"{"name": "x", "inner": {}}"#, "InvalidRequest inner.flag: is missing"),
        (r#"{"name": "x", "name": "y"}"#, "InvalidRequest name: is given twice"),
        (r#"{"name": 123}"#, "InvalidRequest name: must be a string"),
        (r#"{"name": {"a": 1}}"#, "InvalidRequest name: must be a string"),
        (r#"{"name": "x", "teamName": 7}"#, "InvalidRequest teamName: must be a string"),
        (
            r#"{"name": "x", "days": "secret"}"#,
            "InvalidRequest days: must be a whole number from 0 to 4294967295",
        ),
        (
            r#"{"name": "x", "extraEmails": "a"}"#,
            "InvalidRequest extraEmails: must be a JSON array",
        ),
        (
            r#"{"name": "x", "inner": {"flag": "yes"}}"#,
            "InvalidRequest inner.flag: must be true or false",
        ),
        (r#"{"name": "x", "inner": 3}"#, "InvalidRequest inner: must be a JSON object"),
        (
            r#"{"name": "a\u0000b"}"#,
            "MalformedRequest the body has a text with a NUL character; leave it out",
        ),
    ] {
        assert_eq!(message(text), expected, "{text}");
    }
}

#[test]
fn what_a_field_must_be_is_said_without_the_name_of_a_type() {
    #[derive(Debug, Deserialize)]
    enum Kind {
        One,
        Two,
    }
    fn said<T: serde::de::DeserializeOwned + std::fmt::Debug>(json: &str) -> String {
        let fault =
            serde_path_to_error::deserialize::<_, T>(&mut serde_json::Deserializer::from_str(json));
        fault::describe(fault.unwrap_err()).to_string()
    }

    for (said, expected) in [
        (said::<u8>("300"), "must be a whole number from 0 to 255"),
        (said::<u16>("-1"), "must be a whole number from 0 to 65535"),
        (said::<u32>("1.5"), "must be a whole number from 0 to 4294967295"),
        (said::<u64>("\"1\""), "must be a whole number from 0 to 18446744073709551615"),
        (said::<i8>("true"), "must be a whole number from -128 to 127"),
        (
            said::<i64>("[]"),
            "must be a whole number from -9223372036854775808 to 9223372036854775807",
        ),
        (said::<f64>("\"x\""), "must be a number"),
        (said::<bool>("1"), "must be true or false"),
        (said::<String>("1"), "must be a string"),
        (said::<Vec<u8>>("1"), "must be a JSON array"),
        (said::<std::collections::HashMap<String, u8>>("1"), "must be a JSON object"),
        (said::<Inner>("1"), "must be a JSON object"),
        (said::<Kind>("\"Three\""), "must be One or Two"),
    ] {
        assert_eq!(said, format!(".: {expected}"));
    }
    let error = from_value::<Kind>(1.into()).unwrap_err();
    assert_eq!(error.to_string(), ".: must be a string");
    assert!(matches!(serde_json::from_str("\"One\""), Ok(Kind::One)));
    assert!(matches!(serde_json::from_str("\"Two\""), Ok(Kind::Two)));
}

#[test]
fn a_field_s_name_that_is_long_is_cut() {
    let text = format!(r#"{{"{}": 1}}"#, "x".repeat(50_000));

    assert!(message(&text).chars().count() < 400, "{:.500}", message(&text));
}

#[test]
fn what_is_no_json_is_malformed() {
    let deep = "[".repeat(100_000);
    for text in [
        "{",
        "{\"name\":\"x\",}",
        "{'name':'x'}",
        "{\"name\":NaN}",
        "/*x*/{}",
        "{\"name\":\"x\"} x",
        &deep,
    ] {
        assert!(message(text).starts_with("MalformedRequest the body is not JSON"), "{text:.20}");
    }
    let error = parse::<Example>(b"{\"name\":\"\xff\"}").unwrap_err();
    assert_eq!(error.to_string(), "the body is not UTF-8: byte 9 is none of it");
}

#[test]
fn an_escaped_backslash_before_u0000_is_no_nul() {
    let example: Example = parse(br#"{"name": "\\u0000"}"#).unwrap();

    assert_eq!(example.name, "\\u0000");
}

#[test]
fn only_json_in_utf_8_is_declared_as_json() {
    for (value, expected) in [
        ("application/json", true),
        ("Application/JSON; charset=UTF-8", true),
        ("application/json;charset=\"utf-8\"", true),
        ("application/json; charset=utf-16", false),
        ("application/json; charset=iso-8859-1", false),
        ("application/x-www-form-urlencoded", false),
        ("text/plain", false),
        ("", false),
        ("multipart/form-data; boundary=x", false),
    ] {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(value));
        assert_eq!(is_json(&headers), expected, "{value}");
    }
    assert!(!is_json(&HeaderMap::new()));
}
