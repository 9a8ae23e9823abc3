//! The queue's lanes against a list that is searched, with pods and groups, and what both orders promise.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use podium_core::drf::{FairShares, Tenant};
use podium_core::queue::{Backoff, Entity, Order, Pool, Queue, Return, SYSTEM_CRITICAL, Ticket};
use podium_core::snapshot::PodId;
use proptest::prelude::*;
use std::cmp::Reverse;
use std::collections::BTreeMap;

const SECOND: i64 = 1_000_000_000;
const CAPACITY: [i64; 2] = [60, 100];
const REQUESTS: [[i64; 2]; 3] = [[3, 1], [1, 4], [2, 2]];
const TENANTS: usize = 3;

/// One plugin, woken by one event.
const PLUGIN: u64 = 1;
const EVENT: u64 = 1;

#[derive(Clone, Debug)]
enum Step {
    Add {
        tenant: usize,
        priority: i32,
        created: i64,
        group: bool,
        completing: bool,
    },
    /// Pops; places (and settles), parks, or fails with an error.
    Try(Fate),
    /// Something that was placed goes.
    End(usize),
    Event,
    Flush(i64),
    Remove(usize),
    Reprioritise(usize, i32),
    Move(usize, usize),
    Gate(usize, bool),
    /// A PreEnqueue plugin holds it, or no longer does.
    Hold(usize, bool),
}

#[derive(Clone, Copy, Debug)]
enum Fate {
    Placed,
    Parked,
    Failed,
    /// A PreEnqueue plugin holds it before it is tried.
    Held,
}

fn step() -> impl Strategy<Value = Step> {
    let priority = prop_oneof![Just(0), Just(7), Just(-3), Just(SYSTEM_CRITICAL)];
    let fate = prop_oneof![
        Just(Fate::Placed),
        Just(Fate::Parked),
        Just(Fate::Failed),
        Just(Fate::Held)
    ];
    prop_oneof![
        4 => (0..TENANTS, priority.clone(), 0..4i64, any::<bool>(), any::<bool>()).prop_map(
            |(tenant, priority, created, group, completing)| Step::Add {
                tenant, priority, created, group, completing
            }
        ),
        6 => fate.prop_map(Step::Try),
        2 => any::<usize>().prop_map(Step::End),
        1 => Just(Step::Event),
        1 => (0..20i64).prop_map(Step::Flush),
        1 => any::<usize>().prop_map(Step::Remove),
        1 => (any::<usize>(), priority).prop_map(|(at, priority)| Step::Reprioritise(at, priority)),
        1 => (any::<usize>(), 0..TENANTS).prop_map(|(at, tenant)| Step::Move(at, tenant)),
        1 => (any::<usize>(), any::<bool>()).prop_map(|(at, gated)| Step::Gate(at, gated)),
        1 => (any::<usize>(), any::<bool>()).prop_map(|(at, held)| Step::Hold(at, held)),
    ]
}

#[derive(Clone, Debug)]
struct Waiting {
    tenant: usize,
    priority: i32,
    completing: bool,
    created: i64,
    arrival: u64,
}

/// Queue and books beside a plain list of who waits.
struct Both {
    by: Order,
    queue: Queue,
    shares: FairShares,
    tenants: Vec<Tenant>,
    list: BTreeMap<Entity, Waiting>,
    placed: Vec<usize>,
    used: [[i64; 2]; TENANTS],
    now: i64,
    arrivals: u64,
}

impl Both {
    fn new(by: Order) -> Self {
        let mut shares = FairShares::new(&CAPACITY).unwrap();
        let tenants = ["b", "a", "c"].map(|name| shares.add(name, None).unwrap());
        let mut queue = Queue::new(Backoff::default());
        queue.register(0, EVENT);
        queue.set_order(by, Default::default(), |_, lane| lane);
        Both {
            by,
            queue,
            shares,
            tenants: tenants.to_vec(),
            list: BTreeMap::new(),
            placed: Vec::new(),
            used: [[0; 2]; TENANTS],
            now: 0,
            arrivals: 0,
        }
    }

    /// Share as a fraction over the least common multiple of the capacities.
    fn share(&self, tenant: usize) -> i64 {
        let shares = (0..2).map(|r| self.used[tenant][r] * (300 / CAPACITY[r]));
        shares.max().unwrap()
    }

    /// What comes before the shares.
    fn band(&self, waiting: &Waiting) -> i32 {
        match self.by {
            Order::Share if waiting.priority >= SYSTEM_CRITICAL => 2,
            Order::Share => i32::from(waiting.completing),
            _ => waiting.priority,
        }
    }

    fn inside(&self, waiting: &Waiting) -> impl Ord + use<> {
        let band = Reverse(self.band(waiting));
        let rest = (Reverse(waiting.completing), Reverse(waiting.priority));
        (band, rest, waiting.created, waiting.arrival)
    }

    /// The least entity of each tenant, and of these the least tenant.
    fn expected(&self) -> Option<Entity> {
        let mut everybody: Vec<_> = self.list.keys().copied().collect();
        everybody.retain(|entity| self.queue.pool(*entity) == Some(Pool::Active));
        if everybody.is_empty() {
            // Those in backoff compete as if they were active, unless they failed with an error.
            return None;
        }
        let heads = (0..TENANTS).filter_map(|tenant| {
            let own = everybody.iter().filter(|e| self.list[e].tenant == tenant);
            own.min_by_key(|e| self.inside(&self.list[e])).copied()
        });
        heads.min_by_key(|entity| {
            let head = &self.list[entity];
            let names = ["b", "a", "c"];
            let tie = (head.created, head.arrival, names[head.tenant]);
            (Reverse(self.band(head)), self.share(head.tenant), tie)
        })
    }

    fn nth(&self, at: usize) -> Option<Entity> {
        let count = self.list.len();
        (count > 0).then(|| *self.list.keys().nth(at % count).unwrap())
    }

    fn apply(&mut self, step: &Step) -> Result<(), TestCaseError> {
        self.now += SECOND;
        match *step {
            Step::Add { .. } => self.add(step),
            Step::Try(fate) => self.attempt(fate)?,
            Step::End(at) => self.end(at),
            Step::Event => {
                self.queue.event(EVENT, self.now, |_, _| true);
            }
            Step::Flush(seconds) => {
                self.now += seconds * SECOND;
                self.queue.flush(self.now, 300 * SECOND);
            }
            Step::Remove(at) => {
                if let Some(entity) = self.nth(at) {
                    self.queue.remove(entity);
                    self.list.remove(&entity);
                }
            }
            Step::Reprioritise(at, priority) => {
                if let Some(entity) = self.nth(at) {
                    self.queue
                        .amend(entity, |ticket| ticket.priority = priority);
                    self.list.get_mut(&entity).unwrap().priority = priority;
                }
            }
            Step::Move(at, tenant) => {
                if let Some(entity) = self.nth(at) {
                    let lane = self.tenants[tenant].0;
                    self.queue.amend(entity, |ticket| ticket.lane = lane);
                    self.list.get_mut(&entity).unwrap().tenant = tenant;
                }
            }
            Step::Gate(at, gated) => {
                if let Some(entity) = self.nth(at) {
                    self.queue.amend(entity, |ticket| ticket.gated = gated);
                }
            }
            Step::Hold(at, held) => {
                if let Some(entity) = self.nth(at) {
                    self.hold(entity, held)?;
                }
            }
        }
        Ok(())
    }

    fn hold(&mut self, entity: Entity, held: bool) -> Result<(), TestCaseError> {
        let attempts = self.queue.attempts(entity);
        let before = self.queue.pool(entity);
        if held {
            self.queue.hold(entity);
            prop_assert_eq!(self.queue.pool(entity), Some(Pool::Gated));
        } else {
            self.queue.release(entity, self.now);
            match before {
                Some(Pool::Gated) if attempts == 0 => {
                    prop_assert_eq!(self.queue.pool(entity), Some(Pool::Active));
                }
                Some(Pool::Gated) => {
                    prop_assert_ne!(self.queue.pool(entity), Some(Pool::Gated));
                }
                pool => prop_assert_eq!(self.queue.pool(entity), pool),
            }
        }
        prop_assert_eq!(self.queue.attempts(entity), attempts);
        Ok(())
    }

    fn add(&mut self, step: &Step) {
        let Step::Add {
            tenant,
            priority,
            created,
            group,
            completing,
        } = *step
        else {
            return;
        };
        self.arrivals += 1;
        let number = self.arrivals as u32;
        let entity = if group {
            Entity::group(number)
        } else {
            PodId(number).into()
        };
        let ticket = Ticket {
            priority,
            since: self.now,
            created,
            lane: self.tenants[tenant].0,
            completing,
            ..Ticket::default()
        };
        self.queue.add(entity, ticket);
        let waiting = Waiting {
            tenant,
            priority,
            completing,
            created,
            arrival: self.arrivals,
        };
        self.list.insert(entity, waiting);
    }

    fn attempt(&mut self, fate: Fate) -> Result<(), TestCaseError> {
        let expected = self.expected();
        let popped = self.queue.pop(Some(&mut self.shares));
        if expected.is_some() {
            prop_assert_eq!(popped, expected);
        }
        let Some(entity) = popped else { return Ok(()) };
        prop_assert_eq!(self.queue.pool(entity), Some(Pool::InFlight));
        let rejected_by = match fate {
            Fate::Placed => {
                let waiting = self.list.remove(&entity).unwrap();
                let tenant = waiting.tenant;
                self.shares
                    .charge(self.tenants[tenant], &REQUESTS[tenant])
                    .unwrap();
                for (used, amount) in self.used[tenant].iter_mut().zip(REQUESTS[tenant]) {
                    *used += amount;
                }
                self.placed.push(tenant);
                self.queue.settle(entity);
                self.queue.remove(entity);
                return Ok(());
            }
            Fate::Parked => PLUGIN,
            Fate::Failed => 0,
            Fate::Held => {
                let attempts = self.queue.attempts(entity);
                self.queue.hold(entity);
                prop_assert_eq!(self.queue.pool(entity), Some(Pool::Gated));
                prop_assert_eq!(self.queue.attempts(entity), attempts - 1);
                return Ok(());
            }
        };
        let why = Return {
            rejected_by,
            pending_by: 0,
        };
        self.queue.put_back(entity, self.now, why);
        Ok(())
    }

    fn end(&mut self, at: usize) {
        if self.placed.is_empty() {
            return;
        }
        let tenant = self.placed.swap_remove(at % self.placed.len());
        self.shares
            .refund(self.tenants[tenant], &REQUESTS[tenant])
            .unwrap();
        for (used, amount) in self.used[tenant].iter_mut().zip(REQUESTS[tenant]) {
            *used -= amount;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn pops_what_a_search_would(
        steps in prop::collection::vec(step(), 1..120),
        band in any::<bool>(),
    ) {
        let mut both = Both::new(if band { Order::Band } else { Order::Share });
        for step in &steps {
            both.apply(step)?;
            let counts = both.queue.counts();
            let known = counts.active + counts.backoff + counts.unschedulable + counts.gated;
            prop_assert_eq!(known + counts.in_flight, both.list.len());
        }
    }
}

fn ticket(lane: u32, created: i64) -> Ticket {
    Ticket {
        lane,
        created,
        since: created,
        ..Ticket::default()
    }
}

fn fair(names: &[&str]) -> (Queue, FairShares, Vec<u32>) {
    let mut shares = FairShares::new(&[100]).unwrap();
    let lanes = names
        .iter()
        .map(|name| shares.add(name, None).unwrap().0)
        .collect();
    let mut queue = Queue::new(Backoff::default());
    queue.register(0, EVENT);
    queue.set_order(Order::Share, Default::default(), |_, lane| lane);
    (queue, shares, lanes)
}

const REJECTED: Return = Return {
    rejected_by: PLUGIN,
    pending_by: 0,
};

#[test]
fn a_blocked_head_does_not_hold_back_younger_pods_of_its_tenant() {
    let (mut queue, mut shares, lanes) = fair(&["a", "b"]);
    for (pod, lane) in [(1, lanes[0]), (2, lanes[0]), (3, lanes[1])] {
        queue.add(PodId(pod), ticket(lane, pod.into()));
    }
    assert_eq!(queue.pop(Some(&mut shares)), Some(PodId(1).into()));
    queue.put_back(PodId(1), 0, REJECTED);
    assert_eq!(queue.pop(Some(&mut shares)), Some(PodId(2).into()));
}

#[test]
fn a_blocked_tenant_is_skipped_until_an_event_can_help_it() {
    let (mut queue, mut shares, lanes) = fair(&["a", "b"]);
    shares.charge(Tenant(lanes[1]), &[50]).unwrap();
    queue.add(PodId(1), ticket(lanes[0], 1));
    for pod in 2..5 {
        queue.add(PodId(pod), ticket(lanes[1], pod.into()));
    }
    assert_eq!(queue.pop(Some(&mut shares)), Some(PodId(1).into()));
    queue.put_back(PodId(1), 0, REJECTED);
    assert_eq!(queue.pop(Some(&mut shares)), Some(PodId(2).into()));
    queue.settle(PodId(2));
    queue.event(EVENT, 60 * SECOND, |_, _| true);
    assert_eq!(queue.pop(Some(&mut shares)), Some(PodId(1).into()));
    assert_eq!(queue.pop(Some(&mut shares)), Some(PodId(3).into()));
}

#[test]
fn shares_decide_among_those_in_backoff() {
    let (mut queue, mut shares, lanes) = fair(&["a", "b"]);
    for (pod, lane) in [(1, lanes[0]), (2, lanes[0]), (3, lanes[1])] {
        queue.add(PodId(pod), ticket(lane, pod.into()));
        queue.pop(Some(&mut shares));
        queue.put_back(PodId(pod), 0, REJECTED);
    }
    queue.event(EVENT, 1, |_, _| true);
    assert_eq!(queue.counts().backoff, 3);
    shares.charge(Tenant(lanes[0]), &[1]).unwrap();
    let order: Vec<_> = std::iter::from_fn(|| queue.pop(Some(&mut shares))).collect();
    assert_eq!(order, [3, 1, 2].map(|pod| Entity::from(PodId(pod))));
}

#[test]
fn a_tenant_of_higher_standing_goes_first_and_system_pods_before_it() {
    let (mut queue, mut shares, lanes) = fair(&["a", "b"]);
    queue.set_order(
        Order::Share,
        [(lanes[1], 5)].into_iter().collect(),
        |_, lane| lane,
    );
    shares.charge(Tenant(lanes[1]), &[90]).unwrap();
    queue.add(PodId(1), ticket(lanes[0], 0));
    queue.add(PodId(2), ticket(lanes[1], 1));
    let critical = Ticket {
        priority: SYSTEM_CRITICAL,
        ..ticket(lanes[0], 2)
    };
    queue.add(PodId(3), critical);
    let order: Vec<_> = std::iter::from_fn(|| queue.pop(Some(&mut shares))).collect();
    assert_eq!(order, [3, 2, 1].map(|pod| Entity::from(PodId(pod))));
}

#[test]
fn with_one_lane_priority_and_time_decide_and_lanes_do_not_matter() {
    let mut queue = Queue::new(Backoff::default());
    for (pod, priority, since) in [(1, 0, 5), (2, 0, 3), (3, 9, 7), (4, 0, 3)] {
        let ticket = Ticket {
            priority,
            ..ticket(pod, since)
        };
        queue.add(PodId(pod), ticket);
    }
    let order: Vec<_> = std::iter::from_fn(|| queue.pop(None)).collect();
    assert_eq!(order, [3, 2, 4, 1].map(|pod| Entity::from(PodId(pod))));
}

#[test]
fn what_is_released_keeps_its_place_and_rests_as_long_as_it_must() {
    let mut queue = Queue::new(Backoff::default());
    queue.register(0, EVENT);
    let (early, late, failed) = (PodId(0), PodId(1), PodId(2));
    queue.add(
        early,
        Ticket {
            gated: true,
            ..ticket(0, 0)
        },
    );
    queue.add(failed, ticket(0, 1));
    queue.add(late, ticket(0, 2));
    queue.release(early, 9 * SECOND);
    assert_eq!(queue.pop(None), Some(early.into()), "it came first");
    assert_eq!(queue.pop(None), Some(failed.into()));
    let why = Return {
        rejected_by: PLUGIN,
        pending_by: 0,
    };
    queue.put_back(failed, 9 * SECOND, why);
    queue.hold(failed);
    queue.event(EVENT, 9 * SECOND, |_, _| true);
    assert_eq!(
        queue.pool(failed),
        Some(Pool::Gated),
        "no event moves what is held"
    );
    queue.activate_now(failed);
    assert_eq!(queue.pool(failed), Some(Pool::Gated));
    queue.flush(1000 * SECOND, 300 * SECOND);
    assert_eq!(queue.pool(failed), Some(Pool::Gated));
    queue.release(failed, 9 * SECOND);
    assert_eq!(queue.pool(failed), Some(Pool::Backoff));
    assert_eq!(queue.pool(late), Some(Pool::Active));
}
