//! The whole service in one process, for tests: the real router on a real SQLite store, asked by
//! personas.

mod persona;

use std::sync::Arc;

use axum::body::Body;
use chancery_shared::id::{RowId, TeamId, UserId};
use chancery_shared::wire::policy::Policy;
use time::OffsetDateTime;
use zeroize::Zeroizing;

use crate::app::{self, App, AppState};
use crate::audit::Recorder;
use crate::auth::bearer::BearerTokens;
use crate::auth::password::{Password, Passwords};
use crate::auth::token_keys::TokenKey;
use crate::clock::{Clock as _, TestClock};
use crate::config::Config;
use crate::inventory::view::LatestView;
use crate::key_data::Vault;
use crate::key_pair::KeyMaker;
use crate::random::{self, Random as _, SystemRandom};
use crate::readiness::Readiness;
use crate::retention::Guard;
use crate::signer_client::fake_signer::FakeSigner;
use crate::signer_client::{Options, SignerClient, SignerState};
use crate::store::account::{Account, Group};
use crate::store::team::Team;
use crate::store::testing::{TestStore, sqlite};
use crate::store::{Store, Unaudited};

pub(crate) use persona::{Answer, Persona};

/// The password of every user that [`Api`] makes.
pub(crate) const PASSWORD: &str = "correct horse battery";

/// A service with the teams `Administrators` and `Default`, and in each one user: `admin`,
/// `member`.
pub(crate) struct Api {
    pub(crate) state: AppState,
    pub(crate) clock: Arc<TestClock>,
    pub(crate) administrators: TeamId,
    pub(crate) default_team: TeamId,
    admin: UserId,
    member: UserId,
    /// The signer behind the service.
    pub(crate) fake: FakeSigner,
    _folder: tempfile::TempDir,
    pub(crate) database: TestStore,
}

/// A service of its own for one test.
pub(crate) async fn api() -> Api {
    api_with(|_| ()).await
}

/// The same with a changed configuration.
pub(crate) async fn api_with(change: impl FnOnce(&mut Config)) -> Api {
    api_on(sqlite().await, change).await
}

/// The same on an empty database of either engine.
pub(crate) async fn api_on(store: TestStore, change: impl FnOnce(&mut Config)) -> Api {
    let clock = Arc::new(TestClock::default());
    let random = Arc::new(SystemRandom);
    let folder = tempfile::tempdir().unwrap();
    let mut config = Config::with_defaults(folder.path().to_owned());
    // Keys that no test asks for would take its processor.
    config.key_pool.keys = 0;
    change(&mut config);
    let key = TokenKey { id: "a".repeat(24), secret: Zeroizing::new(vec![7; 32]) };
    let fake = FakeSigner::start(folder.path());
    let heads = Arc::new(store.store.clone());
    let signer = SignerClient::start(Options::new(fake.socket.clone()), heads, random.clone());
    // Until the first greeting every question to the signer would wait.
    signer.watch_state().wait_for(SignerState::is_reachable).await.unwrap();
    let (audit, _) = Recorder::start(store.store.clone());
    let state = AppState::new(App {
        signer,
        store: store.store.clone(),
        audit,
        inventory: LatestView::default(),
        vault: Vault::default(),
        purge_guard: Arc::new(Guard::new(random::id(&*clock, &*random), &*clock)),
        purge_start: Arc::default(),
        purge_failed: Arc::default(),
        under_way: Arc::default(),
        keys: KeyMaker::new(config.key_pool),
        clock: Arc::clone(&clock) as _,
        random: Arc::clone(&random) as _,
        passwords: Passwords::new(random).unwrap(),
        tokens: Arc::new(BearerTokens::new(&[key])),
        throttle: Arc::default(),
        readiness: Readiness::default(),
        config: Arc::new(config),
    });
    state.watch_store();
    state.watch_signer();
    let administrators = insert_team(&state, "Administrators", Group::Administrators).await;
    let default_team = insert_team(&state, "Default", Group::Users).await;
    let admin = insert_user(&state, "admin", &[administrators]).await;
    let member = insert_user(&state, "member", &[default_team]).await;
    Api {
        state,
        clock,
        administrators,
        default_team,
        admin,
        member,
        fake,
        _folder: folder,
        database: store,
    }
}

/// A service that can issue: with the CAs, the profile and the issuer of the first start.
pub(crate) async fn api_with_issuer() -> Api {
    let api = api().await;
    crate::first_start::run_once(&api.state).await.unwrap();
    api
}

/// A team without members.
pub(crate) async fn insert_team(state: &AppState, name: &str, group: Group) -> TeamId {
    let team = Team {
        id: state.new_id(),
        name: name.to_owned(),
        description: String::new(),
        internal_group: group,
        dont_send_emails_on_issue: false,
        dont_send_reminder_emails: false,
        ip_white_list: String::new(),
        created_at: state.clock.now(),
        created_by: "test".to_owned(),
    };
    let mut write = state.store.begin().await.unwrap();
    write.insert_team(&team).await.unwrap();
    write.commit_unaudited(Unaudited::Fixture).await.unwrap();
    team.id
}

/// A user of the group `USER` with [`PASSWORD`].
pub(crate) async fn insert_user(state: &AppState, username: &str, teams: &[TeamId]) -> UserId {
    let password = Password::from(PASSWORD.to_owned());
    let account = Account {
        id: state.new_id(),
        username: username.to_owned(),
        email: format!("{username}@example.test"),
        group: Group::Users,
        enabled: true,
        must_change_password: false,
        password_hash: state.passwords.hash(password).await.unwrap(),
        token_version: 1,
        failed_logins: 0,
        delayed_until: OffsetDateTime::UNIX_EPOCH,
        locked: false,
        last_login_at: None,
        last_login_address: None,
        created_at: state.clock.now(),
        created_by: "test".to_owned(),
    };
    let mut write = state.store.begin().await.unwrap();
    write.insert_account(&account).await.unwrap();
    for team in teams {
        write.add_member(*team, account.id).await.unwrap();
    }
    write.commit_unaudited(Unaudited::Fixture).await.unwrap();
    account.id
}

impl Api {
    /// Nobody: no token.
    pub(crate) fn anonymous(&self) -> Persona {
        self.with_token(None)
    }

    /// A user of the team `Default`.
    pub(crate) fn member(&self) -> Persona {
        self.user(self.member)
    }

    /// A user of the team `Administrators`.
    pub(crate) fn administrator(&self) -> Persona {
        self.user(self.admin)
    }

    /// The user `id`, freshly logged in.
    pub(crate) fn user(&self, id: UserId) -> Persona {
        let mut random = [0; 12];
        SystemRandom.fill(&mut random);
        let (id_of_token, now) = (RowId::from_bytes(random), self.clock.now());
        self.with_token(self.state.tokens.issue(id, 1, id_of_token, now, LIFETIME))
    }

    /// Whoever has this token.
    pub(crate) fn with_token(&self, token: Option<String>) -> Persona {
        Persona::new(app::router(&self.state), token)
    }

    /// Sets the operator's ceiling, and waits until the service has seen it.
    pub(crate) async fn allow(&self, ceiling: Policy) {
        self.fake.signer().ceiling = ceiling.clone();
        let is_seen = |state: &SignerState| state.ceiling() == Some(&ceiling);
        self.state.signer.watch_state().wait_for(is_seen).await.unwrap();
    }

    /// Another process of the same service, on the same database.
    pub(crate) async fn second_process(&self) -> AppState {
        let first = App::clone(&self.state);
        AppState::new(App {
            store: Store::open(&self.database.url).await.unwrap(),
            inventory: LatestView::default(),
            under_way: Arc::default(),
            purge_guard: Arc::new(Guard::new(first.new_id(), &*first.clock)),
            throttle: Arc::default(),
            purge_failed: Arc::default(),
            ..first
        })
    }

    /// Makes `admin` an administrator who needs no team for it and is in none.
    pub(crate) async fn make_admin_one_by_itself(&self) {
        for sql in [
            "UPDATE account SET user_group = 'ADMIN' WHERE username = 'admin'",
            "DELETE FROM membership
              WHERE user_id IN (SELECT user_id FROM account WHERE username = 'admin')",
        ] {
            self.state.store.execute_for_test(sql).await;
        }
    }

    /// The time of the service.
    pub(crate) fn clock_now(&self) -> OffsetDateTime {
        self.clock.now()
    }

    pub(crate) fn member_id(&self) -> UserId {
        self.member
    }

    pub(crate) fn admin_id(&self) -> UserId {
        self.admin
    }
}

/// Of the tokens of personas.
const LIFETIME: time::Duration = time::Duration::hours(8);

/// A body that never ends and never gives a byte.
pub(crate) fn stalled_body() -> Body {
    Body::from_stream(futures::stream::pending::<Result<Vec<u8>, std::io::Error>>())
}
