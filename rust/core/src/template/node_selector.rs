use crate::intern::{Interner, Symbol};
use crate::object::{self, PodSpec};
use crate::selector::{Labels, Operator, Requirement, Selector};

/// Where a pod may and would like to run, by node labels and name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct NodeTerms {
    /// `spec.nodeSelector`; `None` and empty differ (NodeAffinity's Skip).
    pub selector: Option<Box<[Requirement]>>,
    /// ORed required terms; `Some([])` matches no node.
    pub required: Option<Box<[NodeTerm]>>,
    pub preferred: Option<Box<[PreferredTerm]>>,
    /// Why the first preferred term that counts cannot be parsed: an error of the whole cycle, while such
    /// a required term only matches nothing.
    pub preferred_error: Option<Box<str>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PreferredTerm {
    pub weight: i32,
    pub term: NodeTerm,
}

/// One term: all its parts must hold. A term without parts, or one that cannot be parsed, matches nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct NodeTerm {
    pub expressions: Box<[Requirement]>,
    pub fields: Box<[FieldRequirement]>,
    pub valid: bool,
}

/// A requirement on `metadata.name`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FieldRequirement {
    /// The name is the pod's own pin, kept outside the template so that a DaemonSet's pods share one.
    Pinned,
    Is(Symbol),
    IsNot(Symbol),
}

impl NodeTerms {
    pub(super) fn new(spec: &PodSpec, interner: &mut Interner) -> Self {
        let affinity = spec
            .affinity
            .as_ref()
            .and_then(|a| a.node_affinity.as_ref());
        let pinned = pin(spec).is_some();
        let preferred = affinity.and_then(|a| a.preferred.as_ref());
        let counts = |p: &&object::PreferredSchedulingTerm| p.weight != 0;
        let error = preferred
            .into_iter()
            .flatten()
            .filter(counts)
            .enumerate()
            .find_map(|(at, p)| {
                let error = NodeTerm::compile(&p.preference, false, interner)
                    .err()
                    .flatten()?;
                Some(format!("[{at}].{error}").into())
            });
        NodeTerms {
            preferred_error: error,
            selector: spec
                .node_selector
                .as_ref()
                .map(|map| Selector::equalities(map, interner).into()),
            required: affinity.and_then(|a| a.required.as_ref()).map(|required| {
                let terms = required.node_selector_terms.iter();
                terms.map(|t| NodeTerm::new(t, pinned, interner)).collect()
            }),
            preferred: preferred.map(|preferred| {
                let compile = |p: &object::PreferredSchedulingTerm| PreferredTerm {
                    weight: p.weight,
                    term: NodeTerm::new(&p.preference, false, interner),
                };
                preferred.iter().map(compile).collect()
            }),
        }
    }

    /// The keys of the node labels that any of it reads.
    pub fn label_keys(&self) -> impl Iterator<Item = Symbol> + '_ {
        let required = self.required.iter().flatten();
        let preferred = self.preferred.iter().flatten().map(|p| &p.term);
        let terms = required.chain(preferred).flat_map(|term| &term.expressions);
        self.selector.iter().flatten().chain(terms).map(|r| r.key)
    }

    /// Whether the node selector and the required terms accept a node.
    pub fn accepts(
        &self,
        name: Symbol,
        labels: &Labels,
        pin: Option<Symbol>,
        interner: &Interner,
    ) -> bool {
        let selector = self.selector.iter().flatten();
        selector
            .into_iter()
            .all(|r| r.matches(labels.get(r.key), interner))
            && self
                .required
                .as_ref()
                .is_none_or(|terms| terms.iter().any(|t| t.matches(name, labels, pin, interner)))
    }
}

/// The one node name that a pod's only required term pins it to, as a DaemonSet's controller does.
pub(crate) fn pin(spec: &PodSpec) -> Option<&str> {
    let required = spec
        .affinity
        .as_ref()?
        .node_affinity
        .as_ref()?
        .required
        .as_ref()?;
    let [term] = required.node_selector_terms.as_slice() else {
        return None;
    };
    let [field] = term.match_fields.as_slice() else {
        return None;
    };
    let [name] = field.values.as_slice() else {
        return None;
    };
    (field.key == "metadata.name" && field.operator == "In").then_some(name)
}

impl NodeTerm {
    pub fn new(source: &object::NodeSelectorTerm, pinned: bool, interner: &mut Interner) -> Self {
        Self::compile(source, pinned, interner).unwrap_or_default()
    }

    /// The error of an empty term is `None`: it matches nothing, and nobody complains.
    fn compile(
        source: &object::NodeSelectorTerm,
        pinned: bool,
        interner: &mut Interner,
    ) -> Result<Self, Option<String>> {
        if source.match_expressions.is_empty() && source.match_fields.is_empty() {
            return Err(None);
        }
        let mut expressions = Vec::with_capacity(source.match_expressions.len());
        for (at, expression) in source.match_expressions.iter().enumerate() {
            let compiled = Requirement::new(expression, interner);
            expressions
                .push(compiled.map_err(|why| Some(format!("matchExpressions[{at}].{why}")))?);
        }
        let mut fields = Vec::with_capacity(source.match_fields.len());
        for (at, field) in source.match_fields.iter().enumerate() {
            let invalid = || {
                Some(format!(
                    "matchFields[{at}]: not a valid field selector requirement"
                ))
            };
            let [value] = field.values.as_slice() else {
                return Err(invalid());
            };
            let value = interner.intern(value);
            fields.push(match (field.key.as_str(), field.operator.as_str()) {
                ("metadata.name", "In") if pinned => FieldRequirement::Pinned,
                ("metadata.name", "In") => FieldRequirement::Is(value),
                ("metadata.name", "NotIn") => FieldRequirement::IsNot(value),
                _ => return Err(invalid()),
            });
        }
        Ok(NodeTerm {
            expressions: expressions.into(),
            fields: fields.into(),
            valid: true,
        })
    }

    pub fn matches(
        &self,
        name: Symbol,
        labels: &Labels,
        pin: Option<Symbol>,
        interner: &Interner,
    ) -> bool {
        self.valid
            && self
                .expressions
                .iter()
                .all(|r| r.matches(labels.get(r.key), interner))
            && self.fields.iter().all(|field| match *field {
                FieldRequirement::Pinned => pin == Some(name),
                FieldRequirement::Is(value) => value == name,
                FieldRequirement::IsNot(value) => value != name,
            })
    }

    /// The label keys read by the expressions.
    pub fn keys(&self) -> impl Iterator<Item = (Symbol, Operator)> + '_ {
        self.expressions.iter().map(|r| (r.key, r.operator))
    }
}
