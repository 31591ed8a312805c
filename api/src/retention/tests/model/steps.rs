//! What may be done to service and model.

use proptest::prelude::*;
use time::Duration;

use super::things::Kind;

/// What the signer does with the first change of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    None,
    Refuses,
    LosesAnswer,
}

/// One step. Numbers choose among what there is.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Create { kind: Kind, name: usize, on: usize },
    Delete { which: usize, fault: Fault },
    Force { which: usize, along: bool, fault: Fault },
    Restore { which: usize, along: bool, fault: Fault },
    Issue { which: usize },
    Purge,
    GoOn(Duration),
    Restart,
}

pub(super) fn step() -> impl Strategy<Value = Step> {
    let fault = prop_oneof![
        6 => Just(Fault::None), 1 => Just(Fault::Refuses), 1 => Just(Fault::LosesAnswer),
    ];
    let kind = prop_oneof![
        1 => Just(Kind::KeyStore), 3 => Just(Kind::LocalCa), 3 => Just(Kind::CertIssuer),
    ];
    let which = 0..1000_usize;
    prop_oneof![
        4 => (kind, 0..3_usize, which.clone())
            .prop_map(|(kind, name, on)| Step::Create { kind, name, on }),
        7 => (which.clone(), fault.clone())
            .prop_map(|(which, fault)| Step::Delete { which, fault }),
        3 => (which.clone(), any::<bool>(), fault.clone())
            .prop_map(|(which, along, fault)| Step::Force { which, along, fault }),
        6 => (which.clone(), any::<bool>(), fault)
            .prop_map(|(which, along, fault)| Step::Restore { which, along, fault }),
        2 => which.prop_map(|which| Step::Issue { which }),
        2 => Just(Step::Purge),
        2 => prop_oneof![
            Just(Duration::MILLISECOND), Just(Duration::minutes(11)), Just(Duration::days(15)),
        ].prop_map(Step::GoOn),
        1 => Just(Step::Restart),
    ]
}
