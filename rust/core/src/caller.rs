//! A scheduling cycle in pieces, for pods that plugins of the caller's concern: what the native plugins say
//! of every node, and the choice among the nodes that the caller's plugins leave. Nothing here knows what
//! the caller does in between.
//!
//! Everything per node is in the order of [`Engine::live_rows`].

use crate::cycle::{self, Judged};
use crate::diagnosis::Diagnosis;
use crate::engine::{Engine, Outcome};
use crate::filtering::{FEASIBLE, Filters, LEFT_OUT, NO_NODE, Rejection, Verdict};
use crate::memo::Refusal;
use crate::pick::scaled;
use crate::profile::Profile;
use crate::snapshot::{PodId, Row};
use crate::status::{Code, Status};
use crate::trial::Refused;

/// What a native PreFilter plugin did that the caller must take into account.
#[derive(Clone, Debug)]
pub struct Step {
    pub plugin: &'static str,
    pub status: Status,
    /// The only nodes it leaves, by name.
    pub nodes: Option<Vec<String>>,
}

/// A native filter's refusal because of pods nominated to the node.
#[derive(Clone, Debug)]
pub struct Crowded {
    pub at: usize,
    pub place: i16,
    pub refused: Refused,
}

/// How a pod fares with the native plugins alone.
#[derive(Clone, Debug, Default)]
pub struct Opened {
    /// PreFilter plugins that rejected the pod or left nodes out; all others passed.
    pub steps: Vec<Step>,
    /// Per node the place, in the profile's whole Filter list, of the first native plugin that rejects it;
    /// −1 where none does. 0 where a PreFilter result left it out. Empty where the pod is rejected as such.
    pub first: Vec<i16>,
    pub crowded: Vec<Crowded>,
    /// Nodes where pods are nominated that this one may not push aside.
    pub contested: Vec<usize>,
    /// Native plugins failed beyond that: the message.
    pub failed: Option<String>,
}

impl Engine {
    /// The rows of the nodes; `None` if every row is one.
    pub fn live_rows(&self) -> Option<Vec<Row>> {
        let nodes = &self.snap.nodes;
        (nodes.count() != nodes.len()).then(|| {
            let live = nodes.live.iter().enumerate();
            live.filter(|(_, live)| **live)
                .map(|(row, _)| row as Row)
                .collect()
        })
    }

    /// Asks the native plugins about all nodes. There must be one.
    pub fn open(&mut self, pod: PodId) -> Opened {
        self.snap.refresh();
        let Some((_, profile)) = self.profile_of(pod) else {
            let failed = Some("no profile has the pod's scheduler name".to_owned());
            return Opened {
                failed,
                ..Opened::default()
            };
        };
        if let Some(rejection) = self.refused_to_tenant(pod.into()) {
            return rejected(&rejection);
        }
        let live = self.live_rows();
        let nominated = self.snap.rows_nominated_above(pod);
        let mut opened = match self.judged(pod, |snap, filters, verdicts, crowded| {
            let place = |name: &str| profile.place(name);
            let mut opened = Opened {
                steps: restrictions(filters, snap),
                first: firsts(&profile, filters, verdicts, live.as_deref()),
                ..Opened::default()
            };
            for (row, refused) in crowded {
                let at = position(live.as_deref(), *row);
                let place = place(refused.plugin);
                opened.first[at] = place;
                opened.crowded.push(Crowded {
                    at,
                    place,
                    refused: refused.clone(),
                });
            }
            opened
        }) {
            Ok(opened) => opened,
            Err(Refusal::Rejected(rejection)) => rejected(&rejection),
            Err(Refusal::Failed(status)) => Opened {
                failed: Some(status.message()),
                ..Opened::default()
            },
        };
        let at = nominated
            .into_iter()
            .map(|row| position(live.as_deref(), row));
        opened.contested = at.collect();
        opened
    }

    /// Calls `read` with what the filters say of a pod, remembered or found out now.
    fn judged<T>(
        &mut self,
        pod: PodId,
        read: impl FnOnce(&crate::snapshot::Snapshot, &Filters, &[Verdict], &[(Row, Refused)]) -> T,
    ) -> Result<T, Refusal> {
        let Some((index, profile)) = self.profile_of(pod) else {
            return Err(Refusal::Failed(Status::error("the pod has no profile")));
        };
        if self.remembers(pod) {
            let memos = &mut self.memos;
            let (memo, _) = memos.get(&self.snap, (index, &profile), &self.snap.pods[pod])?;
            let barred = memo.crowd(&mut self.snap, pod);
            let (verdicts, crowded) = (memo.verdicts(), memo.crowded(&barred));
            return Ok(read(&self.snap, memo.filters(), &verdicts, &crowded));
        }
        let judged = Judged::new(&mut self.snap, &profile, pod).map_err(Refusal::Rejected)?;
        Ok(read(
            &self.snap,
            &judged.filters,
            &judged.verdicts,
            &judged.crowded,
        ))
    }

    /// Why native plugins reject the nodes of `mask`: condensed, as for a pod that they alone reject.
    pub fn reasons(&mut self, pod: PodId, mask: &[bool]) -> Diagnosis {
        let live = self.live_rows();
        let found = self.judged(pod, |snap, filters, verdicts, crowded| {
            let within = |row: Row| mask[position(live.as_deref(), row)];
            let asked = verdicts.iter().enumerate().map(|(row, verdict)| {
                match *verdict != NO_NODE && within(row as Row) {
                    true => *verdict,
                    false => NO_NODE,
                }
            });
            let asked: Vec<Verdict> = asked.collect();
            let crowded = crowded.iter().filter(|(row, _)| within(*row));
            let crowded: Vec<_> = crowded.cloned().collect();
            Diagnosis::of_verdicts(snap, filters, &asked, &crowded)
        });
        found.unwrap_or_default()
    }

    /// The code of the native plugins for each node; `Success` where they have nothing against it.
    pub fn codes(&mut self, pod: PodId) -> Vec<Code> {
        let live = self.live_rows();
        let codes = self.judged(pod, |snap, filters, verdicts, crowded| {
            cycle::codes(snap, filters, verdicts, crowded)
        });
        let nodes = self.snap.nodes.count();
        match (codes, live) {
            (Ok(codes), None) => codes,
            (Ok(codes), Some(rows)) => rows.iter().map(|row| codes[*row as usize]).collect(),
            (Err(Refusal::Rejected(rejection)), _) => vec![rejection.status.code; nodes],
            (Err(Refusal::Failed(_)), _) => vec![Code::Error; nodes],
        }
    }

    /// Which of the feasible nodes kube-scheduler would have found before it stopped looking.
    pub fn sampled(&mut self, pod: PodId, feasible: &[bool]) -> Vec<bool> {
        let Some((_, profile)) = self.profile_of(pod) else {
            return feasible.to_vec();
        };
        let live = self.live_rows();
        let order = self.snap.order.rows().to_vec();
        let sample = self.sample(&profile, &order, None, |row| {
            Some(feasible[position(live.as_deref(), row)])
        });
        let mut mask = vec![false; feasible.len()];
        for row in sample.rows {
            mask[position(live.as_deref(), row)] = true;
        }
        mask
    }

    /// Weighted sums of the native scores of the nodes of `mask`, all of them feasible for the native
    /// plugins, as if there were no others; anything elsewhere.
    pub fn native_totals(&mut self, pod: PodId, mask: &[bool]) -> Result<Vec<i64>, Status> {
        let live = self.live_rows();
        let Some((index, profile)) = self.profile_of(pod) else {
            return Err(Status::error("the pod has no profile"));
        };
        let spread = |rows: &[Row]| {
            let mut within = vec![false; self.snap.nodes.len()];
            for (row, inside) in rows.iter().zip(mask) {
                within[*row as usize] = *inside;
            }
            within
        };
        if self.remembers(pod) {
            let within = live.as_deref().map(spread);
            let within = within.as_deref().unwrap_or(mask);
            let memos = &mut self.memos;
            let memo = memos.get(&self.snap, (index, &profile), &self.snap.pods[pod]);
            let totals = memo.map(|(memo, _)| memo.totals_within(&self.snap, within));
            if let Ok(Some(totals)) = totals {
                return Ok(match live {
                    None => totals,
                    Some(rows) => rows.iter().map(|row| totals[*row as usize]).collect(),
                });
            }
        }
        let rows = self.rows_within(mask);
        let ranking = cycle::rank(&self.snap, &profile, pod, &rows)?;
        let mut totals = vec![0; mask.len()];
        for (row, total) in rows.into_iter().zip(ranking.totals) {
            totals[position(live.as_deref(), row)] = total;
        }
        Ok(totals)
    }

    /// The rows of the nodes of `mask`, in node order.
    pub fn rows_within(&self, mask: &[bool]) -> Vec<Row> {
        let live = self.live_rows();
        let order = self.snap.order.rows().iter().copied();
        order
            .filter(|row| mask[position(live.as_deref(), *row)])
            .collect()
    }

    /// The winner among the nodes of `mask` by `totals`.
    pub fn winner(&self, pod: PodId, attempt: u64, mask: &[bool], totals: &[i64]) -> Option<Row> {
        let live = self.live_rows();
        let row = |at: usize| live.as_ref().map_or(at as Row, |rows| rows[at]);
        let Some(draw) = self.draw(pod, attempt) else {
            let rows = self.rows_within(mask);
            let totals: Vec<i64> = rows
                .iter()
                .map(|row| totals[position(live.as_deref(), *row)])
                .collect();
            return cycle::winner(&totals, &rows, None).map(|at| rows[at]);
        };
        let pairs = || mask.iter().zip(totals);
        let of = |(inside, total): (&bool, &i64)| if *inside { *total } else { i64::MIN };
        // Passes without branches: the compiler vectorises them.
        let best = pairs().map(of).fold(i64::MIN, i64::max);
        let is_best = |(inside, total): (&bool, &i64)| *inside & (*total == best);
        let count: u64 = pairs().map(|pair| u64::from(is_best(pair))).sum();
        let nth = scaled(draw, count) as usize;
        let mut ties = pairs().enumerate().filter(|(_, pair)| is_best(*pair));
        ties.nth(nth).map(|(at, _)| row(at))
    }

    /// What is left to say where there is no node at all.
    pub fn no_nodes(&self) -> Option<Outcome> {
        self.without_nodes()
    }
}

/// Where a row stands among the live ones.
fn position(live: Option<&[Row]>, row: Row) -> usize {
    match live {
        None => row as usize,
        Some(rows) => rows.binary_search(&row).unwrap_or(0),
    }
}

fn restrictions(filters: &Filters, snap: &crate::snapshot::Snapshot) -> Vec<Step> {
    let Some(names) = &filters.nodes else {
        return Vec::new();
    };
    let text = |name| snap.interner.text(name).to_owned();
    let nodes: Vec<String> = names.iter().map(|name| text(*name)).collect();
    let step = |plugin: &&'static str| Step {
        plugin,
        status: Status::default(),
        nodes: Some(nodes.clone()),
    };
    filters.restricted_by.iter().map(step).collect()
}

fn rejected(rejection: &Rejection) -> Opened {
    Opened {
        steps: vec![Step {
            plugin: rejection.plugin,
            status: rejection.status.clone(),
            nodes: None,
        }],
        ..Opened::default()
    }
}

fn firsts(
    profile: &Profile,
    filters: &Filters,
    verdicts: &[Verdict],
    live: Option<&[Row]>,
) -> Vec<i16> {
    if live.is_none() && verdicts.iter().fold(true, |all, v| all & (*v == FEASIBLE)) {
        return vec![-1; verdicts.len()];
    }
    let mut places = [0i16; 256];
    for (index, part) in filters.parts.iter().enumerate() {
        places[index] = profile.place(part.plugin.name());
    }
    places[FEASIBLE as usize] = -1;
    places[LEFT_OUT as usize] = 0;
    let place = |verdict: &Verdict| places[*verdict as usize];
    match live {
        None => verdicts.iter().map(place).collect(),
        Some(rows) => rows
            .iter()
            .map(|row| place(&verdicts[*row as usize]))
            .collect(),
    }
}
