//! How much there may be of what one reply has to carry: `hello` names every key and token.

/// Keys that are not destroyed, on all tokens together, those of tokens that are no longer
/// configured included.
pub const MAX_KEYS: u32 = 500;

/// Configured tokens.
pub const MAX_TOKENS: usize = 16;

/// Bytes of a token's name.
pub const MAX_TOKEN_NAME: usize = 64;

/// Bytes of the ceiling as JSON.
pub const MAX_CEILING: usize = 16 * 1024;

/// Whether a token may have this name: it stands in JSON as it is.
#[must_use]
pub fn is_token_name(name: &str) -> bool {
    let is_plain = |c: char| !c.is_control() && !matches!(c, '"' | '\\');
    (1..=MAX_TOKEN_NAME).contains(&name.len()) && name.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use chancery_shared::bytes::Fixed;
    use chancery_shared::frame;
    use chancery_shared::id::{KeyId, SignerId};
    use chancery_shared::wire::algorithm::{KeyAlgorithm, SignatureAlgorithm};
    use chancery_shared::wire::policy::Policy;
    use chancery_shared::wire::v1::{
        HelloReply, KeyRole, KeyState, KeySummary, Reply, TokenState, TokenSummary,
    };
    use chancery_shared::wire::{JournalHead, Refusal, RefusalCode};

    use super::*;

    #[test]
    fn a_token_has_a_short_and_plain_name() {
        for name in ["SoftHSM2", "Netz-HSM 1 (Köln)", &"a".repeat(64)] {
            assert!(is_token_name(name), "{name}");
        }
        for name in ["", "a\"b", "a\\b", "a\nb", "a\u{7f}", &"a".repeat(65), &"ö".repeat(33)] {
            assert!(!is_token_name(name), "{name}");
        }
    }

    #[test]
    fn the_largest_greeting_fits_into_a_frame() {
        let name = "n".repeat(MAX_TOKEN_NAME);
        let key = KeySummary {
            key_id: KeyId::from_bytes([255; 12]),
            token: name.clone(),
            key_algorithm: KeyAlgorithm::EcdsaP256,
            signature_algorithm: SignatureAlgorithm::RsaPssSha256,
            role: KeyRole::Ca,
            state: KeyState::Destroyed,
            has_ca_certificate: false,
            is_missing: true,
        };
        let token = TokenSummary {
            name,
            model: "m".repeat(16 * 3),
            serial: "s".repeat(16 * 3),
            state: TokenState::PinRefused,
            // A sentence with the longest path of a file.
            message: "p".repeat(4096 + 200),
            key_algorithms: vec![KeyAlgorithm::EcdsaP256; 16],
            used_keys: u32::MAX,
            max_keys: u32::MAX,
            unknown_keys: u32::MAX,
        };
        let ceiling = Policy { domains: Some(vec!["d".repeat(MAX_CEILING)]), ..Policy::shipped() };
        let signer_id = SignerId::from_bytes([255; 12]);
        let hello = HelloReply {
            signer_id,
            boot_id: "b".repeat(16),
            connection_nonce: Fixed([255; 16]),
            journal_head: Some(JournalHead { signer_id, seq: u64::MAX, hash: Fixed([255; 32]) }),
            halted: Some(Refusal {
                code: RefusalCode::JournalUnavailable,
                rule: None,
                detail: "h".repeat(1024),
                retry_after_ms: None,
            }),
            tokens: vec![token; MAX_TOKENS],
            keys: vec![key; MAX_KEYS as usize],
            ceiling,
            destroy_awaits_operator: true,
        };

        let reply =
            crate::request::envelope(Some(u64::MAX), Ok((Reply::Hello(Box::new(hello)), None)));
        let json = serde_json::to_vec(&reply).unwrap();

        assert!(frame::encode(&json).is_ok(), "{} bytes", json.len());
    }
}
