//! A profile: which plugins run, in which order, with which weights and arguments.

use crate::intern::Symbol;
use crate::plugin::Plugin;
use crate::plugins;
use crate::snapshot::Snapshot;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use thiserror::Error;

#[derive(Debug, Error)]
pub enum ProfileError {
    #[error("profile is not valid JSON: {0}")]
    Json(#[from] serde_json::Error),
    #[error("pluginConfig[{plugin}].args: {message}")]
    Args { plugin: String, message: String },
}

/// The document that configuration hands over, fully defaulted and checked. Names that are no native
/// plugin belong to the caller's own plugins and are skipped here.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Document {
    scheduler_name: String,
    #[serde(default)]
    percentage_of_nodes_to_score: Option<i32>,
    #[serde(default)]
    pre_filter: Vec<String>,
    #[serde(default)]
    filter: Vec<String>,
    #[serde(default)]
    pre_score: Vec<String>,
    #[serde(default)]
    score: Vec<(String, i64)>,
    #[serde(default)]
    reserve: Vec<String>,
    #[serde(default)]
    post_filter: Vec<String>,
    #[serde(default)]
    args: BTreeMap<String, Value>,
    #[serde(default)]
    needs_caller: bool,
}

/// Arguments of DefaultPreemption, which is no per-node plugin.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PreemptionArgs {
    pub min_candidate_nodes_percentage: i32,
    pub min_candidate_nodes_absolute: i32,
}

impl Default for PreemptionArgs {
    fn default() -> Self {
        PreemptionArgs {
            min_candidate_nodes_percentage: 10,
            min_candidate_nodes_absolute: 100,
        }
    }
}

#[derive(Debug)]
pub struct Profile {
    pub scheduler_name: Symbol,
    /// 0 or absent: upstream's adaptive sample (only where sampling is on).
    pub percentage: i32,
    /// In PreFilter order.
    pub pre_filter: Vec<Arc<dyn Plugin>>,
    /// In Filter order.
    pub filter: Vec<Arc<dyn Plugin>>,
    /// Place of each of them in the whole Filter list, plugins of the caller's included.
    filter_places: Vec<i16>,
    /// In Score order, with weights. A plugin whose PreScore is disabled stands here all the same.
    pub score: Vec<(Arc<dyn Plugin>, i64)>,
    /// Plugins that run at PreScore and have no score: they can still fail.
    pub pre_score_only: Vec<Arc<dyn Plugin>>,
    pub reserve: Vec<Arc<dyn Plugin>>,
    /// The profile has plugins of the caller's in the scheduling cycle: no pod of it is placed in a batch.
    pub needs_caller: bool,
    /// Plugins before DynamicResources in PreFilter order, if that takes part in PostFilter too: upstream's
    /// PostFilter of it fails with `not found` where one of these ended PreFilter early.
    pub before_devices: Vec<&'static str>,
    /// `None`: DefaultPreemption is disabled.
    pub preemption: Option<PreemptionArgs>,
}

impl Profile {
    pub fn new(snap: &mut Snapshot, json: &[u8]) -> Result<Self, ProfileError> {
        let document: Document = serde_json::from_slice(json)?;
        let mut made = BTreeMap::new();
        let mut make = |snap: &mut Snapshot, name: &str| -> Result<_, ProfileError> {
            if let Some(known) = made.get(name) {
                return Ok(Some(Arc::clone(known)));
            }
            let Some(constructor) = plugins::constructor(name) else {
                return Ok(None);
            };
            let args = document.args.get(name).unwrap_or(&Value::Null);
            let plugin = constructor(snap, args).map_err(|message| ProfileError::Args {
                plugin: name.to_owned(),
                message,
            })?;
            made.insert(name.to_owned(), Arc::clone(&plugin));
            Ok(Some(plugin))
        };
        let mut list = |snap: &mut Snapshot, names: &[String]| {
            let plugins = names.iter().filter_map(|name| make(snap, name).transpose());
            plugins.collect::<Result<Vec<_>, _>>()
        };
        let mut pre_filter = list(snap, &document.pre_filter)?;
        let mut filter = list(snap, &document.filter)?;
        let place = |plugin: &Arc<dyn Plugin>| {
            let at = document.filter.iter().position(|n| n == plugin.name());
            at.map_or(0, |at| at as i16)
        };
        let filter_places: Vec<i16> = filter.iter().map(place).collect();
        let reserve = list(snap, &document.reserve)?;
        let mut pre_score_only = list(snap, &document.pre_score)?;
        let scores = |name: &str| document.score.iter().any(|(scored, _)| scored == name);
        pre_score_only.retain(|plugin| !scores(plugin.name()));
        let mut score = Vec::new();
        for (name, weight) in &document.score {
            score.extend(make(snap, name)?.map(|plugin| (plugin, *weight)));
        }
        if document.needs_caller {
            // It comes last and in no list of names, so that nobody's place depends on it.
            pre_filter.push(plugins::told());
            filter.push(plugins::told());
            let native = |name: &str| plugins::constructor(name).is_some();
            if document.score.iter().any(|(name, _)| !native(name)) {
                score.push((plugins::told(), 1));
            }
        }
        let before_devices = Self::before_devices(&document, &pre_filter);
        Ok(Profile {
            before_devices,
            scheduler_name: snap.interner.intern(&document.scheduler_name),
            percentage: document.percentage_of_nodes_to_score.unwrap_or(0),
            pre_filter,
            filter,
            filter_places,
            score,
            pre_score_only,
            reserve,
            needs_caller: document.needs_caller,
            preemption: Self::preemption(&document)?,
        })
    }

    /// The place of a native plugin in the whole Filter list.
    pub fn place(&self, name: &str) -> i16 {
        let at = self.filter.iter().position(|plugin| plugin.name() == name);
        let place = at.and_then(|at| self.filter_places.get(at));
        place.copied().unwrap_or(0)
    }

    fn before_devices(document: &Document, pre_filter: &[Arc<dyn Plugin>]) -> Vec<&'static str> {
        const NAME: &str = "DynamicResources";
        let post_filter = &document.post_filter;
        let place = |name: &str| post_filter.iter().position(|n| n == name);
        let at = pre_filter.iter().position(|plugin| plugin.name() == NAME);
        match (place(NAME), place("DefaultPreemption"), at) {
            (Some(own), preemption, Some(at)) if preemption.is_none_or(|other| own < other) => {
                pre_filter[..at]
                    .iter()
                    .map(|plugin| plugin.name())
                    .collect()
            }
            _ => Vec::new(),
        }
    }

    fn preemption(document: &Document) -> Result<Option<PreemptionArgs>, ProfileError> {
        const NAME: &str = "DefaultPreemption";
        if !document.post_filter.iter().any(|name| name == NAME) {
            return Ok(None);
        }
        let args = document
            .args
            .get(NAME)
            .cloned()
            .unwrap_or(Value::Object(Default::default()));
        Ok(Some(serde_json::from_value(args)?))
    }
}
