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
        let record = self.examples[example].like(name, uid);
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
        let record = Pod {
            peer: self.peers.join(&template),
            template,
            ..self.examples[example].like(name, uid)
        };
        Some(self.insert_pod(record, false))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Snapshot;
    use super::super::pods::PodId;
    use crate::selector::Labels;
    use crate::snapshot::PodParts;
    use serde_json::{Value, json};
    use std::sync::Arc;

    fn come(snap: &mut Snapshot, labels: &Value, spec: &Value) -> PodId {
        let pod = json!({"metadata": {"name": "p", "uid": "u", "labels": labels}, "spec": spec});
        let json = pod.to_string();
        let parts = PodParts::split(json.as_bytes()).expect("JSON");
        snap.add_pod_parts(parts).expect("a pod")
    }

    fn like(snap: &mut Snapshot, spec: &Value) -> Option<PodId> {
        let first = come(snap, &json!({"app": "a"}), spec);
        snap.keep_example(first);
        let mut word = |text| snap.interner.intern(text);
        let labels = Labels::of([(word("tier"), word("t")), (word("app"), word("b"))]);
        snap.add_pod_labelled(0, labels, "q", "v")
    }

    #[test]
    fn with_other_labels_is_as_read_whole() {
        let spec = json!({
            "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}],
            "tolerations": [{"key": "k", "operator": "Exists"}],
            "nodeSelector": {"disk": "ssd"},
        });
        let mut snap = Snapshot::default();
        let made = like(&mut snap, &spec).expect("labels are only that");
        let read = come(&mut snap, &json!({"app": "b", "tier": "t"}), &spec);
        let (made, read) = (&snap.pods[made], &snap.pods[read]);
        assert!(Arc::ptr_eq(&made.template, &read.template));
        assert_eq!(made.peer, read.peer);
        assert_eq!((&*made.name, &*made.uid), ("q", "v"));
    }

    #[test]
    fn where_labels_may_be_part_of_more_it_must_be_read_whole() {
        let term = json!({"topologyKey": "zone", "labelSelector": {}, "matchLabelKeys": ["app"]});
        let near = json!({"requiredDuringSchedulingIgnoredDuringExecution": [term]});
        let spread = json!({"topologyKey": "zone", "maxSkew": 1, "matchLabelKeys": ["app"]});
        for spec in [
            json!({"affinity": {"podAntiAffinity": near}}),
            json!({"topologySpreadConstraints": [spread]}),
        ] {
            assert!(like(&mut Snapshot::default(), &spec).is_none());
        }
    }
}
