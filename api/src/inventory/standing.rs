//! What makes users administrators, and who may not change it: administrators their own, and API
//! tokens to anyone's gain. docs/decisions/0011-own-role-and-tokens.md says why.

use std::collections::BTreeSet;

use chancery_shared::id::{TeamId, UserId};

use crate::auth::Administrator;
use crate::error::{ApiError, Code};
use crate::store::account::{Account, Group};

/// Why someone is an administrator: by itself, or by teams; and whether it may log in as one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    group: Group,
    teams: BTreeSet<TeamId>,
    enabled: bool,
}

impl Standing {
    /// Of `account` in `teams`, where `of_administrators` are the teams of the administrators.
    pub fn new(account: &Account, teams: &[TeamId], of_administrators: &[TeamId]) -> Self {
        let teams = teams.iter().filter(|team| of_administrators.contains(team));
        let Account { group, enabled, .. } = *account;
        Self { group, teams: teams.copied().collect(), enabled }
    }

    fn has_role(&self) -> bool {
        self.group == Group::Administrators || !self.teams.is_empty()
    }

    /// Whether someone has a way to administer that was not there `before`; a new user had none.
    fn gains(&self, before: Option<&Self>) -> bool {
        let Some(before) = before else { return self.has_role() };
        let by_itself = self.group == Group::Administrators && before.group != self.group;
        let by_team = !self.teams.is_subset(&before.teams);
        let enabled = self.enabled && !before.enabled && self.has_role();
        by_itself || by_team || enabled
    }

    /// Whether `by` may make `after` of the standing `before` of the user `id`; of a new user
    /// `before` is `None`.
    ///
    /// # Errors
    ///
    /// [`Code::NotPermitted`].
    pub fn check(
        by: &Administrator,
        id: UserId,
        before: Option<&Self>,
        after: &Self,
    ) -> Result<(), ApiError> {
        if by.actor().is_machine() && after.gains(before) {
            return Err(by_machine());
        }
        if id != by.actor().user_id() {
            return Ok(());
        }
        match before {
            Some(before) if before.group != after.group => Err(own("group")),
            Some(before) if before.teams != after.teams => Err(own("teams of administrators")),
            _ => Ok(()),
        }
    }
}

/// Whether `by` may make `after` of those who were administrators by a team; there are none of a
/// team of ordinary users.
///
/// # Errors
///
/// [`Code::NotPermitted`].
pub fn check_members(
    by: &Administrator,
    before: &[UserId],
    after: &[UserId],
) -> Result<(), ApiError> {
    if by.actor().is_machine() && after.iter().any(|member| !before.contains(member)) {
        return Err(by_machine());
    }
    let own_id = by.actor().user_id();
    if before.contains(&own_id) != after.contains(&own_id) {
        return Err(own("teams of administrators"));
    }
    Ok(())
}

/// Whether `by` may set the password of a user that there is.
///
/// # Errors
///
/// [`Code::NotPermitted`] for oneself, where the old one must be known, and for an API token.
pub fn check_may_set_password(by: &Administrator, id: UserId) -> Result<(), ApiError> {
    if by.actor().is_machine() {
        return Err(by_machine());
    }
    if id == by.actor().user_id() {
        let message = "you change your own password with POST /api/currentuser/password";
        return Err(ApiError::refused(Code::NotPermitted, message));
    }
    Ok(())
}

fn own(what: &str) -> ApiError {
    let message = format!("you can't change your own {what}; another administrator can");
    ApiError::refused(Code::NotPermitted, message)
}

fn by_machine() -> ApiError {
    ApiError::refused(
        Code::NotPermitted,
        "an API token gives nobody the rights of an administrator, not even back, and changes no \
         password; log in with the password for that",
    )
}
