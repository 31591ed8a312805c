//! PEM armour around a request (RFC 7468), found in whatever text stands around it.

use super::CsrTextError;
use crate::echo::cut;

/// The base64 part of the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Body<'a> {
    pub(super) text: &'a str,
    /// The line of the whole text at which it begins, from 1.
    pub(super) first_line: usize,
}

const REQUESTS: [&str; 2] = ["CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST"];

/// One BEGIN with what follows it.
struct Block<'a> {
    label: &'a str,
    /// Behind the BEGIN line, to the next BEGIN or the end.
    rest: &'a str,
    first_line: usize,
}

/// The body of the one request in `text`; `None` where there is no armour at all.
///
/// Blocks of other labels are passed over where a request stands beside them.
pub(super) fn find(text: &str) -> Result<Option<Body<'_>>, CsrTextError> {
    let blocks = blocks(text);
    let mut requests = blocks.iter().filter(|block| REQUESTS.contains(&block.label));
    match (requests.next(), requests.next()) {
        (Some(request), None) => body(request).map(Some),
        (Some(_), Some(_)) => Err(CsrTextError::MoreThanOne),
        (None, _) => match blocks.first() {
            Some(other) if REQUESTS.iter().any(|label| label.eq_ignore_ascii_case(other.label)) => {
                Err(CsrTextError::DamagedHeader)
            }
            Some(other) => {
                let label = cut(other.label);
                Err(CsrTextError::OtherLabel { label })
            }
            None if looks_armoured(text) => Err(CsrTextError::DamagedHeader),
            None => Ok(None),
        },
    }
}

fn blocks(text: &str) -> Vec<Block<'_>> {
    const BEGIN: &str = "-----BEGIN ";
    let mut blocks = Vec::new();
    let mut line = 1;
    let mut pieces = text.split(BEGIN);
    line += pieces.next().map_or(0, breaks);
    for piece in pieces {
        if let Some((label, rest)) = piece.split_once("-----") {
            // A label is short and on one line; anything else is text that looks like one.
            if label.len() <= 64 && breaks(label) == 0 {
                blocks.push(Block { label, rest, first_line: line });
            }
        }
        line += breaks(piece);
    }
    blocks
}

fn body<'a>(block: &Block<'a>) -> Result<Body<'a>, CsrTextError> {
    let Some((text, end)) = block.rest.split_once("-----END ") else {
        return Err(CsrTextError::NoEnd);
    };
    let Some((end, _)) = end.split_once("-----") else { return Err(CsrTextError::NoEnd) };
    if end != block.label {
        let end = cut(end);
        return Err(CsrTextError::LabelsDiffer { begin: block.label.to_owned(), end });
    }
    if text.contains(':') {
        return Err(CsrTextError::Headers);
    }
    Ok(Body { text, first_line: block.first_line })
}

/// Whether someone meant a BEGIN line: wrong dashes, wrong case, hyphens lost.
fn looks_armoured(text: &str) -> bool {
    let upper = text.to_uppercase();
    upper.contains("CERTIFICATE REQUEST") || upper.contains("BEGIN ") || upper.contains("-----")
}

/// The lines of a text: CRLF, LF and CR all end one.
pub(super) fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n').flat_map(|line| line.strip_suffix('\r').unwrap_or(line).split('\r'))
}

fn breaks(text: &str) -> usize {
    lines(text).count() - 1
}
