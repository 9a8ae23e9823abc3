//! NodeResourcesFit: a node must have what the pod requests left; how much would be left is a score.

mod args;
mod filter;
mod score;
mod strategy;

use super::resource_spec::{self, Scored};
use crate::hints::Happening;
use crate::plugin::{Affects, KeyWriter, Plugin, PreFilter, PreScore};
use crate::resources::{EPHEMERAL_STORAGE, ResourceId, is_extended};
use crate::snapshot::{Pod, Row, Snapshot};
use crate::template::Template;
use args::Args;
use filter::Needs;
use rustc_hash::FxHashSet;
use score::Allocation;
use serde_json::Value;
use std::hash::Hash;
use std::sync::Arc;
use strategy::Strategy;

pub(super) const NAME: &str = "NodeResourcesFit";

#[derive(Debug)]
struct NodeResourcesFit {
    ignored: FxHashSet<String>,
    ignored_groups: FxHashSet<String>,
    resources: Box<[Scored]>,
    strategy: Arc<Strategy>,
}

pub(super) fn new(snap: &mut Snapshot, args: &Value) -> Result<Arc<dyn Plugin>, String> {
    let args = Args::new(args)?;
    Ok(Arc::new(NodeResourcesFit {
        ignored: args.ignored_resources.into_iter().collect(),
        ignored_groups: args.ignored_resource_groups.into_iter().collect(),
        resources: resource_spec::resolve(&args.resources, snap),
        strategy: Arc::new(args.strategy),
    }))
}

impl NodeResourcesFit {
    /// Only extended resources can be ignored.
    fn ignores(&self, name: &str) -> bool {
        let group = name.split('/').next().unwrap_or_default();
        is_extended(name) && (self.ignored.contains(name) || self.ignored_groups.contains(group))
    }

    /// What must be free, in the order in which reasons are given. A sum below zero counts as zero, and
    /// nothing is asked for where nothing is requested.
    fn needs<'a>(
        &'a self,
        snap: &'a Snapshot,
        template: &'a Template,
    ) -> impl Iterator<Item = (ResourceId, i64)> + 'a {
        let asked = template
            .requests
            .spec
            .iter()
            .filter(|(_, amount)| *amount > 0);
        asked.filter(|(id, _)| *id <= EPHEMERAL_STORAGE || !self.ignores(snap.resources.name(*id)))
    }

    /// The amounts that are scored, by configured resource.
    fn scored<'a>(&'a self, template: &'a Template) -> impl Iterator<Item = (Scored, i64)> + 'a {
        let amounts = &template.requests.scored;
        self.resources.iter().map(|r| (*r, amounts.get(r.id)))
    }
}

impl Plugin for NodeResourcesFit {
    fn name(&self) -> &'static str {
        NAME
    }

    fn helped_by(&self, _: &Snapshot, pod: &Pod, what: &Happening<'_>) -> bool {
        let Some((before, after)) = what.standing_node() else {
            return true;
        };
        // Upstream asks whether the pod would fit if it were alone there, ignored resources included.
        let asked = || pod.template.requests.spec.iter().filter(|(_, n)| *n > 0);
        if after.allowed_pods < 1 || asked().any(|(id, n)| n > after.allocatable(id)) {
            return false;
        }
        before.is_none_or(|before| {
            let more = |(id, _)| after.allocatable(id) > before.allocatable(id);
            after.allowed_pods > before.allowed_pods || asked().any(more)
        })
    }

    fn key(&self, snap: &Snapshot, pod: &Pod, key: &mut KeyWriter) {
        let needs: Vec<_> = self.needs(snap, &pod.template).collect();
        needs.hash(key);
        for (_, amount) in self.scored(&pod.template) {
            amount.hash(key);
        }
    }

    fn pre_filter(&self, snap: &Snapshot, pod: &Pod) -> PreFilter {
        PreFilter::Run {
            filter: Box::new(Needs::new(snap, self.needs(snap, &pod.template).collect())),
            nodes: None,
        }
    }

    fn pre_score(&self, _: &Snapshot, pod: &Pod, _: &[Row]) -> PreScore {
        let scored = self.scored(&pod.template);
        PreScore::Run(Box::new(Allocation::new(
            scored,
            Arc::clone(&self.strategy),
        )))
    }

    /// Every pod counts against the number of pods allowed.
    fn affects(&self, _: &Snapshot, _: &Template, _: &Pod) -> Affects {
        Affects::Node
    }
}
