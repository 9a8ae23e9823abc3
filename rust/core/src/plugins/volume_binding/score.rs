//! StorageCapacityScoring: nodes where the claims fill less of what there is come first.

use super::claims::Claims;
use super::filter::follow;
use super::find::{Finder, Found};
use crate::intern::Symbol;
use crate::plugin::{Affects, Reads, Rows, Score};
use crate::plugins::shape::Shape;
use crate::snapshot::{Change, Row, Snapshot};
use crate::status::Code;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub(super) struct Utilization {
    claims: Arc<Claims>,
    shape: Arc<Shape>,
}

/// Bytes requested of a class, and there to be had.
#[derive(Clone, Copy, Debug)]
struct Class {
    name: Symbol,
    requested: i64,
    capacity: i64,
}

fn class(classes: &mut Vec<Class>, name: Symbol) -> &mut Class {
    let at = classes.iter().position(|class| class.name == name);
    let at = at.unwrap_or_else(|| {
        classes.push(Class {
            name,
            requested: 0,
            capacity: 0,
        });
        classes.len() - 1
    });
    &mut classes[at]
}

impl Utilization {
    pub(super) fn new(claims: Claims, shape: Arc<Shape>) -> Self {
        Utilization {
            claims: Arc::new(claims),
            shape,
        }
    }

    /// The mean of the classes' scores, rounded; 0 where no class counts.
    fn rate(&self, classes: &[Class]) -> i64 {
        if classes.is_empty() || crate::mutation::active(super::NAME) {
            return 0;
        }
        let scores = classes.iter().map(|class| {
            if class.capacity == 0 || class.requested > class.capacity {
                return self.shape.at(100);
            }
            self.shape.at(class
                .requested
                .wrapping_mul(100)
                .wrapping_div(class.capacity))
        });
        let sum = scores.fold(0i64, i64::wrapping_add);
        (sum as f64 / classes.len() as f64).round() as i64
    }
}

/// Volumes that exist count by their class; only where there are none, capacities do, and of several
/// capacities of one class the last.
fn gather(snap: &Snapshot, finder: &Finder<'_>, found: &Found, classes: &mut Vec<Class>) {
    classes.clear();
    for (index, slot) in &found.bindings {
        if let Some(volume) = snap.volumes.volume(*slot) {
            let class = class(classes, volume.field_class);
            class.requested = class.requested.wrapping_add(finder.claim(*index).request);
            class.capacity = class.capacity.wrapping_add(volume.capacity.value());
        }
    }
    if !found.bindings.is_empty() {
        return;
    }
    for (index, capacity) in &found.provisions {
        if let Some(capacity) = capacity.and_then(|slot| snap.volumes.capacity(slot)) {
            let claim = finder.claim(*index);
            let class = class(classes, claim.field_class);
            class.requested = class.requested.wrapping_add(claim.request);
            class.capacity = capacity.left;
        }
    }
}

impl Score for Utilization {
    fn score(&self, snap: &Snapshot, rows: Rows<'_>, out: &mut [i64]) {
        let finder = Finder::new(snap, &self.claims, rows.len());
        let mut found = Found::default();
        let mut classes = Vec::new();
        rows.each(out, |row: Row, score| {
            *score = 0;
            if finder.code(row, &mut found) == Code::Success {
                gather(snap, &finder, &found, &mut classes);
                *score = self.rate(&classes);
            }
        });
    }

    fn follow(&mut self, _: &Snapshot, change: &Change) -> Affects {
        follow(change)
    }

    fn boxed_clone(&self) -> Box<dyn Score> {
        Box::new(self.clone())
    }
}

/// The score of a pod with nothing left to bind: all nodes are alike.
#[derive(Clone, Debug)]
pub(super) struct Indifferent;

impl Score for Indifferent {
    fn score(&self, _: &Snapshot, rows: Rows<'_>, out: &mut [i64]) {
        out[..rows.len()].fill(0);
    }

    fn follow(&mut self, _: &Snapshot, change: &Change) -> Affects {
        match change {
            Change::Storage => Affects::All,
            _ => Affects::Nothing,
        }
    }

    fn everywhere(&self, _: &Snapshot) -> Option<i64> {
        Some(0)
    }

    fn reads(&self) -> Reads {
        Reads::Node
    }

    fn boxed_clone(&self) -> Box<dyn Score> {
        Box::new(self.clone())
    }
}
