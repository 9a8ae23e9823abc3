//! Gangs: all of a group's minimum get places on one snapshot, or nothing is kept.
//!
//! A placement is one [`transaction::Transaction`]: members are put on nodes one by one, each judged with
//! those before it in place, as kube-scheduler would have judged them had they come in this order. Members
//! of one class share a memo, so that a thousand of them cost one evaluation and a thousand picks.
//! Where that greedy order fails and members differ, [`search`] looks for an arrangement.

mod amounts;
mod apart;
mod arrange;
mod bounds;
mod domains;
mod evaluated;
mod failures;
mod fingerprint;
mod fruitless;
mod greedy;
mod needs;
mod place;
mod preempt;
mod problem;
mod reclaim;
mod registry;
mod reserve;
mod run;
mod said;
mod search;
mod shortage;
mod sparing;
mod surplus;
mod transaction;
mod within;

pub use domains::Named;
pub use preempt::{GangPreemption, RespectBudgets};
pub use registry::{Group, GroupId, Groups, Role};
pub use said::{Kind, Said};
pub use shortage::{Holder, Nearest, Shortage, quantity};
pub use sparing::Victims;

use crate::intern::Symbol;
pub use search::BUDGET;

use crate::snapshot::{PodId, Row};
use std::sync::Arc;

/// Members with their nodes, in the order they were placed.
pub type Places = Vec<(PodId, Row)>;

/// Where the members of a group must be together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Together {
    /// Label keys; a domain is one combination of their values. Empty: anywhere.
    pub keys: Box<[Symbol]>,
    /// Whether members may be apart where no domain has room for all.
    pub preferred: bool,
}

/// What is to be placed.
#[derive(Clone, Debug)]
pub struct Request {
    /// Members without a node, in the order in which they are tried.
    pub members: Vec<(PodId, Role)>,
    /// How many of them must get places, and how many of each role.
    pub need: usize,
    pub role_needs: Box<[usize]>,
    pub together: Together,
    /// Nodes of the members that are placed already: the domain is theirs.
    pub anchored: Vec<Row>,
    pub attempt: u64,
    /// Nodes where the binding of a member failed: it goes elsewhere if it can.
    pub avoid: Vec<(PodId, Symbol)>,
    /// The group has members on nodes: those that fit are kept though others do not.
    pub partial: bool,
    pub said: Arc<Said>,
    /// What may be spent on searching arrangements, see [`BUDGET`].
    pub budget: u64,
}
