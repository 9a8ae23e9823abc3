//! InterPodAffinity: near or away from the pods that a term selects, where "near" is the same value of a
//! topology key. Both the pod's own terms and those of the pods on nodes speak.

mod filter;
mod rule;
mod score;
mod tally;
mod terms;

use crate::hints::Happening;
use crate::intern::Symbol;
use crate::plugin::{Affects, KeyWriter, Plugin, Point, PreFilter, PreScore};
use crate::selector::Labels;
use crate::snapshot::{Pod, Row, Snapshot};
use crate::status::Status;
use crate::template::{AffinityTerm, PodTerms, Template};
use serde::Deserialize;
use serde_json::Value;
use std::hash::Hash;
use std::sync::Arc;
use terms::Term;

pub(super) const NAME: &str = "InterPodAffinity";

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Args {
    hard_pod_affinity_weight: Option<i32>,
    ignore_preferred_terms_of_existing_pods: Option<bool>,
}

#[derive(Debug)]
struct InterPodAffinity {
    /// What a required affinity term of a pod on a node adds to the score of its domain.
    hard_weight: i32,
    /// Pods without preferred terms of their own are not scored.
    own_terms_only: bool,
}

pub(super) fn new(_: &mut Snapshot, args: &Value) -> Result<Arc<dyn Plugin>, String> {
    let args = Option::<Args>::deserialize(args).map_err(|e| e.to_string())?;
    let args = args.unwrap_or_default();
    let hard_weight = args.hard_pod_affinity_weight.unwrap_or(1);
    if !(0..=100).contains(&hard_weight) {
        return Err(format!(
            "hardPodAffinityWeight: Invalid value: {hard_weight}: not in valid range [0, 100]"
        ));
    }
    Ok(Arc::new(InterPodAffinity {
        hard_weight,
        own_terms_only: args
            .ignore_preferred_terms_of_existing_pods
            .unwrap_or(false),
    }))
}

impl InterPodAffinity {
    /// Why the pod's own terms cannot be read.
    fn invalid(&self, template: &Template) -> Option<Status> {
        let (plugin, message) = template.invalid.as_ref()?;
        (*plugin == NAME).then(|| Status::unresolvable(format!("parsing pod: {message}")))
    }
}

/// Whether a term of one pod selects another, by the labels that the other's namespace has now.
fn selects(term: &AffinityTerm, snap: &Snapshot, other: &Template) -> bool {
    let namespace = other.namespace;
    let labels = snap.namespace_labels(namespace);
    term.matches(namespace, labels, &other.labels, &snap.interner)
}

fn has_wishes(template: &Template) -> bool {
    !template.affinity.preferred.is_empty() || !template.affinity.preferred_anti.is_empty()
}

impl InterPodAffinity {
    /// Whether some term that counts at this point brings the pod together with one on a node.
    fn meet(
        &self,
        snap: &Snapshot,
        (namespace, labels, theirs): (Symbol, &Labels, &PodTerms),
        pod: &Pod,
        at: Point,
    ) -> bool {
        let own = &pod.template.affinity;
        let seen = |term: &AffinityTerm| selects(term, snap, &pod.template);
        match at {
            Point::Filter => theirs.required_anti.iter().any(seen),
            Point::Score if self.own_terms_only && !has_wishes(&pod.template) => false,
            Point::Score => {
                let mut own = own.preferred.iter().chain(&own.preferred_anti);
                let soft = theirs.preferred.iter().chain(&theirs.preferred_anti);
                let hard = theirs.required.iter().filter(|_| self.hard_weight > 0);
                let around = snap.namespace_labels(namespace);
                own.any(|w| w.term.matches(namespace, around, labels, &snap.interner))
                    || hard.chain(soft.map(|w| &w.term)).any(seen)
            }
        }
    }
}

impl Plugin for InterPodAffinity {
    fn name(&self) -> &'static str {
        NAME
    }

    fn helped_by(&self, _: &Snapshot, pod: &Pod, what: &Happening<'_>) -> bool {
        let Some((before, after)) = what.standing_node() else {
            return true;
        };
        let (terms, anti) = (
            &pod.template.affinity.required,
            &pod.template.affinity.required_anti,
        );
        let now = |term: &AffinityTerm| after.info.labels.get(term.topology_key);
        let Some(before) = before else {
            return !anti.is_empty() || terms.iter().any(|term| now(term).is_some());
        };
        let was = |term: &AffinityTerm| before.info.labels.get(term.topology_key);
        // A node in a domain that it was not in, or out of one that it was in.
        terms.iter().any(|t| now(t).is_some() && now(t) != was(t))
            || anti.iter().any(|t| was(t).is_some() && now(t) != was(t))
    }

    fn key(&self, snap: &Snapshot, pod: &Pod, key: &mut KeyWriter) {
        let template = &pod.template;
        // What the terms of others can see of the pod, and what its own say.
        snap.peers.seen(template).hash(key);
        template.affinity.hash(key);
        if !template.affinity.required.is_empty() {
            let own = |term| Term::new(term, snap).selects(snap, template);
            template.affinity.required.iter().all(own).hash(key);
        }
        self.invalid(template).map(|s| s.reasons).hash(key);
    }

    fn reads_labels(&self, snap: &Snapshot, pod: &Pod) -> bool {
        !pod.template.affinity.is_empty() || snap.peers.seen(&pod.template).is_some()
    }

    fn pre_filter(&self, snap: &Snapshot, pod: &Pod) -> PreFilter {
        if let Some(status) = self.invalid(&pod.template) {
            return PreFilter::Reject(status);
        }
        match filter::Hard::new(snap, &pod.template) {
            None => PreFilter::Skip,
            Some(filter) => PreFilter::Run {
                filter: Box::new(filter),
                nodes: None,
            },
        }
    }

    fn pre_score(&self, snap: &Snapshot, pod: &Pod, _: &[Row]) -> PreScore {
        if self.own_terms_only && !has_wishes(&pod.template) {
            return PreScore::Skip;
        }
        match score::Soft::new(snap, &pod.template, self.hard_weight) {
            None => PreScore::Skip,
            Some(score) => PreScore::Run(Box::new(score)),
        }
    }

    fn affects(&self, snap: &Snapshot, placed: &Template, pod: &Pod) -> Affects {
        let (own, theirs) = (&pod.template.affinity, &placed.affinity);
        let mut affects = Affects::Nothing;
        if !own.required.is_empty() && own.required.iter().all(|t| selects(t, snap, placed)) {
            // The first pod that is selected ends the exception for pods that select themselves.
            return Affects::Every;
        }
        let own_soft = own.preferred.iter().chain(&own.preferred_anti);
        let own = own.required_anti.iter().chain(own_soft.map(|w| &w.term));
        let own = own.filter(|term| selects(term, snap, placed));
        let theirs = theirs.all().filter(|t| selects(t, snap, &pod.template));
        for term in own.chain(theirs) {
            affects = affects.and(Affects::Domain(term.topology_key));
        }
        affects
    }

    fn can_wake(&self) -> bool {
        true
    }

    fn wakes(&self, snap: &Snapshot, placed: &Template, pod: &Pod, at: Point) -> bool {
        if crate::mutation::active("wakes: InterPodAffinity") {
            return false;
        }
        if placed.affinity.is_empty() && pod.template.affinity.is_empty() {
            return false;
        }
        let placed = (placed.namespace, &placed.labels, &placed.affinity);
        self.meet(snap, placed, pod, at)
    }

    /// A term that brings the pod together with another says nothing while the other's node has not its key.
    fn wakes_with_node(&self, snap: &Snapshot, pod: &Pod, at: Point) -> bool {
        if crate::mutation::active("wakes with node: InterPodAffinity") {
            return false;
        }
        let has_terms = !pod.template.affinity.is_empty();
        let mut placed = snap.peers.met_by(has_terms).map(|(_, peer)| &peer.key);
        placed.any(|key| self.meet(snap, (key.namespace, &key.labels, &key.terms), pod, at))
    }
}
