//! Two administrators, each at a process of their own, change the same thing at the same time, on both
//! engines: each change is there afterwards, or one of them is refused. On PostgreSQL both have come as
//! far as the row that keeps changes apart before either goes on.

mod records;

use serde_json::{Value, json};

use crate::app;
use crate::store::Store;
use crate::store::account::Group;
use crate::store::testing::both;
use crate::testing::{Answer, Api, Persona, api_on, insert_team, insert_user};

/// So often each pair is tried, in either order.
const ROUNDS: usize = 4;

struct Two {
    api: Api,
    one: Persona,
    other: Persona,
    /// Who holds the items until both have come.
    gate: Option<Store>,
}

impl Two {
    async fn on_both() -> Vec<(&'static str, Self)> {
        let mut all = Vec::new();
        for (engine, store) in both().await {
            let gate = match engine {
                "PostgreSQL" => Some(Store::open(&store.url).await.unwrap()),
                _ => None,
            };
            let api = api_on(store, |_| ()).await;
            crate::first_start::run_once(&api.state).await.unwrap();
            let one = api.administrator();
            let other = one.at(app::router(&api.second_process().await));
            all.push((engine, Self { api, one, other, gate }));
        }
        all
    }

    /// Both changes, the first one a little earlier in every other round.
    async fn change(&self, round: usize, path: [&str; 2], body: [&Value; 2]) -> [Answer; 2] {
        let (one, other) = (self.one.put(path[0], body[0]), self.other.put(path[1], body[1]));
        if round.is_multiple_of(2) {
            self.at_once(one, other).await.into()
        } else {
            let (other, one) = self.at_once(other, one).await;
            [one, other]
        }
    }

    /// Both, each of which is to hold the items.
    async fn at_once(
        &self,
        one: impl Future<Output = Answer>,
        other: impl Future<Output = Answer>,
    ) -> (Answer, Answer) {
        let Some(gate) = &self.gate else { return tokio::join!(one, other) };
        let mut closed = gate.begin().await.unwrap();
        closed.hold_retained().await.unwrap();
        closed.wait_without_end_for_test().await;
        let open = async {
            gate.until_so_many_wait(2).await;
            closed.let_go().await.unwrap();
        };
        let (one, other, ()) = tokio::join!(one, other, open);
        (one, other)
    }

    async fn first(&self, path: &str) -> String {
        let list = self.one.get(path).await.json();
        format!("{path}/{}", list[0]["id"].as_str().unwrap())
    }
}

fn statuses(answers: &[Answer; 2]) -> [u16; 2] {
    [answers[0].status.as_u16(), answers[1].status.as_u16()]
}

#[tokio::test]
async fn neither_of_two_changes_brings_back_what_the_other_has_changed() {
    for (engine, two) in Two::on_both().await {
        let team = format!("/api/admin/teams/{}", two.api.default_team);
        let issuer = two.first("/api/admin/ca").await;
        for round in 0..ROUNDS {
            for (path, one, other) in [
                (
                    &team,
                    ("description", json!(round.to_string())),
                    ("name", json!(format!("T{round}"))),
                ),
                (
                    &issuer,
                    ("caName", json!(format!("I{round}"))),
                    ("allowDnRequests", json!(round % 2 == 0)),
                ),
            ] {
                let body = |(field, value): &(&str, Value)| json!({ *field: value });

                let answers = two.change(round, [path, path], [&body(&one), &body(&other)]).await;

                assert_eq!(statuses(&answers), [200, 200], "{engine}: {}", answers[1].text);
                let now = two.one.get(path).await.json();
                for (field, value) in [one, other] {
                    assert_eq!(now[field], value, "{engine}, round {round}: {now}");
                }
            }
        }
    }
}

#[tokio::test]
async fn two_withdrawals_do_not_leave_an_issuer_open_to_every_team() {
    for (engine, two) in Two::on_both().await {
        let (web, mail) = (
            insert_team(&two.api.state, "Web", Group::Users).await,
            insert_team(&two.api.state, "Mail", Group::Users).await,
        );
        let [web, mail] = [web, mail].map(|id| format!("/api/admin/teams/{id}"));
        let (given, taken) =
            (json!({"authorisedCas": ["Chancery Issuer"]}), json!({"authorisedCas": []}));
        for round in 0..ROUNDS {
            for path in [&web, &mail] {
                assert_eq!(two.one.put(path, &given).await.status, 200);
            }

            let answers = two.change(round, [&web, &mail], [&taken, &taken]).await;

            let mut statuses = statuses(&answers);
            statuses.sort_unstable();
            assert_eq!(statuses, [200, 409], "{engine}, round {round}");
            let issuers = two.one.get("/api/admin/ca").await.json();
            assert_eq!(issuers[0]["teams"].as_array().unwrap().len(), 1, "{engine}");
        }
    }
}

#[tokio::test]
async fn of_two_last_teams_of_the_administrators_one_stays() {
    for (engine, two) in Two::on_both().await {
        two.api.make_admin_one_by_itself().await;
        let second = insert_team(&two.api.state, "Second", Group::Administrators).await;
        let teams = [two.api.administrators, second].map(|id| format!("/api/admin/teams/{id}"));
        let paths = [&*teams[0], &*teams[1]];
        let (admin, user) = (json!({"internalGroup": "ADMIN"}), json!({"internalGroup": "USER"}));
        for round in 0..ROUNDS {
            for path in paths {
                assert_eq!(two.one.put(path, &admin).await.status, 200, "{engine}");
            }

            let answers = two.change(round, paths, [&user, &user]).await;

            let mut statuses = statuses(&answers);
            statuses.sort_unstable();
            assert_eq!(statuses, [200, 409], "{engine}, round {round}");
        }
    }
}

#[tokio::test]
async fn of_two_last_administrators_who_disable_each_other_one_stays() {
    for (engine, two) in Two::on_both().await {
        let root = insert_user(&two.api.state, "root", &[two.api.administrators]).await;
        let [admin, root] =
            [two.api.admin_id(), root].map(|id| (id, format!("/api/admin/users/{id}")));
        for round in 0..ROUNDS {
            let by_root = two.api.user(root.0);
            // A token ends with its user: each round has its own.
            let both = "UPDATE account SET enabled = 1, token_version = 1";
            two.api.state.store.execute_for_test(both).await;
            let disable = json!({"enabled": false});

            let (one, other) = two
                .at_once(two.other.put(&root.1, &disable), by_root.put(&admin.1, &disable))
                .await;

            let mut statuses = [one.status.as_u16(), other.status.as_u16()];
            statuses.sort_unstable();
            let is_one = statuses == [200, 401] || statuses == [200, 409];
            assert!(is_one, "{engine}, round {round}: {statuses:?}");
        }
    }
}

#[tokio::test]
async fn an_issuer_gets_no_profile_that_goes_at_the_same_time() {
    for (engine, two) in Two::on_both().await {
        let issuer = two.first("/api/admin/ca").await;
        for round in 0..ROUNDS {
            let body = json!({
                "name": format!("Short {round}"), "lifetimeInMinutes": 60,
                "keyUsages": ["Digital Signature"], "enhancedKeyUsages": ["Server Authentication"],
            });
            let profile = two.one.post("/api/admin/profiles", &body).await.json();
            let id = profile["id"].as_str().unwrap();
            let path = format!("/api/admin/profiles/{id}");
            let change = json!({"certProfileId": id});

            let (given, gone) =
                two.at_once(two.one.put(&issuer, &change), two.other.delete(&path)).await;

            let found = (given.status.as_u16(), gone.status.as_u16());
            assert!(
                [(200, 409), (422, 200)].contains(&found),
                "{engine}: {found:?} {}",
                given.text
            );
        }
    }
}

#[tokio::test]
async fn what_goes_while_it_is_named_is_a_refusal_and_no_fault() {
    for (engine, two) in Two::on_both().await {
        let member = format!("/api/admin/users/{}", two.api.member_id());
        for round in 0..2 * ROUNDS {
            let team = insert_team(&two.api.state, &format!("Short {round}"), Group::Users).await;
            let path = format!("/api/admin/teams/{team}");
            let body = json!({"teamsIds": [team]});

            let (named, gone) =
                two.at_once(two.one.put(&member, &body), two.other.delete(&path)).await;

            let found = (named.status.as_u16(), gone.status.as_u16());
            let fits = [(200, 409), (409, 200), (422, 200)].contains(&found);
            assert!(fits, "{engine}: {found:?} {} {}", named.text, gone.text);
            let empty = json!({"teamsIds": []});
            assert_eq!(two.one.put(&member, &empty).await.status, 200, "{engine}");
        }
    }
}

#[tokio::test]
async fn the_audit_says_what_a_setting_was_when_two_set_it() {
    for (engine, two) in Two::on_both().await {
        let path = "/api/admin/settings";
        let set = |number: usize| json!({"loginFailures": number});

        for round in 0..ROUNDS {
            let (one, other) = (set(20 + 2 * round), set(21 + 2 * round));
            let answers = two.change(round, [path, path], [&one, &other]).await;
            assert_eq!(statuses(&answers), [200, 200], "{engine}");
        }

        let entries = "/api/admin/audit?objectKind=settings&action=change";
        let entries = two.one.get(entries).await.json();
        let value = |entry: &Value, of: &str| entry[of]["loginFailures"].clone();
        let mut before: Vec<_> = entries
            .as_array()
            .unwrap()
            .iter()
            .map(|entry| value(entry, "before").as_u64())
            .collect();
        before.sort_unstable();
        before.dedup();
        assert_eq!(
            before.len(),
            2 * ROUNDS,
            "{engine}: each takes another value's place: {before:?}"
        );
    }
}

#[tokio::test]
async fn many_who_wait_leave_a_connection_to_the_one_who_works() {
    for (engine, two) in Two::on_both().await {
        let path = format!("/api/admin/teams/{}", two.api.default_team);
        let body = |number: usize| json!({"description": number.to_string()});
        let bodies: Vec<_> = (0..40).map(body).collect();

        let answers =
            futures::future::join_all(bodies.iter().map(|body| two.one.put(&path, body))).await;

        assert!(answers.iter().all(|answer| answer.status == 200), "{engine}");
    }
}
