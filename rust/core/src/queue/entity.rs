//! What the queue orders, and by what.

use super::Nanos;
use crate::intern::Symbol;
use crate::resources::Amounts;
use crate::snapshot::PodId;
use std::sync::Arc;

/// The bit that tells groups from pods.
const GROUP: u32 = 1 << 31;

/// A pod, or a group of pods that is tried as one: a pod's handle, or a group's number with the top bit set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Entity(pub u32);

impl Entity {
    /// The group of this number, which must be below 2^31.
    pub fn group(number: u32) -> Self {
        debug_assert!(number < GROUP, "group numbers have 31 bits");
        Entity(number | GROUP)
    }

    /// `None`: a group.
    pub fn pod(self) -> Option<PodId> {
        (self.0 & GROUP == 0).then_some(PodId(self.0))
    }

    /// The number of a group; `None`: a pod.
    pub fn number(self) -> Option<u32> {
        (self.0 & GROUP != 0).then_some(self.0 & !GROUP)
    }
}

impl From<PodId> for Entity {
    fn from(pod: PodId) -> Self {
        Entity(pod.0)
    }
}

/// With what an entity enters the queue.
#[derive(Clone, Debug, Default)]
pub struct Ticket {
    pub priority: i32,
    /// When it was added; orders entities of one priority where there is one lane.
    pub since: Nanos,
    /// When it was created, as far as that is known; orders them inside a tenant.
    pub created: Nanos,
    /// The tenant's handle; without effect where there is one lane.
    pub lane: u32,
    /// Where it stands in the caller's order, the least first; without effect in any other.
    pub place: u64,
    /// Members that are missing from a group which already runs: before others of its lane.
    pub completing: bool,
    /// Held back by a PreEnqueue plugin.
    pub gated: bool,
    /// What a group asks for together; a pod's request is in its template.
    pub request: Option<Arc<Amounts>>,
}

/// What hints can tell parked entities by: they are asked once about all that are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Alike {
    /// The address of the pod's template, which is shared.
    pub template: usize,
    /// What the caller tells pods by.
    pub kind: Option<u32>,
    /// The only node it may go to.
    pub pin: Option<Symbol>,
    /// It is like no other.
    pub alone: Option<Entity>,
}

impl Alike {
    pub fn alone(entity: Entity) -> Self {
        Alike {
            template: 0,
            kind: None,
            pin: None,
            alone: Some(entity),
        }
    }
}

/// Which lanes there are, and what puts entities of one lane in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Order {
    /// One lane: priority, then the time in the queue. Upstream's PrioritySort.
    #[default]
    Priority,
    /// A lane per tenant. System-critical entities first, then members that running groups miss; then the tenants'
    /// shares decide.
    Share,
    /// A lane per tenant. The priority decides, and shares between equal priorities.
    Band,
    /// One lane, in the caller's order: each entity has a place.
    Given,
}

/// The least priority of system-critical pods.
pub const SYSTEM_CRITICAL: i32 = 2_000_000_000;

impl Order {
    pub fn is_fair(self) -> bool {
        matches!(self, Order::Share | Order::Band)
    }

    /// What comes before the shares of tenants, the greatest first. `standing` is the priority of the tenant.
    /// Whose place is lost to a fresh tenant loses what its group had.
    pub(super) fn band(self, ticket: &Ticket, standing: i32) -> i32 {
        const MOST: i32 = (1 << 30) - 2;
        match self {
            Order::Share if ticket.priority >= SYSTEM_CRITICAL => i32::MAX,
            Order::Share => standing.clamp(-MOST, MOST) * 2 + i32::from(ticket.completing),
            Order::Priority | Order::Band | Order::Given => ticket.priority,
        }
    }
}

/// Least first: band, completing, priority; then the one that has waited longest, then the one that came first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    class: u64,
    pub(super) time: Nanos,
    pub(super) order: u64,
}

impl Rank {
    pub(super) fn new(by: Order, ticket: &Ticket, order: u64) -> Self {
        let falling = |priority: i32| u64::from(!((priority as u32) ^ (1 << 31)));
        let later = u64::from(!ticket.completing);
        let class = match by {
            Order::Share => {
                let ordinary = u64::from(ticket.priority < SYSTEM_CRITICAL);
                ordinary << 33 | later << 32 | falling(ticket.priority)
            }
            Order::Given => ticket.place,
            // The band is the priority.
            Order::Priority | Order::Band => falling(ticket.priority) << 1 | later,
        };
        let time = if by.is_fair() {
            ticket.created
        } else {
            ticket.since
        };
        Rank { class, time, order }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rank(by: Order, priority: i32, completing: bool, time: Nanos) -> Rank {
        let ticket = Ticket {
            priority,
            completing,
            since: time,
            created: time,
            ..Ticket::default()
        };
        Rank::new(by, &ticket, 0)
    }

    #[test]
    fn greater_priorities_come_first_over_the_whole_range() {
        let priorities = [i32::MIN, -1, 0, 1, 1_999_999_999, SYSTEM_CRITICAL, i32::MAX];
        for by in [Order::Priority, Order::Share, Order::Band] {
            for pair in priorities.windows(2) {
                assert!(rank(by, pair[1], false, 9) < rank(by, pair[0], false, 0));
            }
        }
    }

    #[test]
    fn missing_members_come_before_priority_only_inside_a_tenant_and_a_band() {
        assert!(rank(Order::Share, 0, true, 9) < rank(Order::Share, 1000, false, 0));
        assert!(rank(Order::Share, SYSTEM_CRITICAL, false, 9) < rank(Order::Share, 0, true, 0));
        for by in [Order::Priority, Order::Band] {
            assert!(rank(by, 1, false, 9) < rank(by, 0, true, 0));
            assert!(rank(by, 0, true, 9) < rank(by, 0, false, 0));
        }
    }

    #[test]
    fn a_given_place_comes_before_all_else() {
        let at = |place, priority| {
            let ticket = Ticket {
                place,
                priority,
                ..Ticket::default()
            };
            Rank::new(Order::Given, &ticket, 0)
        };
        assert!(at(1, 0) < at(2, 1000));
        assert!(at(u64::MAX - 1, 0) < at(u64::MAX, i32::MAX));
    }

    #[test]
    fn groups_are_told_from_pods() {
        assert_eq!(Entity::group(7).number(), Some(7));
        assert_eq!(Entity::group(7).pod(), None);
        assert_eq!(Entity::from(PodId(7)).pod(), Some(PodId(7)));
        assert_eq!(Entity::from(PodId(7)).number(), None);
    }
}
