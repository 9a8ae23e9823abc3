//! Pending pods as they were when they were added, for others that say the same, or the same but for their
//! labels.

use super::Snapshot;
use super::pods::{Pod, PodId};
use crate::selector::Labels;
use crate::template::Template;
use std::sync::Arc;

impl Snapshot {
    /// Keeps what a pending pod, just added, says beside name and uid. Examples are numbered from 0.
    pub fn keep_example(&mut self, pod: PodId) {
        let record = self.pods[pod].clone();
        self.peers.join_again(record.peer);
        self.examples.push(record);
    }

    /// How many examples are kept.
    pub fn examples(&self) -> usize {
        self.examples.len()
    }

    /// Drops all examples; numbering starts anew.
    pub fn forget_examples(&mut self) {
        for example in std::mem::take(&mut self.examples) {
            self.forget_record(&example);
        }
    }

    /// Adds a pending pod that differs from an example in name and uid alone.
    pub fn add_pod_like(&mut self, example: usize, name: &str, uid: &str) -> PodId {
        let like = &self.examples[example];
        let record = Pod {
            template: Arc::clone(&like.template),
            name: name.into(),
            uid: uid.into(),
            claims: like.claims.clone(),
            ..*like
        };
        self.peers.join_again(record.peer);
        self.insert_pod(record, false)
    }

    /// Adds a pending pod that differs from an example in name, uid, labels and annotations alone; `None`
    /// where more of the example than its labels was made of them.
    pub fn add_pod_labelled(
        &mut self,
        example: usize,
        labels: Labels,
        name: &str,
        uid: &str,
    ) -> Option<PodId> {
        let like = Arc::clone(&self.examples[example].template);
        let template = self.shared(Template::labelled(&like, labels)?);
        let like = &self.examples[example];
        let record = Pod {
            peer: self.peers.join(&template),
            name: name.into(),
            uid: uid.into(),
            claims: like.claims.clone(),
            template,
            ..*like
        };
        Some(self.insert_pod(record, false))
    }
}
