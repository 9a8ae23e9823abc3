//! Label sets and the selectors that match them: Kubernetes' label selector semantics over symbols.

use crate::intern::{Interner, Symbol};
use crate::object::{LabelSelector, SelectorRequirement};
use std::sync::Arc;

/// Labels of an object, sorted by key symbol; clones share them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Labels(Arc<[(Symbol, Symbol)]>);

impl Labels {
    pub fn new<'a>(
        pairs: impl IntoIterator<Item = (&'a String, &'a String)>,
        interner: &mut Interner,
    ) -> Labels {
        let pairs = pairs.into_iter();
        Labels::of(pairs.map(|(k, v)| (interner.intern(k), interner.intern(v))))
    }

    /// Each key once, in any order.
    pub fn of(pairs: impl IntoIterator<Item = (Symbol, Symbol)>) -> Labels {
        let mut list: Vec<_> = pairs.into_iter().collect();
        list.sort_unstable();
        Labels(list.into())
    }

    pub fn get(&self, key: Symbol) -> Option<Symbol> {
        // Label sets are short: a scan beats a binary search up to a few dozen entries.
        self.0.iter().find(|(k, _)| *k == key).map(|(_, v)| *v)
    }

    pub fn iter(&self) -> impl Iterator<Item = (Symbol, Symbol)> + '_ {
        self.0.iter().copied()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The labels whose keys satisfy `keep`.
    pub fn project(&self, keep: impl Fn(Symbol) -> bool) -> Labels {
        Labels(self.0.iter().copied().filter(|(k, _)| keep(*k)).collect())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operator {
    In,
    NotIn,
    Exists,
    DoesNotExist,
    Gt,
    Lt,
}

/// One compiled requirement on a label or a node field.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Requirement {
    pub key: Symbol,
    pub operator: Operator,
    pub values: Box<[Symbol]>,
    /// The single value of Gt and Lt as a number.
    number: i64,
}

impl Requirement {
    /// Compiles as apimachinery's `labels.NewRequirement` does; the error is its reason to refuse.
    pub fn new(source: &SelectorRequirement, interner: &mut Interner) -> Result<Self, String> {
        let operator = match source.operator.as_str() {
            "In" => Operator::In,
            "NotIn" => Operator::NotIn,
            "Exists" => Operator::Exists,
            "DoesNotExist" => Operator::DoesNotExist,
            "Gt" => Operator::Gt,
            "Lt" => Operator::Lt,
            other => {
                return Err(format!(
                    "\"{other}\" is not a valid label selector operator"
                ));
            }
        };
        let count = source.values.len();
        let mut number = 0;
        match operator {
            Operator::In | Operator::NotIn if count == 0 => {
                return Err("for 'in', 'notin' operators, values set can't be empty".into());
            }
            Operator::Exists | Operator::DoesNotExist if count > 0 => {
                return Err("values set must be empty for exists and does not exist".into());
            }
            Operator::Gt | Operator::Lt => {
                let [value] = source.values.as_slice() else {
                    return Err("for 'Gt', 'Lt' operators, exactly one value is required".into());
                };
                number = value.parse().map_err(|_| {
                    "for 'Gt', 'Lt' operators, the value must be an integer".to_owned()
                })?;
            }
            _ => {}
        }
        for (at, value) in source.values.iter().enumerate() {
            check_value(value).map_err(|why| {
                format!(
                    "values[{at}][{}]: Invalid value: \"{value}\": {why}",
                    source.key
                )
            })?;
        }
        let mut values: Vec<_> = source.values.iter().map(|v| interner.intern(v)).collect();
        values.sort_unstable();
        values.dedup();
        let key = interner.intern(&source.key);
        Ok(Requirement {
            key,
            operator,
            values: values.into(),
            number,
        })
    }

    /// `key = value`, the form of `matchLabels` and of a node selector.
    pub fn equals(key: Symbol, value: Symbol) -> Self {
        Requirement {
            key,
            operator: Operator::In,
            values: [value].into(),
            number: 0,
        }
    }

    pub fn matches(&self, value: Option<Symbol>, interner: &Interner) -> bool {
        match (self.operator, value) {
            (Operator::In, Some(v)) => self.values.contains(&v),
            (Operator::NotIn, Some(v)) => !self.values.contains(&v),
            (Operator::Exists, Some(_)) => true,
            (Operator::DoesNotExist, Some(_)) => false,
            (Operator::Gt, Some(v)) => interner.number(v).is_some_and(|n| n > self.number),
            (Operator::Lt, Some(v)) => interner.number(v).is_some_and(|n| n < self.number),
            (Operator::NotIn | Operator::DoesNotExist, None) => true,
            (Operator::In | Operator::Exists | Operator::Gt | Operator::Lt, None) => false,
        }
    }
}

/// What a label value must be; apimachinery refuses requirements on others.
fn check_value(value: &str) -> Result<(), &'static str> {
    let inner = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    let edge = |b: Option<u8>| b.is_none_or(|b| b.is_ascii_alphanumeric());
    if value.len() > 63 {
        return Err("must be no more than 63 bytes");
    }
    if value.bytes().all(inner) && edge(value.bytes().next()) && edge(value.bytes().last()) {
        return Ok(());
    }
    Err(
        "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', \
         and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or \
         '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
    )
}

/// A compiled `metav1.LabelSelector`: a nil selector matches nothing, an empty one everything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Selector {
    #[default]
    Nothing,
    All(Box<[Requirement]>),
}

impl Selector {
    pub fn new(source: Option<&LabelSelector>, interner: &mut Interner) -> Result<Self, String> {
        let Some(source) = source else {
            return Ok(Selector::Nothing);
        };
        let mut list = Self::equalities(&source.match_labels, interner);
        for expression in &source.match_expressions {
            list.push(Requirement::new(expression, interner)?);
        }
        Ok(Selector::All(list.into()))
    }

    /// The AND of `key = value` over a map, in key order.
    pub fn equalities<'a>(
        pairs: impl IntoIterator<Item = (&'a String, &'a String)>,
        interner: &mut Interner,
    ) -> Vec<Requirement> {
        pairs
            .into_iter()
            .map(|(k, v)| Requirement::equals(interner.intern(k), interner.intern(v)))
            .collect()
    }

    /// Whether this is the selector `{}`, which has no requirement at all.
    pub fn is_empty(&self) -> bool {
        matches!(self, Selector::All(list) if list.is_empty())
    }

    pub fn matches(&self, labels: &Labels, interner: &Interner) -> bool {
        match self {
            Selector::Nothing => false,
            Selector::All(list) => list.iter().all(|r| r.matches(labels.get(r.key), interner)),
        }
    }

    /// This selector AND `more`; a selector that matches nothing stays so.
    pub fn and(self, more: impl IntoIterator<Item = Requirement>) -> Self {
        match self {
            Selector::Nothing => Selector::Nothing,
            Selector::All(list) => Selector::All(list.into_vec().into_iter().chain(more).collect()),
        }
    }

    /// The label keys that this selector reads.
    pub fn keys(&self) -> impl Iterator<Item = Symbol> + '_ {
        let list: &[Requirement] = match self {
            Selector::Nothing => &[],
            Selector::All(list) => list,
        };
        list.iter().map(|r| r.key)
    }
}
