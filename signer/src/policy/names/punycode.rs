//! Punycode (RFC 3492), as far as to tell an internationalised label from a made-up one.

/// Whether `label`, lower-case and without its `xn--`, stands for a label with characters beyond
/// ASCII, and is the one way to write it.
pub(super) fn is_a_label(label: &str) -> bool {
    let Some(decoded) = decode(label) else { return false };
    !decoded.iter().all(char::is_ascii)
        && !decoded.iter().any(|character| super::attribute::is_unseen(*character))
        && !decoded.iter().any(|character| character.is_whitespace() || character.is_uppercase())
        && encode(&decoded).as_deref() == Some(label)
}

const BASE: u32 = 36;
const T_MIN: u32 = 1;
const T_MAX: u32 = 26;
const SKEW: u32 = 38;
const DAMP: u32 = 700;
const INITIAL_BIAS: u32 = 72;
const INITIAL_N: u32 = 128;

/// RFC 3492, section 6.2.
fn decode(label: &str) -> Option<Vec<char>> {
    let (basic, extended) = label.rsplit_once('-').unwrap_or(("", label));
    let mut output: Vec<char> = basic.chars().collect();
    let (mut n, mut at, mut bias) = (INITIAL_N, 0_u32, INITIAL_BIAS);
    let mut digits = extended.bytes().peekable();
    while digits.peek().is_some() {
        let before = at;
        let mut weight = 1_u32;
        for k in (BASE..).step_by(BASE as usize) {
            let digit = digit(digits.next()?)?;
            at = at.checked_add(digit.checked_mul(weight)?)?;
            let threshold = threshold(k, bias);
            if digit < threshold {
                break;
            }
            weight = weight.checked_mul(BASE - threshold)?;
        }
        let length = u32::try_from(output.len()).ok()?.checked_add(1)?;
        bias = adapted(at - before, length, before == 0);
        n = n.checked_add(at / length)?;
        at %= length;
        output.insert(at as usize, char::from_u32(n)?);
        at += 1;
    }
    Some(output)
}

/// RFC 3492, section 6.3.
fn encode(label: &[char]) -> Option<String> {
    let basic: String = label.iter().filter(|character| character.is_ascii()).collect();
    let mut output = basic.clone();
    if !basic.is_empty() {
        output.push('-');
    }
    let count_of_basic = u32::try_from(basic.len()).ok()?;
    let (mut n, mut delta, mut bias) = (INITIAL_N, 0_u32, INITIAL_BIAS);
    let mut handled = count_of_basic;
    while (handled as usize) < label.len() {
        let next = label.iter().map(|c| u32::from(*c)).filter(|c| *c >= n).min()?;
        delta = delta.checked_add((next - n).checked_mul(handled.checked_add(1)?)?)?;
        n = next;
        for character in label.iter().map(|c| u32::from(*c)) {
            if character < n {
                delta = delta.checked_add(1)?;
            }
            if character == n {
                push_delta(&mut output, delta, bias)?;
                bias = adapted(delta, handled + 1, handled == count_of_basic);
                delta = 0;
                handled += 1;
            }
        }
        delta = delta.checked_add(1)?;
        n = n.checked_add(1)?;
    }
    Some(output)
}

fn push_delta(output: &mut String, delta: u32, bias: u32) -> Option<()> {
    let mut rest = delta;
    for k in (BASE..).step_by(BASE as usize) {
        let threshold = threshold(k, bias);
        if rest < threshold {
            break;
        }
        output.push(character(threshold + (rest - threshold) % (BASE - threshold))?);
        rest = (rest - threshold) / (BASE - threshold);
    }
    output.push(character(rest)?);
    Some(())
}

fn threshold(k: u32, bias: u32) -> u32 {
    k.saturating_sub(bias).clamp(T_MIN, T_MAX)
}

fn adapted(delta: u32, length: u32, is_first: bool) -> u32 {
    let mut delta = if is_first { delta / DAMP } else { delta / 2 };
    delta += delta / length;
    let mut k = 0;
    while delta > (BASE - T_MIN) * T_MAX / 2 {
        delta /= BASE - T_MIN;
        k += BASE;
    }
    k + (BASE - T_MIN + 1) * delta / (delta + SKEW)
}

fn digit(byte: u8) -> Option<u32> {
    char::from(byte).to_digit(36).map(|digit| (digit + 26) % 36)
}

fn character(digit: u32) -> Option<char> {
    char::from_digit((digit + 10) % 36, 36)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_samples_of_rfc_3492_are_labels_and_decode_to_their_characters() {
        for (label, first) in [
            ("egbpdaj6bu4bxfgehfvwxn", 'ل'),
            ("ihqwcrb4cv8a8dqg056pqjye", '他'),
            ("4dbcagdahymbxekheh6e0a7fei0b", 'ל'),
            ("i1baa7eci9glrd9b2ae1bj0hfcgg6iyaf8o0a1dig0cd", 'य'),
            ("n8jok5ay5dzabd5bym9f0cm5685rrjetr6pdxa", 'な'),
            ("bcher-kva", 'b'),
        ] {
            assert_eq!(decode(label).and_then(|decoded| decoded.first().copied()), Some(first));
            assert!(is_a_label(label), "{label}");
        }
    }

    #[test]
    fn what_is_no_punycode_is_no_label() {
        for label in ["", "a", "-", "99999999", "bcher-kv\u{e4}"] {
            assert!(!is_a_label(label), "{label}");
        }
    }
}
