//! The domain-valued plugins: PodTopologySpread and InterPodAffinity.

mod cluster;
mod follow;
mod naive_spread;
mod spread;
