//! Pods that are on nodes enter the snapshot: those that say the same, apart from what is a pod's own, are
//! compiled once.

use super::Snapshot;
use super::arrivals::{PodParts, has_ended};
use super::pods::{Pod, PodId};
use crate::time::parse_rfc3339;

/// What a pod says of its own.
#[derive(Clone, Copy, Debug)]
pub struct Own<'a> {
    pub name: &'a str,
    pub uid: &'a str,
    /// spec.nodeName.
    pub node: &'a str,
    /// status.startTime.
    pub start: Option<&'a str>,
}

/// Pods that stand for others, numbered from 0, and whether they have ended.
#[derive(Debug, Default)]
pub(super) struct Settled(Vec<(Pod, bool)>);

impl Snapshot {
    /// Adds a pod from JSON; `keep`: as the next example, too. One with generated claims, which are named
    /// after it, is no example.
    pub fn add_settled(
        &mut self,
        parts: PodParts<'_>,
        keep: bool,
    ) -> Result<PodId, serde_json::Error> {
        let source = parts.parse()?;
        let (record, ended) = (self.record(&source), has_ended(&source));
        if keep {
            self.peers.join_again(record.peer);
            self.settled.0.push((record.clone(), ended));
        }
        Ok(self.insert_pod(record, ended))
    }

    /// Adds a pod that differs from an example in its own alone. Panics without such an example.
    pub fn add_settled_like(&mut self, example: usize, own: Own<'_>) -> PodId {
        let (example, ended) = &self.settled.0[example];
        let ended = *ended;
        let record = Pod {
            node_name: self.interner.intern(own.node),
            start_time: own.start.and_then(parse_rfc3339),
            ..example.like(own.name, own.uid)
        };
        self.peers.join_again(record.peer);
        self.insert_pod(record, ended)
    }

    /// How many examples are kept.
    pub fn settled(&self) -> usize {
        self.settled.0.len()
    }

    /// Drops all examples; numbering starts anew.
    pub fn forget_settled(&mut self) {
        for (example, _) in std::mem::take(&mut self.settled).0 {
            self.forget_record(&example);
        }
    }
}
