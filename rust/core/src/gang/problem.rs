//! What a search for places is about: who must be placed, and nodes on which they can be tried.

use super::{Kind, Role, Said};
use crate::snapshot::{PodId, Row};
use std::sync::Arc;

/// Position of a node among those that are considered.
pub(super) type At = usize;

/// Members that are alike.
#[derive(Clone, Debug)]
pub(super) struct Class {
    pub(super) members: Vec<PodId>,
    pub(super) role: Role,
    /// What they are to the caller's plugins.
    pub(super) kind: Option<Kind>,
}

/// Who must be placed.
#[derive(Clone, Debug)]
pub(super) struct Problem {
    pub(super) classes: Vec<Class>,
    pub(super) need: usize,
    pub(super) role_needs: Vec<usize>,
    pub(super) said: Arc<Said>,
}

/// Nodes on which members can be tried.
pub(super) trait World {
    /// How many nodes there are.
    fn len(&self) -> usize;

    /// How many of them take one more of a class now.
    fn count(&mut self, class: usize) -> usize;

    /// Writes which these are, as they were counted last.
    fn open(&self, class: usize, out: &mut Vec<At>);

    /// Returns false, and changes nothing, if the node refuses after all.
    fn place(&mut self, class: usize, at: At) -> bool;

    fn undo(&mut self);

    fn row(&self, at: At) -> Row;

    /// Equal for nodes that no member can tell apart while they are as they were at the start.
    fn kind(&self, at: At) -> u64;

    /// What one more of the class leaves of the node; the least is tried first.
    fn leaves(&self, class: usize, at: At) -> f64;

    /// How hard a class is to place by what it asks for; the hardest goes first.
    fn size(&self, class: usize) -> f64;

    /// Whether a node that refuses a class never takes it after more members are placed.
    fn monotone(&self) -> bool;

    /// Whether it is certain that no `need` of the members that are `left`, by class, have room together.
    /// All classes were counted since the last change.
    fn is_hopeless(&mut self, left: &[usize], need: usize) -> bool;

    /// Units of work since this was asked last.
    fn spent(&mut self) -> u64;
}

/// The finaliser of splitmix64 over both.
pub(super) fn mix(a: u64, b: u64) -> u64 {
    let mut z = a
        .rotate_left(23)
        .wrapping_add(b)
        .wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
