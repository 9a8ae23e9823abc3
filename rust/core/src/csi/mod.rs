//! In-tree volume plugins and the CSI drivers that replaced them, by k8s.io/csi-translation-lib v0.37.2.
//!
//! Of a translated volume the scheduler reads three things: its driver, its handle and where it can be
//! reached from. What the translation refuses is a text that reaches the user.

mod topology;

pub use topology::translated_affinity;

use crate::object::{PersistentVolume, Volume};
use std::collections::BTreeSet;

pub const BETA_ZONE: &str = "failure-domain.beta.kubernetes.io/zone";
pub const BETA_REGION: &str = "failure-domain.beta.kubernetes.io/region";
pub const ZONE: &str = "topology.kubernetes.io/zone";
pub const REGION: &str = "topology.kubernetes.io/region";
/// Between the zones of a volume's zone label.
pub const ZONE_DELIMITER: &str = "__";

/// An in-tree plugin with a translation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InTree {
    AwsEbs,
    AzureDisk,
    AzureFile,
    Cinder,
    GcePd,
    Portworx,
    Vsphere,
}

/// Plugin, its name and its driver's.
const NAMES: [(InTree, &str, &str); 7] = [
    (InTree::AwsEbs, "kubernetes.io/aws-ebs", "ebs.csi.aws.com"),
    (
        InTree::AzureDisk,
        "kubernetes.io/azure-disk",
        "disk.csi.azure.com",
    ),
    (
        InTree::AzureFile,
        "kubernetes.io/azure-file",
        "file.csi.azure.com",
    ),
    (
        InTree::Cinder,
        "kubernetes.io/cinder",
        "cinder.csi.openstack.org",
    ),
    (
        InTree::GcePd,
        "kubernetes.io/gce-pd",
        "pd.csi.storage.gke.io",
    ),
    (
        InTree::Portworx,
        "kubernetes.io/portworx-volume",
        "pxd.portworx.com",
    ),
    (
        InTree::Vsphere,
        "kubernetes.io/vsphere-volume",
        "csi.vsphere.vmware.com",
    ),
];

impl InTree {
    pub fn by_name(name: &str) -> Option<Self> {
        let mut known = NAMES.iter();
        known
            .find(|(_, own, _)| *own == name)
            .map(|(plugin, ..)| *plugin)
    }

    pub fn driver(self) -> &'static str {
        let mut known = NAMES.iter();
        known
            .find(|(plugin, ..)| *plugin == self)
            .map_or("", |(.., driver)| driver)
    }

    /// Whether the scheduler takes the plugin for migrated. Its lists leave out Azure File and vSphere.
    pub fn is_migrated(self) -> bool {
        !matches!(self, InTree::AzureFile | InTree::Vsphere)
    }

    /// The node label that the driver's volumes are zoned by, where the translation puts it in place
    /// of Kubernetes' own zone label.
    fn topology_key(self) -> Option<&'static str> {
        match self {
            InTree::AwsEbs => Some("topology.ebs.csi.aws.com/zone"),
            InTree::Cinder => Some("topology.cinder.csi.openstack.org/zone"),
            InTree::GcePd => Some("topology.gke.io/zone"),
            _ => None,
        }
    }
}

/// The plugin of a pod's volume and the handle it gets.
pub fn of_inline(volume: &Volume) -> Option<(InTree, Result<String, String>)> {
    if let Some(disk) = &volume.gce_persistent_disk {
        return Some((
            InTree::GcePd,
            Ok(gce_handle("zones", UNSPECIFIED, &disk.pd_name)),
        ));
    }
    if let Some(disk) = &volume.aws_elastic_block_store {
        return Some((InTree::AwsEbs, aws_handle(&disk.volume_id)));
    }
    if let Some(disk) = &volume.azure_disk {
        return Some((InTree::AzureDisk, azure_handle(disk)));
    }
    if let Some(disk) = &volume.cinder {
        return Some((InTree::Cinder, Ok(disk.volume_id.clone())));
    }
    if let Some(disk) = &volume.portworx_volume {
        return Some((InTree::Portworx, Ok(disk.volume_id.clone())));
    }
    let unused = || Ok(String::new());
    let azure_file = volume
        .azure_file
        .as_ref()
        .map(|_| (InTree::AzureFile, unused()));
    azure_file.or_else(|| {
        volume
            .vsphere_volume
            .as_ref()
            .map(|_| (InTree::Vsphere, unused()))
    })
}

/// The same for a persistent volume; only of plugins that the scheduler takes for migrated.
pub fn of_volume(volume: &PersistentVolume) -> Option<(InTree, Result<String, String>)> {
    let spec = &volume.spec;
    if let Some(disk) = &spec.gce_persistent_disk {
        return Some((InTree::GcePd, zoned_gce_handle(volume, &disk.pd_name)));
    }
    if let Some(disk) = &spec.aws_elastic_block_store {
        return Some((InTree::AwsEbs, aws_handle(&disk.volume_id)));
    }
    if let Some(disk) = &spec.azure_disk {
        return Some((InTree::AzureDisk, azure_handle(disk)));
    }
    if let Some(disk) = &spec.cinder {
        return Some((InTree::Cinder, Ok(disk.volume_id.clone())));
    }
    let disk = spec.portworx_volume.as_ref()?;
    Some((InTree::Portworx, Ok(disk.volume_id.clone())))
}

const UNSPECIFIED: &str = "UNSPECIFIED";

fn gce_handle(kind: &str, place: &str, disk: &str) -> String {
    format!("projects/{UNSPECIFIED}/{kind}/{place}/disks/{disk}")
}

fn zoned_gce_handle(volume: &PersistentVolume, disk: &str) -> Result<String, String> {
    let label = |key| volume.metadata.labels.get(key).map_or("", String::as_str);
    let zones = match label(BETA_ZONE) {
        "" => label(ZONE),
        beta => beta,
    };
    let zones: Vec<_> = zones.split(ZONE_DELIMITER).collect();
    match zones.as_slice() {
        [""] => Ok(gce_handle("zones", UNSPECIFIED, disk)),
        [zone] => Ok(gce_handle("zones", zone, disk)),
        several => {
            let region =
                gce_region(several).map_err(|e| format!("failed to get region from zones: {e}"))?;
            Ok(gce_handle("regions", &region, disk))
        }
    }
}

fn gce_region(zones: &[&str]) -> Result<String, String> {
    let mut regions = BTreeSet::new();
    for zone in zones {
        let parts: Vec<_> = zone.split('-').collect();
        let [locale, region, _] = parts.as_slice() else {
            return Err(format!(
                "zone in unexpected format, expected: {{locale}}-{{region}}-{{zone}}, got: {zone}"
            ));
        };
        regions.insert(format!("{locale}-{region}"));
    }
    if regions.len() == 1 {
        return Ok(regions.into_iter().collect());
    }
    let list: Vec<_> = regions
        .iter()
        .map(|region| format!("{region}:{{}}"))
        .collect();
    let list = list.join(" ");
    Err(format!(
        "multiple or no regions gotten from zones, got: map[{list}]"
    ))
}

/// `aws://zone/vol-1`, `aws:///vol-1` and `vol-1` are one volume.
fn aws_handle(id: &str) -> Result<String, String> {
    let Some(rest) = id.strip_prefix("aws://") else {
        return Ok(id.to_owned());
    };
    let path = rest.find('/').map_or("", |at| &rest[at..]);
    let path = path
        .split(['?', '#'])
        .next()
        .unwrap_or_default()
        .trim_matches('/');
    if path.starts_with("vol-") && !path.contains('/') {
        return Ok(path.to_owned());
    }
    Err(format!(
        "failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume ({id})"
    ))
}

/// The API server makes disks that do not say their kind `Shared`.
fn azure_handle(disk: &crate::object::AzureDisk) -> Result<String, String> {
    let kind = disk.kind.as_deref().unwrap_or("Shared");
    if kind.eq_ignore_ascii_case("Managed") {
        return Ok(disk.disk_uri.clone());
    }
    Err(format!("kind({kind}) is not supported in csi migration"))
}
