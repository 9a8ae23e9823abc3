//! A pod compiled once: everything that scheduling reads of it except what is its own (name, uid,
//! node, pin, claims, times). Pods with equal templates are interchangeable to every plugin.

mod affinity;
mod node_selector;
mod requests;
mod volumes;

pub use affinity::{AffinityTerm, PodTerms, WeightedTerm};
pub(crate) use node_selector::pin;
pub use node_selector::{FieldRequirement, NodeTerm, NodeTerms, PreferredTerm};
pub use volumes::{Claim, Counted, Disk, InlineVolume};

use crate::intern::{Interner, Symbol};
use crate::object::{self, Pod};
use crate::resources::{Amounts, CPU, MEMORY, ResourceNames};
use crate::selector::{Labels, Requirement, Selector};
use requests::Options;
use rustc_hash::FxBuildHasher;
use std::hash::{BuildHasher, Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

/// Tables that compiling writes to.
#[derive(Debug)]
pub struct Names<'a> {
    pub interner: &'a mut Interner,
    pub resources: &'a mut ResourceNames,
}

/// Labels and all the rest, which templates that differ in labels alone share.
#[derive(Clone, Debug, Default)]
pub struct Template {
    pub labels: Labels,
    rest: Arc<Rest>,
    /// That of `rest`, which is long.
    hash: u64,
}

/// What a template says beside labels.
#[derive(Debug, Default, PartialEq, Eq, Hash)]
pub struct Rest {
    pub namespace: Symbol,
    pub owner: Option<Owner>,
    pub scheduler_name: Symbol,
    pub priority: i32,
    pub may_preempt: bool,
    pub gates: Box<[Symbol]>,
    /// Named by spec.nodeName of a pod that is nevertheless scheduled (test harnesses only).
    pub requests: Requests,
    pub tolerations: Box<[Toleration]>,
    pub node_affinity: NodeTerms,
    pub ports: Box<[HostPort]>,
    pub affinity: PodTerms,
    pub spread: Box<[SpreadConstraint]>,
    pub images: Images,
    pub volumes: Box<[InlineVolume]>,
    /// Whether the pod uses claims; which ones is its own affair.
    pub has_claims: bool,
    /// Names of node features without which the pod cannot run.
    pub features: Box<[Symbol]>,
    pub has_resource_claims: bool,
    /// A selector, term or expression that cannot be compiled, with the plugin that trips over it.
    pub invalid: Option<(&'static str, Box<str>)>,
}

/// The controller that owns the pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Owner {
    pub api_version: Symbol,
    pub kind: Symbol,
    pub name: Symbol,
}

/// The sums upstream computes for a pod; they differ in rare cases only.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Requests {
    /// What the spec asks for: NodeResourcesFit's filter.
    pub spec: Amounts,
    /// What the pod holds, in-place resize considered: node totals and balanced allocation.
    pub held: Amounts,
    /// Cpu and memory of `held` with 100m and 200 MiB for containers that do not say.
    pub held_nonzero: [i64; 2],
    /// Without pod-level requests, defaults filled in: NodeResourcesFit's score. (Upstream's scorer
    /// never learns that pod-level resources are enabled.)
    pub scored: Amounts,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Toleration {
    pub key: Symbol,
    pub operator: TolerationOperator,
    pub value: Symbol,
    pub effect: Symbol,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TolerationOperator {
    Equal,
    Exists,
    /// `Gt`: the taint's value is a number above this one. (The operators have an alpha gate; where it is
    /// off, whoever loads the pods leaves such tolerations out.)
    Above(i64),
    /// `Lt`.
    Below(i64),
    /// No operator that there is, or no number to compare with.
    Never,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HostPort {
    pub ip: Symbol,
    pub protocol: Symbol,
    pub port: i32,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SpreadConstraint {
    pub max_skew: i32,
    pub topology_key: Symbol,
    /// DoNotSchedule; otherwise ScheduleAnyway.
    pub hard: bool,
    pub selector: Selector,
    pub min_domains: i32,
    pub honor_affinity: bool,
    pub honor_taints: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Images {
    /// Normalised names (`:latest` appended) of init containers, containers and image volumes.
    pub names: Box<[Symbol]>,
    /// How many images the score's upper threshold counts.
    pub count: i64,
}

impl Template {
    pub fn new(pod: &Pod, names: &mut Names<'_>) -> Self {
        let spec = &pod.spec;
        let mut invalid = None;
        let labels = Labels::new(&pod.metadata.labels, names.interner);
        let namespace = names.interner.intern(&pod.metadata.namespace);
        let interner = &mut *names.interner;
        let rest = Rest {
            namespace,
            owner: controller(pod, interner),
            scheduler_name: interner.intern(&spec.scheduler_name),
            priority: spec.priority.unwrap_or(0),
            may_preempt: spec.preemption_policy.as_deref() != Some("Never"),
            gates: spec
                .scheduling_gates
                .iter()
                .map(|g| interner.intern(&g.name))
                .collect(),
            tolerations: spec
                .tolerations
                .iter()
                .map(|t| toleration(t, interner))
                .collect(),
            node_affinity: NodeTerms::new(spec, interner),
            ports: host_ports(pod, interner),
            affinity: PodTerms::new(pod, interner, &mut invalid),
            spread: spread_constraints(pod, &labels, interner, &mut invalid),
            images: images(pod, interner),
            volumes: InlineVolume::of(spec, interner),
            has_claims: Claim::used_by(spec),
            features: features(pod)
                .into_iter()
                .map(|f| interner.intern(f))
                .collect(),
            has_resource_claims: !spec.resource_claims.is_empty(),
            requests: Requests::new(pod, names.resources),
            invalid,
        };
        Template::of(labels, rest)
    }

    pub fn of(labels: Labels, rest: Rest) -> Self {
        Template {
            labels,
            hash: FxBuildHasher.hash_one(&rest),
            rest: Arc::new(rest),
        }
    }

    /// The template of a pod that says the same but for its labels; `None` where they are in more than
    /// `labels`: affinity and spread may take values from them.
    pub fn labelled(&self, labels: Labels) -> Option<Self> {
        let alone = self.affinity.is_empty() && self.spread.is_empty();
        alone.then(|| Template {
            labels,
            ..self.clone()
        })
    }

    /// What templates share that differ in labels alone. (Those that were compiled apart may not.)
    pub fn rest(&self) -> &Arc<Rest> {
        &self.rest
    }

    /// Whether the spread constraints, if any, are the pod's own.
    pub fn has_own_spread(&self) -> bool {
        !self.spread.is_empty()
    }
}

impl Deref for Template {
    type Target = Rest;

    fn deref(&self) -> &Rest {
        &self.rest
    }
}

impl PartialEq for Template {
    fn eq(&self, other: &Self) -> bool {
        let same = || Arc::ptr_eq(&self.rest, &other.rest) || self.rest == other.rest;
        self.hash == other.hash && self.labels == other.labels && same()
    }
}

impl Eq for Template {}

impl Hash for Template {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.labels.hash(state);
        state.write_u64(self.hash);
    }
}

impl Requests {
    fn new(pod: &Pod, names: &mut ResourceNames) -> Self {
        let sum = |status, pod_level, missing| {
            requests::pod_requests(
                pod,
                Options {
                    status,
                    pod_level,
                    missing,
                },
            )
        };
        let plain = sum(false, true, None);
        let spec = Amounts::new(&plain, names);
        if requests::is_plain(pod) {
            // Nothing tells the sums apart.
            let held_nonzero = [spec.get(CPU), spec.get(MEMORY)];
            return Requests {
                held: spec.clone(),
                scored: spec.clone(),
                spec,
                held_nonzero,
            };
        }
        let held = sum(true, true, None);
        let missing = requests::missing_for(pod, &held);
        let nonzero = Amounts::new(&sum(true, true, Some(&missing)), names);
        Requests {
            spec,
            held: Amounts::new(&held, names),
            held_nonzero: [nonzero.get(CPU), nonzero.get(MEMORY)],
            scored: Amounts::new(&sum(true, false, Some(requests::missing_defaults())), names),
        }
    }
}

fn controller(pod: &Pod, interner: &mut Interner) -> Option<Owner> {
    let owner = pod
        .metadata
        .owner_references
        .iter()
        .find(|o| o.controller == Some(true))?;
    Some(Owner {
        api_version: interner.intern(&owner.api_version),
        kind: interner.intern(&owner.kind),
        name: interner.intern(&owner.name),
    })
}

fn toleration(source: &object::Toleration, interner: &mut Interner) -> Toleration {
    Toleration {
        key: interner.intern(&source.key),
        operator: match (source.operator.as_str(), decimal(&source.value)) {
            ("" | "Equal", _) => TolerationOperator::Equal,
            ("Exists", _) => TolerationOperator::Exists,
            ("Gt", Some(number)) => TolerationOperator::Above(number),
            ("Lt", Some(number)) => TolerationOperator::Below(number),
            _ => TolerationOperator::Never,
        },
        value: interner.intern(&source.value),
        effect: interner.intern(&source.effect),
    }
}

/// A number as upstream's `IsDecimalInteger` has it: 64 bits, no plus sign, no leading zeros.
pub(crate) fn decimal(text: &str) -> Option<i64> {
    let number: i64 = text.parse().ok()?;
    (number.to_string() == text).then_some(number)
}

/// Host ports of containers and sidecars, an empty ip standing for all and no protocol for TCP.
fn host_ports(pod: &Pod, interner: &mut Interner) -> Box<[HostPort]> {
    let sidecars = pod.spec.init_containers.iter().filter(|c| c.is_sidecar());
    let or = |text: &str, default: &str, interner: &mut Interner| {
        interner.intern(if text.is_empty() { default } else { text })
    };
    sidecars
        .chain(&pod.spec.containers)
        .flat_map(|c| &c.ports)
        .filter(|p| p.host_port > 0)
        .map(|p| HostPort {
            ip: or(&p.host_ip, "0.0.0.0", interner),
            protocol: or(&p.protocol, "TCP", interner),
            port: p.host_port,
        })
        .collect()
}

fn spread_constraints(
    pod: &Pod,
    labels: &Labels,
    interner: &mut Interner,
    invalid: &mut Option<(&'static str, Box<str>)>,
) -> Box<[SpreadConstraint]> {
    let list = &pod.spec.topology_spread_constraints;
    list.iter()
        .map(|c| SpreadConstraint::new(c, labels, interner, invalid))
        .collect()
}

impl SpreadConstraint {
    /// `labels` are the pod's: the values that `matchLabelKeys` names are ANDed to the selector.
    pub fn new(
        source: &object::TopologySpreadConstraint,
        labels: &Labels,
        interner: &mut Interner,
        invalid: &mut Option<(&'static str, Box<str>)>,
    ) -> Self {
        let selector = Selector::new(source.label_selector.as_ref(), interner);
        let selector = selector.unwrap_or_else(|message| {
            invalid.get_or_insert(("PodTopologySpread", message.into()));
            Selector::Nothing
        });
        let keys = source.match_label_keys.iter().filter_map(|key| {
            let key = interner.intern(key);
            Some(Requirement::equals(key, labels.get(key)?))
        });
        let merged = keys.collect::<Vec<_>>();
        SpreadConstraint {
            max_skew: source.max_skew,
            topology_key: interner.intern(&source.topology_key),
            hard: source.when_unsatisfiable == "DoNotSchedule",
            selector: selector.and(merged),
            min_domains: source.min_domains.unwrap_or(1),
            honor_affinity: source.node_affinity_policy.as_deref() != Some("Ignore"),
            honor_taints: source.node_taints_policy.as_deref() == Some("Honor"),
        }
    }
}

fn images(pod: &Pod, interner: &mut Interner) -> Images {
    let spec = &pod.spec;
    let containers = spec
        .init_containers
        .iter()
        .chain(&spec.containers)
        .map(|c| &*c.image);
    let volumes = spec
        .volumes
        .iter()
        .filter_map(|v| Some(&*v.image.as_ref()?.reference));
    let names: Box<[_]> = containers
        .chain(volumes)
        .map(|n| image_name(n, interner))
        .collect();
    Images {
        count: names.len() as i64,
        names,
    }
}

/// A name without tag or digest means `:latest`.
pub(crate) fn image_name(name: &str, interner: &mut Interner) -> Symbol {
    let tagged = match (name.rfind(':'), name.rfind('/')) {
        (None, _) => false,
        (Some(_), None) => true,
        (Some(colon), Some(slash)) => colon > slash,
    };
    if tagged {
        interner.intern(name)
    } else {
        interner.intern(&format!("{name}:latest"))
    }
}

/// Node features that this pod needs, by the registry of k8s.io/component-helpers v0.37.2.
fn features(pod: &Pod) -> Vec<&'static str> {
    let spec = &pod.spec;
    let all = || spec.containers.iter().chain(&spec.init_containers);
    let mut list = Vec::new();
    if all()
        .flat_map(|c| &c.restart_policy_rules)
        .any(|r| r.action == "RestartAllContainers")
    {
        list.push("RestartAllContainersOnContainerExits");
    }
    if spec.host_network == Some(true) && spec.host_users == Some(false) {
        list.push("UserNamespacesHostNetworkSupport");
    }
    let mounts = all()
        .chain(&spec.ephemeral_containers)
        .flat_map(|c| &c.volume_mounts);
    if mounts.into_iter().any(|m| !m.bind_mount_options.is_empty()) {
        list.push("VolumeBindMountOptions");
    }
    list
}
