//! The queue's half of `podium._core.Engine`.

use crate::engine::{Decision, Engine};
use crate::errors::core_error;
use crate::gang::Shortage;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use podium_core::engine::{self, PodEvents, Stopped};
use podium_core::hints::Told;
use podium_core::queue::{Backoff, Entity, Nanos, Order, Pool, Queue, Return, Ticket};
use podium_core::snapshot::{PodId, Row};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// What one call of `run_batch` did.
#[pyclass(frozen, module = "podium._core")]
#[derive(Debug)]
pub(crate) struct Batch {
    done: Mutex<Placed>,
    #[pyo3(get)]
    stopped: Option<u32>,
    decision: Option<Py<Decision>>,
    kept: Vec<(PodId, Row)>,
    shortage: Option<Py<Shortage>>,
    asks: Option<Vec<Row>>,
    #[pyo3(get)]
    assumed: Option<Row>,
    #[pyo3(get)]
    stopped_nanos: u64,
}

/// Pods that were placed in a batch, with how long each took where that was asked for.
#[derive(Debug, Default)]
pub(crate) struct Placed {
    pub(crate) pods: Vec<(PodId, Row)>,
    pub(crate) nanos: Vec<u64>,
    pub(crate) timed: bool,
}

/// What the core did, without anything of Python's.
#[derive(Debug, Default)]
pub(crate) struct Done {
    pub(crate) placed: Placed,
    pub(crate) stopped: Option<Stopped>,
    /// How long the cycle took that stopped it, where times are asked for.
    stopped_nanos: u64,
}

impl Done {
    /// Goes on where a batch stopped; what that has placed is no longer there.
    pub(crate) fn after(batch: &Batch) -> Self {
        let mut before = batch.placed();
        let timed = before.timed;
        let placed = std::mem::take(&mut *before);
        before.timed = timed;
        Done {
            placed,
            ..Done::default()
        }
    }

    /// Runs cycles until `limit` pods are placed or one stops it.
    pub(crate) fn run(&mut self, engine: &mut engine::Engine, limit: usize, now: Nanos) {
        if !self.placed.timed {
            let left = limit.saturating_sub(self.placed.pods.len());
            self.stopped = engine.run_batch(left, now, &mut self.placed.pods);
            return;
        }
        while self.placed.pods.len() < limit {
            let (before, start) = (self.placed.pods.len(), Instant::now());
            self.stopped = engine.run_batch(1, now, &mut self.placed.pods);
            let nanos = start.elapsed().as_nanos() as u64;
            if self.stopped.is_some() {
                self.stopped_nanos = nanos;
            }
            if self.stopped.is_some() || self.placed.pods.len() == before {
                return;
            }
            self.placed.nanos.push(nanos);
        }
    }
}

impl Batch {
    pub(crate) fn new(py: Python<'_>, done: Done) -> PyResult<Self> {
        let (entity, outcome, gang, asks, assumed) = match done.stopped {
            None => (None, None, None, None, None),
            Some(s) => (Some(s.entity.0), s.outcome, s.gang, s.asks, s.assumed),
        };
        let (kept, shortage) = gang.unzip();
        let shortage = shortage
            .map(|s| Py::new(py, Shortage::from(*s)))
            .transpose()?;
        let decision = outcome
            .map(|o| Py::new(py, Decision::from(o)))
            .transpose()?;
        Ok(Batch {
            done: Mutex::new(done.placed),
            stopped: entity,
            decision,
            kept: kept.unwrap_or_default(),
            shortage,
            asks: asks.map(|question| question.rows),
            assumed,
            stopped_nanos: done.stopped_nanos,
        })
    }

    /// What was placed, to be read or taken over by the batch that goes on from this one.
    pub(crate) fn placed(&self) -> MutexGuard<'_, Placed> {
        self.done.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn stopped(&self) -> Option<u32> {
        self.stopped
    }
}

#[pymethods]
impl Batch {
    fn __len__(&self) -> usize {
        self.placed().pods.len()
    }

    /// Handles of the placed pods, in the order they were placed.
    #[getter]
    fn pods<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        self.placed()
            .pods
            .iter()
            .map(|(pod, _)| pod.0)
            .collect::<Vec<_>>()
            .into_pyarray(py)
    }

    /// The row of each.
    #[getter]
    fn rows<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        self.placed()
            .pods
            .iter()
            .map(|(_, row)| *row)
            .collect::<Vec<_>>()
            .into_pyarray(py)
    }

    /// Nanoseconds each cycle took, where they were asked for.
    #[getter]
    fn nanos<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u64>> {
        PyArray1::from_slice(py, &self.placed().nanos)
    }

    /// Rows of which the plugins of the caller must say what they think of the stopped pod there.
    #[getter]
    fn asks<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<u32>>> {
        let rows = self.asks.as_ref()?;
        Some(PyArray1::from_slice(py, rows))
    }

    /// Members of the stopped gang that were kept though others lack places, with their rows.
    #[getter]
    fn kept(&self) -> Vec<(u32, u32)> {
        self.kept.iter().map(|(pod, row)| (pod.0, *row)).collect()
    }

    /// Why the stopped gang lacks places; None if it is a pod, or nothing was tried.
    #[getter]
    fn shortage(&self, py: Python<'_>) -> Option<Py<Shortage>> {
        self.shortage.as_ref().map(|s| s.clone_ref(py))
    }

    /// How the cycle of the stopped pod ended; None where none was run.
    #[getter]
    fn decision(&self, py: Python<'_>) -> Option<Py<Decision>> {
        self.decision.as_ref().map(|d| d.clone_ref(py))
    }
}

fn pool_name(pool: Pool) -> &'static str {
    match pool {
        Pool::Active => "active",
        Pool::Backoff => "backoff",
        Pool::Unschedulable => "unschedulable",
        Pool::Gated => "gated",
        Pool::InFlight => "in_flight",
    }
}

fn enqueue(
    engine: &mut podium_core::engine::Engine,
    id: PodId,
    since: Nanos,
    created: Option<Nanos>,
    gated: bool,
) {
    let ticket = Ticket {
        priority: engine.snap.pods[id].template.priority,
        since,
        created: created.unwrap_or(since),
        lane: engine.lane(id.into()),
        gated,
        ..Ticket::default()
    };
    engine.queue.add(id, ticket);
}

#[pymethods]
impl Engine {
    fn set_backoff(&self, initial: Nanos, max: Nanos) -> PyResult<()> {
        self.lock()?.queue = Queue::new(Backoff { initial, max });
        Ok(())
    }

    /// Entities are tried in the order of their places, which `set_places` says, instead of by priority.
    fn order_by_places(&self) -> PyResult<()> {
        let queue = &mut self.lock()?.queue;
        queue.set_order(Order::Given, Default::default(), |_, lane| lane);
        Ok(())
    }

    /// Where pods stand, the least first; those that the queue does not know are left out.
    fn set_places(
        &self,
        pods: PyReadonlyArray1<'_, u32>,
        places: PyReadonlyArray1<'_, u64>,
    ) -> PyResult<()> {
        let queue = &mut self.lock()?.queue;
        for (pod, place) in pods.as_array().iter().zip(places.as_array()) {
            queue.set_place(Entity(*pod), *place);
        }
        Ok(())
    }

    fn register_plugin(&self, name: &str, events: u64) -> PyResult<u32> {
        let bit = self.lock()?.register_plugin(name, events);
        if bit >= 64 {
            return Err(core_error("at most 64 plugins can reject pods".to_owned()));
        }
        Ok(bit)
    }

    fn set_pod_events(&self, added: u64, deleted: u64) -> PyResult<()> {
        self.lock()?.pod_events = PodEvents { added, deleted };
        Ok(())
    }

    /// Whether anything waits, or may come to wait, for one of the events.
    fn awaits(&self, event: u64) -> PyResult<bool> {
        Ok(self.lock()?.queue.awaits(event))
    }

    /// Something happened to a pod on a node.
    #[pyo3(signature = (pod, event, now, spared = Vec::new(), gang = None))]
    fn announce(
        &self,
        pod: u32,
        event: u64,
        now: Nanos,
        spared: Vec<(u32, u32)>,
        gang: Option<u32>,
    ) -> PyResult<usize> {
        let mut engine = self.lock()?;
        let id = Self::pod(&engine, pod)?;
        let own = (id, gang.map(Entity::group));
        Ok(engine.announce_sparing(own, event, now, &spared.into_iter().collect()))
    }

    /// Queues pods that were just added, in this order. `created` has their ages, where the order is fair.
    #[pyo3(signature = (pods, since, created = None))]
    fn enqueue_many(
        &self,
        pods: PyReadonlyArray1<'_, u32>,
        since: Nanos,
        created: Option<PyReadonlyArray1<'_, i64>>,
    ) -> PyResult<()> {
        let mut engine = self.lock()?;
        let created = created.as_ref().map(PyReadonlyArray1::as_array);
        for (at, &pod) in pods.as_array().iter().enumerate() {
            let id = Self::pod(&engine, pod)?;
            let created = created.and_then(|ages| ages.get(at).copied());
            enqueue(&mut engine, id, since, created, false);
        }
        Ok(())
    }

    /// Pods whose binding succeeded: they leave the queue for good.
    fn confirm(&self, pods: PyReadonlyArray1<'_, u32>) -> PyResult<()> {
        let mut engine = self.lock()?;
        for &pod in pods.as_array() {
            engine.snap.confirm(PodId(pod));
            engine.queue.remove(PodId(pod));
        }
        Ok(())
    }

    #[pyo3(signature = (pod, since, gated, created = None))]
    fn enqueue(&self, pod: u32, since: Nanos, gated: bool, created: Option<Nanos>) -> PyResult<()> {
        let mut engine = self.lock()?;
        let id = Self::pod(&engine, pod)?;
        enqueue(&mut engine, id, since, created, gated);
        Ok(())
    }

    fn requeue(&self, pod: u32, gated: bool) -> PyResult<()> {
        let mut engine = self.lock()?;
        let id = Self::pod(&engine, pod)?;
        let priority = engine.snap.pods[id].template.priority;
        engine.tell_alike(id.into());
        engine.queue.update(id, priority, gated);
        Ok(())
    }

    /// A PreEnqueue plugin holds a pod that is in the queue.
    fn hold(&self, pod: u32) -> PyResult<()> {
        self.lock()?.queue.hold(Entity(pod));
        Ok(())
    }

    /// Nothing holds a pod of the gated pool any more.
    fn release(&self, pod: u32, now: Nanos) -> PyResult<()> {
        self.lock()?.queue.release(Entity(pod), now);
        Ok(())
    }

    fn dequeue(&self, pod: u32) -> PyResult<()> {
        self.lock()?.queue.remove(Entity(pod));
        Ok(())
    }

    fn pop(&self) -> PyResult<Option<u32>> {
        Ok(self.lock()?.pop().map(|entity| entity.0))
    }

    fn settle(&self, pod: u32) -> PyResult<()> {
        self.lock()?.queue.settle(Entity(pod));
        Ok(())
    }

    #[pyo3(signature = (pod, now, rejected_by = 0, pending_by = 0))]
    fn put_back(&self, pod: u32, now: Nanos, rejected_by: u64, pending_by: u64) -> PyResult<()> {
        let mut engine = self.lock()?;
        engine.tell_alike(Entity(pod));
        engine.queue.put_back(
            Entity(pod),
            now,
            Return {
                rejected_by,
                pending_by,
            },
        );
        Ok(())
    }

    /// Something happened to no pod on a node: see the stub.
    #[pyo3(signature = (event, now, spared = Vec::new(), *, node = false, claim = None, detached = false, deaf = 0))]
    #[expect(
        clippy::too_many_arguments,
        reason = "what happened, in one call per event"
    )]
    fn queue_event(
        &self,
        event: u64,
        now: Nanos,
        spared: Vec<(u32, u32)>,
        node: bool,
        claim: Option<(String, String)>,
        detached: bool,
        deaf: u64,
    ) -> PyResult<usize> {
        let spared = spared.into_iter().collect();
        let told = Told {
            node,
            claim,
            detached,
            deaf,
        };
        Ok(self.lock()?.queue_event(event, now, &spared, &told))
    }

    /// One parked pod of each kind that a Python plugin rejected and that waits for the event, with its kind.
    fn parked_kinds(&self, plugin: u32, event: u64) -> PyResult<Vec<(u32, u32)>> {
        let engine = self.lock()?;
        let pods = engine.parked_kinds(plugin, event).into_iter();
        Ok(pods
            .filter_map(|pod| Some((pod.0, engine.kind(pod)?)))
            .collect())
    }

    fn activate(&self, pod: u32) -> PyResult<()> {
        self.lock()?.queue.activate_now(Entity(pod));
        Ok(())
    }

    fn flush_queue(&self, now: Nanos, max_parked: Nanos) -> PyResult<()> {
        self.lock()?.queue.flush(now, max_parked);
        Ok(())
    }

    fn next_due(&self, max_parked: Nanos) -> PyResult<Option<Nanos>> {
        Ok(self.lock()?.queue.next_due(max_parked))
    }

    fn next_retry(&self) -> PyResult<Option<Nanos>> {
        Ok(self.lock()?.queue.next_retry())
    }

    fn pool(&self, pod: u32) -> PyResult<Option<&'static str>> {
        Ok(self.lock()?.queue.pool(Entity(pod)).map(pool_name))
    }

    fn attempts(&self, pod: u32) -> PyResult<u32> {
        Ok(self.lock()?.queue.attempts(Entity(pod)))
    }

    fn queue_counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let counts = self.lock()?.queue.counts();
        let answer = PyDict::new(py);
        answer.set_item("active", counts.active)?;
        answer.set_item("backoff", counts.backoff)?;
        answer.set_item("unschedulable", counts.unschedulable)?;
        answer.set_item("gated", counts.gated)?;
        answer.set_item("in_flight", counts.in_flight)?;
        Ok(answer)
    }

    #[pyo3(signature = (limit, now, timed = false))]
    fn run_batch(&self, py: Python<'_>, limit: usize, now: Nanos, timed: bool) -> PyResult<Batch> {
        let done = self.run(py, move |engine| {
            let mut done = Done::default();
            done.placed.timed = timed;
            done.run(engine, limit, now);
            done
        })?;
        Batch::new(py, done)
    }

    /// Schedules and assumes what was popped: a pod or a group.
    fn run_popped(&self, py: Python<'_>, handle: u32, now: Nanos) -> PyResult<Batch> {
        let entity = Entity(handle);
        let result = self.run(py, move |engine| {
            if entity.pod().is_none() {
                return Ok(engine.popped_group(entity, now));
            }
            let id = Self::pod(engine, handle)?;
            PyResult::Ok(engine.run_popped(id, now).map(|row| vec![(id, row)]))
        })??;
        let mut done = Done::default();
        match result {
            Ok(placed) => done.placed.pods = placed,
            Err(stopped) => done.stopped = Some(stopped),
        }
        Batch::new(py, done)
    }
}
