//! PodTopologySpread: pods of one kind spread evenly over the domains of some topology keys, as a rule
//! (DoNotSchedule, the filter) or as a wish (ScheduleAnyway, the score).

mod filter;
mod hosts;
mod minimum;
mod rule;
mod score;
mod weights;

use super::inclusion::Inclusion;
use super::taints;
use crate::hints::{Happening, NodeFacts};
use crate::intern::Symbol;
use crate::object::TopologySpreadConstraint;
use crate::plugin::{Affects, KeyWriter, Plugin, PreFilter, PreScore};
use crate::selector::{Labels, Selector};
use crate::snapshot::{Pod, Row, Snapshot};
use crate::status::Status;
use crate::template::{Rest, SpreadConstraint, Template};
use serde::Deserialize;
use serde_json::Value;
use std::hash::Hash;
use std::sync::Arc;

pub(super) const NAME: &str = "PodTopologySpread";

const HOSTNAME: &str = "kubernetes.io/hostname";
const ZONE: &str = "topology.kubernetes.io/zone";

/// kube-scheduler's constraints for pods that have none: key and maxSkew, ScheduleAnyway.
const SYSTEM: [(&str, i32); 2] = [(HOSTNAME, 3), (ZONE, 5)];

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Args {
    default_constraints: Option<Vec<TopologySpreadConstraint>>,
    defaulting_type: Option<String>,
}

#[derive(Debug)]
struct PodTopologySpread {
    /// For pods without constraints of their own; their selector comes from the pod's owners.
    defaults: Box<[SpreadConstraint]>,
    /// The defaults are kube-scheduler's own: nodes that lack one of the keys take part all the same.
    system: bool,
    hostname: Symbol,
    effects: taints::Effects,
}

pub(super) fn new(snap: &mut Snapshot, args: &Value) -> Result<Arc<dyn Plugin>, String> {
    let args = Option::<Args>::deserialize(args).map_err(|e| e.to_string())?;
    let args = args.unwrap_or_default();
    let system = match args.defaulting_type.as_deref() {
        None | Some("" | "System") => true,
        Some("List") => false,
        Some(other) => {
            return Err(format!(
                "defaultingType: Unsupported value: \"{other}\": supported values: \"List\", \"System\""
            ));
        }
    };
    let mut list = args.default_constraints.unwrap_or_default();
    if system {
        if !list.is_empty() {
            return Err(
                "defaultingType: Invalid value: \"System\": when .defaultConstraints are not empty"
                    .into(),
            );
        }
        list.extend(SYSTEM.map(|(key, max_skew)| TopologySpreadConstraint {
            max_skew,
            topology_key: key.into(),
            when_unsatisfiable: "ScheduleAnyway".into(),
            ..Default::default()
        }));
    }
    let mut invalid = None;
    let compile = |c: &TopologySpreadConstraint| {
        snap.ensure_topology_key(&c.topology_key);
        SpreadConstraint::new(c, &Default::default(), &mut snap.interner, &mut invalid)
    };
    let defaults = list.iter().map(compile).collect();
    Ok(Arc::new(PodTopologySpread {
        defaults,
        system,
        hostname: snap.ensure_topology_key(HOSTNAME),
        effects: taints::Effects::new(snap),
    }))
}

/// The constraints of one kind (hard or soft) that hold for a pod.
#[derive(Clone, Debug)]
struct Constraints {
    namespace: Symbol,
    list: Box<[SpreadConstraint]>,
    /// Where they are defaults: what of the pod their selector was made from.
    defaulted: Option<Box<Template>>,
}

impl Constraints {
    /// Whether they are still what they would be made to, after something besides nodes and pods changed.
    fn hold(&self, snap: &Snapshot) -> bool {
        self.defaulted.as_ref().is_none_or(|template| {
            let selector = snap.owners.default_selector(template, &snap.interner);
            selector.as_ref() == self.list.first().map(|c| &c.selector)
        })
    }

    /// Which constraints count a pod of this template, were its node to count.
    fn counting<'a>(
        &'a self,
        snap: &'a Snapshot,
        template: &'a Template,
    ) -> impl Iterator<Item = (usize, &'a SpreadConstraint)> {
        let selects = |c: &SpreadConstraint| counts(&c.selector, &template.labels, snap);
        // Defaults have one selector.
        let one = self.defaulted.is_some();
        let none = template.namespace != self.namespace
            || (one && !self.list.first().is_some_and(selects));
        let list: &[_] = if none { &[] } else { &self.list };
        let all = list.iter().enumerate();
        all.filter(move |(_, c)| one || selects(c))
    }

    /// Calls `add` with index, row and number for all pods on nodes that some constraint counts.
    fn count(&self, snap: &Snapshot, mut add: impl FnMut(usize, Row, i64)) {
        for (_, peer) in snap.peers.placed() {
            if peer.key.namespace != self.namespace {
                continue;
            }
            for (index, constraint) in self.list.iter().enumerate() {
                if !counts(&constraint.selector, &peer.key.labels, snap) {
                    continue;
                }
                for (row, count) in &peer.active {
                    add(index, *row, i64::from(*count));
                }
            }
        }
    }
}

/// Whether pods with these labels are counted; the empty selector counts none.
fn counts(selector: &Selector, labels: &Labels, snap: &Snapshot) -> bool {
    !selector.is_empty() && selector.matches(labels, &snap.interner)
}

impl PodTopologySpread {
    /// The pod's own constraints of one kind, or the default ones if it has none at all.
    fn constraints(&self, snap: &Snapshot, template: &Template, hard: bool) -> Constraints {
        let own = template.has_own_spread();
        let source = if own {
            &template.spread
        } else {
            &self.defaults
        };
        let mut defaulted = None;
        let mut list = Vec::new();
        if own || !snap.owners.is_empty() {
            list.extend(source.iter().filter(|c| c.hard == hard).cloned());
        }
        if !own && !list.is_empty() {
            match snap.owners.default_selector(template, &snap.interner) {
                None => list.clear(),
                Some(selector) => {
                    for constraint in &mut list {
                        constraint.selector = selector.clone();
                    }
                    let rest = Rest {
                        namespace: template.namespace,
                        owner: template.owner,
                        ..Rest::default()
                    };
                    defaulted = Some(Box::new(Template::of(template.labels.clone(), rest)));
                }
            }
        }
        Constraints {
            namespace: template.namespace,
            list: list.into(),
            defaulted,
        }
    }

    /// The error upstream returns while it parses constraints of one kind.
    fn invalid(&self, template: &Template, hard: bool) -> Option<Status> {
        let (plugin, message) = template.invalid.as_ref()?;
        let nothing = |c: &SpreadConstraint| c.hard == hard && c.selector == Selector::Nothing;
        if *plugin != NAME || !template.spread.iter().any(nothing) {
            return None;
        }
        Some(Status::error(if hard {
            format!(
                "get constraints from pod: obtaining pod's hard topology spread constraints: {message}"
            )
        } else {
            format!(
                "calculating preScoreState: obtaining pod's soft topology spread constraints: {message}"
            )
        }))
    }
}

impl Plugin for PodTopologySpread {
    fn name(&self) -> &'static str {
        NAME
    }

    fn helped_by(&self, snap: &Snapshot, pod: &Pod, what: &Happening<'_>) -> bool {
        let Happening::Node { before, after } = what else {
            return true;
        };
        let hard = self.constraints(snap, &pod.template, true);
        let keys = || hard.list.iter().map(|constraint| constraint.topology_key);
        let matches = |facts: &NodeFacts| keys().all(|key| facts.info.labels.get(key).is_some());
        let (Some(before), Some(after)) = (before, after) else {
            return before.or(*after).is_none_or(matches);
        };
        let moved = |key| before.info.labels.get(key) != after.info.labels.get(key);
        matches(before) != matches(after)
            || matches(after) && (keys().any(moved) || before.info.taints != after.info.taints)
    }

    fn key(&self, snap: &Snapshot, pod: &Pod, key: &mut KeyWriter) {
        let template = &pod.template;
        template.has_own_spread().hash(key);
        for hard in [true, false] {
            let constraints = self.constraints(snap, template, hard);
            constraints.list.hash(key);
            if constraints.list.is_empty() {
                continue;
            }
            constraints.namespace.hash(key);
            Inclusion::new(pod, &constraints.list, self.effects).hash(key);
            self.invalid(template, hard).map(|s| s.reasons).hash(key);
            if hard {
                let own =
                    |c: &SpreadConstraint| c.selector.matches(&template.labels, &snap.interner);
                constraints
                    .list
                    .iter()
                    .map(own)
                    .for_each(|own| own.hash(key));
            }
        }
    }

    fn reads_labels(&self, snap: &Snapshot, pod: &Pod) -> bool {
        pod.template.has_own_spread() || !self.defaults.is_empty() && !snap.owners.is_empty()
    }

    fn pre_filter(&self, snap: &Snapshot, pod: &Pod) -> PreFilter {
        if let Some(status) = self.invalid(&pod.template, true) {
            return PreFilter::Reject(status);
        }
        let constraints = self.constraints(snap, &pod.template, true);
        if constraints.list.is_empty() {
            return PreFilter::Skip;
        }
        let inclusion = Inclusion::new(pod, &constraints.list, self.effects);
        PreFilter::Run {
            filter: Box::new(filter::HardSpread::new(snap, pod, constraints, inclusion)),
            nodes: None,
        }
    }

    fn reads_feasible(&self, snap: &Snapshot, pod: &Pod) -> bool {
        let constraints = self.constraints(snap, &pod.template, false);
        !constraints.list.is_empty()
    }

    fn pre_score(&self, snap: &Snapshot, pod: &Pod, feasible: &[Row]) -> PreScore {
        if snap.nodes.is_empty() {
            return PreScore::Skip;
        }
        if let Some(status) = self.invalid(&pod.template, false) {
            return PreScore::Reject(status);
        }
        let constraints = self.constraints(snap, &pod.template, false);
        if constraints.list.is_empty() {
            return PreScore::Skip;
        }
        let inclusion = Inclusion::new(pod, &constraints.list, self.effects);
        let require_all = pod.template.has_own_spread() || !self.system;
        let rule = rule::Rule::new(snap, constraints, inclusion, self.hostname, require_all);
        PreScore::Run(Box::new(score::SoftSpread::new(snap, rule, feasible)))
    }

    fn affects(&self, snap: &Snapshot, placed: &Template, pod: &Pod) -> Affects {
        let kinds = [true, false].map(|hard| self.constraints(snap, &pod.template, hard));
        let counted = |c: &Constraints| c.counting(snap, placed).next().is_some();
        if kinds.iter().any(counted) {
            // The global minimum can move.
            Affects::Every
        } else {
            Affects::Nothing
        }
    }
}
