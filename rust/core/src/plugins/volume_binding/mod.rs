//! VolumeBinding: bound volumes must be usable on the node, unbound claims must be able to get one there.

mod claims;
mod conflict;
mod filter;
mod find;
mod score;
mod search;

use crate::hints::Happening;
use crate::plugin::{Affects, KeyWriter, Plugin, PreFilter, PreScore};
use crate::plugins::shape::Shape;
use crate::snapshot::{Pod, PodId, Row, Snapshot};
use crate::status::Status;
use crate::template::Template;
use claims::Claims;
use filter::Reachable;
use score::{Indifferent, Utilization};
use serde::Deserialize;
use serde_json::Value;
use std::hash::Hash;
use std::sync::Arc;

pub(super) const NAME: &str = "VolumeBinding";

#[derive(Debug)]
struct VolumeBinding {
    shape: Arc<Shape>,
}

/// The part of `VolumeBindingArgs` that decides; the time limit is the binding cycle's.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Args {
    shape: Option<Vec<Point>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Point {
    utilization: i64,
    score: i64,
}

/// Scores of a shape go from 0 to 10.
const SCALE: i64 = 10;

pub(super) fn new(_: &mut Snapshot, args: &Value) -> Result<Arc<dyn Plugin>, String> {
    let args: Option<Args> = Deserialize::deserialize(args).map_err(|e| e.to_string())?;
    let points = args.unwrap_or_default().shape;
    let points = points.map(|points| {
        points
            .iter()
            .map(|p| (p.utilization, p.score * SCALE))
            .collect()
    });
    let shape = Shape::new(points.unwrap_or_else(|| vec![(0, 100), (100, 0)]));
    Ok(Arc::new(VolumeBinding {
        shape: Arc::new(shape.ok_or("shape: at least one point must be specified")?),
    }))
}

impl Plugin for VolumeBinding {
    fn name(&self) -> &'static str {
        NAME
    }

    fn helped_by(&self, _: &Snapshot, pod: &Pod, what: &Happening<'_>) -> bool {
        match what {
            Happening::Claim { namespace, name } => pod.uses(*namespace, *name, true),
            _ => true,
        }
    }

    fn key(&self, _: &Snapshot, pod: &Pod, key: &mut KeyWriter) {
        let claims = (!pod.claims.is_empty()).then_some((pod.template.namespace, &pod.claims));
        claims.hash(key);
        // Whether a claim was made for the pod depends on the pod itself.
        let ephemeral = pod.claims.iter().any(|claim| claim.ephemeral);
        ephemeral.then_some((&pod.name, &pod.uid)).hash(key);
    }

    fn pre_filter(&self, snap: &Snapshot, pod: &Pod) -> PreFilter {
        if pod.claims.is_empty() {
            return PreFilter::Skip;
        }
        match Claims::of(snap, pod) {
            Err(status) => PreFilter::Reject(status),
            Ok(claims) => PreFilter::Run {
                filter: Box::new(Reachable::new(claims)),
                nodes: None,
            },
        }
    }

    /// Never skips, as upstream: the plugin stands in every pod's list of scores.
    fn pre_score(&self, snap: &Snapshot, pod: &Pod, _: &[Row]) -> PreScore {
        if pod.claims.is_empty() {
            return PreScore::Run(Box::new(Indifferent));
        }
        match Claims::of(snap, pod) {
            Err(status) => PreScore::Reject(status),
            Ok(claims) if claims.all_bound() => PreScore::Run(Box::new(Indifferent)),
            Ok(claims) => {
                let shape = Arc::clone(&self.shape);
                PreScore::Run(Box::new(Utilization::new(claims, shape)))
            }
        }
    }

    fn affects(&self, _: &Snapshot, _: &Template, _: &Pod) -> Affects {
        Affects::Nothing
    }

    fn reads_storage(&self, pod: &Pod) -> bool {
        !pod.claims.is_empty()
    }

    fn reserve(&self, snap: &mut Snapshot, id: PodId, row: Row) -> Result<(), Status> {
        let pod = &snap.pods[id];
        if pod.claims.is_empty() {
            return Ok(());
        }
        let decision = Claims::of(snap, pod)?.decide(snap, row)?;
        snap.reserve_volumes(id, row, &decision);
        Ok(())
    }

    fn unreserve(&self, snap: &mut Snapshot, id: PodId) {
        snap.unreserve_volumes(id);
    }
}
