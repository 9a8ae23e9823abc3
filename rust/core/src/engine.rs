//! The engine: one snapshot, the profiles, and what is remembered between cycles.

use crate::cycle::{self, Judged};
use crate::diagnosis::Diagnosis;
use crate::filtering::Rejection;
use crate::gang::{Places, Shortage};
use crate::hints::{Parts, native};
use crate::intern::Symbol;
use crate::memo::Refusal;
use crate::memos::{DEFAULT_BUDGET, Memos};
use crate::pick::{Choose, draw};
use crate::plugin::Affects;
use crate::preempt::{self, DryRuns, Failed, Preemption};
use crate::profile::{Profile, ProfileError};
use crate::queue::{Bits, Entity, Nanos, Queue};
use crate::snapshot::{PodId, PodParts, Question, Row, Snapshot};
use crate::status::Status;
use crate::tenancy::DRF;
use crate::told::{Caller, Concern, KindId, Spared, spares};
use crate::whatif::WhatIf;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// What may be chosen beyond the profiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    pub choose: Choose,
    /// Look only at kube-scheduler's sample of the nodes.
    pub sample: bool,
}

/// The queue's bits for what happens to pods on nodes.
#[derive(Clone, Copy, Debug, Default)]
pub struct PodEvents {
    pub added: Bits,
    pub deleted: Bits,
}

#[derive(Debug)]
pub struct Engine {
    pub snap: Snapshot,
    pub settings: Settings,
    pub(crate) profiles: Vec<Arc<Profile>>,
    pub(crate) memos: Memos,
    dry_runs: DryRuns,
    pub queue: Queue,
    pub pod_events: PodEvents,
    /// Name of the plugin of each bit in the queue's sets.
    pub(crate) plugin_bits: Vec<Box<str>>,
    /// Where the next sample starts; shared by all profiles, as upstream.
    start: usize,
    /// What plugins of the caller's mean to a pod; without an entry they must be asked for everything.
    pub(crate) concerns: FxHashMap<PodId, Caller>,
    /// The last question to them.
    pub(crate) asked: Option<(PodId, Question)>,
    pub(crate) whatif: WhatIf,
}

/// How a cycle ended.
#[derive(Clone, Debug)]
pub enum Outcome {
    Placed {
        row: Row,
        feasible: usize,
        evaluated: usize,
    },
    Unschedulable(Arc<Diagnosis>),
    /// Unexpected: no plugin is to blame.
    Failed(String),
}

impl Engine {
    pub fn new(settings: Settings) -> Self {
        let mut snap = Snapshot::default();
        if settings.choose == Choose::Upstream {
            snap.freeze_images();
        }
        Engine {
            snap,
            settings,
            profiles: Vec::new(),
            memos: Memos::new(DEFAULT_BUDGET),
            dry_runs: DryRuns::default(),
            queue: Queue::default(),
            pod_events: PodEvents::default(),
            plugin_bits: Vec::new(),
            start: 0,
            concerns: FxHashMap::default(),
            asked: None,
            whatif: WhatIf::default(),
        }
    }

    /// Bounds the bytes that memos take, approximately, and forgets what is remembered.
    pub fn set_memo_budget(&mut self, bytes: usize) {
        self.memos = Memos::new(bytes);
        self.dry_runs = DryRuns::default();
    }

    pub fn add_profile(&mut self, json: &[u8]) -> Result<(), ProfileError> {
        let profile = Profile::new(&mut self.snap, json)?;
        self.profiles.push(Arc::new(profile));
        Ok(())
    }

    /// Gives a plugin the next bit in the queue's sets and registers the events that can help its pods.
    pub fn register_plugin(&mut self, name: &str, events: Bits) -> u32 {
        let bit = self.plugin_bits.len() as u32;
        self.plugin_bits.push(name.into());
        self.queue.register(bit, events);
        bit
    }

    pub fn plugin_bit(&self, name: &str) -> Option<u32> {
        let mut names = self.plugin_bits.iter().zip(0..);
        names.find(|(own, _)| &***own == name).map(|(_, bit)| bit)
    }

    /// Where the next sample of nodes starts.
    pub fn sampling_start(&self) -> usize {
        self.start
    }

    /// How many classes have remembered results.
    pub fn classes(&self) -> usize {
        self.memos.len()
    }

    /// Adds a pod given as JSON; the error says what is wrong with it.
    pub fn add_pod_json(&mut self, json: &[u8]) -> Result<PodId, String> {
        let parts = PodParts::split(json).map_err(|error| format!("pod: {error}"))?;
        self.add_pod_parts(parts)
    }

    /// Adds a pod given as its parts in JSON; the error says what is wrong with it.
    pub fn add_pod_parts(&mut self, parts: PodParts<'_>) -> Result<PodId, String> {
        let added = self.snap.add_pod_parts(parts);
        added.map_err(|error| format!("pod: {error}"))
    }

    /// Removes a pod, and if it was not bound, everything assumed for it.
    pub fn remove_pod(&mut self, pod: PodId) {
        if self.snap.pods[pod].node_name == Symbol::EMPTY {
            self.forget(pod);
        }
        self.concerns.remove(&pod);
        self.snap.remove_pod(pod);
    }

    /// Says what plugins of the caller's mean to a pod whose profile has some; `None`, as at first, that
    /// they must be asked for everything. Pods of one kind are alike to them.
    pub fn set_concern(&mut self, pod: PodId, concern: Option<Concern>, kind: KindId) {
        self.concerns.insert(pod, Caller { concern, kind });
    }

    pub(crate) fn concern(&self, pod: PodId) -> Option<Concern> {
        self.concerns.get(&pod)?.concern
    }

    pub fn kind(&self, pod: PodId) -> Option<KindId> {
        self.concerns.get(&pod).map(|caller| caller.kind)
    }

    /// Whether plugins of the caller's have a say about a pod.
    pub(crate) fn needs_caller(&self, pod: PodId) -> bool {
        let profile = self.profile_of(pod);
        profile.is_some_and(|(_, profile)| profile.needs_caller)
            && self.concern(pod) != Some(Concern::Nothing)
    }

    /// The profile that is responsible for a pod.
    pub fn profile_of(&self, pod: PodId) -> Option<(usize, Arc<Profile>)> {
        let name = self.snap.pods[pod].template.scheduler_name;
        let at = self
            .profiles
            .iter()
            .position(|p| p.scheduler_name == name)?;
        Some((at, Arc::clone(&self.profiles[at])))
    }

    /// Finds a node for a pending pod. Nothing is placed.
    pub fn schedule(&mut self, pod: PodId, attempt: u64) -> Outcome {
        self.snap.refresh();
        let Some((index, profile)) = self.profile_of(pod) else {
            return Outcome::Failed("no profile has the pod's scheduler name".into());
        };
        if let Some(refusal) = self.without_nodes() {
            return refusal;
        }
        if let Some(rejection) = self.refused_to_tenant(pod.into()) {
            return self.rejected(&rejection);
        }
        if let Some(row) = self.on_nominated_node(&profile, pod) {
            return Outcome::Placed {
                row,
                feasible: 1,
                evaluated: 1,
            };
        }
        if self.remembers(pod) {
            self.schedule_by_memo((index, &profile), pod, attempt)
        } else {
            self.schedule_afresh(&profile, pod, attempt)
        }
    }

    /// There is nothing to look at.
    pub(crate) fn without_nodes(&self) -> Option<Outcome> {
        self.snap.nodes.is_empty().then(|| {
            let diagnosis = Diagnosis {
                no_nodes: true,
                ..Diagnosis::default()
            };
            Outcome::Unschedulable(Arc::new(diagnosis))
        })
    }

    /// The draw that decides between equals; `None` where the heap's root does.
    pub(crate) fn draw(&self, pod: PodId, attempt: u64) -> Option<u64> {
        match self.settings.choose {
            Choose::Upstream => None,
            Choose::Seeded(seed) => Some(draw(seed, &self.snap.pods[pod].uid, attempt)),
        }
    }

    /// A pod that was nominated takes its node if that fits, without looking further.
    pub(crate) fn on_nominated_node(&mut self, profile: &Profile, pod: PodId) -> Option<Row> {
        let row = self.snap.nodes.row(self.snap.pods[pod].nominated?)?;
        let filters =
            crate::filtering::Filters::new(&self.snap, profile, &self.snap.pods[pod]).ok()?;
        let mut trial = crate::trial::Trial::new(&self.snap, &filters, pod);
        let fits = trial.judge(&mut self.snap, row).is_ok();
        trial.end(&mut self.snap);
        fits.then_some(row)
    }

    fn schedule_by_memo(
        &mut self,
        profile: (usize, &Arc<Profile>),
        pod: PodId,
        attempt: u64,
    ) -> Outcome {
        let tie = self.draw(pod, attempt).unwrap_or(0);
        let of_class = (profile.0, &**profile.1);
        let found = self.memos.get(&self.snap, of_class, &self.snap.pods[pod]);
        let (memo, scratch) = match found {
            Ok(found) => found,
            Err(Refusal::Rejected(rejection)) => return self.rejected(&rejection),
            Err(Refusal::Failed(_)) => return self.schedule_afresh(profile.1, pod, attempt),
        };
        if memo.must_be_afresh(&self.snap.pods[pod]) {
            return self.schedule_afresh(profile.1, pod, attempt);
        }
        if let Some(diagnosis) = memo.fails_alike(&self.snap, pod) {
            return Outcome::Unschedulable(diagnosis);
        }
        let barred = memo.crowd(&mut self.snap, pod);
        if memo.is_crowded(&barred) && memo.is_relative() {
            // The rows that are left out take part in no normalisation either.
            return self.schedule_afresh(profile.1, pod, attempt);
        }
        match memo.pick(tie, &barred, scratch) {
            Some(row) => Outcome::Placed {
                row,
                feasible: memo.open(&barred),
                evaluated: self.snap.nodes.count(),
            },
            None => Outcome::Unschedulable(memo.diagnosis(&self.snap, pod, &barred)),
        }
    }

    pub(crate) fn rejected(&self, rejection: &Rejection) -> Outcome {
        if !rejection.status.code.is_rejected() {
            let (plugin, message) = (rejection.plugin, rejection.status.message());
            return Outcome::Failed(format!("running PreFilter plugin \"{plugin}\": {message}"));
        }
        let nodes = self.snap.nodes.count();
        Outcome::Unschedulable(Arc::new(Diagnosis::of_rejection(rejection, nodes)))
    }

    /// The same without memos: sampled, pinned, or chosen as upstream.
    fn schedule_afresh(&mut self, profile: &Profile, pod: PodId, attempt: u64) -> Outcome {
        let judged = match Judged::new(&mut self.snap, profile, pod) {
            Ok(judged) => judged,
            Err(rejection) => return self.rejected(&rejection),
        };
        let (rows, evaluated) = match self.candidates(profile, &judged, pod) {
            Ok(found) => found,
            Err(status) => return Outcome::Failed(status.message()),
        };
        if rows.is_empty() {
            return Outcome::Unschedulable(Arc::new(judged.diagnosis(&self.snap)));
        }
        let placed = |row| Outcome::Placed {
            row,
            feasible: rows.len(),
            evaluated,
        };
        if let [only] = rows.as_slice() {
            return placed(*only);
        }
        match cycle::rank(&self.snap, profile, pod, &rows) {
            Err(status) => Outcome::Failed(status.message()),
            Ok(ranking) => {
                let at = cycle::winner(&ranking.totals, &rows, self.draw(pod, attempt));
                placed(rows[at.unwrap_or(0)])
            }
        }
    }

    /// The feasible rows that are considered, in node order, and how many nodes were looked at. The error is
    /// the status of a node that could not be judged.
    fn candidates(
        &mut self,
        profile: &Profile,
        judged: &Judged,
        pod: PodId,
    ) -> Result<(Vec<Row>, usize), Status> {
        let restricted = judged
            .filters
            .nodes
            .is_some()
            .then(|| judged.filters.rows(&self.snap));
        let mut order = restricted.unwrap_or_else(|| self.snap.order.rows().to_vec());
        if !self.settings.sample {
            if let Some(status) = judged.failure(&self.snap, &order) {
                return Err(status);
            }
            order.retain(|row| judged.is_feasible(*row));
            return Ok((order, self.snap.nodes.count()));
        }
        let tried = judged.tried(&self.snap, pod);
        let look = |row: Row| (!judged.has_failed(row)).then(|| judged.is_feasible(row));
        let sample = self.sample(profile, &order, tried, look);
        match sample.failed.and_then(|row| judged.status(&self.snap, row)) {
            Some((_, status)) => Err(status),
            None => Ok((sample.rows, sample.processed)),
        }
    }

    /// Looks at `order` from where the last sample ended, until enough feasible nodes are found.
    pub(crate) fn sample(
        &mut self,
        profile: &Profile,
        order: &[Row],
        tried: Option<Row>,
        look: impl Fn(Row) -> Option<bool>,
    ) -> cycle::Sample {
        let enough = if profile.score.is_empty() {
            1
        } else {
            cycle::sample_size(profile.percentage, order.len())
        };
        let sample = cycle::sample(look, order, self.start, enough, tried);
        self.start = (self.start + sample.processed) % self.snap.nodes.count();
        sample
    }

    /// PostFilter of a pod that `schedule` just found unschedulable.
    pub fn preempt(&mut self, pod: PodId, attempt: u64) -> Option<Preemption> {
        let (_, profile) = self.profile_of(pod)?;
        self.snap.refresh();
        if self.snap.nodes.is_empty() {
            return Some(Preemption::Helpless {
                message: String::new(),
            });
        }
        if let Some(rejection) = self.refused_to_tenant(pod.into()) {
            return preempt::after_rejection(&self.snap, &profile, pod, &rejection);
        }
        let draw = self.preemption_draw(pod, attempt);
        if self.remembers(pod) && self.snap.pods[pod].nominated.is_none() {
            return self.preempt_by_memo(&profile, pod, draw);
        }
        self.preempt_afresh(&profile, pod, draw)
    }

    fn preempt_afresh(&mut self, profile: &Profile, pod: PodId, draw: u64) -> Option<Preemption> {
        let judged = match Judged::new(&mut self.snap, profile, pod) {
            Ok(judged) => judged,
            Err(rejection) => {
                return preempt::after_rejection(&self.snap, profile, pod, &rejection);
            }
        };
        let codes = judged.codes(&self.snap);
        let failed = Failed {
            filters: &judged.filters,
            codes: &codes,
            draw,
        };
        Some(preempt::preempt(
            &mut self.snap,
            profile.preemption?,
            pod,
            failed,
        ))
    }

    /// Where the dry run starts.
    pub(crate) fn preemption_draw(&self, pod: PodId, attempt: u64) -> u64 {
        match self.settings.choose {
            // Upstream starts anywhere; the first node is as good.
            Choose::Upstream => 0,
            Choose::Seeded(seed) => draw(seed ^ PREEMPTION, &self.snap.pods[pod].uid, attempt),
        }
    }

    /// The same from the memo of the pod's class, where it is remembered that nothing helps.
    fn preempt_by_memo(
        &mut self,
        profile: &Arc<Profile>,
        pod: PodId,
        draw: u64,
    ) -> Option<Preemption> {
        let (index, _) = self.profile_of(pod)?;
        let (memo, _) = match self
            .memos
            .get(&self.snap, (index, profile), &self.snap.pods[pod])
        {
            Ok(found) => found,
            Err(Refusal::Rejected(rejection)) => {
                return preempt::after_rejection(&self.snap, profile, pod, &rejection);
            }
            Err(Refusal::Failed(_)) => return self.preempt_afresh(profile, pod, draw),
        };
        let args = profile.preemption?;
        if let Some(text) = memo.helpless(&self.snap, pod) {
            return Some(Preemption::Helpless {
                message: text.to_owned(),
            });
        }
        let barred = memo.crowd(&mut self.snap, pod);
        let codes = memo.codes(&self.snap, &barred);
        let failed = Failed {
            filters: memo.filters(),
            codes: &codes,
            draw,
        };
        let class = (index, &**profile);
        let record = &self.snap.pods[pod];
        let known = self.dry_runs.of(&self.snap, class, memo.filters(), record);
        let found = preempt::preempt_knowing(&mut self.snap, args, pod, failed, known);
        if let Preemption::Helpless { message } = &found {
            memo.set_helpless(&self.snap, pod, message);
        }
        Some(found)
    }

    /// Whether a pod's class has, or gets, a memo.
    pub(crate) fn remembers(&self, pod: PodId) -> bool {
        let seeded = matches!(self.settings.choose, Choose::Seeded(_)) && !self.settings.sample;
        seeded && !self.hypothetical() && Memos::shareable(&self.snap.pods[pod])
    }

    /// Takes a node for a pod: on the node's books, with all that plugins reserve. On refusal nothing
    /// is kept.
    pub fn assume(&mut self, pod: PodId, row: Row) -> Result<(), (&'static str, Status)> {
        let Some((_, profile)) = self.profile_of(pod) else {
            return Ok(());
        };
        self.snap.nominate(pod, None);
        self.snap.place(pod, row);
        for plugin in &profile.reserve {
            if let Err(status) = plugin.reserve(&mut self.snap, pod, row) {
                self.forget(pod);
                return Err((plugin.name(), status));
            }
        }
        Ok(())
    }

    /// Undoes [`Engine::assume`]: Unreserve in reverse order, then off the node.
    pub fn forget(&mut self, pod: PodId) {
        if let Some((_, profile)) = self.profile_of(pod) {
            for plugin in profile.reserve.iter().rev() {
                plugin.unreserve(&mut self.snap, pod);
            }
        }
        self.snap.unplace(pod);
    }

    /// Takes up to `limit` pods off the queue, schedules and assumes each; stops at the first that needs
    /// more than that.
    pub fn run_batch(
        &mut self,
        limit: usize,
        now: Nanos,
        placed: &mut Vec<(PodId, Row)>,
    ) -> Option<Stopped> {
        for _ in 0..limit {
            let entity = self.pop()?;
            let Some(pod) = entity.pod() else {
                match self.popped_group(entity, now) {
                    Ok(places) => placed.extend(places),
                    Err(stopped) => return Some(stopped),
                }
                continue;
            };
            match self.run_popped(pod, now) {
                Ok(row) => placed.push((pod, row)),
                Err(stopped) => return Some(stopped),
            }
        }
        None
    }

    /// Takes the next pod or group off the queue.
    pub fn pop(&mut self) -> Option<Entity> {
        self.snap.refresh_tenants();
        let tenants = self.snap.tenants.as_deref_mut();
        self.queue.pop(tenants.map(|tenants| &mut tenants.shares))
    }

    /// Places a group, unless its tenant may not have what it asks for, or the caller's plugins have a
    /// say in it.
    pub fn popped_group(&mut self, group: Entity, now: Nanos) -> Result<Places, Stopped> {
        if let Some(rejection) = self.refused_to_tenant(group) {
            return Err(Stopped::with(group, self.rejected(&rejection)));
        }
        if self.caller_judges(group) {
            return Err(Stopped::for_caller(group));
        }
        match self.run_group(group, now) {
            (places, None) => Ok(places),
            (places, Some(shortage)) => Err(Stopped {
                gang: Some((places, shortage)),
                ..Stopped::for_caller(group)
            }),
        }
    }

    /// Schedules and assumes a pod that was taken off the queue.
    pub fn run_popped(&mut self, pod: PodId, now: Nanos) -> Result<Row, Stopped> {
        let profile = self.profile_of(pod);
        if profile.is_none_or(|(_, profile)| profile.needs_caller)
            && self.concern(pod) != Some(Concern::Nothing)
        {
            return self.run_with_caller(pod, now);
        }
        let attempt = u64::from(self.queue.attempts(pod));
        let outcome = self.schedule_alone(pod, attempt);
        let Outcome::Placed { row, .. } = outcome else {
            return Err(Stopped::with(pod.into(), outcome));
        };
        self.take(pod, row)?;
        self.settled(pod, now);
        Ok(row)
    }

    /// Assumes a popped pod.
    pub(crate) fn take(&mut self, pod: PodId, row: Row) -> Result<(), Stopped> {
        let refused = |(plugin, status): (&'static str, Status)| {
            Stopped::with(pod.into(), Outcome::reserve_refused(plugin, &status))
        };
        self.assume(pod, row).map_err(refused)
    }

    /// A popped pod that waits for nobody has its node.
    pub(crate) fn settled(&mut self, pod: PodId, now: Nanos) {
        self.queue.settle(pod);
        self.announce(pod, self.pod_events.added, now);
    }

    /// Tells the queue of something that happened to a pod on a node (or that it left one): parked pods
    /// come back if a plugin that rejected them can see the difference. To the pod itself it is no news.
    pub fn announce(&mut self, pod: PodId, event: Bits, now: Nanos) -> usize {
        self.announce_sparing((pod, None), event, now, &Spared::default())
    }

    /// The same, but for pods of which the caller's hints say that it is nothing to them, and for a gang in
    /// flight whose own doing it is.
    pub fn announce_sparing(
        &mut self,
        (pod, gang): (PodId, Option<Entity>),
        event: Bits,
        now: Nanos,
        spared: &Spared,
    ) -> usize {
        if !self.queue.awaits(event) {
            return 0;
        }
        let (template, tenant) = {
            let pod = &self.snap.pods[pod];
            (Arc::clone(&pod.template), pod.tenant)
        };
        let Engine {
            queue,
            snap,
            profiles,
            plugin_bits,
            concerns,
            ..
        } = self;
        let parts: Parts<'_> = (snap, profiles, plugin_bits);
        queue.event_but((Some(pod.into()), gang), event, now, |bit, parked| {
            if spares(spared, (&*snap, &*concerns), bit, parked) {
                return false;
            }
            if plugin_bits.get(bit as usize).is_some_and(|n| &**n == DRF) {
                return snap.gives_back(tenant, parked);
            }
            let Some(parked) = parked.pod().map(|pod| &snap.pods[pod]) else {
                return true;
            };
            native(parts, bit, parked)
                .is_none_or(|p| p.affects(snap, &template, parked) != Affects::Nothing)
        })
    }

    /// Schedules and assumes a run of pods; stops behind the first that no node can take. Returns a row
    /// per pod tried; the last is `None` if it was that one.
    pub fn schedule_batch(&mut self, pods: &[(PodId, u64)], rows: &mut Vec<Option<Row>>) {
        rows.clear();
        for &(pod, attempt) in pods {
            let row = match self.schedule(pod, attempt) {
                Outcome::Placed { row, .. } => self.assume(pod, row).is_ok().then_some(row),
                Outcome::Unschedulable(_) | Outcome::Failed(_) => None,
            };
            rows.push(row);
            if row.is_none() {
                return;
            }
        }
    }

    /// Names of the nodes that pass every filter, in node order.
    pub fn feasible(&mut self, pod: PodId) -> Vec<String> {
        if self.snap.nodes.is_empty() {
            return Vec::new();
        }
        let Some(Ok(judged)) = self.judge(pod) else {
            return Vec::new();
        };
        let name = |row: Row| {
            self.snap
                .interner
                .text(self.snap.nodes.name(row))
                .to_owned()
        };
        judged.feasible(&self.snap).into_iter().map(name).collect()
    }

    /// Judges a pod for explanation: every node's status, and the scores of the feasible ones.
    pub fn judge(&mut self, pod: PodId) -> Option<Result<Judged, Rejection>> {
        self.snap.refresh();
        let (_, profile) = self.profile_of(pod)?;
        Some(Judged::new(&mut self.snap, &profile, pod))
    }
}

/// Where a batch ended early: a popped pod that is not placed, or a popped group.
#[derive(Debug)]
pub struct Stopped {
    pub entity: Entity,
    /// `None`: its profile has plugins of the caller's and nothing was decided yet, or it is a group.
    pub outcome: Option<Outcome>,
    /// A group that lacks places, with those of its members that were kept: some were on nodes before.
    pub gang: Option<(Places, Box<Shortage>)>,
    /// What the caller's plugins are asked, so that the pod can be tried.
    pub asks: Option<Question>,
    /// The row it has been given, where the caller goes on from there.
    pub assumed: Option<Row>,
}

impl Stopped {
    pub(crate) fn for_caller(entity: Entity) -> Self {
        Stopped {
            entity,
            outcome: None,
            gang: None,
            asks: None,
            assumed: None,
        }
    }

    fn with(entity: Entity, outcome: Outcome) -> Self {
        Stopped {
            outcome: Some(outcome),
            ..Stopped::for_caller(entity)
        }
    }
}

impl Outcome {
    /// A plugin refused at Reserve: the pod waits for an event that concerns that plugin.
    pub(crate) fn reserve_refused(plugin: &'static str, status: &Status) -> Self {
        if !status.code.is_rejected() {
            return Outcome::Failed(status.message());
        }
        Outcome::Unschedulable(Arc::new(Diagnosis::of_refusal(plugin, status)))
    }
}

/// Keeps the draws of preemption apart from those of the choice among equals.
const PREEMPTION: u64 = 0x7072_6565_6d70_7421;
