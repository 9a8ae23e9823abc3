//! One row per node, structure of arrays.

use super::column::Column;
use super::pods::PodId;
use crate::hints::NodeFacts;
use crate::intern::{Interner, Symbol};
use crate::object;
use crate::resources::{Amounts, ResourceId, ResourceNames};
use crate::selector::Labels;
use crate::template::{HostPort, decimal};
use rustc_hash::FxHashMap;

/// A node's place in every column. Rows of removed nodes are reused.
pub type Row = u32;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Taint {
    pub key: Symbol,
    pub value: Symbol,
    /// The value as a number, where it is one.
    pub number: Option<i64>,
    pub effect: Effect,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effect {
    NoSchedule,
    PreferNoSchedule,
    NoExecute,
    /// An effect that this version does not know; it keeps nobody away.
    Other,
}

/// What a node says of itself besides amounts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeInfo {
    pub labels: Labels,
    pub taints: Box<[Taint]>,
    pub unschedulable: bool,
    /// Normalised image name and the size this node reports.
    pub images: Box<[(Symbol, i64)]>,
    pub features: Box<[Symbol]>,
}

/// Allocatable amounts from which percentages are not computed in floating point: below it the floor
/// of a percentage, taken with half a unit of 1/allocatable to spare, is that of the exact quotient.
pub const PERCENT_LIMIT: i64 = 1 << 43;

#[derive(Debug, Default)]
pub struct Nodes {
    pub names: Vec<Symbol>,
    pub live: Vec<bool>,
    pub info: Vec<NodeInfo>,
    /// Rows that are cordoned, have a taint that keeps pods away, or one that asks them to stay away:
    /// usually few of many, so that nobody need look at the others.
    pub cordoned: RowSet,
    pub repelling: RowSet,
    pub discouraging: RowSet,
    /// By resource, then by row.
    pub allocatable: Vec<Column>,
    pub requested: Vec<Column>,
    /// What part of a resource one unit is, in percent: 100 / allocatable. NaN on a node where that is
    /// 0, negative or at least [`PERCENT_LIMIT`]; 0 on rows that are no node.
    pub percent: Vec<Column<f64>>,
    /// Requested cpu and memory with defaults for containers that do not say.
    pub nonzero: [Column; 2],
    pub allowed_pods: Column,
    pub pod_count: Column,
    pub pods: Vec<Vec<PodId>>,
    /// Host ports in use. A set, as upstream: a port that two pods share is free once either leaves.
    pub ports: Vec<Vec<HostPort>>,
    rows: FxHashMap<Symbol, Row>,
    free: Vec<Row>,
    /// Per row, which of all touches was its last.
    versions: Vec<u64>,
    touches: u64,
}

impl Nodes {
    /// One more than the highest row ever used; some rows below may not be live.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// How many nodes there are.
    pub fn count(&self) -> usize {
        self.rows.len()
    }

    pub fn row(&self, name: Symbol) -> Option<Row> {
        self.rows.get(&name).copied()
    }

    pub fn info(&self, row: Row) -> &NodeInfo {
        &self.info[row as usize]
    }

    /// What a node says of itself now.
    pub fn facts(&self, row: Row) -> NodeFacts {
        let (allocatable, allowed_pods) = self.amounts(row);
        NodeFacts {
            name: self.name(row),
            info: self.info(row).clone(),
            allocatable,
            allowed_pods,
        }
    }

    /// Allocatable amounts by resource, and the number of pods allowed.
    pub(super) fn amounts(&self, row: Row) -> (Vec<i64>, i64) {
        let amounts = self.allocatable.iter().map(|column| column[row as usize]);
        (amounts.collect(), self.allowed_pods[row as usize])
    }

    pub fn name(&self, row: Row) -> Symbol {
        self.names[row as usize]
    }

    /// Changes whenever the node of a row or the pods on it do, and is never the same again; moves that an
    /// overlay undoes count, those of a dry run do not.
    pub fn version(&self, row: Row) -> u64 {
        self.versions[row as usize]
    }

    pub(super) fn touch(&mut self, row: Row) {
        self.touches += 1;
        self.versions[row as usize] = self.touches;
    }

    pub fn allocatable(&self, id: ResourceId, row: Row) -> i64 {
        self.allocatable
            .get(id.0 as usize)
            .map_or(0, |c| c[row as usize])
    }

    pub fn requested(&self, id: ResourceId, row: Row) -> i64 {
        self.requested
            .get(id.0 as usize)
            .map_or(0, |c| c[row as usize])
    }

    /// The row for a node of this name, made live; a new row's columns are zero.
    pub(super) fn claim_row(&mut self, name: Symbol) -> Row {
        if let Some(row) = self.row(name) {
            return row;
        }
        let row = self.free.pop().unwrap_or_else(|| self.push_row());
        self.names[row as usize] = name;
        self.live[row as usize] = true;
        self.rows.insert(name, row);
        row
    }

    fn push_row(&mut self) -> Row {
        let row = Row::try_from(self.names.len()).expect("fewer than 2^32 nodes");
        self.names.push(Symbol::EMPTY);
        self.live.push(false);
        self.info.push(NodeInfo::default());
        self.pods.push(Vec::new());
        self.ports.push(Vec::new());
        self.versions.push(0);
        let len = self.names.len();
        for column in self
            .allocatable
            .iter_mut()
            .chain(&mut self.requested)
            .chain(&mut self.nonzero)
        {
            column.grow(len);
        }
        for column in &mut self.percent {
            column.grow(len);
        }
        self.allowed_pods.grow(len);
        self.pod_count.grow(len);
        row
    }

    /// Its pods must have been taken off before.
    pub(super) fn release_row(&mut self, row: Row) {
        debug_assert!(
            self.pods[row as usize].is_empty(),
            "a released row holds no pods"
        );
        self.rows.remove(&self.name(row));
        self.live[row as usize] = false;
        self.names[row as usize] = Symbol::EMPTY;
        self.set_allocatable(row, &Amounts::default());
        for column in &mut self.percent {
            column.set(row, 0.0);
        }
        self.allowed_pods.set(row, 0);
        self.free.push(row);
    }

    /// Replaces what a node says of itself; returns what it said before.
    pub(super) fn set_info(&mut self, row: Row, info: NodeInfo) -> NodeInfo {
        self.cordoned.set(row, info.unschedulable);
        self.repelling
            .set(row, info.taints.iter().any(|t| t.effect.repels()));
        let discourages = |t: &Taint| t.effect == Effect::PreferNoSchedule;
        self.discouraging
            .set(row, info.taints.iter().any(discourages));
        std::mem::replace(&mut self.info[row as usize], info)
    }

    pub(super) fn set_allocatable(&mut self, row: Row, amounts: &Amounts) {
        for (id, _) in amounts.iter() {
            self.ensure_resource(id);
        }
        for (index, column) in self.allocatable.iter_mut().enumerate() {
            let amount = amounts.get(ResourceId(index as u16));
            if column[row as usize] != amount {
                column.set(row, amount);
            }
        }
        for (column, amounts) in self.percent.iter_mut().zip(&self.allocatable) {
            column.set(row, percent(amounts[row as usize]));
        }
    }

    pub(super) fn ensure_resource(&mut self, id: ResourceId) {
        while self.allocatable.len() <= id.0 as usize {
            self.allocatable.push(Column::with_len(self.names.len()));
            self.requested.push(Column::with_len(self.names.len()));
            let mut unknown = Column::with_len(self.names.len());
            for (row, live) in self.live.iter().enumerate() {
                if *live {
                    unknown.set(row as Row, percent(0));
                }
            }
            self.percent.push(unknown);
        }
    }
}

fn percent(allocatable: i64) -> f64 {
    if (1..PERCENT_LIMIT).contains(&allocatable) {
        100.0 / allocatable as f64
    } else {
        f64::NAN
    }
}

/// A few rows, ascending.
#[derive(Clone, Debug, Default)]
pub struct RowSet(Vec<Row>);

impl RowSet {
    pub fn rows(&self) -> &[Row] {
        &self.0
    }

    fn set(&mut self, row: Row, member: bool) {
        match (self.0.binary_search(&row), member) {
            (Err(at), true) => self.0.insert(at, row),
            (Ok(at), false) => drop(self.0.remove(at)),
            _ => {}
        }
    }
}

impl NodeInfo {
    pub(super) fn new(node: &object::Node, interner: &mut Interner) -> Self {
        let taint = |t: &object::Taint, interner: &mut Interner| Taint {
            key: interner.intern(&t.key),
            value: interner.intern(&t.value),
            number: decimal(&t.value),
            effect: Effect::new(&t.effect),
        };
        let mut images = Vec::new();
        for image in &node.status.images {
            images.extend(
                image
                    .names
                    .iter()
                    .map(|n| (interner.intern(n), image.size_bytes)),
            );
        }
        NodeInfo {
            labels: Labels::new(&node.metadata.labels, interner),
            taints: node
                .spec
                .taints
                .iter()
                .map(|t| taint(t, interner))
                .collect(),
            unschedulable: node.spec.unschedulable,
            images: images.into(),
            features: node
                .status
                .declared_features
                .iter()
                .map(|f| interner.intern(f))
                .collect(),
        }
    }
}

impl Effect {
    pub fn new(text: &str) -> Self {
        match text {
            "NoSchedule" => Effect::NoSchedule,
            "PreferNoSchedule" => Effect::PreferNoSchedule,
            "NoExecute" => Effect::NoExecute,
            _ => Effect::Other,
        }
    }

    pub fn text(self) -> &'static str {
        match self {
            Effect::NoSchedule => "NoSchedule",
            Effect::PreferNoSchedule => "PreferNoSchedule",
            Effect::NoExecute => "NoExecute",
            Effect::Other => "",
        }
    }

    /// Whether it keeps pods away, rather than only asking them to stay away.
    pub fn repels(self) -> bool {
        matches!(self, Effect::NoSchedule | Effect::NoExecute)
    }
}

/// Allocatable amounts and the number of pods allowed.
pub(super) fn allocatable(node: &object::Node, names: &mut ResourceNames) -> (Amounts, i64) {
    let list = &node.status.allocatable;
    let pods = list.get("pods").map_or(0, |q| q.value());
    (Amounts::new(list, names), pods)
}
