//! Compiled pods, so that those of one workload are compiled once.

use super::pods::Pod;
use rustc_hash::FxHashMap;

/// Bytes of JSON by which a generation's prototypes are kept; a prototype takes some times as much.
const MOST_BYTES: usize = 3 << 19;

/// Pods in a generation, at least; else half of those that exist.
const LEAST_PODS: usize = 1 << 11;

type Known = FxHashMap<Box<[u8]>, (Pod, bool)>;

/// Compiled pods by everything they say apart from name, uid, node and start, and whether they have ended.
/// One that was of no use for a generation is dropped: most are of pods that nobody resembles.
#[derive(Debug, Default)]
pub(super) struct Prototypes {
    young: Known,
    old: Known,
    /// Bytes of JSON in `young`.
    size: usize,
    /// Pods that came in this generation.
    pods: usize,
}

impl Prototypes {
    pub(super) fn get(&mut self, key: &[u8]) -> Option<&(Pod, bool)> {
        if let Some((key, known)) = self.old.remove_entry(key) {
            self.keep(key, known);
        }
        self.young.get(key)
    }

    pub(super) fn keep(&mut self, key: Box<[u8]>, known: (Pod, bool)) {
        self.size += key.len();
        self.young.insert(key, known);
    }

    /// One more pod comes to those that exist: begins a new generation where it is time, and returns what
    /// is dropped.
    pub(super) fn pod_comes(&mut self, existing: usize) -> impl Iterator<Item = Pod> + use<> {
        self.pods += 1;
        let over = self.pods > LEAST_PODS.max(existing / 2) || self.size > MOST_BYTES;
        let gone = if over {
            (self.size, self.pods) = (0, 0);
            std::mem::replace(&mut self.old, std::mem::take(&mut self.young))
        } else {
            Known::default()
        };
        gone.into_values().map(|(pod, _)| pod)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Snapshot;
    use crate::snapshot::PodParts;

    fn come(snap: &mut Snapshot, name: &str, app: &str) {
        let pod = serde_json::json!({
            "metadata": {"name": name, "uid": name, "labels": {"app": app}},
            "spec": {"containers": [{"name": "c", "image": app}]},
        });
        let json = pod.to_string();
        let parts = PodParts::split(json.as_bytes()).expect("JSON");
        let id = snap.add_pod_parts(parts).expect("a pod");
        snap.remove_pod(id);
    }

    fn known(snap: &Snapshot) -> usize {
        snap.prototypes.young.len() + snap.prototypes.old.len()
    }

    #[test]
    fn what_comes_again_stays_and_what_does_not_goes() {
        let mut snap = Snapshot::default();
        for turn in 0..40_000 {
            come(&mut snap, &format!("steady-{turn}"), "steady");
            come(&mut snap, &format!("new-{turn}"), &format!("new-{turn}"));
            assert!(known(&snap) <= 2 * super::LEAST_PODS);
        }
        let prototypes = &snap.prototypes;
        let compiled = prototypes.young.values().chain(prototypes.old.values());
        let first: Vec<_> = compiled
            .filter(|(pod, _)| pod.name.ends_with("-0"))
            .collect();
        assert_eq!(first.len(), 1, "compiled once for all, or gone");
        assert_eq!(&*first[0].0.name, "steady-0");
    }
}
