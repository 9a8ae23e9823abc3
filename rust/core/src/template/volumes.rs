use crate::intern::{Interner, Symbol};
use crate::object::{
    AwsElasticBlockStore, AzureDisk, Cinder, GcePersistentDisk, InlineCsi, Iscsi, Pod, PodSpec, Rbd,
};

/// A volume whose source stands in the pod itself and that some plugin judges.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum InlineVolume {
    Gce(GcePersistentDisk),
    Aws(AwsElasticBlockStore),
    Azure(AzureDisk),
    Cinder(Cinder),
    Iscsi(Iscsi),
    Rbd(Rbd),
    Csi(InlineCsi),
}

impl InlineVolume {
    pub(super) fn of(spec: &PodSpec) -> Box<[InlineVolume]> {
        let mut list = Vec::new();
        for volume in &spec.volumes {
            list.extend(volume.gce_persistent_disk.clone().map(InlineVolume::Gce));
            list.extend(
                volume
                    .aws_elastic_block_store
                    .clone()
                    .map(InlineVolume::Aws),
            );
            list.extend(volume.azure_disk.clone().map(InlineVolume::Azure));
            list.extend(volume.cinder.clone().map(InlineVolume::Cinder));
            list.extend(volume.iscsi.clone().map(InlineVolume::Iscsi));
            list.extend(volume.rbd.clone().map(InlineVolume::Rbd));
            list.extend(volume.csi.clone().map(InlineVolume::Csi));
        }
        list.into()
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
        let uses = |v: &crate::object::Volume| {
            v.persistent_volume_claim.is_some() || v.ephemeral.is_some()
        };
        spec.volumes.iter().any(uses)
    }

    /// In the order of the pod's volumes.
    pub fn of(pod: &Pod, interner: &mut Interner) -> Box<[Claim]> {
        let name = &pod.metadata.name;
        let claim = |volume: &crate::object::Volume| {
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
