//! Texts that are no host names, and that someone may take for one. One reading for both processes:
//! what the API lets pass must not be what the signer refuses.

/// Whether some word has a dot in front of what may be a last label: `Dr. Muster`, `v1.2` and
/// `e.V.` have none. So does a word that shows an address in other characters than an address has.
#[must_use]
pub fn has_labels(text: &str) -> bool {
    // Marks can't be told from signs without tables: neither parts a word, nor counts in it.
    let is_shown = |c: &char| c.is_ascii() || c.is_alphanumeric() || is_dot(*c) || is_blank(*c);
    let shown: String = text.chars().filter(is_shown).collect();
    let belongs = |c: char| c.is_alphanumeric() || "-_*".contains(c) || is_dot(c);
    shown.split(|c| !belongs(c)).any(|word| {
        let word = word.trim_end_matches(is_dot);
        let Some((_, last)) = word.rsplit_once(is_dot) else { return false };
        let is_number = last.chars().all(|c| c.is_ascii_digit());
        let is_like_ipv4 =
            word.split(is_dot).count() == 4 && word.chars().all(|c| is_dot(c) || c.is_numeric());
        let is_disguised = !text.is_ascii() && is_like_ipv4;
        is_disguised || last.chars().nth(1).is_some() && !is_number
    })
}

/// The full stops that IDNA takes as the same (UTS 46), and what it folds to one.
fn is_dot(c: char) -> bool {
    ".\u{3002}\u{ff0e}\u{ff61}\u{2024}\u{fe52}".contains(c)
}

/// What shows as a blank of some width; narrower ones hide between letters.
fn is_blank(c: char) -> bool {
    matches!(c, '\u{a0}' | '\u{2000}'..='\u{2003}' | '\u{3000}')
}

/// Whether a character stands in it that no one sees.
#[must_use]
pub fn hides_something(text: &str) -> bool {
    text.chars().any(is_ignorable)
}

/// Default_Ignorable_Code_Point of Unicode: shown as nothing, so that a name with one looks like
/// another.
fn is_ignorable(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_taken_for_a_host_is_told_from_other_texts() {
        for text in ["evil .test.example", "evil.test:8443", "www.evil.test/", "evil\u{2024}test"] {
            assert!(has_labels(text), "{text}");
        }
        for text in ["Dr. Muster", "v1.2", "e.V.", "intranet", ""] {
            assert!(!has_labels(text), "{text}");
        }
    }

    #[test]
    fn what_no_one_sees_is_found() {
        assert!(hides_something("evil\u{200d}test") && hides_something("\u{ad}"));
        assert!(!hides_something("Müller, Köln"));
    }
}
