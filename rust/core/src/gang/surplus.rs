//! Members beyond a group's minimum, which are tried one by one: where the others are, if they must be together.

use super::domains::{Domain, candidates};
use super::failures::{TOPOLOGY, diagnose_within};
use super::transaction::Transaction;
use super::within::schedule_within;
use super::{Group, Request};
use crate::diagnosis::Diagnosis;
use crate::engine::{Engine, Outcome};
use crate::snapshot::PodId;
use std::sync::Arc;

impl Engine {
    /// [`Engine::schedule`] for a pod that is tried alone: one whose group must, or would rather, be together goes
    /// to the domain where the others are.
    pub fn schedule_alone(&mut self, pod: PodId, attempt: u64) -> Outcome {
        match self.beside_its_group(pod, attempt) {
            Some(request) => self.schedule_beside(&request, pod),
            None => self.schedule(pod, attempt),
        }
    }

    /// `None` where it makes no difference what group a pod is in.
    pub(crate) fn beside_its_group(&self, pod: PodId, attempt: u64) -> Option<Request> {
        let group: &Group = self.snap.groups.get(self.snap.groups.of(pod)?)?;
        if group.together.keys.is_empty() {
            return None;
        }
        let request = group.request(&self.snap.pods, attempt);
        (!request.anchored.is_empty()).then_some(request)
    }

    fn schedule_beside(&mut self, request: &Request, pod: PodId) -> Outcome {
        self.snap.refresh();
        if let Some(rejection) = self.refused_to_tenant(pod.into()) {
            return self.rejected(&rejection);
        }
        let tried = candidates(&self.snap, request).tried;
        for domain in &tried {
            if domain.whole() {
                return self.schedule(pod, request.attempt);
            }
            let rows = domain.rows(&self.snap).into_owned();
            match schedule_within(self, pod, request.attempt, &rows) {
                Outcome::Unschedulable(_) => {}
                outcome => return outcome,
            }
        }
        self.no_room_beside(request, pod, tried.first())
    }

    fn no_room_beside(
        &mut self,
        request: &Request,
        pod: PodId,
        domain: Option<&Domain>,
    ) -> Outcome {
        let (name, rows) = match domain {
            Some(domain) => (domain.name.clone(), domain.rows(&self.snap).into_owned()),
            None => (String::new(), Vec::new()),
        };
        let nothing = Transaction::new(0);
        let mut diagnosis: Diagnosis =
            diagnose_within(self, request, pod, &nothing, &rows).unwrap_or_default();
        let outside = self.snap.nodes.count() - rows.len();
        if outside > 0 && diagnosis.pre_filter.is_none() {
            let reason = format!("node(s) outside of {name}, where the gang is");
            diagnosis.reasons.push((reason.into(), outside));
            diagnosis.nodes += outside;
        }
        diagnosis.plugins.push(TOPOLOGY);
        Outcome::Unschedulable(Arc::new(diagnosis))
    }
}
