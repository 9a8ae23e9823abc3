//! From which nodes a volume, a pool of free space or a storage class can be used.

use crate::intern::{Interner, Symbol};
use crate::object;
use crate::selector::{Labels, Operator, Requirement, Selector};
use crate::snapshot::nodes::{Nodes, Row};
use crate::snapshot::topology::{DomainId, Topology};
use crate::template::NodeTerm;

/// What compiling writes to.
#[derive(Debug)]
pub(in crate::snapshot) struct Tables<'a> {
    pub(in crate::snapshot) interner: &'a mut Interner,
    pub(in crate::snapshot) topology: &'a mut Topology,
    pub(in crate::snapshot) nodes: &'a Nodes,
}

/// ORed terms over the labels of nodes.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Reach {
    /// `None`: every node. The terms that can match; none of them means no node at all.
    terms: Option<Box<[NodeTerm]>>,
    anchor: Option<Anchor>,
}

/// A node label whose value must be among a few wherever the terms match, so that the nodes that come
/// into question are found by it.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct Anchor {
    pub key: Symbol,
    /// The domains of the values; known here even where no node has the value yet.
    pub domains: Box<[DomainId]>,
    /// The terms ask for nothing else.
    pub exact: bool,
}

impl Reach {
    /// The node affinity of a volume. Upstream matches it against labels only: requirements on fields
    /// are parsed, but hold for every node.
    pub(super) fn of_affinity(
        source: Option<&object::NodeSelector>,
        tables: &mut Tables<'_>,
    ) -> Self {
        let terms = source.map(|required| {
            let terms = required.node_selector_terms.iter();
            let compile = |term| NodeTerm {
                fields: Box::default(),
                ..NodeTerm::new(term, false, tables.interner)
            };
            terms.map(compile).collect()
        });
        Self::new(terms, tables)
    }

    /// The allowed topologies of a class: none listed means everywhere, an empty term matches nothing.
    pub(super) fn of_topologies(
        source: &[object::TopologySelectorTerm],
        tables: &mut Tables<'_>,
    ) -> Self {
        let terms = source.iter().map(|term| {
            let requirement =
                |r: &object::TopologySelectorRequirement| object::SelectorRequirement {
                    key: r.key.clone(),
                    operator: "In".to_owned(),
                    values: r.values.clone(),
                };
            let term = object::NodeSelectorTerm {
                match_expressions: term
                    .match_label_expressions
                    .iter()
                    .map(requirement)
                    .collect(),
                match_fields: Vec::new(),
            };
            NodeTerm::new(&term, false, tables.interner)
        });
        let terms: Vec<_> = terms.collect();
        Self::new((!terms.is_empty()).then_some(terms), tables)
    }

    /// The nodes of a CSIStorageCapacity: a missing selector, and one that cannot be parsed, select none.
    pub(super) fn of_selector(
        source: Option<&object::LabelSelector>,
        tables: &mut Tables<'_>,
    ) -> Self {
        let terms = match Selector::new(source, tables.interner) {
            Ok(Selector::All(list)) if list.is_empty() => None,
            Ok(Selector::All(expressions)) => Some(vec![NodeTerm {
                expressions,
                fields: Box::default(),
                valid: true,
            }]),
            Ok(Selector::Nothing) | Err(_) => Some(Vec::new()),
        };
        Self::new(terms, tables)
    }

    fn new(terms: Option<Vec<NodeTerm>>, tables: &mut Tables<'_>) -> Self {
        let terms: Option<Box<[_]>> =
            terms.map(|terms| terms.into_iter().filter(|term| term.valid).collect());
        let anchor = terms
            .as_deref()
            .and_then(|terms| Anchor::new(terms, tables));
        Reach { terms, anchor }
    }

    pub fn anchor(&self) -> Option<&Anchor> {
        self.anchor.as_ref()
    }

    pub fn is_everywhere(&self) -> bool {
        self.terms.is_none()
    }

    /// Whether no node can ever match.
    pub fn is_nowhere(&self) -> bool {
        self.terms.as_ref().is_some_and(|terms| terms.is_empty())
    }

    pub fn matches(&self, labels: &Labels, interner: &Interner) -> bool {
        self.terms.as_ref().is_none_or(|terms| {
            let mut terms = terms.iter();
            terms.any(|term| term.matches(Symbol::EMPTY, labels, None, interner))
        })
    }
}

impl Anchor {
    /// The key that every term restricts to given values, with the fewest values.
    fn new(terms: &[NodeTerm], tables: &mut Tables<'_>) -> Option<Self> {
        let (first, others) = terms.split_first()?;
        let mut best: Option<Vec<&Requirement>> = None;
        let size = |found: &[&Requirement]| -> usize { found.iter().map(|r| r.values.len()).sum() };
        for candidate in first
            .expressions
            .iter()
            .filter(|r| r.operator == Operator::In)
        {
            let same = |term: &'_ NodeTerm| -> Option<usize> {
                let mut expressions = term.expressions.iter();
                expressions.position(|r| r.operator == Operator::In && r.key == candidate.key)
            };
            let places: Option<Vec<_>> = others.iter().map(same).collect();
            let Some(places) = places else { continue };
            let rest = others
                .iter()
                .zip(places)
                .map(|(term, at)| &term.expressions[at]);
            let found: Vec<_> = std::iter::once(candidate).chain(rest).collect();
            if best.as_ref().is_none_or(|best| size(&found) < size(best)) {
                best = Some(found);
            }
        }
        let best = best?;
        let key = best[0].key;
        let values = best.iter().flat_map(|r| r.values.iter());
        let mut domains: Vec<_> = values
            .map(|value| tables.topology.ensure_domain(key, *value, tables.nodes))
            .collect();
        domains.sort_unstable();
        domains.dedup();
        Some(Anchor {
            key,
            domains: domains.into(),
            exact: terms.iter().all(|term| term.expressions.len() == 1),
        })
    }
}

/// [`Reach`] made ready for judging many rows.
#[derive(Debug)]
pub struct Test<'a> {
    reach: &'a Reach,
    /// The domains of the rows by an exact anchor's key, and the anchor's own.
    column: Option<(&'a [DomainId], &'a [DomainId])>,
}

impl<'a> Test<'a> {
    pub fn new(reach: &'a Reach, topology: &'a Topology) -> Self {
        let exact = reach.anchor.as_ref().filter(|anchor| anchor.exact);
        let column =
            |anchor: &'a Anchor| (topology.domains(anchor.key).of_rows(), &*anchor.domains);
        Test {
            reach,
            column: exact.map(column),
        }
    }

    pub fn accepts(&self, row: Row, nodes: &Nodes, interner: &Interner) -> bool {
        match self.column {
            Some((of_rows, own)) => of_rows
                .get(row as usize)
                .is_some_and(|domain| own.contains(domain)),
            None => {
                self.reach.is_everywhere() || self.reach.matches(&nodes.info(row).labels, interner)
            }
        }
    }
}
