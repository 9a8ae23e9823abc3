//! Places held for a group until others have left, and pods that run in the gap.

use super::place::fits;
use super::transaction::Transaction;
use super::{GroupId, Places, Request, Said};
use crate::engine::{Engine, Outcome};
use crate::queue::Nanos;
use crate::snapshot::{PodId, Row};
use std::sync::Arc;

impl Engine {
    /// The earliest of `ends` by when enough pods have left for the group to fit, and where it then goes.
    /// `None`: it does not fit when all of them have left. Plugins of the caller's have a say by what they
    /// `said`; the caller asks them again about these places.
    pub fn foresee_group(
        &mut self,
        group: GroupId,
        ends: &[(Nanos, PodId)],
        said: &Arc<Said>,
    ) -> Option<(Nanos, Places)> {
        let mut request = self.request_of(group, 0);
        request.said = Arc::clone(said);
        let mut ends = ends.to_vec();
        ends.sort_unstable();
        let mut times: Vec<Nanos> = ends.iter().map(|(end, _)| *end).collect();
        times.dedup();
        let latest = *times.last()?;
        let mut best = (latest, self.places_after(&request, &ends, latest)?);
        // More room never hurts, so the earliest time is found by halving.
        let (mut low, mut high) = (0, times.len() - 1);
        while low < high {
            let middle = (low + high) / 2;
            match self.places_after(&request, &ends, times[middle]) {
                Some(places) => {
                    best = (times[middle], places);
                    high = middle;
                }
                None => low = middle + 1,
            }
        }
        Some(best)
    }

    fn places_after(
        &mut self,
        request: &Request,
        ends: &[(Nanos, PodId)],
        at: Nanos,
    ) -> Option<Places> {
        let mut tx = Transaction::new(request.budget);
        tx.lift(self, request.members.iter().map(|(pod, _)| *pod));
        for (_, pod) in ends.iter().take_while(|(end, _)| *end <= at) {
            tx.evict(self, *pod);
        }
        let places = fits(self, request, &mut tx).then(|| tx.places());
        tx.discard(self);
        places
    }

    /// Schedules and assumes a pod that may use what is held for a group.
    pub fn fill_gap(&mut self, pod: PodId, group: GroupId) -> Option<Row> {
        let request = self.request_of(group, 0);
        let mut tx = Transaction::new(request.budget);
        tx.lift(self, request.members.iter().map(|(pod, _)| *pod));
        let attempt = u64::from(self.queue.attempts(pod));
        let outcome = self.schedule_alone(pod, attempt);
        tx.discard(self);
        match outcome {
            Outcome::Placed { row, .. } => self.assume(pod, row).is_ok().then_some(row),
            Outcome::Unschedulable(_) | Outcome::Failed(_) => None,
        }
    }
}
