//! Podium's scoring core: kube-scheduler's decisions over columnar node snapshots.
//!
//! Pure Rust: no Python, no clock, no file, no network. Objects come in as Kubernetes JSON,
//! decisions go out as numbers and reasons.
#![deny(unsafe_code)]

pub mod audit;
pub mod caller;
mod classes;
pub mod csi;
pub mod cycle;
pub mod diagnosis;
pub mod drf;
pub mod engine;
pub mod explain;
pub mod filtering;
pub mod gang;
pub mod go_log;
pub mod hints;
pub mod intern;
pub mod memo;
pub mod memos;
pub mod mutation;
pub mod normalize;
pub mod object;
pub mod overlay;
pub mod pick;
pub mod pick_index;
pub mod plugin;
pub mod plugins;
pub mod preempt;
pub mod profile;
pub mod quantity;
pub mod queue;
pub mod reclaim;
pub mod resources;
pub mod scoring;
pub mod selector;
pub mod snapshot;
pub mod status;
pub mod template;
pub mod tenancy;
pub mod time;
pub mod told;
pub mod trial;
pub mod volume_controller;
pub mod whatif;
