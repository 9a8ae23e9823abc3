//! PreBind as data: what is to be written so that a volume controller binds a pod's claims, and whether
//! it has done so.

use super::{
    BOUND_BY_CONTROLLER, Binding, ClaimInfo, Provision, Reservation, SELECTED_NODE, Volume,
};
use crate::intern::Symbol;
use crate::snapshot::{ClaimKey, PodId, Snapshot};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// One write to the API: a volume is bound to a claim, or a claim asks for a volume on a node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BindAction {
    pub namespace: String,
    pub claim: String,
    pub claim_uid: String,
    /// The volume that is bound; empty where a node is selected.
    pub volume: String,
    /// The node that is selected; empty where a volume is bound.
    pub node: String,
    /// Whether the volume is to be marked as bound by a controller: no user promised it.
    pub annotate: bool,
    /// Of the object written to, as it was when it was chosen: a later one may belong to somebody else.
    pub resource_version: String,
}

impl BindAction {
    /// The write as a JSON merge patch (RFC 7386) of the volume or the claim. It carries the resource
    /// version, where there is one, so that it fails if the object has changed meanwhile.
    pub fn patch(&self) -> Value {
        let mut metadata = json!({});
        if !self.resource_version.is_empty() {
            metadata["resourceVersion"] = json!(self.resource_version);
        }
        if self.volume.is_empty() {
            metadata["annotations"] = json!({SELECTED_NODE: self.node});
            return json!({"metadata": metadata});
        }
        if self.annotate {
            metadata["annotations"] = json!({BOUND_BY_CONTROLLER: "yes"});
        }
        let claim_ref = json!({
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "namespace": self.namespace,
            "name": self.claim,
            "uid": self.claim_uid,
        });
        json!({"metadata": metadata, "spec": {"claimRef": claim_ref}})
    }
}

/// What is to be written before a reserved pod can be bound; nothing if its claims are bound already.
/// Afterwards [`all_bound`] tells when to go on.
pub fn pre_bind(snap: &Snapshot, pod: PodId) -> Vec<BindAction> {
    let Some(reservation) = snap.volumes.assumptions.reservation(pod) else {
        return Vec::new();
    };
    let bindings = reservation.bindings.iter();
    let bind = bindings.filter_map(|binding| snap.bind_volume(binding));
    let provisions = reservation.provisions.iter();
    let select = provisions.filter_map(|p| snap.select_node(p, reservation.node));
    bind.chain(select).collect()
}

/// Whether a volume controller has bound all that the pod's reservation asks for. The error says why it
/// never will: the pod must be scheduled anew.
pub fn all_bound(snap: &Snapshot, pod: PodId) -> Result<bool, String> {
    let Some(reservation) = snap.volumes.assumptions.reservation(pod) else {
        return Ok(true);
    };
    snap.are_bound(reservation)
        .map_err(|message| format!("binding volumes: {message}"))
}

impl Snapshot {
    fn bind_volume(&self, binding: &Binding) -> Option<BindAction> {
        let volume = self.volumes.volume(binding.volume);
        let volume = volume.filter(|volume| volume.name == binding.volume_name);
        let owner = volume.and_then(|volume| volume.claim);
        if owner.is_some_and(|o| o.claim == binding.claim && o.uid == binding.claim_uid) {
            return None;
        }
        let promised = owner.is_some_and(|owner| owner.is(binding.claim, binding.claim_uid));
        let marked = volume.is_some_and(|volume| volume.bound_by_controller);
        let text = |symbol| self.interner.text(symbol).to_owned();
        Some(BindAction {
            namespace: text(binding.claim.0),
            claim: text(binding.claim.1),
            claim_uid: text(binding.claim_uid),
            volume: text(binding.volume_name),
            node: String::new(),
            annotate: !promised && !marked,
            resource_version: binding.resource_version.to_string(),
        })
    }

    fn select_node(&self, provision: &Provision, node: Symbol) -> Option<BindAction> {
        let claim = self.volumes.claim(provision.claim);
        if claim.is_some_and(|claim| claim.selected_node == Some(node)) {
            return None;
        }
        let text = |symbol| self.interner.text(symbol).to_owned();
        Some(BindAction {
            namespace: text(provision.claim.0),
            claim: text(provision.claim.1),
            claim_uid: text(provision.claim_uid),
            volume: String::new(),
            node: text(node),
            annotate: false,
            resource_version: provision.claim_version.to_string(),
        })
    }

    fn are_bound(&self, reservation: &Reservation) -> Result<bool, String> {
        let node = self.interner.text(reservation.node);
        if self.nodes.row(reservation.node).is_none() {
            return Err(format!(
                "failed to get node {node:?}: node {node:?} not found"
            ));
        }
        for binding in &reservation.bindings {
            if !self.is_bound(binding, reservation)? {
                return Ok(false);
            }
        }
        for provision in &reservation.provisions {
            if !self.is_provisioned(provision, reservation)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn is_bound(&self, binding: &Binding, by: &Reservation) -> Result<bool, String> {
        let name = self.interner.text(binding.volume_name);
        let volume = self
            .volumes
            .volume_named(binding.volume_name)
            .ok_or_else(|| {
                format!("failed to check binding: persistentvolumes {name:?} not found")
            })?;
        let claim = self.claim_or(binding.claim, "failed to check binding")?;
        let promised = &self.volumes.assumptions.volumes;
        if binding.held && promised.get(&binding.volume, by.profile).is_some() {
            // The write is under way.
            return Ok(false);
        }
        self.check_reach(volume, by.node, "failed to translate pv to csi: ")?;
        if volume.claim.is_none_or(|claim| claim.uid == Symbol::EMPTY) {
            return Err(format!("ClaimRef got reset for pv {name:?}"));
        }
        Ok(claim.is_bound())
    }

    fn is_provisioned(&self, provision: &Provision, by: &Reservation) -> Result<bool, String> {
        let claim = self.claim_or(provision.claim, "failed to check provisioning pvc")?;
        let promised = &self.volumes.assumptions.claims;
        if provision.held && promised.get(&provision.claim, by.profile).is_some() {
            return Ok(false);
        }
        let name = self.interner.text(provision.claim.1);
        if !claim.annotated {
            return Err(format!("selectedNode annotation reset for PVC {name:?}"));
        }
        if claim.selected_node != Some(by.node) {
            return Err(format!("provisioning failed for PVC {name:?}"));
        }
        if claim.volume != Symbol::EMPTY {
            let Some(volume) = self.volumes.volume_named(claim.volume) else {
                return Ok(false);
            };
            self.check_reach(volume, by.node, "")?;
        }
        Ok(claim.is_bound())
    }

    fn claim_or(&self, key: ClaimKey, doing: &str) -> Result<&ClaimInfo, String> {
        self.volumes.claim(key).ok_or_else(|| {
            let (namespace, name) = (self.interner.text(key.0), self.interner.text(key.1));
            format!("{doing}: persistentvolumeclaims \"{namespace}/{name}\" not found")
        })
    }

    /// `translating` is what an error says if the volume cannot even be translated.
    fn check_reach(&self, volume: &Volume, node: Symbol, translating: &str) -> Result<(), String> {
        let csi_node = self.volumes.csi_node_named(node);
        let reach = volume.reach_on(csi_node);
        let reach = reach.map_err(|message| format!("{translating}{message}"))?;
        let row = self.nodes.row(node);
        if row.is_some_and(|row| reach.matches(&self.nodes.info(row).labels, &self.interner)) {
            return Ok(());
        }
        let (volume, node) = (self.interner.text(volume.name), self.interner.text(node));
        Err(format!(
            "pv {volume:?} node affinity doesn't match node {node:?}: no matching NodeSelectorTerms"
        ))
    }
}
