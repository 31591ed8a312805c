//! A rule of the policy as operators read it, and the macro that makes the table of all of them.

/// One rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The stable id.
    pub id: &'static str,
    /// The standard that has it; `policy` where the key's policy decides, `this signer` where it is
    /// stricter than the standards or speaks of what is its own.
    pub source: &'static str,
    /// What a refusal says, with `{0}` and the like for what it names.
    pub sentence: &'static str,
}

impl Rule {
    /// The rule as a row of a Markdown table.
    #[must_use]
    pub fn row(&self) -> String {
        let Self { id, source, sentence } = self;
        let mut words = String::new();
        let mut rest = *sentence;
        while let Some((before, placeholder)) = rest.split_once('{') {
            words.push_str(before);
            words.push('…');
            rest = placeholder.split_once('}').map_or("", |(_, after)| after);
        }
        words.push_str(rest);
        format!("| `{id}` | {source} | {words} |")
    }
}

/// Makes the error and the table from one list: variant, id, source, sentence.
macro_rules! rules {
    ($($variant:ident $(($($data:ty),+))? = $rule:literal ($source:literal): $sentence:literal;)+) => {
        /// The first rule that a draft breaks. `Display` says what was refused, why, and what
        /// would pass.
        #[derive(Debug, PartialEq, Eq, thiserror::Error)]
        pub enum PolicyViolation {
            $(
                #[doc = concat!("`", $rule, "`: ", $sentence)]
                #[error($sentence)]
                $variant $(($($data),+))?,
            )+
        }

        impl PolicyViolation {
            /// All rules, in the order of the table.
            pub const RULES: &'static [$crate::policy::rule::Rule] = &[
                $($crate::policy::rule::Rule { id: $rule, source: $source, sentence: $sentence }),+
            ];

            /// The stable id of the rule.
            #[must_use]
            pub fn rule(&self) -> &'static str {
                match self {
                    $(Self::$variant { .. } => $rule,)+
                }
            }
        }
    };
}

pub(super) use rules;
