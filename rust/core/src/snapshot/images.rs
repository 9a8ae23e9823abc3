//! Which nodes have which container images.

use super::nodes::Row;
use crate::intern::Symbol;
use rustc_hash::{FxHashMap, FxHashSet};

/// An image by one of its names.
#[derive(Clone, Debug)]
pub struct Image {
    /// As the first of its present nodes reported it. Upstream keeps one size per name too.
    pub size: i64,
    /// Ascending.
    rows: Vec<Row>,
}

impl Image {
    /// The nodes that have it, ascending.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    pub fn is_on(&self, row: Row) -> bool {
        self.rows.binary_search(&row).is_ok()
    }
}

#[derive(Debug, Default)]
pub struct Images(FxHashMap<Symbol, Image>);

impl Images {
    pub fn get(&self, name: Symbol) -> Option<&Image> {
        self.0.get(&name)
    }

    /// Whether an image that is on this row alone still has the size that a node gave it which no longer
    /// has it: upstream forgets and notes the images of a node at every update, also where none changed.
    pub(super) fn resized(&self, row: Row, list: &[(Symbol, i64)]) -> bool {
        list.iter().any(|(name, size)| {
            let image = self.get(*name);
            image.is_some_and(|image| image.size != *size && image.rows == [row])
        })
    }

    /// A node's list (names and sizes) went from `before` to `after`. The old list goes first: an image
    /// that was only here takes its new size.
    pub(super) fn replace(&mut self, row: Row, before: &[(Symbol, i64)], after: &[(Symbol, i64)]) {
        let mut seen = FxHashSet::default();
        for &(name, _) in before.iter().filter(|(name, _)| seen.insert(*name)) {
            self.take(name, row);
        }
        for &(name, size) in after {
            let rows = Vec::new();
            let image = self.0.entry(name).or_insert(Image { size, rows });
            if let Err(at) = image.rows.binary_search(&row) {
                image.rows.insert(at, row);
            }
        }
    }

    fn take(&mut self, name: Symbol, row: Row) {
        let Some(image) = self.0.get_mut(&name) else {
            return;
        };
        if let Ok(at) = image.rows.binary_search(&row) {
            image.rows.remove(at);
        }
        if image.rows.is_empty() {
            self.0.remove(&name);
        }
    }
}
