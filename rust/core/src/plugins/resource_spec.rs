//! The `resources` lists in plugin arguments, and reading those arguments.

use crate::object::nullable;
use crate::resources::{CPU, EPHEMERAL_STORAGE, MEMORY, ResourceId, is_scalar};
use crate::snapshot::Snapshot;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ResourceSpec {
    #[serde(deserialize_with = "nullable")]
    pub(super) name: String,
    #[serde(deserialize_with = "nullable")]
    pub(super) weight: i64,
}

/// A resource to score, with its column.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scored {
    pub(super) id: ResourceId,
    pub(super) weight: i64,
}

impl Scored {
    /// A scalar resource counts only for pods that request it; the fixed ones always do.
    pub(super) fn concerns(self, request: i64) -> bool {
        request != 0 || matches!(self.id, CPU | MEMORY | EPHEMERAL_STORAGE)
    }
}

/// The arguments of a plugin; absent ones are `T`'s defaults.
pub(super) fn read<T: DeserializeOwned + Default>(args: &Value) -> Result<T, String> {
    if args.is_null() {
        return Ok(T::default());
    }
    T::deserialize(args).map_err(|error| error.to_string())
}

/// Applies upstream's defaults: cpu and memory where the list is empty, weight 1 where it is 0.
pub(super) fn defaulted(mut specs: Vec<ResourceSpec>) -> Vec<ResourceSpec> {
    if specs.is_empty() {
        specs.extend(["cpu", "memory"].map(|name| ResourceSpec {
            name: name.to_owned(),
            weight: 1,
        }));
    }
    for spec in &mut specs {
        if spec.weight == 0 {
            spec.weight = 1;
        }
    }
    specs
}

/// Gives the resources their columns. A name that the scheduler keeps no account of is left out: upstream
/// finds nothing of it on any node and never scores it.
pub(super) fn resolve(specs: &[ResourceSpec], snap: &mut Snapshot) -> Box<[Scored]> {
    let fixed = [CPU, MEMORY, EPHEMERAL_STORAGE];
    let known = |spec: &&ResourceSpec| {
        is_scalar(&spec.name) || fixed.iter().any(|f| snap.resources.name(*f) == spec.name)
    };
    let kept: Vec<_> = specs.iter().filter(known).collect();
    let scored = kept.into_iter().map(|spec| Scored {
        id: snap.ensure_resource(&spec.name),
        weight: spec.weight,
    });
    scored.collect()
}
