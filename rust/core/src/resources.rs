//! Resource names as column numbers, and lists of amounts over them.

use crate::object::ResourceList;
use crate::quantity::Quantity;
use rustc_hash::FxHashMap;

/// A resource's column. The first three are fixed; scalar resources follow as they are seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ResourceId(pub u16);

pub const CPU: ResourceId = ResourceId(0);
pub const MEMORY: ResourceId = ResourceId(1);
pub const EPHEMERAL_STORAGE: ResourceId = ResourceId(2);

const FIXED: [&str; 3] = ["cpu", "memory", "ephemeral-storage"];

/// Names of all resources that any node or pod mentioned.
#[derive(Debug)]
pub struct ResourceNames {
    ids: FxHashMap<Box<str>, ResourceId>,
    names: Vec<Box<str>>,
}

impl Default for ResourceNames {
    fn default() -> Self {
        let mut names = ResourceNames {
            ids: FxHashMap::default(),
            names: Vec::new(),
        };
        for name in FIXED {
            names.id(name);
        }
        names
    }
}

impl ResourceNames {
    pub fn id(&mut self, name: &str) -> ResourceId {
        if let Some(&id) = self.ids.get(name) {
            return id;
        }
        let id = ResourceId(u16::try_from(self.names.len()).expect("fewer than 65,536 resources"));
        self.names.push(name.into());
        self.ids.insert(name.into(), id);
        id
    }

    pub fn get(&self, name: &str) -> Option<ResourceId> {
        self.ids.get(name).copied()
    }

    pub fn name(&self, id: ResourceId) -> &str {
        &self.names[id.0 as usize]
    }

    pub fn len(&self) -> usize {
        self.names.len()
    }

    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = (ResourceId, &str)> {
        self.names
            .iter()
            .enumerate()
            .map(|(i, name)| (ResourceId(i as u16), &**name))
    }
}

/// Amounts in base units (cpu: milli; all others: whole units), ascending by column, each column once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Amounts(Box<[(ResourceId, i64)]>);

impl Amounts {
    /// Rounds each exact sum up to base units, as `Quantity.MilliValue` and `Value` do. Resources
    /// that upstream's scheduler does not account (neither fixed nor scalar) are left out.
    pub fn new(list: &ResourceList, names: &mut ResourceNames) -> Self {
        let mut amounts: Vec<_> = list
            .iter()
            .filter(|(name, _)| FIXED.contains(&name.as_str()) || is_scalar(name))
            .map(|(name, quantity)| (names.id(name), base_units(name, quantity)))
            .collect();
        amounts.sort_unstable_by_key(|(id, _)| *id);
        Amounts(amounts.into())
    }

    pub fn get(&self, id: ResourceId) -> i64 {
        self.0
            .iter()
            .find(|(r, _)| *r == id)
            .map_or(0, |(_, amount)| *amount)
    }

    pub fn iter(&self) -> impl Iterator<Item = (ResourceId, i64)> + '_ {
        self.0.iter().copied()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<(ResourceId, i64)> for Amounts {
    /// From amounts in base units, each resource once.
    fn from_iter<T: IntoIterator<Item = (ResourceId, i64)>>(amounts: T) -> Self {
        let mut amounts: Vec<_> = amounts.into_iter().collect();
        amounts.sort_unstable_by_key(|(id, _)| *id);
        Amounts(amounts.into())
    }
}

/// The integer that the scheduler computes with.
pub fn base_units(name: &str, quantity: &Quantity) -> i64 {
    if name == "cpu" {
        quantity.milli_value()
    } else {
        quantity.value()
    }
}

/// Whether the scheduler keeps a column for this name beside the fixed ones
/// (`schedutil.IsScalarResourceName`).
pub fn is_scalar(name: &str) -> bool {
    is_extended(name)
        || name.starts_with("hugepages-")
        || name.contains("kubernetes.io/")
        || name.starts_with("attachable-volumes-")
}

/// An extended resource: a qualified name outside the `kubernetes.io` domains that is no quota name.
pub fn is_extended(name: &str) -> bool {
    let Some((prefix, _)) = name.split_once('/') else {
        return false;
    };
    if name.contains("kubernetes.io/") || name.starts_with("requests.") {
        return false;
    }
    // Upstream asks whether the quota name built from it would be qualified too.
    !prefix.is_empty() && is_qualified(name)
}

fn is_qualified(name: &str) -> bool {
    let mut parts = name.splitn(2, '/');
    let (prefix, rest) = (parts.next().unwrap_or(""), parts.next().unwrap_or(""));
    let dns = prefix.len() + "requests.".len() <= 253
        && prefix.split('.').all(|label| {
            !label.is_empty()
                && label
                    .bytes()
                    .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
                && !label.starts_with('-')
                && !label.ends_with('-')
        });
    let edge = |b: Option<u8>| b.is_some_and(|b| b.is_ascii_alphanumeric());
    let tail = rest.len() <= 63
        && edge(rest.bytes().next())
        && edge(rest.bytes().last())
        && rest
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'));
    dns && tail
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalar_names_are_upstreams() {
        for name in [
            "nvidia.com/gpu",
            "hugepages-2Mi",
            "node.kubernetes.io/x",
            "attachable-volumes-csi-a",
        ] {
            assert!(is_scalar(name), "{name}");
        }
        for name in [
            "cpu",
            "gpu",
            "requests.nvidia.com/gpu",
            "Bad.com/gpu",
            "a.com/",
            "/gpu",
        ] {
            assert!(!is_scalar(name), "{name}");
        }
    }
}
