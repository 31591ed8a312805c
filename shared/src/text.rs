//! Text of unknown origin on its way to a person's terminal.

/// The text as one line in which nothing moves the cursor, hides or reverses what stands beside
/// it: whatever has no shape of its own is written as its escape. It has at most `limit` bytes;
/// what is longer ends in `…`.
#[must_use]
pub fn plain(text: &str, limit: usize) -> String {
    let mut line = String::new();
    for letter in text.chars() {
        let end = line.len();
        if letter == ' ' || letter.is_ascii_graphic() {
            line.push(letter);
        } else {
            line.extend(letter.escape_debug());
        }
        if line.len() > limit {
            line.truncate(end);
            while line.len() + ELLIPSIS.len() > limit && line.pop().is_some() {}
            line.push_str(ELLIPSIS);
            break;
        }
    }
    line
}

const ELLIPSIS: &str = "…";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readable_text_stays_as_it_is() {
        for text in ["CN=Example \"CA\" \\, O=Ä & Ω", "", "日本"] {
            assert_eq!(plain(text, 100), text);
        }
    }

    #[test]
    fn what_a_terminal_would_act_on_or_hide_is_written_out() {
        let text = "a\u{1b}[2Jb\nc\u{202e}d\u{200b}e\u{9b}f\u{0}";

        assert_eq!(plain(text, 100), "a\\u{1b}[2Jb\\nc\\u{202e}d\\u{200b}e\\u{9b}f\\0");
    }

    proptest::proptest! {
        #[test]
        fn no_text_is_longer_than_its_limit_or_has_a_control_character(
            text: String,
            limit in 3_usize..300,
        ) {
            let line = plain(&text, limit);

            proptest::prop_assert!(line.len() <= limit);
            proptest::prop_assert!(!line.chars().any(char::is_control));
        }
    }
}
