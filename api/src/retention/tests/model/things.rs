//! The model: what there is, and what may become of it, as the table has it.

use chancery_shared::id::KeyId;
use serde_json::Value;
use time::{Duration, OffsetDateTime};

use super::super::scene::Scene;
use crate::clock::Clock as _;
use crate::timestamp;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    KeyStore,
    LocalCa,
    CertIssuer,
}

impl Kind {
    pub(super) fn path(self) -> String {
        let kind = match self {
            Self::KeyStore => "keystores",
            Self::LocalCa => "localca",
            Self::CertIssuer => "ca",
        };
        format!("/api/admin/{kind}")
    }
}

#[derive(Clone, Debug)]
pub(super) struct Thing {
    pub(super) kind: Kind,
    pub(super) id: String,
    pub(super) name: String,
    pub(super) key: Option<KeyId>,
    pub(super) deleted: Option<OffsetDateTime>,
    pub(super) is_gone: bool,
    /// What it stands on: of a CA its Key Store first.
    pub(super) on: Vec<usize>,
}

impl Thing {
    pub(super) fn is_live(&self) -> bool {
        !self.is_gone && self.deleted.is_none()
    }

    pub(super) fn delete(&mut self, now: OffsetDateTime) {
        self.deleted = Some(now);
    }

    pub(super) fn restore(&mut self, _now: OffsetDateTime) {
        self.deleted = None;
    }

    pub(super) fn remove(&mut self, _now: OffsetDateTime) {
        self.is_gone = true;
    }
}

pub(super) struct Model {
    pub(super) things: Vec<Thing>,
    pub(super) days: u32,
    pub(super) now: OffsetDateTime,
    pub(super) started: OffsetDateTime,
}

/// What to do in which order, or the code of the refusal.
type Plan = Result<Vec<usize>, &'static str>;

impl Model {
    pub(super) async fn of(scene: &Scene, days: u32) -> Self {
        let now = scene.api.clock.now();
        let thing = |kind, id: &String, name: &str, key, on: &[usize]| Thing {
            kind,
            id: id.clone(),
            name: name.to_owned(),
            key,
            deleted: None,
            is_gone: false,
            on: on.to_vec(),
        };
        let (root, ca) = (scene.key_of(&scene.root).await, scene.key_of(&scene.ca).await);
        let things = vec![
            thing(Kind::KeyStore, &scene.store, "Local Token", None, &[]),
            thing(Kind::LocalCa, &scene.root, "Chancery Root CA", Some(root), &[0]),
            thing(Kind::LocalCa, &scene.ca, "Chancery Issuing CA", Some(ca), &[0, 1]),
            thing(Kind::CertIssuer, &scene.issuer, "Chancery Issuer", None, &[2]),
        ];
        Self { things, days, now, started: now }
    }

    pub(super) fn any(&self, which: usize) -> usize {
        which % self.things.len()
    }

    pub(super) fn issuer(&self, which: usize) -> Option<&Thing> {
        let issuers: Vec<_> =
            self.things.iter().filter(|thing| thing.kind == Kind::CertIssuer).collect();
        issuers.get(which % issuers.len()).copied()
    }

    pub(super) fn depth(&self, ca: usize) -> usize {
        self.things[ca].on.get(1).map_or(0, |parent| self.depth(*parent) + 1)
    }

    /// What a new thing is to stand on, and the code of the refusal if it can't.
    pub(super) fn ground(
        &self,
        kind: Kind,
        name: &str,
        which: usize,
    ) -> (Vec<usize>, Result<(), &'static str>) {
        let of = |kind: Kind, deepest: usize| -> Vec<usize> {
            let all = self.things.iter().enumerate();
            let fit = all.filter(|(at, thing)| thing.kind == kind && self.depth(*at) <= deepest);
            fit.map(|(at, _)| at).collect()
        };
        let pick = |from: &[usize]| from[which % from.len()];
        let ground = match kind {
            Kind::KeyStore => vec![],
            Kind::LocalCa if which.is_multiple_of(3) => vec![pick(&of(Kind::KeyStore, 9))],
            Kind::LocalCa => vec![pick(&of(Kind::KeyStore, 9)), pick(&of(Kind::LocalCa, 1))],
            Kind::CertIssuer => vec![pick(&of(Kind::LocalCa, 9))],
        };
        let expected = if ground.iter().any(|on| !self.things[*on].is_live()) {
            Err("unknown_reference")
        } else if self.is_taken(kind, name) {
            Err("name_taken")
        } else {
            Ok(())
        };
        (ground, expected)
    }

    fn is_taken(&self, kind: Kind, name: &str) -> bool {
        let takes = |thing: &Thing| thing.kind == kind && thing.name == name && thing.is_live();
        self.things.iter().any(takes)
    }

    fn above(&self, thing: usize) -> impl Iterator<Item = (usize, &Thing)> {
        let all = self.things.iter().enumerate();
        all.filter(move |(_, other)| !other.is_gone && other.on.contains(&thing))
    }

    pub(super) fn deletion(&self, thing: usize) -> Plan {
        let is = &self.things[thing];
        if is.is_gone {
            return Err("not_found");
        }
        if is.deleted.is_some() {
            return Err("wrong_state");
        }
        let blocks = |other: &Thing| self.days == 0 || other.is_live();
        if self.above(thing).any(|(_, other)| blocks(other)) {
            return Err("in_use");
        }
        Ok(vec![thing])
    }

    pub(super) fn removal(&self, thing: usize, along: bool) -> Plan {
        if self.things[thing].is_gone {
            return Err("not_found");
        }
        let mut plan = Vec::new();
        for (at, other) in self.above(thing) {
            if other.is_live() || !along {
                return Err("in_use");
            }
            for each in self.removal(at, along)? {
                if !plan.contains(&each) {
                    plan.push(each);
                }
            }
        }
        plan.push(thing);
        Ok(plan)
    }

    pub(super) fn restoration(&self, thing: usize, along: bool) -> Plan {
        let is = &self.things[thing];
        if is.is_gone {
            return Err("not_found");
        }
        if is.is_live() || self.purge_at(is) <= self.now {
            return Err("wrong_state");
        }
        if self.is_taken(is.kind, &is.name) {
            return Err("name_taken");
        }
        let mut plan = Vec::new();
        for on in is.on.iter().filter(|on| !self.things[**on].is_live()) {
            if !along {
                return Err("wrong_state");
            }
            for each in self.restoration(*on, along)? {
                if !plan.contains(&each) {
                    plan.push(each);
                }
            }
        }
        plan.push(thing);
        Ok(plan)
    }

    pub(super) fn due(&self) -> Vec<usize> {
        let all = self.things.iter().enumerate();
        let due = all.filter(|(_, thing)| {
            !thing.is_gone && thing.deleted.is_some() && self.purge_at(thing) <= self.now
        });
        due.map(|(at, _)| at).collect()
    }

    /// The clock never goes back here: what stands on a thing was deleted before it.
    fn purge_at(&self, thing: &Thing) -> OffsetDateTime {
        thing.deleted.unwrap() + Duration::days(self.days.into())
    }

    pub(super) fn ids(&self, kind: Kind, deleted: bool) -> Vec<Value> {
        let ids = self.all_of(kind).filter(|thing| thing.deleted.is_some() == deleted);
        let mut ids: Vec<_> = ids.map(|thing| Value::from(thing.id.clone())).collect();
        ids.sort_by_key(Value::to_string);
        ids
    }

    pub(super) fn purge_times(&self, kind: Kind) -> Vec<Value> {
        let deleted = self.all_of(kind).filter(|thing| thing.deleted.is_some());
        let shown = |thing| Value::from(timestamp::with_offset(self.purge_at(thing)));
        let mut times: Vec<_> = deleted.map(shown).collect();
        times.sort_by_key(Value::to_string);
        times
    }

    fn all_of(&self, kind: Kind) -> impl Iterator<Item = &Thing> {
        self.things.iter().filter(move |thing| thing.kind == kind && !thing.is_gone)
    }
}
