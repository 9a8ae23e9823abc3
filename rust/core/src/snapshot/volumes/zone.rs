//! Zone and region labels of volumes, which VolumeZone holds against those of nodes.

use crate::csi::{BETA_REGION, BETA_ZONE, REGION, ZONE, ZONE_DELIMITER};
use crate::intern::{Interner, Symbol};
use crate::object::StringMap;

/// The labels in the order in which they are looked at, each with the one that stands in for it on a
/// node that lacks it.
pub const LABELS: [(&str, &str); 4] = [
    (BETA_ZONE, ZONE),
    (BETA_REGION, REGION),
    (ZONE, ZONE),
    (REGION, REGION),
];

/// One such label of a volume.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Zone {
    /// Index in [`LABELS`].
    pub label: usize,
    /// Values that a node may have, ascending.
    pub values: Box<[Symbol]>,
}

/// A label with an empty zone in its list is ignored, as upstream.
pub(super) fn of(labels: &StringMap, interner: &mut Interner) -> Box<[Zone]> {
    let zone = |(label, (key, _)): (usize, &(&str, &str))| {
        let zones = labels.get(*key)?.split(ZONE_DELIMITER).map(str::trim);
        let zones: Vec<_> = zones.collect();
        if zones.contains(&"") {
            return None;
        }
        let mut values: Vec<_> = zones
            .into_iter()
            .map(|zone| interner.intern(zone))
            .collect();
        values.sort_unstable();
        values.dedup();
        let values = values.into();
        Some(Zone { label, values })
    };
    LABELS.iter().enumerate().filter_map(zone).collect()
}
