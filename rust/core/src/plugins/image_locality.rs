//! ImageLocality: nodes that have the pod's images already are preferred, the less the more nodes have them.

use crate::intern::Symbol;
use crate::normalize::MAX_SCORE;
use crate::plugin::{Affects, KeyWriter, Plugin, PreScore, Reads, Rows, Score};
use crate::snapshot::{Change, Pod, Row, Snapshot};
use crate::template::Template;
use serde_json::Value;
use std::hash::Hash;
use std::sync::Arc;

pub(super) const NAME: &str = "ImageLocality";

const MIB: i64 = 1 << 20;
/// Less than this on a node is worth nothing.
const LEAST: i64 = 23 * MIB;
/// More than this per image of the pod is worth no more.
const MOST_PER_IMAGE: i64 = 1000 * MIB;

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
        PreScore::Run(Box::new(Locality::new(snap, &pod.template)))
    }

    fn affects(&self, _: &Snapshot, _: &Template, _: &Pod) -> Affects {
        Affects::Nothing
    }
}

#[derive(Clone, Debug)]
struct Locality {
    /// The pod's images that some node has (one that it names twice stands twice), and what each is worth
    /// to a node that has it.
    present: Box<[(Symbol, i64)]>,
    /// Sum from which a node has the best score.
    most: i64,
    nodes: usize,
}

impl Locality {
    fn new(snap: &Snapshot, template: &Template) -> Self {
        let nodes = snap.nodes.count();
        let worth = |name: &Symbol| {
            let image = snap.images.get(*name)?;
            Some((*name, worth(image.size, image.rows().len(), nodes)))
        };
        let images = &template.images;
        Locality {
            present: images.names.iter().filter_map(worth).collect(),
            most: match crate::mutation::active(NAME) {
                true => MOST_PER_IMAGE,
                false => MOST_PER_IMAGE.wrapping_mul(images.count),
            },
            nodes,
        }
    }

    fn one(&self, snap: &Snapshot, row: Row) -> i64 {
        let frozen = snap.frozen_images(row);
        let here = self.present.iter().map(|(name, now)| match frozen {
            Some(states) => {
                let state = states.iter().find(|(image, _, _)| image == name);
                state.map_or(0, |(_, size, holders)| {
                    worth(*size, *holders as usize, self.nodes)
                })
            }
            None => {
                let is_here = snap.images.get(*name).is_some_and(|image| image.is_on(row));
                if is_here { *now } else { 0 }
            }
        });
        self.priority(here.fold(0i64, i64::wrapping_add))
    }

    fn priority(&self, sum: i64) -> i64 {
        let sum = if sum < LEAST {
            LEAST
        } else {
            sum.min(self.most)
        };
        MAX_SCORE.wrapping_mul(sum - LEAST) / (self.most - LEAST)
    }
}

/// What an image adds: the more nodes have it the more, since its few holders would fill up otherwise. Go on
/// amd64 makes what does not fit the smallest integer.
fn worth(size: i64, holders: usize, nodes: usize) -> i64 {
    let scaled = size as f64 * (holders as f64 / nodes as f64);
    if scaled < i64::MAX as f64 {
        scaled as i64
    } else {
        i64::MIN
    }
}

impl Score for Locality {
    fn score(&self, snap: &Snapshot, rows: Rows<'_>, out: &mut [i64]) {
        let Rows::All(len) = rows else {
            return rows.each(out, |row, cell| *cell = self.one(snap, row));
        };
        if snap.frozen_images(0).is_some() {
            return rows.each(out, |row, cell| *cell = self.one(snap, row));
        }
        out[..len].fill(0);
        if self.present.is_empty() {
            return;
        }
        for (name, worth) in &self.present {
            let rows = snap.images.get(*name).map_or(&[][..], |image| image.rows());
            for row in rows {
                let sum = &mut out[*row as usize];
                *sum = sum.wrapping_add(*worth);
            }
        }
        for cell in &mut out[..len] {
            *cell = self.priority(*cell);
        }
    }

    /// What a node has is part of the score of every node that has it too: a change of images is told as
    /// one of the world. So is, here, a change of the number of nodes.
    fn follow(&mut self, snap: &Snapshot, change: &Change) -> Affects {
        match change {
            Change::World => Affects::All,
            Change::Node { .. } if snap.nodes.count() != self.nodes => Affects::All,
            Change::Node { .. } => Affects::Node,
            _ => Affects::Nothing,
        }
    }

    fn everywhere(&self, _: &Snapshot) -> Option<i64> {
        self.present.is_empty().then(|| self.priority(0))
    }

    fn reads(&self) -> Reads {
        Reads::Node
    }

    fn boxed_clone(&self) -> Box<dyn Score> {
        Box::new(self.clone())
    }
}
