//! ImageLocality: nodes that already have the pod's images score higher.

use crate::intern::Symbol;
use crate::normalize::MAX_SCORE;
use crate::plugin::{Affects, KeyWriter, Plugin, PreScore, Rows, Score};
use crate::snapshot::{Change, Pod, Row, Snapshot};
use crate::template::Template;
use serde_json::Value;
use std::hash::Hash;
use std::sync::Arc;

pub(super) const NAME: &str = "ImageLocality";
const MIB: i64 = 1 << 20;
const MIN_THRESHOLD: i64 = 23 * MIB;
const MAX_PER_IMAGE: i64 = 1000 * MIB;

#[derive(Debug)]
struct ImageLocality;

pub(super) fn new(_: &mut Snapshot, _: &Value) -> Result<Arc<dyn Plugin>, String> {
    Ok(Arc::new(ImageLocality))
}

impl Plugin for ImageLocality {
    fn name(&self) -> &'static str {
        NAME
    }

    fn key(&self, _: &Snapshot, pod: &Pod, key: &mut KeyWriter) {
        pod.template.images.hash(key);
    }

    fn pre_score(&self, snap: &Snapshot, pod: &Pod, _: &[Row]) -> PreScore {
        let images = &pod.template.images;
        let nodes = snap.nodes.count() as f64;
        let names = images.names.iter();
        let known = names.filter_map(|name| {
            let (size, holders) = snap.image(*name)?;
            Some((*name, worth(size, holders, nodes)))
        });
        PreScore::Run(Box::new(Worth {
            images: known.collect(),
            max: MAX_PER_IMAGE * images.count,
            nodes,
        }))
    }

    fn affects(&self, _: &Snapshot, _: &Template, _: &Pod) -> Affects {
        Affects::Nothing
    }
}

/// Spread over many nodes, an image counts in full: otherwise its few holders would fill up.
fn worth(size: i64, holders: u32, nodes: f64) -> i64 {
    (size as f64 * (f64::from(holders) / nodes)) as i64
}

/// What each of the pod's images, in its own order and as often as it is named, adds on a node that
/// has it. Images that no node has are left out.
#[derive(Clone, Debug)]
struct Worth {
    images: Box<[(Symbol, i64)]>,
    max: i64,
    nodes: f64,
}

impl Worth {
    /// What an image adds on a row: nothing if the node does not have it.
    fn on(&self, snap: &Snapshot, row: Row, name: Symbol, worth_now: i64) -> i64 {
        if let Some(frozen) = snap.frozen_images(row) {
            let state = frozen.iter().find(|(image, _, _)| *image == name);
            return state.map_or(0, |(_, size, holders)| worth(*size, *holders, self.nodes));
        }
        let present = &snap.nodes.info(row).images;
        if present.iter().any(|(image, _)| *image == name) {
            worth_now
        } else {
            0
        }
    }

    fn score(&self, sum: i64) -> i64 {
        // As upstream: below the lower threshold wins over above the upper one.
        let sum = if sum < MIN_THRESHOLD {
            MIN_THRESHOLD
        } else {
            sum.min(self.max)
        };
        MAX_SCORE.wrapping_mul(sum - MIN_THRESHOLD) / (self.max - MIN_THRESHOLD)
    }
}

impl Score for Worth {
    fn score(&self, snap: &Snapshot, rows: Rows<'_>, out: &mut [i64]) {
        if self.images.is_empty() {
            let none = Worth::score(self, 0);
            rows.each(out, |_, score| *score = none);
            return;
        }
        rows.each(out, |row, score| {
            let each = self
                .images
                .iter()
                .map(|(name, worth)| self.on(snap, row, *name, *worth));
            *score = Worth::score(self, each.fold(0i64, i64::wrapping_add));
        });
    }

    /// An image that comes or goes is a change of the world, since it alters the worth on every node;
    /// so is the number of nodes.
    fn follow(&mut self, _: &Snapshot, change: &Change) -> Affects {
        match change {
            Change::World => Affects::All,
            Change::Node { .. } if !self.images.is_empty() => Affects::All,
            Change::Node { .. } => Affects::Node,
            _ => Affects::Nothing,
        }
    }

    fn boxed_clone(&self) -> Box<dyn Score> {
        Box::new(self.clone())
    }
}
