//! What volumes mean to the nodes: which claims are used where, which disks are there.

use super::{Attached, CsiNode, Volumes};
use crate::intern::Symbol;
use crate::snapshot::nodes::Row;
use crate::snapshot::pods::{Pod, PodId};
use std::sync::{Arc, OnceLock};

#[derive(Debug, Default)]
pub(super) struct RowVolumes {
    pub(super) csi_node: Option<Arc<CsiNode>>,
    /// Pods here that have disks of their own, by handle.
    pub(super) disks: Vec<PodId>,
    /// Empty since the last change of anything it is made of.
    pub(super) attached: OnceLock<Attached>,
}

/// Rows of the pods that use a claim, ascending, with how many do so there.
#[derive(Debug, Default)]
pub(super) struct Users(Vec<User>);

#[derive(Debug)]
struct User {
    row: Row,
    /// Pods that name the claim.
    direct: u32,
    /// Pods for whose ephemeral volume it was made.
    ephemeral: u32,
}

impl Users {
    pub(super) fn direct(&self) -> i64 {
        self.0.iter().map(|user| i64::from(user.direct)).sum()
    }

    fn rows(&self) -> impl Iterator<Item = Row> + '_ {
        self.0.iter().map(|user| user.row)
    }

    fn count(&mut self, row: Row, ephemeral: bool, added: bool) {
        let at = match self.0.binary_search_by_key(&row, |user| user.row) {
            Ok(at) => at,
            Err(at) => {
                self.0.insert(
                    at,
                    User {
                        row,
                        direct: 0,
                        ephemeral: 0,
                    },
                );
                at
            }
        };
        let user = &mut self.0[at];
        let count = if ephemeral {
            &mut user.ephemeral
        } else {
            &mut user.direct
        };
        *count = if added {
            *count + 1
        } else {
            count.saturating_sub(1)
        };
        if user.direct == 0 && user.ephemeral == 0 {
            self.0.remove(at);
        }
    }
}

impl Volumes {
    /// A node of this name has come to stand on `row`.
    pub(in crate::snapshot) fn node_added(&mut self, row: Row, name: Symbol) {
        if self.rows.len() <= row as usize {
            self.rows.resize_with(row as usize + 1, RowVolumes::default);
        }
        let row = &mut self.rows[row as usize];
        row.csi_node = self.csi_nodes.get(&name).cloned();
        row.attached.take();
    }

    pub(in crate::snapshot) fn node_removed(&mut self, row: Row) {
        if let Some(row) = self.rows.get_mut(row as usize) {
            *row = RowVolumes::default();
        }
    }

    /// A pod was put on a row, or taken off it.
    pub(in crate::snapshot) fn pod_moved(&mut self, id: PodId, pod: &Pod, row: Row, added: bool) {
        let template = &pod.template;
        if pod.claims.is_empty() && template.volumes.is_empty() {
            return;
        }
        for claim in &pod.claims {
            let key = (template.namespace, claim.name);
            let users = self.users.entry(key).or_default();
            users.count(row, claim.ephemeral, added);
            if users.0.is_empty() {
                self.users.remove(&key);
            }
        }
        let Some(here) = self.rows.get_mut(row as usize) else {
            return;
        };
        here.attached.take();
        if template.volumes.iter().any(|volume| volume.disk.is_some()) {
            match (here.disks.binary_search(&id), added) {
                (Err(at), true) => here.disks.insert(at, id),
                (Ok(at), false) => drop(here.disks.remove(at)),
                _ => {}
            }
        }
    }

    /// Pods on a row that have disks of their own.
    pub fn pods_with_disks(&self, row: Row) -> &[PodId] {
        self.rows.get(row as usize).map_or(&[], |row| &row.disks)
    }

    pub(super) fn recount(&mut self, row: Row) {
        if let Some(row) = self.rows.get_mut(row as usize) {
            row.attached.take();
        }
    }

    pub(super) fn recount_all(&mut self) {
        for row in &mut self.rows {
            row.attached.take();
        }
    }

    pub(super) fn recount_users(&mut self, key: super::ClaimKey) {
        if let Some(users) = self.users.get(&key) {
            for row in users.rows() {
                if let Some(row) = self.rows.get_mut(row as usize) {
                    row.attached.take();
                }
            }
        }
    }
}
