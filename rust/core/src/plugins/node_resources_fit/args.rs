//! Arguments of NodeResourcesFit, validated as upstream validates them.

use super::super::resource_spec::{self, ResourceSpec};
use super::super::shape::Shape;
use super::strategy::{Curve, Strategy};
use crate::object::nullable;
use serde::Deserialize;
use serde_json::Value;

#[derive(Debug)]
pub(super) struct Args {
    pub(super) ignored_resources: Vec<String>,
    pub(super) ignored_resource_groups: Vec<String>,
    pub(super) resources: Vec<ResourceSpec>,
    pub(super) strategy: Strategy,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Document {
    #[serde(deserialize_with = "nullable")]
    ignored_resources: Vec<String>,
    #[serde(deserialize_with = "nullable")]
    ignored_resource_groups: Vec<String>,
    scoring_strategy: Option<ScoringStrategy>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ScoringStrategy {
    #[serde(rename = "type", deserialize_with = "nullable")]
    kind: String,
    #[serde(deserialize_with = "nullable")]
    resources: Vec<ResourceSpec>,
    requested_to_capacity_ratio: Option<Ratio>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Ratio {
    #[serde(deserialize_with = "nullable")]
    shape: Vec<Point>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
struct Point {
    #[serde(deserialize_with = "nullable")]
    utilization: i32,
    #[serde(deserialize_with = "nullable")]
    score: i32,
}

impl Args {
    pub(super) fn new(args: &Value) -> Result<Self, String> {
        let document: Document = resource_spec::read(args)?;
        for group in &document.ignored_resource_groups {
            if group.contains('/') {
                return Err(format!(
                    "ignoredResourceGroups: {group:?}: resource group name can't contain '/'"
                ));
            }
        }
        let scoring = document
            .scoring_strategy
            .unwrap_or_else(|| ScoringStrategy {
                kind: "LeastAllocated".to_owned(),
                ..ScoringStrategy::default()
            });
        let resources = resource_spec::defaulted(scoring.resources);
        for (index, spec) in resources.iter().enumerate() {
            if !(1..=100).contains(&spec.weight) {
                return Err(format!(
                    "scoringStrategy.resources[{index}].weight: {}: resource weight of {} not in valid range (0, 100]",
                    spec.weight, spec.name
                ));
            }
        }
        Ok(Args {
            ignored_resources: document.ignored_resources,
            ignored_resource_groups: document.ignored_resource_groups,
            resources,
            strategy: strategy(&scoring.kind, scoring.requested_to_capacity_ratio)?,
        })
    }
}

fn strategy(kind: &str, ratio: Option<Ratio>) -> Result<Strategy, String> {
    let strategy = match (kind, ratio) {
        ("LeastAllocated", None) => Strategy::Least,
        ("MostAllocated", None) => Strategy::Most,
        ("RequestedToCapacityRatio", Some(ratio)) => {
            Strategy::Ratio(Curve::new(shape(&ratio.shape)?))
        }
        ("RequestedToCapacityRatio", None) => {
            return Err("scoringStrategy.requestedToCapacityRatio: must be specified when type is RequestedToCapacityRatio".to_owned());
        }
        ("LeastAllocated" | "MostAllocated", Some(_)) => {
            return Err("scoringStrategy.requestedToCapacityRatio: must be nil when type is not RequestedToCapacityRatio".to_owned());
        }
        (other, _) => {
            return Err(format!(
                "scoringStrategy.type: {other:?}: supported values: \"LeastAllocated\", \"MostAllocated\", \"RequestedToCapacityRatio\""
            ));
        }
    };
    Ok(strategy)
}

fn shape(points: &[Point]) -> Result<Shape, String> {
    const PATH: &str = "scoringStrategy.requestedToCapacityRatio.shape";
    let disorder = points
        .windows(2)
        .position(|pair| pair[0].utilization >= pair[1].utilization);
    if let Some(before) = disorder {
        let at = before + 1;
        let value = points[at].utilization;
        return Err(format!(
            "{PATH}[{at}].utilization: {value}: values must be sorted in increasing order"
        ));
    }
    for (at, point) in points.iter().enumerate() {
        for (field, value, most) in [
            ("utilization", point.utilization, 100),
            ("score", point.score, 10),
        ] {
            if !(0..=most).contains(&value) {
                return Err(format!(
                    "{PATH}[{at}].{field}: {value}: not in valid range [0, {most}]"
                ));
            }
        }
    }
    let pair = |p: &Point| (i64::from(p.utilization), i64::from(p.score) * 10);
    Shape::new(points.iter().map(pair).collect())
        .ok_or_else(|| format!("{PATH}: at least one point must be specified"))
}
