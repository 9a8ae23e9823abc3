//! Podium's scoring core: kube-scheduler's decisions over columnar node snapshots.
//!
//! Pure Rust: no Python, no clock, no file, no network. Objects come in as Kubernetes JSON,
//! decisions go out as numbers and reasons.
#![deny(unsafe_code)]

pub mod quantity;
