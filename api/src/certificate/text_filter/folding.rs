//! What it costs to read an expression in any case: each letter of a class in brackets is looked up,
//! and a class within a class stands for up to a million of them.

use regex_syntax::ast::{Ast, ClassPerlKind, ClassSetBinaryOp, ClassSetItem, Visitor, visit};

/// Letters of all classes together; what has more takes many milliseconds. Room for `[\s\S]`, which
/// stands for any letter at all, or for some `[\w.-]`.
const MOST_LETTERS: u32 = 1_200_000;

/// All that there are.
const ALL: u32 = 0x11_0000;

/// Those of `\w`, about.
const OF_WORDS: u32 = 140_000;

/// Those of `\d` and of `\s`, at most.
const FEW: u32 = 1_000;

/// Whether the classes of `expression` are soon read in any case.
pub(super) fn is_soon_done(expression: &Ast) -> bool {
    visit(expression, Letters { inside: 1, counted: 0 }).is_ok()
}

/// Counts the letters in brackets, once for each class that they stand in.
struct Letters {
    inside: u32,
    counted: u32,
}

/// More than [`MOST_LETTERS`].
struct TooMany;

impl Visitor for Letters {
    type Output = ();
    type Err = TooMany;

    fn finish(self) -> Result<(), TooMany> {
        Ok(())
    }

    fn visit_class_set_item_pre(&mut self, item: &ClassSetItem) -> Result<(), TooMany> {
        let letters = match item {
            ClassSetItem::Empty(_) | ClassSetItem::Union(_) => 0,
            ClassSetItem::Literal(_) => 1,
            ClassSetItem::Range(range) => {
                u32::from(range.end.c).abs_diff(u32::from(range.start.c)) + 1
            }
            ClassSetItem::Ascii(class) => if_negated(class.negated, FEW),
            ClassSetItem::Perl(class) => {
                let letters = match class.kind {
                    ClassPerlKind::Word => OF_WORDS,
                    ClassPerlKind::Digit | ClassPerlKind::Space => FEW,
                };
                if_negated(class.negated, letters)
            }
            ClassSetItem::Unicode(_) => ALL,
            ClassSetItem::Bracketed(class) => if_negated(class.negated, 0),
        };
        self.counted = self.counted.saturating_add(letters.saturating_mul(self.inside));
        if let ClassSetItem::Bracketed(_) = item {
            self.inside += 1;
        }
        if self.counted > MOST_LETTERS { Err(TooMany) } else { Ok(()) }
    }

    fn visit_class_set_item_post(&mut self, item: &ClassSetItem) -> Result<(), TooMany> {
        if let ClassSetItem::Bracketed(_) = item {
            self.inside -= 1;
        }
        Ok(())
    }

    fn visit_class_set_binary_op_pre(&mut self, _: &ClassSetBinaryOp) -> Result<(), TooMany> {
        self.inside += 1;
        Ok(())
    }

    fn visit_class_set_binary_op_post(&mut self, _: &ClassSetBinaryOp) -> Result<(), TooMany> {
        self.inside -= 1;
        Ok(())
    }
}

fn if_negated(is_negated: bool, letters: u32) -> u32 {
    if is_negated { ALL } else { letters }
}
