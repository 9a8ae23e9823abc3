//! The half of `podium._core.Engine` for gangs with members that Python plugins concern.

use crate::caller::per_node;
use crate::engine::Engine;
use crate::gang::{pairs, respect};
use numpy::PyReadonlyArray1;
use podium_core::gang::{self, GroupId};
use podium_core::queue::Entity;
use podium_core::snapshot::{PodId, Row};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::Arc;

/// What Python plugins say of the members of a gang. See the stub.
#[pyclass(frozen, module = "podium._core")]
#[derive(Debug)]
pub(crate) struct Said(pub(crate) Arc<gang::Said>);

/// A kind of members, a row, and how many of each kind were there when it was refused.
type Company = (usize, Row, Vec<usize>);

#[pymethods]
impl Engine {
    /// Says what Python plugins say: see the stub.
    fn said(
        &self,
        kinds: Vec<(u32, usize)>,
        masks: Vec<PyReadonlyArray1<'_, bool>>,
        refused: Vec<Company>,
    ) -> PyResult<Said> {
        let engine = self.lock()?;
        let live = engine.live_rows();
        let row = |at: usize| live.as_ref().map_or(at as Row, |rows| rows[at]);
        let mut rows = Vec::with_capacity(masks.len());
        for mask in &masks {
            let mask = per_node(mask, engine.snap.nodes.count())?.iter();
            let left = mask.enumerate().filter(|(_, left)| **left);
            rows.push(left.map(|(at, _)| row(at)).collect());
        }
        let is_known = |kind: &usize| *kind < masks.len();
        let of_members = kinds.iter().all(|(_, kind)| is_known(kind));
        if !of_members || !refused.iter().all(|(kind, _, _)| is_known(kind)) {
            return Err(PyValueError::new_err("a kind has no mask"));
        }
        let kinds = kinds.into_iter().map(|(pod, kind)| (PodId(pod), kind));
        let mut said = gang::Said::new(kinds, rows);
        for (kind, row, beside) in refused {
            said.refuse(kind, row, beside);
        }
        Ok(Said(Arc::new(said)))
    }

    /// Where the missing members of a gang may be together: see the stub.
    fn group_domains(&self, group: u32) -> PyResult<(Vec<gang::Named>, usize)> {
        Ok(self.lock()?.group_domains(GroupId(group)))
    }

    /// Where the missing members would go, as far as Python plugins have said; nothing is kept.
    fn arrange_group(
        &self,
        py: Python<'_>,
        group: u32,
        said: &Said,
    ) -> PyResult<Option<Vec<(u32, Row)>>> {
        let said = Arc::clone(&said.0);
        let found = self.run(py, move |engine| {
            let attempt = u64::from(engine.queue.attempts(Entity::group(group)));
            engine.arrange_group(GroupId(group), attempt, &said)
        })?;
        Ok(found.ok().as_ref().map(pairs))
    }

    /// Pods that could be evicted for a gang, and those of lower priority that are leaving already.
    fn below_group(&self, group: u32, respect_budgets: bool) -> PyResult<(Vec<u32>, Vec<u32>)> {
        let engine = self.lock()?;
        let (pods, leaving) = engine.below_group(GroupId(group), respect(respect_budgets));
        let handles = |pods: Vec<PodId>| pods.into_iter().map(|pod| pod.0).collect();
        Ok((handles(pods), handles(leaving)))
    }
}
