//! What pods of one template say alike, and what each says of its own, read off their JSON without building
//! objects. Whatever the snapshot reads of a pod is in one of the two.

use super::arrivals::PodParts;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Types of the conditions that the snapshot reads.
const CONDITIONS: [&str; 2] = ["DisruptionTarget", "PodResizePending"];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Metadata<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow)]
    namespace: Cow<'a, str>,
    #[serde(borrow)]
    uid: Cow<'a, str>,
    #[serde(borrow)]
    labels: Option<&'a RawValue>,
    #[serde(borrow)]
    owner_references: Option<&'a RawValue>,
    #[serde(borrow)]
    deletion_timestamp: Option<&'a RawValue>,
}

impl Default for Metadata<'_> {
    fn default() -> Self {
        Metadata {
            name: Cow::Borrowed(""),
            namespace: Cow::Borrowed(""),
            uid: Cow::Borrowed(""),
            labels: None,
            owner_references: None,
            deletion_timestamp: None,
        }
    }
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Spec<'a> {
    #[serde(borrow)]
    node_name: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Status<'a> {
    #[serde(borrow)]
    phase: Option<&'a RawValue>,
    #[serde(borrow)]
    start_time: Option<&'a RawValue>,
    #[serde(borrow)]
    nominated_node_name: Option<&'a RawValue>,
    #[serde(borrow)]
    conditions: Option<Vec<Condition<'a>>>,
    #[serde(borrow)]
    container_statuses: Option<Vec<Container<'a>>>,
    #[serde(borrow)]
    init_container_statuses: Option<Vec<Container<'a>>>,
    #[serde(borrow)]
    allocated_resources: Option<&'a RawValue>,
    #[serde(borrow)]
    resources: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Condition<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow)]
    status: Option<&'a RawValue>,
    #[serde(borrow)]
    reason: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Container<'a> {
    #[serde(borrow)]
    name: Option<&'a RawValue>,
    #[serde(borrow)]
    allocated_resources: Option<&'a RawValue>,
    #[serde(borrow)]
    resources: Option<&'a RawValue>,
}

/// A pod's JSON, read as far as its parts must be told apart.
pub(super) struct Identity<'a> {
    metadata: Metadata<'a>,
    spec: Spec<'a>,
    status: Status<'a>,
}

impl<'a> Identity<'a> {
    pub(super) fn read(parts: PodParts<'a>) -> Result<Self, serde_json::Error> {
        let status = match parts.status {
            b"" => Status::default(),
            status => serde_json::from_slice(status)?,
        };
        Ok(Identity {
            metadata: serde_json::from_slice(parts.metadata)?,
            spec: serde_json::from_slice(parts.spec)?,
            status,
        })
    }

    pub(super) fn name(&self) -> &str {
        &self.metadata.name
    }

    pub(super) fn uid(&self) -> &str {
        &self.metadata.uid
    }

    /// spec.nodeName, empty if it is not bound.
    pub(super) fn node(&self) -> Result<Cow<'a, str>, serde_json::Error> {
        Ok(text(self.spec.node_name)?.unwrap_or_default())
    }

    pub(super) fn start(&self) -> Result<Option<Cow<'a, str>>, serde_json::Error> {
        text(self.status.start_time)
    }

    /// Equal for pods of which the snapshot reads the same, apart from what this type returns.
    pub(super) fn likeness(&self, parts: PodParts<'_>) -> Vec<u8> {
        let mut key = Key(Vec::with_capacity(parts.spec.len() + 256));
        let (before, after) = self.spec_around_node(parts.spec);
        key.add(before);
        key.add(after);
        let meta = &self.metadata;
        key.add(meta.namespace.as_bytes());
        key.raw(meta.labels);
        key.raw(meta.owner_references);
        key.raw(meta.deletion_timestamp);
        self.status.describe(&mut key);
        key.0
    }

    /// The spec without the value of nodeName.
    fn spec_around_node<'s>(&self, spec: &'s [u8]) -> (&'s [u8], &'s [u8]) {
        let Some(value) = self.spec.node_name.map(|raw| raw.get().as_bytes()) else {
            return (spec, b"");
        };
        // The value is a slice of the spec.
        let at = value.as_ptr() as usize - spec.as_ptr() as usize;
        (&spec[..at], &spec[at + value.len()..])
    }
}

impl Status<'_> {
    fn describe(&self, key: &mut Key) {
        key.raw(self.phase);
        key.raw(self.nominated_node_name);
        key.raw(self.allocated_resources);
        key.raw(self.resources);
        for condition in self.conditions.iter().flatten() {
            let kind = condition.kind.as_deref().unwrap_or_default();
            if CONDITIONS.contains(&kind) {
                key.add(kind.as_bytes());
                key.raw(condition.status);
                key.raw(condition.reason);
            }
        }
        for list in [&self.container_statuses, &self.init_container_statuses] {
            key.add(b"containers");
            for container in list.iter().flatten() {
                if container.allocated_resources.is_some() || container.resources.is_some() {
                    key.raw(container.name);
                    key.raw(container.allocated_resources);
                    key.raw(container.resources);
                }
            }
        }
    }
}

/// Parts in a row. The separator occurs in no JSON text.
struct Key(Vec<u8>);

impl Key {
    fn add(&mut self, part: &[u8]) {
        self.0.extend_from_slice(part);
        self.0.push(0);
    }

    fn raw(&mut self, value: Option<&RawValue>) {
        self.add(value.map_or("", RawValue::get).as_bytes());
    }
}

fn text<'a>(value: Option<&'a RawValue>) -> Result<Option<Cow<'a, str>>, serde_json::Error> {
    #[derive(Deserialize)]
    #[serde(transparent)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
    let read = |raw: &'a RawValue| serde_json::from_str(raw.get());
    Ok(value.map(read).transpose()?.map(|Text(text)| text))
}
