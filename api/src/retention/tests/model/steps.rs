//! What may be done to service and model.

use proptest::prelude::*;
use time::Duration;

use super::things::Kind;

/// What the signer does with the first change of a key that is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    None,
    Refuses(Change),
    LosesAnswer(Change),
    /// It asks the operator whether a key may come back, who says yes or no.
    Asks {
        is_approved: bool,
    },
}

/// Which change of a key a fault hits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// On or off.
    Switch,
    Destroy,
}

/// One step. Numbers choose among what there is.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Create {
        kind: Kind,
        name: usize,
        on: usize,
    },
    Delete {
        which: usize,
        fault: Fault,
    },
    Force {
        which: usize,
        along: bool,
        fault: Fault,
    },
    Restore {
        which: usize,
        along: bool,
        fault: Fault,
    },
    Issue {
        which: usize,
    },
    Purge {
        fault: Fault,
    },
    GoOn(Duration),
    Restart,
    /// From here on the other process is asked, where there are two.
    Turn,
}

pub(super) fn step() -> impl Strategy<Value = Step> {
    let change = prop_oneof![Just(Change::Switch), Just(Change::Destroy)];
    let fault = prop_oneof![
        6 => Just(Fault::None),
        1 => change.clone().prop_map(Fault::Refuses),
        1 => change.prop_map(Fault::LosesAnswer),
        1 => any::<bool>().prop_map(|is_approved| Fault::Asks { is_approved }),
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
        6 => (which.clone(), any::<bool>(), fault.clone())
            .prop_map(|(which, along, fault)| Step::Restore { which, along, fault }),
        2 => which.prop_map(|which| Step::Issue { which }),
        2 => fault.prop_map(|fault| Step::Purge { fault }),
        2 => prop_oneof![
            Just(Duration::MILLISECOND), Just(Duration::minutes(11)), Just(Duration::days(15)),
        ].prop_map(Step::GoOn),
        1 => Just(Step::Restart),
        4 => Just(Step::Turn),
    ]
}
