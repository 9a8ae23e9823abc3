use std::ops::Deref;
use std::sync::Arc;

/// One number per node. A reader that must outlive the next change (a NumPy view) holds the block;
/// writing then copies it first, so what a reader sees never changes.
#[derive(Clone, Debug, Default)]
pub struct Column<T = i64>(Arc<Vec<T>>);

impl<T: Copy + Default> Column<T> {
    /// The block itself, to be kept by a view.
    pub fn block(&self) -> Arc<Vec<T>> {
        Arc::clone(&self.0)
    }

    pub fn set(&mut self, row: u32, value: T) {
        Arc::make_mut(&mut self.0)[row as usize] = value;
    }

    pub fn update(&mut self, row: u32, change: impl FnOnce(T) -> T) {
        let cell = &mut Arc::make_mut(&mut self.0)[row as usize];
        *cell = change(*cell);
    }

    pub(super) fn grow(&mut self, len: usize) {
        if self.0.len() < len {
            Arc::make_mut(&mut self.0).resize(len, T::default());
        }
    }

    pub(super) fn with_len(len: usize) -> Self {
        Column(Arc::new(vec![T::default(); len]))
    }
}

impl<T> Deref for Column<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}
