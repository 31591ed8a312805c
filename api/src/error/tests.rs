//! Which failure a client sees as what.

use chancery_shared::wire::{Refusal, RefusalCode};

use super::*;

fn signer(code: RefusalCode) -> ApiError {
    SignerError::Refused(Refusal {
        code,
        rule: Some("tbs.issuer".to_owned()),
        detail: "the issuer is another one".to_owned(),
        retry_after_ms: Some(1200),
    })
    .into()
}

fn seen(error: ApiError) -> (u16, Code, Option<String>) {
    let response = error.into_response();
    let after = response.headers().get(RETRY_AFTER).map(|value| value.to_str().unwrap().to_owned());
    let code = response.extensions().get::<ErrorBody>().unwrap().code;
    (response.status().as_u16(), code, after)
}

#[test]
fn each_refusal_of_the_signer_has_its_status() {
    use RefusalCode as R;
    for (refusal, status, code) in [
        (R::Malformed, 500, Code::Internal),
        (R::UnsupportedVersion, 503, Code::SignerUnavailable),
        (R::Busy, 503, Code::SignerBusy),
        (R::RateLimited, 503, Code::SignerBusy),
        (R::DeadlineExceeded, 503, Code::SignerBusy),
        (R::JournalUnavailable, 503, Code::JournalUnavailable),
        (R::JournalBehind, 503, Code::JournalBehind),
        (R::ClockJumped, 503, Code::ClockJumped),
        (R::TokenUnavailable, 503, Code::TokenUnavailable),
        (R::PinRefused, 503, Code::TokenPinRefused),
        (R::UnknownToken, 422, Code::UnknownToken),
        (R::UnknownKey, 409, Code::CaNotLive),
        (R::KeyState, 409, Code::CaNotLive),
        (R::KeyGone, 503, Code::KeyGone),
        (R::KeyLimit, 409, Code::KeyLimit),
        (R::PolicyViolation, 422, Code::PolicyViolation),
        (R::UnknownApproval, 404, Code::NotFound),
        (R::ApprovalState, 409, Code::WrongState),
        (R::SealBroken, 500, Code::Internal),
        (R::Internal, 500, Code::Internal),
    ] {
        let (found, found_code, _) = seen(signer(refusal));
        assert_eq!((found, found_code), (status, code), "{refusal:?}");
    }
}

#[test]
fn a_busy_signer_says_when_to_come_back_in_whole_seconds() {
    assert_eq!(seen(signer(RefusalCode::Busy)).2.as_deref(), Some("2"));
    let unreachable = SignerError::Unreachable;
    assert_eq!(seen(unreachable.into()), (503, Code::SignerUnavailable, Some("5".to_owned())));
}

#[test]
fn a_policy_violation_names_the_rule_and_a_fault_names_nothing() {
    let message = |error: ApiError| {
        error.into_response().extensions().get::<ErrorBody>().unwrap().message.clone()
    };

    assert_eq!(
        message(signer(RefusalCode::PolicyViolation)),
        "the signer's policy forbids it (tbs.issuer): the issuer is another one"
    );
    assert_eq!(message(signer(RefusalCode::Internal)), INTERNAL);
    let cause = std::io::Error::other("/home/chancery/data is full");
    assert_eq!(message(ApiError::internal(cause)), INTERNAL);
}

#[test]
fn what_was_deleted_meanwhile_is_a_conflict_and_says_what_would_pass() {
    let error = || ApiError::from(StoreError::Reference { table: "membership" });

    assert_eq!(seen(error()), (409, Code::ChangedMeanwhile, None));
    let said = error().into_response().extensions().get::<ErrorBody>().unwrap().message.clone();
    assert!(said.contains("deleted meanwhile") && said.contains("look again"), "{said}");
    assert!(!said.contains("membership"), "{said}");
}

#[test]
fn codes_and_their_statuses_stay_what_they_are() {
    use utoipa::PartialSchema as _;
    let schema = serde_json::to_value(Code::schema()).unwrap();
    let names = schema["enum"].as_array().unwrap_or_else(|| panic!("no enum in {schema}"));
    let line = |name: &serde_json::Value| {
        let code: Code = serde_json::from_value(name.clone()).unwrap();
        format!("{} {}\n", code.status().as_u16(), name.as_str().unwrap())
    };
    let mut lines: Vec<_> = names.iter().map(line).collect();
    lines.sort();

    assert_eq!(lines.concat(), include_str!("codes.txt"), "clients branch on them");
}
