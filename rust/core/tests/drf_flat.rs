//! A flat set of tenants against a model in plain big integers: order, heap, books, refusals.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::cmp::Ordering;

use podium_core::drf::{DrfError, FairShares, Head, Tenant, Weight};
use proptest::prelude::*;

/// Unsigned integers of any size, base 2^32, for the model only.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Big(Vec<u32>);

impl Big {
    fn product(factors: &[u64]) -> Self {
        factors
            .iter()
            .fold(Self(vec![1]), |big, &factor| big.times(factor))
    }

    fn times(&self, factor: u64) -> Self {
        let mut digits = vec![0u32; self.0.len() + 2];
        for (i, &digit) in self.0.iter().enumerate() {
            for (shift, part) in [(0, factor as u32), (1, (factor >> 32) as u32)] {
                let mut carry = u64::from(digit) * u64::from(part);
                let mut at = i + shift;
                while carry > 0 {
                    carry += u64::from(digits[at]);
                    digits[at] = carry as u32;
                    carry >>= 32;
                    at += 1;
                }
            }
        }
        while digits.last() == Some(&0) {
            digits.pop();
        }
        Self(digits)
    }

    fn compare(&self, other: &Self) -> Ordering {
        (self.0.len().cmp(&other.0.len()))
            .then_with(|| self.0.iter().rev().cmp(other.0.iter().rev()))
    }
}

/// A fraction as lists of factors.
type Fraction = (Vec<u64>, Vec<u64>);

fn compare_fractions(a: &Fraction, b: &Fraction) -> Ordering {
    let cross =
        |x: &Fraction, y: &Fraction| Big::product(&[x.0.as_slice(), y.1.as_slice()].concat());
    cross(a, b).compare(&cross(b, a))
}

#[derive(Debug, Clone)]
struct Model {
    capacity: Vec<i64>,
    resource_weights: Vec<Weight>,
    tenants: Vec<ModelTenant>,
}

#[derive(Debug, Clone)]
struct ModelTenant {
    name: String,
    used: Vec<i64>,
    weight: Weight,
    head: Option<Head>,
    blocked: bool,
}

impl Model {
    fn share(&self, tenant: &ModelTenant) -> Fraction {
        let mut best: Fraction = (vec![0], vec![1]);
        for (j, &used) in tenant.used.iter().enumerate() {
            let weight = self.resource_weights[j];
            if self.capacity[j] > 0 && !weight.is_zero() {
                let (n, d) = if tenant.weight.is_zero() {
                    (1, 1)
                } else {
                    parts(tenant.weight)
                };
                let (p, q) = parts(weight);
                let share = (vec![used as u64, p, d], vec![self.capacity[j] as u64, q, n]);
                if compare_fractions(&share, &best).is_gt() {
                    best = share;
                }
            }
        }
        best
    }

    fn compare(&self, a: &ModelTenant, b: &ModelTenant) -> Ordering {
        let (x, y) = (a.head.unwrap_or_default(), b.head.unwrap_or_default());
        (y.band.cmp(&x.band))
            .then(a.weight.is_zero().cmp(&b.weight.is_zero()))
            .then_with(|| compare_fractions(&self.share(a), &self.share(b)))
            .then(x.time.cmp(&y.time))
            .then(x.sequence.cmp(&y.sequence))
            .then(a.name.cmp(&b.name))
    }

    fn order(&self) -> Vec<usize> {
        let mut waiting: Vec<usize> = (0..self.tenants.len())
            .filter(|&t| self.tenants[t].head.is_some())
            .collect();
        waiting.sort_by(|&a, &b| self.compare(&self.tenants[a], &self.tenants[b]));
        waiting
    }

    fn total(&self, resource: usize) -> i128 {
        self.tenants
            .iter()
            .map(|tenant| i128::from(tenant.used[resource]))
            .sum()
    }
}

fn parts(weight: Weight) -> (u64, u64) {
    (weight.numerator().into(), weight.denominator().into())
}

#[derive(Debug, Clone)]
enum Op {
    Charge(usize, Vec<i64>),
    Refund(usize, Vec<i64>),
    Head(usize, Head),
    NoHead(usize),
    Block(usize),
    Unblock(usize),
    UnblockAll,
    Weight(usize, Option<Weight>),
    Capacity(Vec<i64>),
    ResourceWeights(Vec<Weight>),
}

const TENANTS: usize = 7;
const RESOURCES: usize = 3;

/// Small amounts make ties, huge ones with small differences are beyond what floating point can tell apart.
fn amount() -> impl Strategy<Value = i64> + Clone {
    prop_oneof![
        3 => 0i64..4,
        1 => (0i64..3).prop_map(|low| (1 << 58) + low),
        1 => (any::<i64>(), 1u32..63).prop_map(|(bits, cut)| (bits & i64::MAX) >> cut),
    ]
}

fn capacity() -> impl Strategy<Value = i64> {
    prop_oneof![3 => 1i64..6, 1 => Just(0), 1 => (0i64..3).prop_map(|low| i64::MAX - low), 1 => amount()]
}

fn weight() -> impl Strategy<Value = Weight> {
    let part = prop_oneof![3 => 0u64..4, 1 => (0u64..3).prop_map(|low| u64::from(u32::MAX) - low)];
    (part.clone(), part).prop_map(|(n, d)| Weight::new(n, d.max(1)).unwrap())
}

fn head() -> impl Strategy<Value = Head> {
    (0i32..2, 0i64..3, 0u64..2).prop_map(|(band, time, sequence)| Head {
        band,
        time,
        sequence,
    })
}

fn op() -> impl Strategy<Value = Op> {
    let t = 0..TENANTS;
    let amounts = prop::collection::vec(amount(), RESOURCES);
    prop_oneof![
        6 => (t.clone(), amounts.clone()).prop_map(|(t, a)| Op::Charge(t, a)),
        4 => (t.clone(), amounts).prop_map(|(t, a)| Op::Refund(t, a)),
        2 => (t.clone(), head()).prop_map(|(t, h)| Op::Head(t, h)),
        1 => t.clone().prop_map(Op::NoHead),
        1 => t.clone().prop_map(Op::Block),
        1 => t.clone().prop_map(Op::Unblock),
        1 => Just(Op::UnblockAll),
        1 => (t, prop::option::of(weight())).prop_map(|(t, w)| Op::Weight(t, w)),
        1 => prop::collection::vec(capacity(), RESOURCES).prop_map(Op::Capacity),
        1 => prop::collection::vec(weight(), RESOURCES).prop_map(Op::ResourceWeights),
    ]
}

/// Applies the operation to both; a refusal must be the model's too, and change nothing.
fn apply(op: &Op, model: &mut Model, shares: &mut FairShares, handles: &[Tenant]) {
    match op {
        Op::Charge(t, amounts) => {
            let overflows = (0..RESOURCES)
                .any(|j| model.total(j) + i128::from(amounts[j]) > i128::from(i64::MAX));
            let done = shares.charge(handles[*t], amounts);
            assert_eq!(
                matches!(done, Err(DrfError::Overflow { .. })),
                overflows,
                "{done:?}"
            );
            if done.is_ok() {
                model.tenants[*t]
                    .used
                    .iter_mut()
                    .zip(amounts)
                    .for_each(|(used, amount)| *used += amount);
            }
        }
        Op::Refund(t, amounts) => {
            let used = &mut model.tenants[*t].used;
            let underflows = used.iter().zip(amounts).any(|(used, amount)| amount > used);
            let done = shares.refund(handles[*t], amounts);
            assert_eq!(
                matches!(done, Err(DrfError::Underflow { .. })),
                underflows,
                "{done:?}"
            );
            if done.is_ok() {
                used.iter_mut()
                    .zip(amounts)
                    .for_each(|(used, amount)| *used -= amount);
            }
        }
        Op::Head(t, head) => {
            shares.set_head(handles[*t], *head).unwrap();
            model.tenants[*t].head = Some(*head);
        }
        Op::NoHead(t) => {
            shares.clear_head(handles[*t]).unwrap();
            model.tenants[*t].head = None;
        }
        Op::Block(t) => {
            shares.block(handles[*t]).unwrap();
            model.tenants[*t].blocked = true;
        }
        Op::Unblock(t) => {
            shares.unblock(handles[*t]).unwrap();
            model.tenants[*t].blocked = false;
        }
        Op::UnblockAll => {
            shares.unblock_all();
            model
                .tenants
                .iter_mut()
                .for_each(|tenant| tenant.blocked = false);
        }
        Op::Weight(t, weight) => {
            shares.set_weight(handles[*t], *weight).unwrap();
            model.tenants[*t].weight = weight.unwrap_or(Weight::ONE);
        }
        Op::Capacity(capacity) => {
            shares.set_capacity(capacity).unwrap();
            model.capacity.clone_from(capacity);
        }
        Op::ResourceWeights(weights) => {
            shares.set_resource_weights(weights).unwrap();
            model.resource_weights.clone_from(weights);
        }
    }
}

fn check(model: &Model, shares: &mut FairShares, handles: &[Tenant]) {
    let order: Vec<Tenant> = model.order().into_iter().map(|t| handles[t]).collect();
    assert_eq!(shares.order(), order);
    let ready = model
        .order()
        .into_iter()
        .find(|&t| !model.tenants[t].blocked);
    assert_eq!(shares.pick(), ready.map(|t| handles[t]));
    for (tenant, &handle) in model.tenants.iter().zip(handles) {
        assert_eq!(shares.used(handle).unwrap(), tenant.used);
    }
}

fn start(names: &[String], capacity: Vec<i64>) -> (Model, FairShares, Vec<Tenant>) {
    let mut shares = FairShares::new(&capacity).unwrap();
    let handles = names
        .iter()
        .map(|name| shares.add(name, None).unwrap())
        .collect();
    let tenant = |name: &String| ModelTenant {
        name: name.clone(),
        used: vec![0; RESOURCES],
        weight: Weight::ONE,
        head: None,
        blocked: false,
    };
    let tenants = names.iter().map(tenant).collect();
    (
        Model {
            capacity,
            resource_weights: vec![Weight::ONE; RESOURCES],
            tenants,
        },
        shares,
        handles,
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// At every step the heap's pick, and the order, are those of sorting everybody by exact fractions.
    #[test]
    fn heap_is_a_sort(capacity in prop::collection::vec(capacity(), RESOURCES), ops in prop::collection::vec(op(), 1..60)) {
        let names: Vec<String> = ["g", "a", "f", "b", "e", "c", "d"].map(String::from).to_vec();
        let (mut model, mut shares, handles) = start(&names, capacity);
        for t in 0..TENANTS {
            apply(&Op::Head(t, Head::default()), &mut model, &mut shares, &handles);
        }
        for op in &ops {
            apply(op, &mut model, &mut shares, &handles);
            check(&model, &mut shares, &handles);
        }
    }

    /// Shares that are equal, or differ by one unit in 2^60, on resources of different size and by different
    /// weights: floating point gets about half of them wrong.
    #[test]
    fn near_ties_are_exact(
        (used, capacity) in (1i64..1 << 20, 1i64..1 << 20),
        (by, weighing) in (1i64..1 << 40, 1u64..1 << 31),
        step in -1i64..2,
    ) {
        let (mut model, mut shares, handles) = start(&["a", "b"].map(String::from), vec![capacity, capacity * by, 0]);
        let ops = [
            Op::Weight(1, Some(Weight::new(weighing, weighing + 1).unwrap())),
            Op::Weight(0, Some(Weight::new(weighing, weighing + 1).unwrap())),
            Op::Head(0, Head { time: 1, ..Head::default() }),
            Op::Head(1, Head::default()),
            Op::Charge(0, vec![used, 0, 0]),
            Op::Charge(1, vec![0, used * by + step, 0]),
        ];
        for op in &ops {
            apply(op, &mut model, &mut shares, &handles);
        }
        check(&model, &mut shares, &handles);
        prop_assert_eq!(shares.compare(handles[1], handles[0]), Ok(step.cmp(&0)));
        // One tenant with both: its dominant resource is decided as exactly.
        apply(&Op::Charge(0, vec![0, used * by + step, 0]), &mut model, &mut shares, &handles);
        let dominant = if step > 0 { 1 } else { 0 };
        prop_assert_eq!(shares.share(handles[0]).unwrap().resource, Some(dominant));
    }

    /// Two tenants at a time, through two orders of insertion: antisymmetric; three at a time: transitive.
    #[test]
    fn comparator_is_a_total_order(
        rows in prop::collection::vec((prop::collection::vec(amount(), RESOURCES), weight(), head()), 3),
        capacity in prop::collection::vec(capacity(), RESOURCES),
    ) {
        let first = |members: &[usize]| {
            let mut shares = FairShares::new(&capacity).unwrap();
            for &i in members {
                let (used, weight, head) = &rows[i];
                let tenant = shares.add(["x", "y", "z"][i], None).unwrap();
                shares.set_weight(tenant, Some(*weight)).unwrap();
                shares.charge(tenant, used).unwrap();
                shares.set_head(tenant, *head).unwrap();
            }
            let picked = shares.pick().unwrap();
            shares.name(picked).unwrap().to_owned()
        };
        prop_assume!((0..RESOURCES).all(|j| rows.iter().map(|row| i128::from(row.0[j])).sum::<i128>() <= i128::from(i64::MAX)));
        for (a, b) in [(0, 1), (1, 2), (0, 2)] {
            prop_assert_eq!(first(&[a, b]), first(&[b, a]));
        }
        let least = first(&[0, 1, 2]);
        for members in [[1, 0, 2], [2, 1, 0], [2, 0, 1], [0, 2, 1], [1, 2, 0]] {
            prop_assert_eq!(&first(&members), &least);
        }
        // The first of three is the first of both pairs that it is in.
        let i = ["x", "y", "z"].iter().position(|name| *name == least).unwrap();
        for other in (0..3).filter(|&other| other != i) {
            prop_assert_eq!(&first(&[i, other]), &least);
        }
    }

    /// The unit of a resource, and the order of resources and tenants, mean nothing.
    #[test]
    fn units_and_orders_mean_nothing(
        rows in prop::collection::vec(prop::collection::vec(0i64..50, RESOURCES), TENANTS),
        capacity in prop::collection::vec(0i64..50, RESOURCES),
        unit in 1i64..1 << 40,
    ) {
        let names = |order: &[usize], factor: i64, turn: usize| {
            let at = |j: usize| (j + turn) % RESOURCES;
            let row = |row: &[i64]| (0..RESOURCES).map(|j| row[at(j)] * if at(j) == 1 { factor } else { 1 }).collect::<Vec<_>>();
            let mut shares = FairShares::new(&row(&capacity)).unwrap();
            for &i in order {
                let tenant = shares.add(&format!("t{i}"), None).unwrap();
                shares.charge(tenant, &row(&rows[i])).unwrap();
                shares.set_head(tenant, Head::default()).unwrap();
            }
            let order = shares.order();
            order.into_iter().map(|tenant| shares.name(tenant).unwrap().to_owned()).collect::<Vec<_>>()
        };
        let forward: Vec<usize> = (0..TENANTS).collect();
        let backward: Vec<usize> = (0..TENANTS).rev().collect();
        let plain = names(&forward, 1, 0);
        prop_assert_eq!(&names(&backward, unit, 0), &plain);
        prop_assert_eq!(&names(&forward, unit, 2), &plain);
    }
}

/// A cheap generator for long walks; proptest is for short ones.
fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

#[test]
fn nothing_drifts_in_a_million_steps() {
    let mut shares = FairShares::new(&[1_000_003, 777_777_777, 64]).unwrap();
    let tenants: Vec<Tenant> = (0..50)
        .map(|i| shares.add(&format!("t{i}"), None).unwrap())
        .collect();
    for (&tenant, time) in tenants.iter().zip(0..) {
        shares
            .set_head(
                tenant,
                Head {
                    time,
                    ..Head::default()
                },
            )
            .unwrap();
    }
    let (fresh, mut held, mut state) = (shares.digest(), Vec::new(), 0x9e37_79b9_7f4a_7c15);
    for step in 0..1_000_000 {
        if next(&mut state) & 1 == 0 || held.is_empty() {
            let tenant = tenants[next(&mut state) as usize % tenants.len()];
            let pod = [7, 11, 13].map(|bound| (next(&mut state) % bound) as i64);
            shares.charge(tenant, &pod).unwrap();
            held.push((tenant, pod));
        } else {
            let (tenant, pod) = held.swap_remove(next(&mut state) as usize % held.len());
            shares.refund(tenant, &pod).unwrap();
        }
        if step % 100_000 == 0 {
            for &tenant in &tenants {
                let of_tenant = held.iter().filter(|(owner, _)| *owner == tenant);
                let sum = of_tenant.fold([0; 3], |sum, (_, pod)| {
                    [sum[0] + pod[0], sum[1] + pod[1], sum[2] + pod[2]]
                });
                assert_eq!(shares.used(tenant).unwrap(), sum);
            }
        }
    }
    for (tenant, pod) in held {
        shares.refund(tenant, &pod).unwrap();
    }
    assert_eq!(shares.total(), [0, 0, 0]);
    assert_eq!(
        shares.order(),
        tenants,
        "all shares are exactly zero again: the ages decide"
    );
    assert_eq!(shares.digest(), fresh);
}

#[test]
fn refused_inputs_change_nothing() {
    let mut shares = FairShares::new(&[10, 10]).unwrap();
    let a = shares.add("a", None).unwrap();
    shares.charge(a, &[3, 4]).unwrap();
    let before = shares.digest();
    let refused = [
        shares.charge(a, &[1]),
        shares.charge(a, &[-1, 0]),
        shares.charge(a, &[1, i64::MAX]),
        shares.refund(a, &[0, 5]),
        shares.refund(a, &[0, -5]),
        shares.charge(Tenant(0), &[1, 1]),
        shares.charge(Tenant(99), &[1, 1]),
        shares.set_capacity(&[1]),
        shares.set_capacity(&[1, -1]),
        shares.set_resource_weights(&[Weight::ONE]),
        shares.remove(a),
    ];
    assert!(refused.iter().all(Result::is_err), "{refused:?}");
    assert_eq!(shares.digest(), before);
    assert_eq!(
        shares.add("a", None),
        Err(DrfError::DuplicateName("a".into()))
    );
    assert_eq!(Weight::new(1, 0), Err(DrfError::InfiniteWeight(1, 0)));
    assert_eq!(
        Weight::new(1 << 32, 3),
        Err(DrfError::WideWeight(1 << 32, 3))
    );
    assert_eq!(Weight::new(6 << 32, 3 << 32), Weight::new(2, 1));
    assert_eq!(
        FairShares::new(&[-1]).unwrap_err(),
        DrfError::Negative {
            what: "capacity",
            resource: 0,
            amount: -1
        }
    );
}

#[test]
fn resources_may_be_added() {
    let mut shares = FairShares::new(&[10]).unwrap();
    let (a, b) = (
        shares.add("a", None).unwrap(),
        shares.add("b", None).unwrap(),
    );
    shares.charge(a, &[2]).unwrap();
    shares.charge(b, &[3]).unwrap();
    shares.set_capacity(&[10, 4]).unwrap();
    assert_eq!(
        (
            shares.used(a).unwrap(),
            shares.used(b).unwrap(),
            shares.total()
        ),
        (&[2, 0][..], &[3, 0][..], &[5, 0][..])
    );
    shares.charge(a, &[0, 2]).unwrap();
    assert_eq!(shares.share(a).unwrap().resource, Some(1));
    assert_eq!(shares.compare(a, b), Ok(Ordering::Greater));
    shares.set_capacity(&[10, 0]).unwrap();
    assert_eq!(
        shares.share(a).unwrap().resource,
        Some(0),
        "a resource that is gone is no part of any share"
    );
    assert_eq!(shares.compare(a, b), Ok(Ordering::Less));
}

#[test]
fn no_resources_and_no_tenants() {
    let mut shares = FairShares::new(&[]).unwrap();
    assert_eq!(shares.pick(), None);
    let a = shares.add("a", None).unwrap();
    shares.set_head(a, Head::default()).unwrap();
    shares.charge(a, &[]).unwrap();
    assert_eq!(shares.pick(), Some(a));
    shares.set_capacity(&[1, 1]).unwrap();
    shares.charge(a, &[1, 0]).unwrap();
    assert_eq!(shares.share(a).unwrap().to_f64(), 1.0);
}

#[test]
fn handles_are_used_again() {
    let mut shares = FairShares::new(&[10]).unwrap();
    let a = shares.add("a", None).unwrap();
    shares
        .set_weight(a, Some(Weight::new(7, 2).unwrap()))
        .unwrap();
    shares.block(a).unwrap();
    shares.remove(a).unwrap();
    assert_eq!(shares.used(a), Err(DrfError::UnknownTenant(a.0)));
    assert_eq!(shares.find("a"), None);
    let b = shares.add("b", None).unwrap();
    assert_eq!(b, a);
    assert_eq!(
        (shares.weight(b).unwrap(), shares.is_blocked(b).unwrap()),
        (Weight::ONE, false)
    );
    assert_eq!(shares.tenants().collect::<Vec<_>>(), [b]);
}
