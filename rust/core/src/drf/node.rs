//! The nodes of the tenant tree. Node 0 is the root; it has no share, no name and no parent.

use std::sync::Arc;

use super::heap::{ABSENT, Entries, Entry, Heap};
use super::key::{Head, Key, Rank};
use super::limits::Limits;
use super::scale::Scales;
use super::weight::Weight;

pub(super) const ROOT: u32 = 0;

/// What every comparison and update of a node touches: one cache line.
#[derive(Debug)]
#[repr(align(64))]
pub(super) struct Standing {
    pub rank: Rank,
    pub parent: u32,
    /// A leaf: it has a head. An inner node: it has a ready child.
    pub waiting: bool,
    pub blocked: bool,
    pub inner: bool,
    /// Not a handle that waits for its next use.
    pub alive: bool,
}

impl Standing {
    pub(super) fn new(parent: u32) -> Self {
        let rank = Rank {
            key: Key::ZERO,
            weight: Weight::ONE,
            head: Head::default(),
        };
        Self {
            rank,
            parent,
            waiting: false,
            blocked: false,
            inner: false,
            alive: true,
        }
    }

    pub(super) fn ready(&self) -> bool {
        self.waiting && !self.blocked
    }
}

/// The rest of a node.
#[derive(Debug)]
pub(super) struct Node {
    pub name: Arc<str>,
    /// Its place among its parent's children.
    pub slot: u32,
    pub limits: Limits,
    pub inner: Option<Box<Inner>>,
    pub term: Term,
}

impl Node {
    pub(super) fn new(name: Arc<str>) -> Self {
        Self {
            name,
            slot: 0,
            limits: Limits::default(),
            inner: None,
            term: Term::default(),
        }
    }
}

/// What a child adds to its parent's consumption, per resource in 64.64; empty below the root.
#[derive(Debug, Default)]
pub(super) struct Term {
    pub amounts: Vec<u128>,
    /// Which of the parent's sums has it: `scaled` or `raw`.
    pub scaled: bool,
}

/// A node with children, or the root.
#[derive(Debug, Default)]
pub(super) struct Inner {
    pub children: Vec<u32>,
    pub inner_children: Vec<u32>,
    /// The ready children.
    pub heap: Entries,
    /// The band that is being served: that of the first ready child.
    pub band: i32,
    /// V: the sum of `U_c * w_c / s_c` over the ready children of the served band that have a claim.
    pub scaled: Vec<u128>,
    /// The sum of `U_c` over the others.
    pub raw: Vec<u128>,
    /// `raw + m * V`, with m the least weighted share among the children in V.
    pub vector: Vec<u128>,
    /// The largest element of `vector` over the resources that are not full.
    pub share: u128,
    /// What the children are guaranteed together, per resource; empty while nobody is.
    pub guaranteed: Vec<i64>,
}

/// All nodes, in the order of their handles.
#[derive(Debug, Default)]
pub(super) struct Nodes {
    pub standings: Vec<Standing>,
    pub rest: Vec<Node>,
    /// Where each node sits in its parent's heap.
    places: Vec<u32>,
    vacant: Vec<u32>,
}

impl Nodes {
    /// Adds a node that is no child of its parent yet.
    pub(super) fn insert(&mut self, name: Arc<str>, parent: u32) -> u32 {
        if let Some(node) = self.vacant.pop() {
            self.standings[node as usize] = Standing::new(parent);
            self.rest[node as usize] = Node::new(name);
            return node;
        }
        self.standings.push(Standing::new(parent));
        self.rest.push(Node::new(name));
        self.places.push(ABSENT);
        self.rest.len() as u32 - 1
    }

    /// Frees the handle of a node that is nobody's child.
    pub(super) fn vacate(&mut self, node: u32) {
        self.standings[node as usize].alive = false;
        self.rest[node as usize] = Node::new("".into());
        self.vacant.push(node);
    }

    pub(super) fn len(&self) -> usize {
        self.rest.len()
    }

    pub(super) fn parent(&self, node: u32) -> u32 {
        self.standings[node as usize].parent
    }

    pub(super) fn inner(&self, node: u32) -> Option<&Inner> {
        self.rest[node as usize].inner.as_deref()
    }

    pub(super) fn inner_mut(&mut self, node: u32) -> Option<&mut Inner> {
        self.rest[node as usize].inner.as_deref_mut()
    }

    /// Whether the children of `node` are compared in fixed point: some of them are inner nodes.
    pub(super) fn mixed(&self, node: u32) -> bool {
        self.inner(node)
            .is_some_and(|inner| !inner.inner_children.is_empty())
    }

    /// From `node` up to, and without, the root.
    pub(super) fn path(&self, node: u32) -> impl Iterator<Item = u32> {
        std::iter::successors(Some(node), |&at| Some(self.parent(at))).take_while(|&at| at != ROOT)
    }

    /// The child of `node` that is served first.
    pub(super) fn first(&self, node: u32) -> Option<u32> {
        self.inner(node)?.heap.first()
    }

    /// Puts the node where its rank belongs in its parent's heap, or takes it out if it is not ready.
    pub(super) fn place(&mut self, node: u32, scales: &Scales) {
        let standing = &self.standings[node as usize];
        let change = if standing.ready() {
            Change::Put(entry(standing, node))
        } else {
            Change::Remove(node)
        };
        self.change(standing.parent, change, scales);
    }

    /// Takes the node out of its parent's heap.
    pub(super) fn displace(&mut self, node: u32, scales: &Scales) {
        self.change(self.parent(node), Change::Remove(node), scales);
    }

    /// Rebuilds the heap of `node` from its children's ranks.
    pub(super) fn heapify(&mut self, node: u32, scales: &Scales) {
        let Some(inner) = self.rest[node as usize].inner.as_deref() else {
            return;
        };
        let mut ready = Vec::new();
        for &child in &inner.children {
            let standing = &self.standings[child as usize];
            self.places[child as usize] = ABSENT;
            if standing.ready() {
                ready.push(entry(standing, child));
            }
        }
        self.change(node, Change::Replace(ready), scales);
    }

    fn change(&mut self, node: u32, change: Change, scales: &Scales) {
        let Some(mut inner) = self.rest[node as usize].inner.take() else {
            return;
        };
        let (standings, rest) = (&self.standings, &self.rest);
        let rank = |node: u32| &standings[node as usize].rank;
        let name = |node: u32| &rest[node as usize].name;
        let compare = |a, b| rank(a).compare(rank(b), scales, || name(a).cmp(name(b)));
        let before = |a: &Entry, b: &Entry| match Key::decided(a.guess, b.guess) {
            _ if a.band != b.band => a.band > b.band,
            Some(order) if order.is_ne() => order.is_lt(),
            Some(_) if a.time != b.time => a.time < b.time,
            _ => compare(a.node, b.node).is_lt(),
        };
        let mut heap = Heap {
            entries: &mut inner.heap,
            places: &mut self.places,
            before,
        };
        match change {
            Change::Put(entry) => heap.put(entry),
            Change::Remove(node) => heap.remove(node),
            Change::Replace(entries) => heap.replace(entries),
        }
        self.rest[node as usize].inner = Some(inner);
    }
}

enum Change {
    Put(Entry),
    Remove(u32),
    Replace(Vec<Entry>),
}

fn entry(standing: &Standing, node: u32) -> Entry {
    let Rank { key, head, .. } = &standing.rank;
    Entry {
        guess: key.guess,
        time: head.time,
        band: head.band,
        node,
    }
}
