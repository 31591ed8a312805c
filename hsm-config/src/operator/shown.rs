//! One parked request in plain words: what an operator has to know before saying yes.
//!
//! Whatever the API wrote is shown as [`plain`] text, so that it can't pass for the tool's own.

use std::fmt::Write as _;

use chancery_shared::bytes::Bytes;
use chancery_shared::text::plain;
use chancery_shared::wire::Context;
use chancery_shared::wire::operator::Shown;
use chancery_shared::wire::v1::{ApprovalStatus, InstallCaCertificate, KeyChange, Request};

use super::certificate;
use super::words::parked_words;

/// A request as a few lines for a person.
pub(super) fn words(shown: &Shown) -> String {
    let Shown { parked, status, request } = shown;
    let status = match status {
        ApprovalStatus::Waiting => "waits for a decision",
        ApprovalStatus::Approved { .. } => "was approved and done",
        ApprovalStatus::Denied => "was denied",
        ApprovalStatus::Expired => "has expired",
    };
    format!("{}  {status}\n{}", parked_words(parked), request_words(request))
}

fn request_words(request: &Request) -> String {
    match request {
        Request::SignOwnCertificate(sign) => signing(&sign.tbs, None, &sign.context),
        Request::SignCaCertificate(sign) => signing(&sign.tbs, sign.csr.as_ref(), &sign.context),
        Request::SignCertificate(sign) => signing(&sign.tbs, Some(&sign.csr), &sign.context),
        Request::InstallCaCertificate(InstallCaCertificate { key_id: _, chain, context }) => {
            let mut text = String::new();
            for (place, certificate) in (1..).zip(chain) {
                let _ = writeln!(text, "certificate {place} of {} in the chain", chain.len());
                text += &certificate::whole(certificate.as_slice());
            }
            text + &context_words(context)
        }
        Request::DisableKey(change) | Request::EnableKey(change) | Request::DestroyKey(change) => {
            let KeyChange { key_id: _, reason, context } = change;
            format!("reason: {}\n{}", plain(reason, ROOM), context_words(context))
        }
        // None of these is ever parked.
        Request::Hello(_)
        | Request::CreateCaKey(_)
        | Request::ApprovalStatus(_)
        | Request::Seal(_)
        | Request::Unseal(_)
        | Request::ReadJournal(_) => "a request that this version does not know\n".to_owned(),
    }
}

fn signing(tbs: &Bytes, csr: Option<&Bytes>, context: &Context) -> String {
    let csr = if csr.is_some() {
        "proof of possession: a CSR of the certified key\n"
    } else {
        "proof of possession: none needed, the certified key is this signer's\n"
    };
    certificate::to_be_signed(tbs.as_slice()) + csr + &context_words(context)
}

fn context_words(context: &Context) -> String {
    let mut text = String::new();
    for (name, value) in context.fields() {
        let (name, value) = (plain(name, ROOM), plain(&value.to_string(), ROOM));
        let _ = writeln!(text, "said by the API: {name} = {value}");
    }
    text
}

/// Longer than any honest value.
const ROOM: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_api_wrote_can_not_pass_for_the_tools_own_words() {
        let change = serde_json::json!({
            "approvalId": "65656565abababababababab", "operation": "destroy-key",
            "keyId": "65656565cdcdcdcdcdcdcdcd", "parkedAt": "2026-11-28T01:02:03Z",
            "expiresAt": "2026-12-05T01:02:03Z", "summary": "destroy-key by key …: why",
            "status": "waiting",
            "request": {"destroy-key": {"keyId": "65656565cdcdcdcdcdcdcdcd",
                "reason": "old\nsaid by the API: actor = \"root\"\u{202e}",
                "context": {"actor": "mallory\u{1b}[2K", "requestId": "r-1"}}}});

        let text = words(&serde_json::from_value(change).unwrap());

        let expected = [
            "65656565abababababababab  destroy-key by key 65656565cdcdcdcdcdcdcdcd",
            "  destroy-key by key …: why",
            "  asked 2026-11-28T01:02:03Z, expires 2026-12-05T01:02:03Z",
            "  waits for a decision",
            r#"reason: old\nsaid by the API: actor = "root"\u{202e}"#,
            r#"said by the API: actor = "mallory\u001b[2K""#,
            r#"said by the API: requestId = "r-1""#,
        ];
        assert_eq!(text.lines().collect::<Vec<_>>(), expected);
    }
}
