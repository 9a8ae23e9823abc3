use super::{Verb, Write, sync_claim, sync_volume};
use crate::object;
use crate::snapshot::volumes::{BindAction, SELECTED_NODE};
use crate::snapshot::{Kind, Snapshot, WorldError};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use thiserror::Error;

/// The storage of a cluster in memory, and the controllers that act on it.
#[derive(Debug, Default)]
pub struct Controller {
    snap: Snapshot,
    /// Volumes and claims as they are, by kind, namespace and name.
    objects: BTreeMap<Key, Value>,
    /// Written since it was last asked for: the objects, and in the order of the first write.
    touched: BTreeSet<Key>,
    changed: Vec<Key>,
}

type Key = (&'static str, String, String);

/// An object that was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Changed {
    pub kind: &'static str,
    pub namespace: String,
    pub name: String,
    /// As it is now; `None` if it was deleted.
    pub object: Option<Value>,
}

#[derive(Debug, Error)]
pub enum ControllerError {
    #[error("{kind}: {source}")]
    Json {
        kind: String,
        source: serde_json::Error,
    },
    #[error(transparent)]
    World(#[from] WorldError),
    #[error("{0} \"{1}\" not found")]
    NotFound(&'static str, String),
    #[error(
        "Operation cannot be fulfilled on {0} \"{1}\": the object has been modified; please apply your changes to the latest version and try again"
    )]
    Conflict(&'static str, String),
}

const VOLUME: &str = "PersistentVolume";
const CLAIM: &str = "PersistentVolumeClaim";

/// Passes over what is unsettled; each brings every object at least one step further.
const ROUNDS: usize = 16;

impl Controller {
    /// Takes over an object that was added or changed from outside. Kinds that have nothing to do with
    /// storage are ignored.
    pub fn apply(&mut self, kind: &str, json: &[u8]) -> Result<(), ControllerError> {
        let parse = |source| ControllerError::Json {
            kind: kind.to_owned(),
            source,
        };
        if kind == "Node" {
            let node: object::Node = serde_json::from_slice(json).map_err(parse)?;
            self.snap.set_node(&node);
            return Ok(());
        }
        let Some(known) = storage(kind) else {
            return Ok(());
        };
        self.snap.set(known, json)?;
        if let Some(name) = kept(known) {
            let object: Value = serde_json::from_slice(json).map_err(parse)?;
            self.objects.insert(key(name, &object), object);
        }
        Ok(())
    }

    /// Forgets an object that was deleted from outside.
    pub fn remove(&mut self, kind: &str, namespace: &str, name: &str) {
        if kind == "Node" {
            self.snap.remove_node(name);
        } else if let Some(known) = storage(kind) {
            self.snap.remove(known, namespace, name);
            if let Some(kind) = kept(known) {
                self.objects
                    .remove(&(kind, namespace.to_owned(), name.to_owned()));
            }
        }
    }

    /// Carries out a write of the scheduler; the controllers act on it in [`Controller::settle`].
    pub fn write(&mut self, action: &BindAction) -> Result<(), ControllerError> {
        let (kind, plural, namespace, name) = if action.volume.is_empty() {
            (
                CLAIM,
                "persistentvolumeclaims",
                action.namespace.as_str(),
                &action.claim,
            )
        } else {
            (VOLUME, "persistentvolumes", "", &action.volume)
        };
        let key = (kind, namespace.to_owned(), name.clone());
        let Some(object) = self.objects.get(&key) else {
            return Err(ControllerError::NotFound(plural, name.clone()));
        };
        let version = object["metadata"]["resourceVersion"]
            .as_str()
            .unwrap_or_default();
        let is_stale = match action.resource_version.as_str() {
            "" => is_taken(object, action),
            chosen => chosen != version,
        };
        if is_stale {
            return Err(ControllerError::Conflict(plural, name.clone()));
        }
        self.patch(key, &action.patch())
    }

    /// Lets the controllers act until they have nothing to do. Returns what has changed since the last
    /// call, writes of the scheduler included, each object once.
    pub fn settle(&mut self) -> Result<Vec<Changed>, ControllerError> {
        for _ in 0..ROUNDS {
            let claims: Vec<_> = self.snap.volumes.unsettled_claims().collect();
            let mut idle = true;
            for claim in claims {
                idle &= !self.carry_out(sync_claim(&self.snap, claim))?;
            }
            let volumes: Vec<_> = self.snap.volumes.unsettled_volumes().collect();
            for volume in volumes {
                idle &= !self.carry_out(sync_volume(&self.snap, volume))?;
            }
            if idle {
                break;
            }
        }
        self.touched.clear();
        let keys = std::mem::take(&mut self.changed);
        let changed = keys.into_iter().map(|key| Changed {
            object: self.objects.get(&key).cloned(),
            kind: key.0,
            namespace: key.1,
            name: key.2,
        });
        Ok(changed.collect())
    }

    /// Whether there was anything to do.
    fn carry_out(&mut self, writes: Vec<Write>) -> Result<bool, ControllerError> {
        let any = !writes.is_empty();
        for write in writes {
            let kind = kept(write.kind).unwrap_or(VOLUME);
            let key = (kind, write.namespace, write.name);
            match write.verb {
                Verb::Create(object) => self.store(key, object)?,
                Verb::Patch(patch) => self.patch(key, &patch)?,
                Verb::Delete => {
                    self.snap.remove(write.kind, &key.1, &key.2);
                    self.objects.remove(&key);
                    self.note(key);
                }
            }
        }
        Ok(any)
    }

    fn patch(&mut self, key: Key, patch: &Value) -> Result<(), ControllerError> {
        let mut object = self.objects.get(&key).cloned().unwrap_or_default();
        merge(&mut object, patch);
        // As the API server does for every write; versions here are plain numbers.
        let version = object["metadata"]["resourceVersion"].as_str();
        if let Some(number) = version.and_then(|version| version.parse::<u64>().ok()) {
            object["metadata"]["resourceVersion"] = Value::String((number + 1).to_string());
        }
        self.store(key, object)
    }

    fn store(&mut self, key: Key, object: Value) -> Result<(), ControllerError> {
        let json = serde_json::to_vec(&object).map_err(|source| ControllerError::Json {
            kind: key.0.to_owned(),
            source,
        })?;
        if let Some(kind) = Kind::new(key.0) {
            self.snap.set(kind, &json)?;
        }
        self.objects.insert(key.clone(), object);
        self.note(key);
        Ok(())
    }

    fn note(&mut self, key: Key) {
        if self.touched.insert(key.clone()) {
            self.changed.push(key);
        }
    }
}

fn storage(kind: &str) -> Option<Kind> {
    Kind::new(kind).filter(|kind| {
        matches!(
            kind,
            Kind::PersistentVolume
                | Kind::PersistentVolumeClaim
                | Kind::StorageClass
                | Kind::CsiNode
        )
    })
}

/// The kind's name, if its objects are written here.
fn kept(kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::PersistentVolume => Some(VOLUME),
        Kind::PersistentVolumeClaim => Some(CLAIM),
        _ => None,
    }
}

fn key(kind: &'static str, object: &Value) -> Key {
    let text = |field: &str| {
        object["metadata"][field]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    (kind, text("namespace"), text("name"))
}

/// Whether an object without a version, which tells no write from another, has had one that this would
/// undo: profiles do not know of each other's promises.
fn is_taken(object: &Value, action: &BindAction) -> bool {
    if action.volume.is_empty() {
        let node = object["metadata"]["annotations"][SELECTED_NODE].as_str();
        return node.is_some_and(|node| node != action.node);
    }
    let holder = &object["spec"]["claimRef"];
    let differs = |field: &str, asked: &str| {
        let is = holder[field].as_str().unwrap_or_default();
        !is.is_empty() && is != asked
    };
    differs("namespace", &action.namespace)
        || differs("name", &action.claim)
        || differs("uid", &action.claim_uid)
}

/// RFC 7386.
fn merge(object: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *object = patch.clone();
        return;
    };
    if !object.is_object() {
        *object = Value::Object(serde_json::Map::new());
    }
    if let Value::Object(object) = object {
        for (key, value) in patch {
            if value.is_null() {
                object.remove(key);
            } else {
                merge(object.entry(key.as_str()).or_insert(Value::Null), value);
            }
        }
    }
}
