use crate::csi;
use crate::intern::{Interner, Symbol};
use crate::object::{Pod, PodSpec, Volume};

/// A volume whose source stands in the pod itself and that some plugin judges.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct InlineVolume {
    /// The volume's name, which an error tells.
    pub name: Symbol,
    pub disk: Option<Disk>,
    pub counted: Option<Counted>,
}

/// A disk that pods on one node must not share, or only for reading (VolumeRestrictions).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Disk {
    Gce {
        name: Symbol,
        read_only: bool,
    },
    Aws {
        id: Symbol,
    },
    Iscsi {
        iqn: Symbol,
        read_only: bool,
    },
    Rbd {
        monitors: Box<[Symbol]>,
        pool: Symbol,
        image: Symbol,
        read_only: bool,
    },
}

/// How NodeVolumeLimits counts an in-tree volume.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Counted {
    /// Not at all: the scheduler does not take its plugin for migrated.
    Never,
    As {
        driver: Symbol,
        handle: Symbol,
    },
    /// It cannot be translated; the reason.
    Invalid(Box<str>),
}

impl InlineVolume {
    pub(super) fn of(spec: &PodSpec, interner: &mut Interner) -> Box<[InlineVolume]> {
        let volumes = spec.volumes.iter();
        volumes
            .filter_map(|volume| Self::new(volume, interner))
            .collect()
    }

    fn new(volume: &Volume, interner: &mut Interner) -> Option<Self> {
        let disk = Disk::new(volume, interner);
        let counted = csi::of_inline(volume).map(|(plugin, handle)| match handle {
            _ if !plugin.is_migrated() => Counted::Never,
            Ok(handle) => Counted::As {
                driver: interner.intern(plugin.driver()),
                handle: interner.intern(&handle),
            },
            Err(message) => Counted::Invalid(message.into()),
        });
        (disk.is_some() || counted.is_some()).then(|| InlineVolume {
            name: interner.intern(&volume.name),
            disk,
            counted,
        })
    }
}

impl Disk {
    fn new(volume: &Volume, interner: &mut Interner) -> Option<Self> {
        if let Some(disk) = &volume.gce_persistent_disk {
            return Some(Disk::Gce {
                name: interner.intern(&disk.pd_name),
                read_only: disk.read_only,
            });
        }
        if let Some(disk) = &volume.aws_elastic_block_store {
            let id = interner.intern(&disk.volume_id);
            return Some(Disk::Aws { id });
        }
        if let Some(disk) = &volume.iscsi {
            return Some(Disk::Iscsi {
                iqn: interner.intern(&disk.iqn),
                read_only: disk.read_only,
            });
        }
        let disk = volume.rbd.as_ref()?;
        Some(Disk::Rbd {
            monitors: disk.monitors.iter().map(|m| interner.intern(m)).collect(),
            pool: interner.intern(&disk.pool),
            image: interner.intern(&disk.image),
            read_only: disk.read_only,
        })
    }

    /// Whether pods with this disk and that one cannot be on one node.
    pub fn conflicts(&self, other: &Disk) -> bool {
        match (self, other) {
            (
                Disk::Gce { name, read_only },
                Disk::Gce {
                    name: n,
                    read_only: r,
                },
            ) => name == n && !(*read_only && *r),
            (Disk::Aws { id }, Disk::Aws { id: i }) => id == i,
            (
                Disk::Iscsi { iqn, read_only },
                Disk::Iscsi {
                    iqn: i,
                    read_only: r,
                },
            ) => iqn == i && !(*read_only && *r),
            (
                Disk::Rbd {
                    monitors,
                    pool,
                    image,
                    read_only,
                },
                Disk::Rbd {
                    monitors: m,
                    pool: p,
                    image: i,
                    read_only: r,
                },
            ) => {
                let overlap = || monitors.iter().any(|monitor| m.contains(monitor));
                pool == p && image == i && !(*read_only && *r) && overlap()
            }
            _ => false,
        }
    }
}

/// A claim that a pod uses; claims belong to the pod, not to its template.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Claim {
    pub name: Symbol,
    /// Made by the ephemeral volume controller and named `<pod>-<volume>`.
    pub ephemeral: bool,
}

impl Claim {
    pub(super) fn used_by(spec: &PodSpec) -> bool {
        let uses = |v: &Volume| v.persistent_volume_claim.is_some() || v.ephemeral.is_some();
        spec.volumes.iter().any(uses)
    }

    /// In the order of the pod's volumes.
    pub fn of(pod: &Pod, interner: &mut Interner) -> Box<[Claim]> {
        let name = &pod.metadata.name;
        let claim = |volume: &Volume| {
            if let Some(source) = &volume.persistent_volume_claim {
                return Some(Claim {
                    name: interner.intern(&source.claim_name),
                    ephemeral: false,
                });
            }
            volume.ephemeral.as_ref()?;
            let generated = format!("{name}-{}", volume.name);
            Some(Claim {
                name: interner.intern(&generated),
                ephemeral: true,
            })
        };
        pod.spec.volumes.iter().filter_map(claim).collect()
    }
}
