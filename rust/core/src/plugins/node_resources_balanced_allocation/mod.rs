//! NodeResourcesBalancedAllocation: how much evener a node's resources are used with the pod than without.

mod dense;
mod score;

use super::resource_spec::{self, ResourceSpec, Scored};
use crate::object::nullable;
use crate::plugin::{Affects, KeyWriter, Plugin, PreScore};
use crate::snapshot::{Pod, Row, Snapshot};
use crate::template::Template;
use score::{Balance, Part};
use serde::Deserialize;
use serde_json::Value;
use std::hash::Hash;
use std::sync::Arc;

pub(super) const NAME: &str = "NodeResourcesBalancedAllocation";

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Args {
    #[serde(deserialize_with = "nullable")]
    resources: Vec<ResourceSpec>,
}

#[derive(Debug)]
struct BalancedAllocation {
    resources: Box<[Scored]>,
}

pub(super) fn new(snap: &mut Snapshot, args: &Value) -> Result<Arc<dyn Plugin>, String> {
    let args: Args = resource_spec::read(args)?;
    let specs = resource_spec::defaulted(args.resources);
    for (index, spec) in specs.iter().enumerate() {
        if specs[..index].iter().any(|s| s.name == spec.name) {
            return Err(format!(
                "resources[{index}].name: {:?}: duplicate value",
                spec.name
            ));
        }
        if spec.weight != 1 {
            return Err(format!(
                "resources[{index}].weight: {}: must be 1",
                spec.weight
            ));
        }
    }
    Ok(Arc::new(BalancedAllocation {
        resources: resource_spec::resolve(&specs, snap),
    }))
}

impl BalancedAllocation {
    fn parts<'a>(&'a self, template: &'a Template) -> impl Iterator<Item = Part> + 'a {
        self.resources.iter().map(|resource| Part {
            resource: *resource,
            request: template.requests.held.get(resource.id),
        })
    }

    /// A pod that requests none of the resources is as balanced here as there.
    fn skips(&self, template: &Template) -> bool {
        self.parts(template).all(|part| part.request == 0)
    }
}

impl Plugin for BalancedAllocation {
    fn name(&self) -> &'static str {
        NAME
    }

    fn key(&self, _: &Snapshot, pod: &Pod, key: &mut KeyWriter) {
        for part in self.parts(&pod.template) {
            part.request.hash(key);
        }
    }

    fn pre_score(&self, _: &Snapshot, pod: &Pod, _: &[Row]) -> PreScore {
        if self.skips(&pod.template) {
            return PreScore::Skip;
        }
        let parts = self
            .parts(&pod.template)
            .map(|part| match crate::mutation::active(NAME) {
                true => Part {
                    request: part.request.wrapping_mul(2),
                    ..part
                },
                false => part,
            });
        PreScore::Run(Box::new(Balance::new(parts)))
    }

    fn affects(&self, _: &Snapshot, placed: &Template, pod: &Pod) -> Affects {
        if self.skips(placed) || self.skips(&pod.template) {
            Affects::Nothing
        } else {
            Affects::Node
        }
    }
}
