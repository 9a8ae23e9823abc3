//! Pods enter, change and leave the snapshot.

use super::Snapshot;
use super::changes::Change;
use super::likeness::Identity;
use super::pods::{Pod, PodId};
use crate::intern::Symbol;
use crate::object;
use crate::template::{self, Claim, Names, Template};
use crate::time::parse_rfc3339;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::sync::Arc;

/// A pod's JSON in parts; `status` may be empty.
#[derive(Clone, Copy, Debug)]
pub struct PodParts<'a> {
    pub metadata: &'a [u8],
    pub spec: &'a [u8],
    pub status: &'a [u8],
}

impl<'a> PodParts<'a> {
    /// Splits a pod's JSON.
    pub fn split(json: &'a [u8]) -> Result<Self, serde_json::Error> {
        #[derive(Deserialize)]
        struct Outer<'a> {
            #[serde(borrow)]
            metadata: Option<&'a RawValue>,
            #[serde(borrow)]
            spec: Option<&'a RawValue>,
            #[serde(borrow)]
            status: Option<&'a RawValue>,
        }
        let outer: Outer<'a> = serde_json::from_slice(json)?;
        let part = |value: Option<&'a RawValue>| value.map_or("{}", RawValue::get).as_bytes();
        let (metadata, spec) = (part(outer.metadata), part(outer.spec));
        Ok(PodParts {
            metadata,
            spec,
            status: part(outer.status),
        })
    }

    pub(super) fn parse(&self) -> Result<object::Pod, serde_json::Error> {
        let status = if self.status.is_empty() {
            b"{}"
        } else {
            self.status
        };
        Ok(object::Pod {
            metadata: serde_json::from_slice(self.metadata)?,
            spec: serde_json::from_slice(self.spec)?,
            status: serde_json::from_slice(status)?,
        })
    }
}

pub(super) fn has_ended(pod: &object::Pod) -> bool {
    matches!(&*pod.status.phase, "Succeeded" | "Failed")
}

impl Snapshot {
    /// Adds a pod. One with `spec.nodeName` is on that node (or waits for it), unless its phase is terminal.
    pub fn add_pod(&mut self, source: &object::Pod) -> PodId {
        let record = self.record(source);
        self.insert_pod(record, has_ended(source))
    }

    /// The same from JSON. Pods that differ only in name, uid, node and start are compiled once.
    pub fn add_pod_parts(&mut self, parts: PodParts<'_>) -> Result<PodId, serde_json::Error> {
        let own = Identity::read(parts)?;
        let key = own.likeness(parts);
        for gone in self.prototypes.pod_comes(self.pods.len()) {
            self.peers.leave(gone.peer);
        }
        if let Some((prototype, ended)) = self.prototypes.get(&key) {
            let ended = *ended;
            let record = Pod {
                node_name: self.interner.intern(&own.node()?),
                start_time: own.start()?.as_deref().and_then(parse_rfc3339),
                ..prototype.like(own.name(), own.uid())
            };
            self.peers.join_again(record.peer);
            return Ok(self.insert_pod(record, ended));
        }
        let source = parts.parse()?;
        let record = self.record(&source);
        // A generated claim is named after its pod: such pods differ in more than their names.
        if record.claims.iter().all(|claim| !claim.ephemeral) {
            self.peers.join_again(record.peer);
            let known = (record.clone(), has_ended(&source));
            self.prototypes.keep(key.into(), known);
        }
        Ok(self.insert_pod(record, has_ended(&source)))
    }

    pub(super) fn insert_pod(&mut self, record: Pod, ended: bool) -> PodId {
        let nominated = record
            .nominated
            .filter(|_| record.node_name == Symbol::EMPTY);
        let id = self.pods.insert(record);
        self.put_on_node(id, ended);
        if nominated.is_some() {
            self.nominations.set(id, nominated);
        }
        id
    }

    /// Replaces what a pod says of itself. Where it is now bound, it moves there; an assumption of the
    /// scheduler for a pod that is not bound stays.
    pub fn update_pod(&mut self, id: PodId, source: &object::Pod) {
        let bound = !source.spec.node_name.is_empty();
        let ended = has_ended(source);
        let mut record = self.record(source);
        let before = self.pods[id].clone();
        let target = match before.row {
            _ if ended => None,
            assumed if !bound => assumed,
            _ => self.nodes.row(record.node_name),
        };
        // An update that says nothing of a nomination, now or before, keeps the one made in memory.
        if !bound && record.nominated.is_none() && !before.said_nominated {
            record.nominated = before.nominated;
        }
        self.stop_waiting(id);
        let stays = target == before.row
            && Arc::ptr_eq(&record.template, &before.template)
            && record.terminating == before.terminating
            && record.claims == before.claims;
        // Victims are chosen by start time, and nominated pods count by what they ask for.
        let seen = record.start_time != before.start_time
            || !Arc::ptr_eq(&record.template, &before.template);
        let nominated_on = before.nominated.and_then(|name| self.nodes.row(name));
        for row in before.row.into_iter().chain(nominated_on) {
            if seen {
                self.nodes.touch(row);
            }
        }
        record.kept = before.kept && record.nominated == before.nominated;
        record.tenant = before.tenant;
        if let Some(row) = nominated_on.filter(|_| seen) {
            // Who is kept from the node by this pod may be let in now, or the other way round.
            self.changes.push(Change::Node { row, noted: false });
        }
        if stays {
            record.row = before.row;
            record.charged = before.charged;
            if let Some(row) = before.row.filter(|_| bound && self.frozen_at.is_some()) {
                // kube-scheduler takes the pod off its node and puts it back, which brings what it has
                // noted of the node's images up to date.
                self.changes.push(Change::Node { row, noted: true });
            }
        } else {
            self.unplace(id);
        }
        let nominated = record.nominated.filter(|_| !bound);
        *self
            .pods
            .get_mut(id)
            .expect("the handle of a pod that exists") = record;
        self.nominations.set(id, nominated);
        match target {
            _ if stays => {}
            Some(row) => self.place(id, row),
            None => self.put_on_node(id, ended),
        }
        self.forget_record(&before);
    }

    pub fn remove_pod(&mut self, id: PodId) {
        let Some(pod) = self.pods.get(id) else { return };
        let bound = pod.node_name != Symbol::EMPTY;
        if pod.row.is_some() {
            self.unplace(id);
        }
        self.stop_waiting(id);
        self.nominations.set(id, None);
        self.groups.leave(id);
        self.forget_reservations(id, bound);
        if let Some(pod) = self.pods.remove(id) {
            self.forget_record(&pod);
        }
    }

    fn put_on_node(&mut self, id: PodId, ended: bool) {
        let name = self.pods[id].node_name;
        if name == Symbol::EMPTY || ended {
            return;
        }
        match self.nodes.row(name) {
            Some(row) => self.place(id, row),
            None => {
                self.waiting.entry(name).or_default().push(id);
                self.count_stray(id, 1);
            }
        }
    }

    fn stop_waiting(&mut self, id: PodId) {
        let name = self.pods[id].node_name;
        let Some(list) = self.waiting.get_mut(&name) else {
            return;
        };
        if let Some(at) = list.iter().position(|other| *other == id) {
            list.remove(at);
            self.count_stray(id, -1);
        }
    }

    pub(super) fn record(&mut self, source: &object::Pod) -> Pod {
        let mut names = Names {
            interner: &mut self.interner,
            resources: &mut self.resources,
        };
        let template = Template::new(source, &mut names);
        let template = self.shared(template);
        let interner = &mut self.interner;
        let nominated = &source.status.nominated_node_name;
        let preempted = |c: &object::PodCondition| {
            c.kind == "DisruptionTarget"
                && c.status == "True"
                && c.reason == "PreemptionByScheduler"
        };
        Pod {
            peer: self.peers.join(&template),
            name: source.metadata.name.as_str().into(),
            uid: source.metadata.uid.as_str().into(),
            pin: template::pin(&source.spec).map(|name| interner.intern(name)),
            node_name: interner.intern(&source.spec.node_name),
            row: None,
            nominated: (!nominated.is_empty()).then(|| interner.intern(nominated)),
            said_nominated: !nominated.is_empty(),
            kept: false,
            claims: Claim::of(source, interner),
            start_time: source.status.start_time.as_deref().and_then(parse_rfc3339),
            terminating: source.metadata.deletion_timestamp.is_some(),
            preempted: source.status.conditions.iter().any(preempted),
            tenant: None,
            charged: false,
            told: None,
            template,
        }
    }

    /// The template that all pods share which say the same.
    pub(super) fn shared(&mut self, template: Template) -> Arc<Template> {
        match self.templates.get(&template) {
            Some(known) => Arc::clone(known),
            None => self.keep_template(template),
        }
    }

    fn keep_template(&mut self, template: Template) -> Arc<Template> {
        for amounts in [&template.requests.held, &template.requests.scored] {
            for (id, _) in amounts.iter() {
                self.nodes.ensure_resource(id);
            }
        }
        for constraint in &template.spread {
            self.topology.ensure(constraint.topology_key, &self.nodes);
        }
        for term in template.affinity.all() {
            self.topology.ensure(term.topology_key, &self.nodes);
        }
        for key in template.node_affinity.label_keys() {
            self.topology.ensure_if_few(key, &self.nodes);
        }
        self.purge_templates();
        let template = Arc::new(template);
        self.templates.insert(Arc::clone(&template));
        template
    }

    pub(super) fn forget_record(&mut self, pod: &Pod) {
        self.peers.leave(pod.peer);
    }

    /// Drops templates that no pod (nor an entry of the change log) uses, whenever a quarter more have come.
    fn purge_templates(&mut self) {
        if self.templates.len() > self.template_limit {
            self.templates
                .retain(|template| Arc::strong_count(template) > 1);
            self.template_limit = self.templates.len() / 4 * 5 + 256;
        }
    }
}
