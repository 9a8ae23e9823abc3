//! Class `podium._core.Engine`: the snapshot and the scheduling cycle behind one lock.

use crate::caller::{Refusal, refusal};
use crate::errors::{core_error, poisoned};
use crate::explain;
use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1};
use podium_core::engine::{self, Outcome, Settings};
use podium_core::object;
use podium_core::pick::Choose;
use podium_core::preempt::Preemption;
use podium_core::snapshot::volumes::{self, BindAction};
use podium_core::snapshot::{Kind, PodId, PodParts, Row};
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::sync::{Mutex, MutexGuard};

/// Kind, namespace, name, JSON merge patch.
type VolumeWrite<'py> = (
    &'static str,
    String,
    String,
    Bound<'py, PyBytes>,
    Bound<'py, PyBytes>,
);

/// See the stub for the contract. Pods are handles (u32), nodes are rows (u32).
#[pyclass(frozen, module = "podium._core")]
#[derive(Debug)]
pub(crate) struct Engine {
    inner: Mutex<engine::Engine>,
}

/// How one cycle ended.
#[pyclass(frozen, get_all, module = "podium._core")]
#[derive(Debug)]
pub(crate) struct Decision {
    /// `placed`, `unschedulable` or `failed`.
    result: &'static str,
    row: Option<u32>,
    feasible: usize,
    evaluated: usize,
    message: String,
    plugins: Vec<&'static str>,
}

/// What preemption decided.
#[pyclass(frozen, get_all, module = "podium._core")]
#[derive(Debug)]
pub(crate) struct Eviction {
    /// `nominate`, `helpless`, `ineligible` or `failed`.
    result: &'static str,
    row: Option<u32>,
    victims: Vec<u32>,
    violations: usize,
    message: String,
}

impl Engine {
    pub(crate) fn lock(&self) -> PyResult<MutexGuard<'_, engine::Engine>> {
        self.inner.lock().map_err(|_| poisoned())
    }

    /// Runs without the interpreter lock: the engine lock is never waited for while attached.
    pub(crate) fn run<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut engine::Engine) -> T + Send,
    ) -> PyResult<T> {
        py.detach(|| Ok(work(&mut *self.lock()?)))
    }

    pub(crate) fn pod(engine: &engine::Engine, pod: u32) -> PyResult<PodId> {
        let id = PodId(pod);
        match engine.snap.pods.get(id) {
            Some(_) => Ok(id),
            None => Err(PyKeyError::new_err(format!("no pod has the handle {pod}"))),
        }
    }
}

fn parse_pod(json: &[u8]) -> PyResult<object::Pod> {
    serde_json::from_slice(json).map_err(|e| core_error(format!("pod: {e}")))
}

fn parse_node(json: &[u8]) -> PyResult<object::Node> {
    serde_json::from_slice(json).map_err(|e| core_error(format!("node: {e}")))
}

fn kind(name: &str) -> PyResult<Kind> {
    Kind::new(name).ok_or_else(|| PyValueError::new_err(format!("the core reads no kind {name:?}")))
}

impl From<Outcome> for Decision {
    fn from(outcome: Outcome) -> Self {
        let none = |result, message, plugins| Decision {
            result,
            row: None,
            feasible: 0,
            evaluated: 0,
            message,
            plugins,
        };
        match outcome {
            Outcome::Placed {
                row,
                feasible,
                evaluated,
            } => Decision {
                row: Some(row),
                feasible,
                evaluated,
                ..none("placed", String::new(), Vec::new())
            },
            Outcome::Unschedulable(diagnosis) => Decision {
                evaluated: diagnosis.judged,
                ..none(
                    "unschedulable",
                    diagnosis.message(""),
                    diagnosis.plugins.clone(),
                )
            },
            Outcome::Failed(message) => none("failed", message, Vec::new()),
        }
    }
}

impl From<Preemption> for Eviction {
    fn from(preemption: Preemption) -> Self {
        let none = |result| Eviction {
            result,
            row: None,
            victims: Vec::new(),
            violations: 0,
            message: preemption.text(),
        };
        match &preemption {
            Preemption::Nominate {
                row,
                victims,
                violations,
                ..
            } => Eviction {
                row: Some(*row),
                victims: victims.iter().map(|v| v.0).collect(),
                violations: *violations,
                ..none("nominate")
            },
            Preemption::Helpless { .. } => none("helpless"),
            Preemption::Ineligible { .. } => none("ineligible"),
            Preemption::Failed { .. } => none("failed"),
        }
    }
}

#[pymethods]
impl Engine {
    #[new]
    #[pyo3(signature = (*, choose = "seeded", seed = 0, sample = false))]
    fn new(choose: &str, seed: u64, sample: bool) -> PyResult<Self> {
        let choose = match choose {
            "seeded" => Choose::Seeded(seed),
            "upstream" => Choose::Upstream,
            other => {
                let message = format!("choose is \"seeded\" or \"upstream\", not {other:?}");
                return Err(PyValueError::new_err(message));
            }
        };
        let inner = engine::Engine::new(Settings { choose, sample });
        Ok(Engine {
            inner: Mutex::new(inner),
        })
    }

    fn add_profile(&self, json: &[u8]) -> PyResult<()> {
        self.lock()?
            .add_profile(json)
            .map_err(|e| core_error(e.to_string()))
    }

    fn set_node(&self, json: &[u8]) -> PyResult<Row> {
        Ok(self.lock()?.snap.set_node(&parse_node(json)?))
    }

    fn remove_node(&self, name: &str) -> PyResult<Option<Row>> {
        Ok(self.lock()?.snap.remove_node(name))
    }

    fn set(&self, kind_name: &str, json: &[u8]) -> PyResult<()> {
        let kind = kind(kind_name)?;
        self.lock()?
            .snap
            .set(kind, json)
            .map_err(|e| core_error(e.to_string()))
    }

    fn remove(&self, kind_name: &str, namespace: &str, name: &str) -> PyResult<()> {
        self.lock()?.snap.remove(kind(kind_name)?, namespace, name);
        Ok(())
    }

    fn add_pod(&self, json: &[u8]) -> PyResult<u32> {
        Ok(self.lock()?.add_pod_json(json).map_err(core_error)?.0)
    }

    /// Parts of pods as JSON, in parallel lists.
    fn add_pods<'py>(
        &self,
        py: Python<'py>,
        metadata: Vec<Bound<'py, PyBytes>>,
        specs: Vec<Bound<'py, PyBytes>>,
        statuses: Vec<Bound<'py, PyBytes>>,
    ) -> PyResult<Bound<'py, PyArray1<u32>>> {
        if metadata.len() != specs.len() || specs.len() != statuses.len() {
            return Err(PyValueError::new_err("the three lists differ in length"));
        }
        let mut engine = self.lock()?;
        let mut ids = Vec::with_capacity(metadata.len());
        for ((metadata, spec), status) in metadata.iter().zip(&specs).zip(&statuses) {
            let parts = PodParts {
                metadata: metadata.as_bytes(),
                spec: spec.as_bytes(),
                status: status.as_bytes(),
            };
            ids.push(engine.add_pod_parts(parts).map_err(core_error)?.0);
        }
        Ok(ids.into_pyarray(py))
    }

    fn update_pod(&self, pod: u32, json: &[u8]) -> PyResult<()> {
        let source = parse_pod(json)?;
        let mut engine = self.lock()?;
        let id = Self::pod(&engine, pod)?;
        engine.snap.update_pod(id, &source);
        Ok(())
    }

    fn remove_pod(&self, pod: u32) -> PyResult<()> {
        let mut engine = self.lock()?;
        let id = Self::pod(&engine, pod)?;
        engine.remove_pod(id);
        Ok(())
    }

    #[pyo3(signature = (pod, attempt = 0))]
    fn schedule(&self, py: Python<'_>, pod: u32, attempt: u64) -> PyResult<Decision> {
        let outcome = self.run(py, |engine| {
            Self::pod(engine, pod).map(|id| engine.schedule(id, attempt))
        })?;
        Ok(outcome?.into())
    }

    fn schedule_batch<'py>(
        &self,
        py: Python<'py>,
        pods: PyReadonlyArray1<'py, u32>,
        attempts: PyReadonlyArray1<'py, u64>,
    ) -> PyResult<Bound<'py, PyArray1<i32>>> {
        let batch: Vec<_> = pods
            .as_array()
            .iter()
            .zip(attempts.as_array())
            .map(|(pod, attempt)| (PodId(*pod), *attempt))
            .collect();
        let rows = self.run(py, move |engine| {
            for (id, _) in &batch {
                Self::pod(engine, id.0)?;
            }
            let mut rows = Vec::with_capacity(batch.len());
            engine.schedule_batch(&batch, &mut rows);
            Ok::<_, PyErr>(rows)
        })??;
        let rows: Vec<i32> = rows
            .into_iter()
            .map(|row| row.map_or(-1, |r| r as i32))
            .collect();
        Ok(rows.into_pyarray(py))
    }

    #[pyo3(signature = (pod, attempt = 0))]
    fn preempt(&self, py: Python<'_>, pod: u32, attempt: u64) -> PyResult<Option<Eviction>> {
        let preemption = self.run(py, |engine| {
            Self::pod(engine, pod).map(|id| engine.preempt(id, attempt))
        })?;
        Ok(preemption?.map(Eviction::from))
    }

    fn assume(&self, pod: u32, row: u32) -> PyResult<Option<Refusal>> {
        let mut engine = self.lock()?;
        let id = Self::pod(&engine, pod)?;
        if engine.snap.nodes.live.get(row as usize) != Some(&true) {
            return Err(PyKeyError::new_err(format!("row {row} is no node")));
        }
        let refused = engine.assume(id, row).err();
        Ok(refused.map(|(plugin, status)| refusal(plugin, &status)))
    }

    fn forget(&self, pod: u32) -> PyResult<()> {
        let mut engine = self.lock()?;
        let id = Self::pod(&engine, pod)?;
        engine.forget(id);
        Ok(())
    }

    fn nominate(&self, pod: u32, node: Option<&str>) -> PyResult<()> {
        let mut engine = self.lock()?;
        let id = Self::pod(&engine, pod)?;
        let node = node.map(|name| engine.snap.interner.intern(name));
        engine.snap.nominate(id, node);
        Ok(())
    }

    fn nominated(&self, pod: u32) -> PyResult<Option<String>> {
        let engine = self.lock()?;
        let id = Self::pod(&engine, pod)?;
        let node = engine.snap.pods[id].nominated;
        Ok(node.map(|name| engine.snap.interner.text(name).to_owned()))
    }

    /// What must be written before a reserved pod can be bound: kind, namespace, name, JSON merge patch,
    /// and the write as the volume controller of a cluster in memory takes it.
    fn volume_writes<'py>(&self, py: Python<'py>, pod: u32) -> PyResult<Vec<VolumeWrite<'py>>> {
        let engine = self.lock()?;
        let id = Self::pod(&engine, pod)?;
        let write = |action: BindAction| {
            let bytes = |json: String| PyBytes::new(py, json.as_bytes());
            let patch = bytes(action.patch().to_string());
            let whole = serde_json::to_string(&action).map_err(|e| core_error(e.to_string()))?;
            let (kind, namespace, name) = match action.volume.as_str() {
                "" => ("PersistentVolumeClaim", action.namespace, action.claim),
                _ => ("PersistentVolume", String::new(), action.volume),
            };
            Ok((kind, namespace, name, patch, bytes(whole)))
        };
        volumes::pre_bind(&engine.snap, id)
            .into_iter()
            .map(write)
            .collect()
    }

    /// Whether all claims of a reserved pod are bound; the error says why they never will be.
    fn volumes_bound(&self, pod: u32) -> PyResult<bool> {
        let engine = self.lock()?;
        let id = Self::pod(&engine, pod)?;
        volumes::all_bound(&engine.snap, id).map_err(core_error)
    }

    /// Names of the nodes that pass every filter for a pod, in node order.
    fn feasible(&self, py: Python<'_>, pod: u32) -> PyResult<Vec<String>> {
        self.run(py, |engine| {
            let id = Self::pod(engine, pod)?;
            Ok(engine.feasible(id))
        })?
    }

    fn row(&self, name: &str) -> PyResult<Option<Row>> {
        let engine = self.lock()?;
        Ok(engine
            .snap
            .interner
            .get(name)
            .and_then(|symbol| engine.snap.nodes.row(symbol)))
    }

    fn node_name(&self, row: u32) -> PyResult<String> {
        let engine = self.lock()?;
        match engine.snap.nodes.live.get(row as usize) {
            Some(true) => Ok(engine
                .snap
                .interner
                .text(engine.snap.nodes.name(row))
                .to_owned()),
            _ => Err(PyKeyError::new_err(format!("row {row} is no node"))),
        }
    }

    /// The name of each row's node.
    fn node_names(&self, rows: PyReadonlyArray1<'_, u32>) -> PyResult<Vec<String>> {
        let engine = self.lock()?;
        let name = |row: &u32| {
            engine
                .snap
                .interner
                .text(engine.snap.nodes.name(*row))
                .to_owned()
        };
        Ok(rows.as_array().iter().map(name).collect())
    }

    /// The row of each pod, −1 where it is on none.
    fn rows_of<'py>(
        &self,
        py: Python<'py>,
        pods: PyReadonlyArray1<'py, u32>,
    ) -> PyResult<Bound<'py, PyArray1<i32>>> {
        let engine = self.lock()?;
        let row = |pod: &u32| {
            let pod = engine.snap.pods.get(PodId(*pod));
            pod.and_then(|p| p.row).map_or(-1, |row| row as i32)
        };
        let rows: Vec<i32> = pods.as_array().iter().map(row).collect();
        Ok(rows.into_pyarray(py))
    }

    /// Allocatable and requested of every resource, summed over all nodes.
    fn totals<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let engine = self.lock()?;
        let totals = PyDict::new(py);
        for (id, name) in engine.snap.resources.iter() {
            let sum = |columns: &[podium_core::snapshot::Column]| {
                columns
                    .get(id.0 as usize)
                    .map_or(0i128, |c| c.iter().map(|v| i128::from(*v)).sum())
            };
            let nodes = &engine.snap.nodes;
            totals.set_item(name, (sum(&nodes.allocatable), sum(&nodes.requested)))?;
        }
        Ok(totals)
    }

    fn explain<'py>(&self, py: Python<'py>, pod: u32) -> PyResult<Bound<'py, PyDict>> {
        let explanation = self.run(py, |engine| {
            Self::pod(engine, pod).map(|id| podium_core::explain::explain(engine, id))
        })??;
        explain::to_dict(py, &explanation)
    }

    /// Pods of lower priority that are nominated to a node: a pod nominated there pushes them aside.
    fn nominated_below(&self, pod: u32, node: &str) -> PyResult<Vec<u32>> {
        let engine = self.lock()?;
        let id = Self::pod(&engine, pod)?;
        let row = engine
            .snap
            .interner
            .get(node)
            .and_then(|name| engine.snap.nodes.row(name));
        let pods = row
            .map(|row| engine.snap.nominated_below(row, id))
            .unwrap_or_default();
        Ok(pods.into_iter().map(|pod| pod.0).collect())
    }

    /// Everything that all plugins have to say about a pod, as JSON.
    fn audit<'py>(&self, py: Python<'py>, pod: u32) -> PyResult<Bound<'py, PyBytes>> {
        let audit = self.run(py, |engine| {
            Self::pod(engine, pod).map(|id| podium_core::audit::audit(engine, id))
        })??;
        Ok(PyBytes::new(py, audit.to_string().as_bytes()))
    }

    /// Names of the nodes in kube-scheduler's order.
    fn node_order(&self) -> PyResult<Vec<String>> {
        let mut engine = self.lock()?;
        engine.snap.refresh();
        let snap = &engine.snap;
        let name = |row: &Row| snap.interner.text(snap.nodes.name(*row)).to_owned();
        Ok(snap.order.rows().iter().map(name).collect())
    }

    /// How many classes of pods have remembered results.
    fn classes(&self) -> PyResult<usize> {
        Ok(self.lock()?.classes())
    }
}
