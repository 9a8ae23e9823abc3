//! Members of which no two may be in one place: there must be as many places as members.

use super::bounds::Nodes;
use super::problem::Problem;
use crate::engine::Engine;
use crate::intern::Symbol;
use crate::snapshot::{Pod, Row, Snapshot};
use rustc_hash::FxHashSet;

/// What two members cannot share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Node,
    /// A domain of a topology key.
    Domain(Symbol),
}

/// Classes each of whose members keeps all others away.
#[derive(Debug)]
pub(super) struct Apart {
    place: Place,
    classes: Vec<usize>,
}

impl Apart {
    /// One such set for every place that required anti-affinity or a host port of members names.
    pub(super) fn of(engine: &Engine, problem: &Problem) -> Vec<Apart> {
        let snap = &engine.snap;
        let pods: Vec<&Pod> = problem
            .classes
            .iter()
            .map(|class| &snap.pods[class.members[0]])
            .collect();
        let Some((_, profile)) = problem
            .classes
            .first()
            .and_then(|class| engine.profile_of(class.members[0]))
        else {
            return Vec::new();
        };
        let filters = |name: &str| profile.filter.iter().any(|plugin| plugin.name() == name);
        let mut places: Vec<Place> = Vec::new();
        if filters("NodePorts") && pods.iter().any(|pod| !pod.template.ports.is_empty()) {
            places.push(Place::Node);
        }
        if filters("InterPodAffinity") {
            let terms = pods
                .iter()
                .flat_map(|pod| &pod.template.affinity.required_anti);
            for term in terms {
                let place = Place::Domain(term.topology_key);
                if !places.contains(&place) {
                    places.push(place);
                }
            }
        }
        let sets = places.into_iter().map(|place| {
            let mut classes: Vec<usize> = Vec::new();
            for (class, pod) in pods.iter().enumerate() {
                let alone = problem.classes[class].members.len() == 1;
                let mut others = classes.iter().map(|other| pods[*other]);
                let keeps_away = |other: &Pod| keep_apart(snap, place, pod, other);
                if (alone || keeps_away(pod)) && others.all(keeps_away) {
                    classes.push(class);
                }
            }
            Apart { place, classes }
        });
        sets.filter(|set| !set.classes.is_empty()).collect()
    }

    /// Whether there are fewer places than members of these classes that must be placed, given those that are
    /// `left`, by class, how many of all of them are needed, and where each class may go.
    pub(super) fn exceeds(
        &self,
        snap: &Snapshot,
        rows: &[Row],
        (left, need): (&[usize], usize),
        open: &[Nodes],
    ) -> bool {
        let among: usize = self.classes.iter().map(|class| left[*class]).sum();
        let must = need.saturating_sub(left.iter().sum::<usize>() - among);
        if must == 0 {
            return false;
        }
        let mut nodes = Nodes::none(rows.len());
        for class in self.classes.iter().filter(|class| left[**class] > 0) {
            nodes.extend(&open[*class]);
        }
        let Place::Domain(key) = self.place else {
            return nodes.iter().count() < must;
        };
        let domains = snap.topology.known(key);
        let mut seen = FxHashSet::default();
        for at in nodes.iter() {
            match domains.and_then(|domains| domains.of(rows[at])) {
                Some(domain) => seen.insert(domain),
                // Where the label is missing nobody is kept away.
                None => return false,
            };
            if seen.len() >= must {
                return false;
            }
        }
        true
    }
}

/// Whether one of two pods keeps the other away, of whichever comes first.
fn keep_apart(snap: &Snapshot, place: Place, one: &Pod, other: &Pod) -> bool {
    match place {
        Place::Node => one
            .template
            .ports
            .iter()
            .any(|port| other.template.ports.contains(port)),
        Place::Domain(key) => refuses(snap, key, one, other) || refuses(snap, key, other, one),
    }
}

fn refuses(snap: &Snapshot, key: Symbol, one: &Pod, other: &Pod) -> bool {
    let (namespace, labels) = (other.template.namespace, &other.template.labels);
    let around = snap.namespace_labels(namespace);
    let mut terms = one.template.affinity.required_anti.iter();
    terms.any(|term| {
        term.topology_key == key && term.matches(namespace, around, labels, &snap.interner)
    })
}
