//! What a request asks for, in the words of the audit, as its method and path have it.

use axum::http::Method;

/// What is done, and on what kind of thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// `create`, `change`, `delete`, `read`, or a word of the path: `import`, `restore`.
    pub action: String,
    /// As in the path: `certs`, `teams`.
    pub kind: String,
    /// The id in the path, where it has one.
    pub object_id: Option<String>,
    /// Whose API token it is, where the path says so.
    pub token_of: Option<String>,
    /// Whether a success is told: it changes something, or gives a secret away.
    pub is_told: bool,
}

impl Operation {
    /// Of a request that met `route`, a path with names in braces, with this path.
    pub fn new(method: &Method, route: Option<&str>, path: &str) -> Self {
        let reads = method == Method::GET || method == Method::HEAD || method == Method::OPTIONS;
        let whole = route.unwrap_or_default();
        let Some(route) = below_api(whole) else { return Self::of_no_route(reads) };
        let parts: Vec<&str> = route.split('/').filter(|part| !part.is_empty()).collect();
        let parts = parts.strip_prefix(&["admin"]).unwrap_or(&parts);
        let Some((first, rest)) = parts.split_first() else { return Self::of_no_route(reads) };
        let ids = Ids::of(whole, path);
        let (object_id, token_of) = if parts.contains(&"apitokens") {
            (ids.behind("apitokens"), ids.behind("users"))
        } else {
            (ids.first(), None)
        };
        let word = rest.iter().rev().find(|part| !part.starts_with('{')).copied();
        let (action, kind) = match (*first, word) {
            ("login", _) => ("login".to_owned(), "users"),
            ("logout" | "logouthere", _) => ("logout".to_owned(), "users"),
            ("certs", Some("request" | "requestp10")) => ("issue".to_owned(), "certs"),
            // Nothing leaves with a HEAD.
            ("certs", Some("p12" | "jks" | "pem")) if *method == Method::GET => {
                ("download key".to_owned(), "certs")
            }
            (_, Some("apitokens")) => (format!("{} API token", action(method, None)), "apitokens"),
            ("currentuser", word) => (action(method, word), "users"),
            (kind, word) => (action(method, word), kind),
        };
        let is_told = match action.as_str() {
            "logout" | "download key" => true,
            // A search is a read whose question needs a body.
            "search" => false,
            _ => !reads,
        };
        Self { action, kind: kind.to_owned(), object_id, token_of, is_told }
    }

    fn of_no_route(reads: bool) -> Self {
        let action = if reads { "read" } else { "write" };
        Self {
            action: action.to_owned(),
            kind: "unknown path".to_owned(),
            object_id: None,
            token_of: None,
            is_told: false,
        }
    }
}

fn action(method: &Method, word: Option<&str>) -> String {
    let verb = match *method {
        Method::POST => "create",
        Method::PUT | Method::PATCH => "change",
        Method::DELETE => "delete",
        _ => return "read".to_owned(),
    };
    match word {
        None => verb.to_owned(),
        // `POST …/{id}/unlock` unlocks.
        Some(word) if method == Method::POST => word.to_owned(),
        Some(word) => format!("{verb} {word}"),
    }
}

/// The part behind `/api`, whatever the service's base path is: that may have such a part too, and no
/// route has another.
fn below_api(route: &str) -> Option<&str> {
    route.rfind("/api/").and_then(|at| route.get(at + "/api".len()..))
}

/// What stands in the path where its route has names in braces, each with the part in front of it.
struct Ids<'a>(Vec<(&'a str, &'a str)>);

impl<'a> Ids<'a> {
    fn of(route: &'a str, path: &'a str) -> Self {
        let (names, values) = (route.split('/'), path.split('/'));
        let pairs = route.split('/').zip(names.skip(1)).zip(values.skip(1));
        let ids = pairs.filter(|((_, name), _)| name.starts_with('{'));
        Self(ids.map(|((before, _), value)| (before, value)).collect())
    }

    fn first(&self) -> Option<String> {
        self.0.first().and_then(|(_, value)| id(value))
    }

    fn behind(&self, part: &str) -> Option<String> {
        self.0.iter().find(|(before, _)| *before == part).and_then(|(_, value)| id(value))
    }
}

/// What no id looks like is not told: it may be anything.
fn id(text: &str) -> Option<String> {
    let is_id = text.len() == 24 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_id.then(|| text.to_ascii_lowercase())
}
