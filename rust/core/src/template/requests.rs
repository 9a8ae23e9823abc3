//! What a pod asks for: upstream's `resource.PodRequests` (k8s.io/component-helpers v0.37.2).

use crate::object::{Container, ContainerStatus, Pod, ResourceList};
use crate::quantity::Quantity;
use std::sync::LazyLock;

/// What counts for a container that does not say: 100m cpu and 200 MiB of memory.
static MISSING: LazyLock<ResourceList> = LazyLock::new(|| {
    [("cpu", "100m"), ("memory", "200Mi")]
        .map(|(name, amount)| {
            (
                name.to_owned(),
                Quantity::parse(amount).expect("a literal quantity"),
            )
        })
        .into()
});

/// Which of upstream's options a sum is made with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options<'a> {
    /// Consider what the kubelet has allocated and actuated (in-place resize).
    pub(crate) status: bool,
    pub(crate) pod_level: bool,
    /// Filled in for each container that does not name the resource.
    pub(crate) missing: Option<&'a ResourceList>,
}

pub(crate) fn missing_defaults() -> &'static ResourceList {
    &MISSING
}

/// The defaults that apply to a pod whose sum is `requests`: with pod-level requests only those
/// resources are filled in that appear nowhere in the sum.
pub(crate) fn missing_for(pod: &Pod, requests: &ResourceList) -> ResourceList {
    let pod_level = pod_level_requests(pod).is_some();
    let keep = |name: &String| !pod_level || !requests.contains_key(name);
    MISSING
        .iter()
        .filter(|(name, _)| keep(name))
        .map(|(n, q)| (n.clone(), q.clone()))
        .collect()
}

pub(crate) fn pod_requests(pod: &Pod, options: Options<'_>) -> ResourceList {
    let mut total = container_requests(pod, options);
    if options.pod_level
        && let Some(spec) = pod_level_requests(pod)
    {
        let actuated = pod.status.resources.as_ref().filter(|_| options.status);
        let effective = match actuated {
            None => spec.clone(),
            Some(actuated) => {
                let mut most = if resize_infeasible(pod) {
                    ResourceList::new()
                } else {
                    spec.clone()
                };
                raise(&mut most, &actuated.requests);
                raise(
                    &mut most,
                    pod.status.allocated_resources.as_ref().unwrap_or(&EMPTY),
                );
                most
            }
        };
        total.extend(effective.into_iter().filter(|(name, _)| is_pod_level(name)));
    }
    add(&mut total, &pod.spec.overhead);
    total
}

static EMPTY: ResourceList = ResourceList::new();

fn is_pod_level(name: &str) -> bool {
    name == "cpu" || name == "memory" || name.starts_with("hugepages-")
}

fn pod_level_requests(pod: &Pod) -> Option<&ResourceList> {
    let requests = &pod.spec.resources.as_ref()?.requests;
    requests
        .keys()
        .any(|name| is_pod_level(name))
        .then_some(requests)
}

fn resize_infeasible(pod: &Pod) -> bool {
    let pending = pod
        .status
        .conditions
        .iter()
        .find(|c| c.kind == "PodResizePending");
    pending.is_some_and(|c| c.reason == "Infeasible")
}

/// The per-resource maximum of the three whole-pod sums: wanted, allocated, actuated. Since 1.37
/// the maximum is taken after summing, not per container.
fn container_requests(pod: &Pod, options: Options<'_>) -> ResourceList {
    let wanted = || aggregate(pod, options.missing, |c| Some(&c.resources.requests));
    if !options.status || !has_status(pod) {
        return wanted();
    }
    let infeasible = resize_infeasible(pod);
    let spec = |c: &'_ Container| (!infeasible).then_some(&c.resources.requests).cloned();
    let pod_level = pod
        .status
        .allocated_resources
        .as_ref()
        .zip(pod.status.resources.as_ref());
    let (allocated, actuated) = match pod_level {
        // Upstream tells a nil request map from an empty one here; a status that carries
        // `resources` always carries its requests.
        Some((allocated, actuated)) => (allocated.clone(), actuated.requests.clone()),
        None => {
            let allocated_of = |c: &Container| {
                status_of(pod, c)
                    .and_then(|s| s.allocated_resources.clone())
                    .or_else(|| spec(c))
            };
            let actuated_of = |c: &Container| {
                status_of(pod, c)
                    .and_then(|s| s.resources.as_ref().map(|r| r.requests.clone()))
                    .or_else(|| allocated_of(c))
            };
            (
                aggregate_owned(pod, options.missing, allocated_of),
                aggregate_owned(pod, options.missing, actuated_of),
            )
        }
    };
    let mut most = if infeasible {
        ResourceList::new()
    } else {
        wanted()
    };
    raise(&mut most, &actuated);
    raise(&mut most, &allocated);
    most
}

/// Whether every container names cpu and memory, and neither status nor pod-level resources count: then
/// all of upstream's sums are one.
pub(crate) fn is_plain(pod: &Pod) -> bool {
    let mut all = pod.spec.containers.iter().chain(&pod.spec.init_containers);
    let named = |c: &Container| {
        MISSING
            .keys()
            .all(|name| c.resources.requests.contains_key(name))
    };
    pod.spec.resources.is_none() && !has_status(pod) && all.all(named)
}

/// Whether the status says anything that could differ from the spec.
fn has_status(pod: &Pod) -> bool {
    let tells = |s: &ContainerStatus| s.allocated_resources.is_some() || s.resources.is_some();
    pod.status.allocated_resources.is_some()
        || pod.status.resources.is_some()
        || pod.status.container_statuses.iter().any(tells)
        || pod.status.init_container_statuses.iter().any(tells)
        || resize_infeasible(pod)
}

fn status_of<'a>(pod: &'a Pod, container: &Container) -> Option<&'a ContainerStatus> {
    let status = &pod.status;
    let all = status
        .container_statuses
        .iter()
        .chain(&status.init_container_statuses);
    all.into_iter().find(|s| s.name == container.name)
}

fn aggregate<'a>(
    pod: &'a Pod,
    missing: Option<&ResourceList>,
    of: impl Fn(&'a Container) -> Option<&'a ResourceList>,
) -> ResourceList {
    aggregate_owned(pod, missing, |c| of(c).cloned())
}

/// Sum of the containers and sidecars, or the largest init stage where that is more. An init stage
/// is the container plus all sidecars before it.
fn aggregate_owned<'a>(
    pod: &'a Pod,
    missing: Option<&ResourceList>,
    of: impl Fn(&'a Container) -> Option<ResourceList>,
) -> ResourceList {
    let amounts = |container: &'a Container| {
        let mut list = of(container).unwrap_or_default();
        for (name, quantity) in missing.into_iter().flatten() {
            list.entry(name.clone()).or_insert_with(|| quantity.clone());
        }
        list
    };
    let mut total = ResourceList::new();
    for container in &pod.spec.containers {
        add(&mut total, &amounts(container));
    }
    let mut sidecars = ResourceList::new();
    let mut stages = ResourceList::new();
    for container in &pod.spec.init_containers {
        let mut stage = amounts(container);
        if container.is_sidecar() {
            add(&mut total, &stage);
            add(&mut sidecars, &stage);
            raise(&mut stages, &sidecars);
        } else {
            add(&mut stage, &sidecars);
            raise(&mut stages, &stage);
        }
    }
    raise(&mut total, &stages);
    total
}

fn add(total: &mut ResourceList, more: &ResourceList) {
    for (name, quantity) in more {
        match total.get_mut(name) {
            Some(sum) => sum.add(quantity),
            None => {
                total.insert(name.clone(), quantity.clone());
            }
        }
    }
}

fn raise(total: &mut ResourceList, floor: &ResourceList) {
    for (name, quantity) in floor {
        match total.get_mut(name) {
            Some(value) => value.raise(quantity),
            None => {
                total.insert(name.clone(), quantity.clone());
            }
        }
    }
}
