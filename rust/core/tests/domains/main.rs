//! The domain-valued plugins: PodTopologySpread and InterPodAffinity.

mod affinity;
mod cluster;
mod engine;
mod follow;
mod memo;
mod naive_affinity;
mod naive_spread;
mod spread;
