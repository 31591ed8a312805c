//! The hard cases of `tests/cases`, one after the other, through the whole service: what users of
//! certificate services trip over.

mod life;
mod procedures;
mod scene;
mod table;
mod validity;

use std::sync::OnceLock;

use scene::{Outcome, Scene};
use table::{Case, Ending, Use};

/// A case, and what the service did with it.
type Ran = (Case, Result<Outcome, String>);

/// Every case, run once for both tests.
fn outcomes() -> anyhow::Result<&'static [Ran]> {
    static OUTCOMES: OnceLock<Result<Vec<Ran>, String>> = OnceLock::new();
    let ran = OUTCOMES.get_or_init(|| run_all().map_err(|error| format!("{error:#}")));
    ran.as_deref().map_err(|error| anyhow::anyhow!("{error}"))
}

fn run_all() -> anyhow::Result<Vec<Ran>> {
    let scene = Scene::start()?;
    let cases = table::cases()?
        .into_iter()
        .filter(|case| !matches!(case.fed_as, Use::Certificate | Use::Json));
    let ran = cases.map(|case| {
        let outcome = match case.fed_as {
            Use::Procedure => procedures::run(&scene, &case),
            _ => scene.run(&case),
        };
        (case, outcome.map_err(|error| format!("{error:#}")))
    });
    Ok(ran.collect())
}

#[test]
fn every_case_ends_as_the_table_says() -> anyhow::Result<()> {
    let mut wrong = Vec::new();
    for (case, outcome) in outcomes()? {
        let problem = match outcome {
            Err(error) => Some(error.clone()),
            Ok(outcome) => problem(case, outcome),
        };
        let mark = if problem.is_none() { "ok   " } else { "WRONG" };
        println!("{mark} {} {} {}", case.id, told(outcome), case.why);
        wrong.extend(problem.map(|problem| format!("{}: {problem}", case.id)));
    }

    assert!(wrong.is_empty(), "{} cases:\n{}", wrong.len(), wrong.join("\n"));
    Ok(())
}

fn told(outcome: &Result<Outcome, String>) -> String {
    match outcome {
        Ok(Outcome { ending, said }) => format!("{ending:?} [{said}]"),
        Err(_) => "?".to_owned(),
    }
}

/// What is not as the table has it.
fn problem(case: &Case, outcome: &Outcome) -> Option<String> {
    let Outcome { ending, said } = outcome;
    // What is issued as asked may have lost what only a profile decides, and the history says so.
    let right = case.allows(*ending)
        || *ending == Ending::Normalise && case.allows(Ending::Issue) && case.noted.is_some()
        || *ending == Ending::Issue && case.allows(Ending::Normalise) && case.untold;
    // Several endings may be right; the one that the service has is no accident.
    let as_decided = case.refusal.is_some() == (*ending == Ending::Reject);
    if !right || !as_decided {
        return Some(format!("ended as {ending:?}: {said}"));
    }
    let expected = match ending {
        Ending::Reject => case.refusal.clone().unwrap_or_default(),
        _ => case.noted.clone().unwrap_or_default(),
    };
    let as_written = match ending {
        Ending::Reject => said.starts_with(&format!("{expected}: ")) && !expected.is_empty(),
        _ => *said == expected,
    };
    (!as_written).then(|| format!("not {expected:?} but {said}"))
}

#[test]
fn a_case_that_is_refused_fails_once_it_is_issued_and_the_other_way_round() -> anyhow::Result<()> {
    let case = |refusal: serde_json::Value| {
        serde_json::from_value::<Case>(serde_json::json!({
            "id": "x-001", "use": "csr", "expect": "reject", "also": ["issue"], "why": "",
            "refusal": refusal,
        }))
    };
    let issued = Outcome { ending: Ending::Issue, said: String::new() };
    let refused = Outcome { ending: Ending::Reject, said: "400 bad_csr: no".to_owned() };

    let (to_refuse, to_issue) = (case("400 bad_csr".into())?, case(serde_json::Value::Null)?);

    assert_eq!(problem(&to_refuse, &refused), None);
    assert_eq!(problem(&to_issue, &issued), None);
    assert!(problem(&to_refuse, &issued).is_some());
    assert!(problem(&to_issue, &refused).is_some());
    Ok(())
}

#[test]
fn every_refusal_names_its_cause() -> anyhow::Result<()> {
    /// Words that say nothing of what was wrong.
    const GENERIC: [&str; 7] = [
        "invalid request",
        "bad request",
        "internal error",
        "malformed csr",
        "invalid csr",
        "policy violation",
        "something went wrong",
    ];
    let mut wrong = Vec::new();
    let mut refused = 0;
    for (case, outcome) in outcomes()? {
        let Ok(Outcome { ending: Ending::Reject, said }) = outcome else { continue };
        refused += 1;
        let message = said.split_once(": ").map_or("", |(_, message)| message);
        let lower = message.to_lowercase();
        // A dozen letters can't say what was refused, why, and what would pass.
        let is_generic = message.split_whitespace().count() < 6
            || GENERIC.iter().any(|generic| lower.trim_end_matches('.') == *generic);
        let missing: Vec<_> =
            case.says.iter().filter(|word| !lower.contains(&word.to_lowercase())).collect();
        if is_generic || !missing.is_empty() || case.says.is_empty() {
            wrong.push(format!("{}: without {missing:?}: {message}", case.id));
        }
    }

    assert!(refused > 50, "only {refused} refusals");
    assert!(wrong.is_empty(), "{} messages:\n{}", wrong.len(), wrong.join("\n"));
    Ok(())
}
