//! NodeAffinity: node selector, required and preferred node affinity, and what the profile adds.

mod preferred;
mod required;

use super::resource_spec;
use crate::hints::{Happening, NodeFacts};
use crate::intern::{Interner, Symbol};
use crate::object;
use crate::plugin::{Affects, KeyWriter, Plugin, PreFilter, PreScore};
use crate::snapshot::{Change, Pod, Row, Snapshot};
use crate::status::Status;
use crate::template::{FieldRequirement, NodeTerm, PreferredTerm, Template};
use preferred::Preferred;
use required::Required;
use serde::Deserialize;
use serde_json::Value;
use std::hash::Hash;
use std::sync::Arc;

pub(super) const NAME: &str = "NodeAffinity";
const REASON: &str = "node(s) didn't match Pod's node affinity/selector";
const REASON_ENFORCED: &str = "node(s) didn't match scheduler-enforced node affinity";
const REASON_CONFLICT: &str = "pod affinity terms conflict";

#[derive(Debug)]
struct NodeAffinity {
    /// `addedAffinity`: required terms, ORed, and preferred ones.
    required: Option<Arc<[NodeTerm]>>,
    preferred: Box<[PreferredTerm]>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Args {
    added_affinity: Option<object::NodeAffinity>,
}

pub(super) fn new(snap: &mut Snapshot, args: &Value) -> Result<Arc<dyn Plugin>, String> {
    let args: Args = resource_spec::read(args)?;
    let added = args.added_affinity.unwrap_or_default();
    let interner = &mut snap.interner;
    let required = added.required.map(|selector| {
        let terms = selector.node_selector_terms.iter().enumerate();
        let compiled = terms.map(|(i, source)| {
            let path = "requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms";
            added_term(source, &format!("{path}[{i}]"), interner)
        });
        compiled.collect::<Result<Arc<[_]>, String>>()
    });
    let required = required.transpose()?;
    let preferred = added.preferred.iter().flatten().enumerate();
    let compiled = preferred.map(|(i, source)| {
        let path = format!("preferredDuringSchedulingIgnoredDuringExecution[{i}].preference");
        Ok(PreferredTerm {
            weight: source.weight,
            term: added_term(&source.preference, &path, interner)?,
        })
    });
    Ok(Arc::new(NodeAffinity {
        required,
        preferred: compiled.collect::<Result<_, String>>()?,
    }))
}

/// A term without parts matches nothing, as in a pod; one that cannot be parsed is refused.
fn added_term(
    source: &object::NodeSelectorTerm,
    path: &str,
    interner: &mut Interner,
) -> Result<NodeTerm, String> {
    let term = NodeTerm::new(source, false, interner);
    let has_parts = !source.match_expressions.is_empty() || !source.match_fields.is_empty();
    if has_parts && !term.valid {
        return Err(format!(
            "addedAffinity.{path}: an expression has a wrong key, operator or number of values"
        ));
    }
    Ok(term)
}

impl Plugin for NodeAffinity {
    fn name(&self) -> &'static str {
        NAME
    }

    fn helped_by(&self, snap: &Snapshot, pod: &Pod, what: &Happening<'_>) -> bool {
        let Some((before, after)) = what.standing_node() else {
            return true;
        };
        let added = self.required.as_ref().is_none_or(|terms| {
            let labels = &after.info.labels;
            let mut terms = terms.iter();
            terms.any(|term| term.matches(after.name, labels, None, &snap.interner))
        });
        let accepts = |facts: &NodeFacts| {
            let own = &pod.template.node_affinity;
            own.accepts(facts.name, &facts.info.labels, pod.pin, &snap.interner)
        };
        added && accepts(after) && before.is_none_or(|before| !accepts(before))
    }

    fn key(&self, _: &Snapshot, pod: &Pod, key: &mut KeyWriter) {
        pod.template.node_affinity.hash(key);
        pod.pin.hash(key);
    }

    fn pre_filter(&self, _: &Snapshot, pod: &Pod) -> PreFilter {
        let terms = &pod.template.node_affinity;
        if terms.required.is_none() && self.required.is_none() && terms.selector.is_none() {
            return PreFilter::Skip;
        }
        let nodes = named(terms.required.as_deref().unwrap_or_default(), pod.pin);
        if nodes.as_ref().is_some_and(Vec::is_empty) {
            return PreFilter::Reject(Status::unresolvable(REASON_CONFLICT));
        }
        let filter = Required {
            added: self.required.clone(),
            template: Arc::clone(&pod.template),
            pin: pod.pin,
        };
        PreFilter::Run {
            filter: Box::new(filter),
            nodes,
        }
    }

    fn pre_score(&self, _: &Snapshot, pod: &Pod, _: &[Row]) -> PreScore {
        let own = &pod.template.node_affinity.preferred;
        if own.is_none() && self.preferred.is_empty() {
            return PreScore::Skip;
        }
        if let Some(error) = &pod.template.node_affinity.preferred_error {
            return PreScore::Reject(Status::error(error.to_string()));
        }
        // A term of weight 0 or without parts adds nothing; so does one that cannot be parsed.
        let counts = |p: &&PreferredTerm| p.weight != 0 && p.term.valid;
        let terms = self.preferred.iter().chain(own.iter().flatten());
        PreScore::Run(Box::new(Preferred {
            terms: terms.filter(counts).cloned().collect(),
        }))
    }

    fn affects(&self, _: &Snapshot, _: &Template, _: &Pod) -> Affects {
        Affects::Nothing
    }
}

/// The node names that the required terms allow, if every term names some: within a term all
/// requirements on the name hold together, terms are alternatives.
fn named(terms: &[NodeTerm], pin: Option<Symbol>) -> Option<Vec<Symbol>> {
    if terms.is_empty() {
        return None;
    }
    let mut all = Vec::new();
    for term in terms {
        let names = term.fields.iter().filter_map(|field| match *field {
            FieldRequirement::Pinned => pin,
            FieldRequirement::Is(name) => Some(name),
            FieldRequirement::IsNot(_) => None,
        });
        let mut names = names.peekable();
        let first = *names.peek()?;
        if names.all(|name| name == first) && !all.contains(&first) {
            all.push(first);
        }
    }
    Some(all)
}

fn follow(change: &Change) -> Affects {
    match change {
        Change::Node { .. } => Affects::Node,
        _ => Affects::Nothing,
    }
}
