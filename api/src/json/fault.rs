//! What is wrong with a body, in words that name the field and never repeat its value.

use serde_json::error::Category;

use super::malformed;
use crate::echo::cut;
use crate::error::ApiError;

/// The text is no JSON.
pub(super) fn syntax(error: &serde_json::Error) -> ApiError {
    malformed(format!("the body is not JSON: {error}"))
}

/// The text is no JSON, or not of the shape asked for.
pub(super) fn describe(error: serde_path_to_error::Error<serde_json::Error>) -> ApiError {
    let path = error.path().to_string();
    let inner = error.into_inner();
    if inner.classify() != Category::Data {
        return syntax(&inner);
    }
    let said = inner.to_string();
    let said = said.rsplit_once(" at line ").map_or(said.as_str(), |(said, _)| said);
    let (field, message) = match (said.split_once('`'), said) {
        (Some(("unknown field ", rest)), _) => {
            let name = rest.split('`').next().unwrap_or_default();
            (
                sibling(&path, name),
                "there is no such field; leave it out or spell it as documented".to_owned(),
            )
        }
        (Some(("missing field ", rest)), _) => {
            (join(&path, rest.trim_end_matches('`')), "is missing".to_owned())
        }
        (Some(("duplicate field ", rest)), _) => {
            (sibling(&path, rest.trim_end_matches('`')), "is given twice".to_owned())
        }
        // What serde says before "expected" repeats the value, which may be a secret.
        (_, said) => match said.rsplit_once(", expected ") {
            Some((_, expected)) => (path, format!("must be {}", plain(expected))),
            None => (path, said.to_owned()),
        },
    };
    ApiError::invalid_field(&cut(&field), message)
}

/// What serde expects, in words that mean something to a client: the names of types do not.
fn plain(expected: &str) -> String {
    let words = match expected {
        "u8" => return whole(u8::MIN, u8::MAX),
        "u16" => return whole(u16::MIN, u16::MAX),
        "u32" => return whole(u32::MIN, u32::MAX),
        "u64" | "usize" => return whole(u64::MIN, u64::MAX),
        "i8" => return whole(i8::MIN, i8::MAX),
        "i16" => return whole(i16::MIN, i16::MAX),
        "i32" => return whole(i32::MIN, i32::MAX),
        "i64" | "isize" => return whole(i64::MIN, i64::MAX),
        "f32" | "f64" => "a number",
        "a boolean" => "true or false",
        "a sequence" => "a JSON array",
        "a map" => "a JSON object",
        "unit" => "null",
        // An enum by its name, where the value is no text at all.
        "string or map" => "a string",
        _ if expected.starts_with("struct ") => "a JSON object",
        _ if expected.starts_with("enum ") => "a string",
        // The names of an enum come in backticks.
        other => return other.replace('`', ""),
    };
    words.to_owned()
}

fn whole(least: impl std::fmt::Display, most: impl std::fmt::Display) -> String {
    format!("a whole number from {least} to {most}")
}

/// The field `name` of the object at `path`.
fn join(path: &str, name: &str) -> String {
    if path == "." { name.to_owned() } else { format!("{path}.{name}") }
}

/// The field `name`, where `path` may or may not end in it already.
fn sibling(path: &str, name: &str) -> String {
    match path.rsplit_once('.') {
        Some((_, last)) if last == name => path.to_owned(),
        _ if path == name => path.to_owned(),
        _ => join(path, name),
    }
}
