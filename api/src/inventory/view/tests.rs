//! What requests see of an inventory that changes between them.

use super::*;
use crate::store::account::Group;
use crate::store::testing::{both, sqlite};
use crate::testing::{Api, api_on, insert_team, insert_user};

/// What a request sees that comes now.
async fn view(api: &Api) -> InventoryView {
    api.state.inventory.now(&api.state.store).await.unwrap()
}

async fn named(view: &InventoryView, name: &str) -> Option<Team> {
    Find::<Team>::of_name(view, name).await.unwrap()
}

#[tokio::test]
async fn what_is_changed_is_seen_by_the_next_request_of_every_process() {
    for (engine, store) in both().await {
        let api = api_on(store, |_| ()).await;
        let (other, store) = (LatestView::default(), Store::open(&api.database.url).await.unwrap());
        let before = [view(&api).await, other.now(&store).await.unwrap()];
        for view in &before {
            assert_eq!(named(view, "New").await, None, "{engine}");
        }

        let team = insert_team(&api.state, "New", Group::Users).await;
        let user = insert_user(&api.state, "new", &[team]).await;

        for view in [view(&api).await, other.now(&store).await.unwrap()] {
            assert_eq!(named(&view, "New").await.map(|team| team.id), Some(team), "{engine}");
            assert_eq!(view.teams_of(user).await.unwrap().len(), 1, "{engine}");
        }
    }
}

#[tokio::test]
async fn what_was_read_once_is_not_read_again_until_something_changes() {
    for (engine, store) in both().await {
        let api = api_on(store, |_| ()).await;
        let default = named(&view(&api).await, "Default").await;

        let mut write = api.state.store.begin().await.unwrap();
        write.set_fact("no", "part of it").await.unwrap();
        write.commit_unaudited(crate::store::Unaudited::Nothing).await.unwrap();
        api.state.store.execute_unseen_for_test("UPDATE team SET name = name || '!'").await;
        assert_eq!(named(&view(&api).await, "Default").await, default, "{engine}");

        insert_team(&api.state, "New", Group::Users).await;
        assert_eq!(named(&view(&api).await, "Default").await, None, "{engine}");
        assert!(named(&view(&api).await, "Default!").await.is_some(), "{engine}");
    }
}

#[tokio::test]
async fn what_is_not_found_takes_no_room() {
    let api = api_on(sqlite().await, |_| ()).await;
    let view = view(&api).await;

    for name in ["A", "B", "Default"] {
        named(&view, name).await;
    }

    assert_eq!(view.0.teams.by_name.len(), 1);
}
