//! Picks per second: pick, charge and re-key, on one core. `cargo bench -p podium-core --bench drf [FILTER]`
//!
//! Where Linux tells it, time is what the thread spent on a processor: other load on the machine matters little.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed benchmark")]
#![allow(clippy::print_stdout, reason = "the result")]

use std::collections::VecDeque;
use std::hint::black_box;
use std::time::Instant;

use podium_core::drf::{FairShares, Head, Tenant};

const RESOURCES: usize = 8;

/// Milli-CPUs, bytes and six kinds of things, of 100,000 nodes.
const CAPACITY: [i64; RESOURCES] = [
    9_600_000_000,
    112_589_990_684_262_400,
    799_999_983,
    400_000_009,
    1_600_000_000,
    99_999_989,
    12_345_678_901,
    77_777_777_777,
];

const SLICES: usize = 20;

struct Scenario {
    name: &'static str,
    tenants: usize,
    /// Leaves per queue and queues per level; empty is flat.
    fan_out: &'static [usize],
    demands: Demands,
    /// Pods that run at a time; each further grant refunds the oldest.
    running: usize,
}

#[derive(Clone, Copy)]
enum Demands {
    /// Every tenant another mix of amounts.
    Mixed,
    /// All the same, so that every comparison is a tie that ends at the head pods.
    Equal,
}

const SCENARIOS: [Scenario; 7] = [
    Scenario {
        name: "flat-1k-mixed",
        tenants: 1_000,
        fan_out: &[],
        demands: Demands::Mixed,
        running: usize::MAX,
    },
    Scenario {
        name: "flat-1k-equal",
        tenants: 1_000,
        fan_out: &[],
        demands: Demands::Equal,
        running: usize::MAX,
    },
    Scenario {
        name: "flat-1k-churn",
        tenants: 1_000,
        fan_out: &[],
        demands: Demands::Mixed,
        running: 50_000,
    },
    Scenario {
        name: "flat-1M-mixed",
        tenants: 1_000_000,
        fan_out: &[],
        demands: Demands::Mixed,
        running: usize::MAX,
    },
    Scenario {
        name: "flat-1M-equal",
        tenants: 1_000_000,
        fan_out: &[],
        demands: Demands::Equal,
        running: usize::MAX,
    },
    Scenario {
        name: "tree-1k-mixed",
        tenants: 1_000,
        fan_out: &[10, 10],
        demands: Demands::Mixed,
        running: usize::MAX,
    },
    Scenario {
        name: "tree-1k-churn",
        tenants: 1_000,
        fan_out: &[10, 10],
        demands: Demands::Mixed,
        running: 50_000,
    },
];

fn main() {
    let filter = std::env::args()
        .skip(1)
        .find(|argument| !argument.starts_with('-'))
        .unwrap_or_default();
    for scenario in SCENARIOS
        .iter()
        .filter(|scenario| scenario.name.contains(&filter))
    {
        let (best, median) = measure(scenario);
        println!(
            "{:<14} {:>9} tenants  best {best:>10.0} picks/s  median {median:>10.0} picks/s",
            scenario.name, scenario.tenants
        );
    }
}

fn measure(scenario: &Scenario) -> (f64, f64) {
    let mut state = 0x2545_f491_4f6c_dd1d;
    let mut shares = build(scenario);
    // Kinds of pods, few enough to stay in the cache: their table is not what is measured.
    let demands: Vec<[i64; RESOURCES]> = (0..4096)
        .map(|_| demand(scenario.demands, &mut state))
        .collect();
    let mut running = VecDeque::new();
    let mut grant = || {
        let tenant = shares.pick().unwrap();
        let demand = &demands[tenant.0 as usize % 4096];
        shares.charge(tenant, demand).unwrap();
        if scenario.running < usize::MAX {
            running.push_back((tenant, demand));
            if running.len() > scenario.running {
                let (tenant, demand) = running.pop_front().unwrap();
                shares.refund(tenant, demand).unwrap();
            }
        }
        tenant
    };
    // Everybody has something, and the machine is warm, before the clock starts.
    for _ in 0..(3 * scenario.tenants).max(60_000) {
        black_box(grant());
    }
    let mut rates: Vec<f64> = (0..SLICES)
        .map(|_| {
            let picks = 100_000;
            let start = Stopwatch::start();
            for _ in 0..picks {
                black_box(grant());
            }
            f64::from(picks) / start.seconds()
        })
        .collect();
    rates.sort_by(f64::total_cmp);
    (rates[SLICES - 1], rates[SLICES / 2])
}

/// Processor time of this thread, else wall time.
struct Stopwatch {
    processor: Option<u64>,
    wall: Instant,
}

impl Stopwatch {
    fn start() -> Self {
        Self {
            processor: processor_nanoseconds(),
            wall: Instant::now(),
        }
    }

    fn seconds(&self) -> f64 {
        match (self.processor, processor_nanoseconds()) {
            (Some(from), Some(to)) => (to - from) as f64 * 1e-9,
            _ => self.wall.elapsed().as_secs_f64(),
        }
    }
}

/// The first field of Linux's schedstat.
fn processor_nanoseconds() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split(' ').next()?.parse().ok()
}

fn build(scenario: &Scenario) -> FairShares {
    let mut shares = FairShares::new(&CAPACITY).unwrap();
    let mut parents = vec![None];
    for (level, &fan_out) in scenario.fan_out.iter().enumerate() {
        let above = std::mem::take(&mut parents);
        for (at, parent) in above.into_iter().enumerate() {
            parents.extend((0..fan_out).map(|i| {
                Some(
                    shares
                        .add(&format!("queue-{level}-{at}-{i}"), parent)
                        .unwrap(),
                )
            }));
        }
    }
    let leaves: Vec<Tenant> = (0..scenario.tenants)
        .map(|i| {
            shares
                .add(&format!("tenant-{i}"), parents[i % parents.len()])
                .unwrap()
        })
        .collect();
    for (&leaf, time) in leaves.iter().zip(0..) {
        shares
            .set_head(
                leaf,
                Head {
                    time,
                    ..Head::default()
                },
            )
            .unwrap();
    }
    shares
}

fn demand(demands: Demands, state: &mut u64) -> [i64; RESOURCES] {
    match demands {
        Demands::Equal => [100, 1 << 28, 1, 10, 0, 0, 2, 1],
        // Half of the resources each, but always some CPU.
        Demands::Mixed => std::array::from_fn(|resource| {
            *state ^= *state << 13;
            *state ^= *state >> 7;
            *state ^= *state << 17;
            let most = CAPACITY[resource] >> 24;
            if resource == 0 || *state & (1 << 40) != 0 {
                1 + (*state % 4096) as i64 * most / 4096
            } else {
                0
            }
        }),
    }
}
