//! Each return value at each function that a worker calls: the request is answered as its kind
//! has it, and the token ends up well, or waits for a person and says what that person has to do.

use softhsm_test_harness::{Action, Faults, Order};

use super::super::error::Remedy;
use super::codes::chosen;
use super::*;

const ALGORITHM: KeyAlgorithm = KeyAlgorithm::EcdsaP256;
const HOW: SignatureAlgorithm = SignatureAlgorithm::EcdsaSha256;
const USER_NOT_LOGGED_IN: Action = Action::Returns(0x101);

/// What a worker calls to open the token.
const OPENING: [&str; 15] = [
    "C_CloseSession",
    "C_Finalize",
    "C_Initialize",
    "C_GetSlotList",
    "C_GetTokenInfo",
    "C_GetMechanismList",
    "C_GetMechanismInfo",
    "C_OpenSession",
    "C_Login",
    "C_FindObjectsInit",
    "C_FindObjects",
    "C_FindObjectsFinal",
    "C_GetAttributeValue",
    "C_SignInit",
    "C_Sign",
];

/// What only a key worker calls, and what it calls to open the token.
const KEY_WORK: [&str; 12] = [
    "C_Initialize",
    "C_Login",
    "C_OpenSession",
    "C_FindObjectsInit",
    "C_FindObjects",
    "C_FindObjectsFinal",
    "C_GetAttributeValue",
    "C_GenerateKeyPair",
    "C_SignInit",
    "C_Sign",
    "C_DestroyObject",
    "C_CloseSession",
];

/// A token behind a module that can be told to fail, with one key.
struct Scene {
    faults: Faults,
    token: Token,
    key: CaKey,
    _hsm: SoftHsm,
}

impl Scene {
    async fn start() -> Self {
        let hsm = token_folder();
        let faults = Faults::before(&hsm).unwrap();
        let mut config = config(&hsm);
        faults.module().clone_into(&mut config.module);
        config.environment.extend(faults.environment().unwrap());
        let token = Token::start(config, Arc::new(SystemClock));
        until(&token, TokenState::Ok).await;
        let key = key(&token, 1, ALGORITHM, HOW).await;
        Self { faults, token, key, _hsm: hsm }
    }

    /// Once, in the signing worker that serves now.
    fn once(&self, function: &str, action: Action) -> Order {
        let pid = self.token.watch().borrow().worker_pid;
        Order { pid, times: Some(1), ..Order::always(function, action) }
    }

    fn counts(&self) -> (u64, u64) {
        let status = self.token.status(1);
        (status.epochs, status.workers_started)
    }

    /// Whether a person was asked for; who does what the message says.
    async fn person_was_asked_for(&self, ckr: &str) -> bool {
        if self.token.state() != TokenState::PinRefused {
            return false;
        }
        let message = self.token.summary(1).message;
        assert!(message.contains(ckr), "{message}");
        assert!(message.contains("change the PIN file or clear the refusal"), "{message}");
        self.token.clear_pin_refusal().await;
        true
    }

    async fn signs_again(&self, what: &str) {
        self.faults.heal().unwrap();
        until(&self.token, TokenState::Ok).await;
        let signature = self.key.sign_bytes(b"to be signed").await;
        assert!(signature.is_ok(), "after {what}: {signature:?}");
        assert_eq!(self.token.summary(1).key_algorithms, KeyAlgorithm::ALL, "after {what}");
    }
}

#[tokio::test]
async fn each_code_of_a_call_that_signs_or_seals_has_its_remedy() {
    let mut functions = JoinSet::new();
    for function in ["C_SignInit", "C_Sign", "C_EncryptInit", "C_Encrypt"] {
        functions.spawn(async move {
            let scene = Scene::start().await;
            for (value, ckr, remedy) in chosen() {
                let what = format!("{ckr} from {function}");
                scene.signs_again(&what).await;
                let (epochs, workers) = scene.counts();
                let once = scene.once(function, Action::Returns(value));
                scene.faults.order(&[once]).unwrap();

                let result = if function.starts_with("C_Sign") {
                    scene.key.sign_bytes(b"to be signed").await.map(drop)
                } else {
                    scene.token.seal(Secret::new(vec![7; 32])).await.map(drop)
                };

                let (ok, none) = (Ok(()), (epochs, workers));
                let refused = matches!(&result, Err(TokenError::Refused { ckr: said }) if said.as_str() == ckr);
                match remedy {
                    // One fault is no sick token: the canary signs.
                    Remedy::Refuse | Remedy::AskCanary => assert!(refused, "{what}: {result:?}"),
                    Remedy::Stop => assert_eq!(result, Err(TokenError::PinRefused), "{what}"),
                    _ => assert_eq!(result, ok, "{what}"),
                }
                let expected = match remedy {
                    Remedy::NewEpoch => (epochs + 1, workers),
                    Remedy::NewWorker => (epochs + 1, workers + 1),
                    _ => none,
                };
                assert_eq!(scene.counts(), expected, "{what}");
                assert!(scene.token.status(1).failures.contains_key(ckr), "{what}");
                let asked = scene.person_was_asked_for(ckr).await;
                assert_eq!(asked, remedy == Remedy::Stop, "{what}");
            }
            scene.signs_again(function).await;
        });
    }
    while let Some(done) = functions.join_next().await {
        done.unwrap();
    }
}

#[tokio::test]
async fn each_code_while_the_token_is_opened_again_costs_no_request_unless_it_is_about_the_pin() {
    let mut functions = JoinSet::new();
    for function in OPENING {
        functions.spawn(async move {
            let scene = Scene::start().await;
            for (value, ckr, remedy) in chosen() {
                let what = format!("{ckr} from {function}");
                scene.signs_again(&what).await;
                // The first makes the worker open the token again, where it meets the second.
                let first = scene.once("C_EncryptInit", USER_NOT_LOGGED_IN);
                let second = scene.once(function, Action::Returns(value));
                scene.faults.order(&[first, second]).unwrap();

                let sealed = scene.token.seal(Secret::new(vec![7; 32])).await;

                if scene.person_was_asked_for(ckr).await {
                    assert_eq!(remedy, Remedy::Stop, "{what}");
                    assert_eq!(sealed, Err(TokenError::PinRefused), "{what}");
                } else {
                    // The request may have met it when it opened its own session, then the other.
                    let met_both = function == "C_OpenSession"
                        && matches!(sealed, Err(TokenError::Refused { .. }));
                    assert!(sealed.is_ok() || met_both, "{what}: {sealed:?}");
                    assert!(function != "C_Login" || remedy != Remedy::Stop, "{what}");
                }
            }
            scene.signs_again(function).await;
        });
    }
    while let Some(done) = functions.join_next().await {
        done.unwrap();
    }
}

#[tokio::test]
async fn each_code_in_a_key_worker_costs_its_request_at_most_and_no_key() {
    let mut functions = JoinSet::new();
    for function in KEY_WORK {
        functions.spawn(async move {
            let scene = Scene::start().await;
            let id = KeyId::from_bytes([2; 12]);
            for (value, ckr, remedy) in chosen() {
                let what = format!("{ckr} from {function}");
                // In the key worker, and in the signing worker when it looks for the new key.
                let once =
                    Order { times: Some(1), ..Order::always(function, Action::Returns(value)) };
                scene.faults.order(&[once]).unwrap();

                let made = scene.token.create_key(id, ALGORITHM, HOW).await;
                let destroyed = scene.token.destroy_key(id).await;

                // What is open stays open: only the key worker needs the PIN.
                for result in [made.map(drop), destroyed] {
                    let allowed = match &result {
                        Ok(()) | Err(TokenError::Unavailable) => true,
                        Err(TokenError::PinRefused) => remedy == Remedy::Stop,
                        Err(TokenError::Refused { .. } | TokenError::BadPublicKey) => {
                            remedy == Remedy::Refuse
                        }
                        Err(_) => false,
                    };
                    assert!(allowed, "{what}: {result:?}");
                }
                scene.token.clear_pin_refusal().await;
                scene.signs_again(&what).await;
                scene.token.destroy_key(id).await.unwrap();
            }
            let report = scene.token.sweep(vec![id], vec![KeyId::from_bytes([1; 12])]).await;
            let report = report.unwrap();
            assert_eq!((report.unknown, report.missing), (Vec::new(), Vec::new()), "{function}");
        });
    }
    while let Some(done) = functions.join_next().await {
        done.unwrap();
    }
}
