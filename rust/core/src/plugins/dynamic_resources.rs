//! DynamicResources: pods with resource claims are refused, since Podium does not allocate devices.
//! Pods without claims see what they see upstream: a filter that skips them and a score of 0.

use crate::normalize::Normalize;
use crate::plugin::{Affects, KeyWriter, Plugin, PreFilter, PreScore, Reads, Rows, Score};
use crate::snapshot::{Change, Pod, Row, Snapshot};
use crate::status::Status;
use crate::template::Template;
use serde_json::Value;
use std::hash::Hash;
use std::sync::Arc;

pub(super) const NAME: &str = "DynamicResources";
const REASON: &str = "resource claims (DRA) are not supported yet";

#[derive(Debug)]
struct DynamicResources;

pub(super) fn new(_: &mut Snapshot, _: &Value) -> Result<Arc<dyn Plugin>, String> {
    Ok(Arc::new(DynamicResources))
}

impl Plugin for DynamicResources {
    fn name(&self) -> &'static str {
        NAME
    }

    fn key(&self, _: &Snapshot, pod: &Pod, key: &mut KeyWriter) {
        pod.template.has_resource_claims.hash(key);
    }

    fn pre_filter(&self, _: &Snapshot, pod: &Pod) -> PreFilter {
        if pod.template.has_resource_claims {
            PreFilter::Reject(Status::unresolvable(REASON))
        } else {
            PreFilter::Skip
        }
    }

    fn pre_score(&self, _: &Snapshot, _: &Pod, _: &[Row]) -> PreScore {
        PreScore::Run(Box::new(Nothing))
    }

    fn affects(&self, _: &Snapshot, _: &Template, _: &Pod) -> Affects {
        Affects::Nothing
    }
}

#[derive(Clone, Debug)]
struct Nothing;

impl Score for Nothing {
    fn score(&self, _: &Snapshot, rows: Rows<'_>, out: &mut [i64]) {
        rows.each(out, |_, score| *score = 0);
    }

    /// 0 stays 0 under upstream's normalisation too, so the sum needs no second look.
    fn normalize(&self) -> Normalize {
        Normalize::None
    }

    fn follow(&mut self, _: &Snapshot, _: &Change) -> Affects {
        Affects::Nothing
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
