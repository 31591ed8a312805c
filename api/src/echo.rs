//! What a request said, repeated to its sender: enough to know it again, never all of it.

/// The beginning of `text`, with an ellipsis where there is more. For every message that repeats
/// something of a request.
pub(crate) fn cut(text: &str) -> String {
    cut_to(text, MOST)
}

/// The same, for words of others that may repeat something of a request.
pub(crate) fn cut_to(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// Characters; every name that exists here is shorter or as long.
const MOST: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_between_characters_and_says_so() {
        assert_eq!(cut(&"ü".repeat(100)), "ü".repeat(100));
        assert_eq!(cut(&"ü".repeat(101)), format!("{}…", "ü".repeat(100)));
    }
}
