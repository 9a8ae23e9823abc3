//! Strings become numbers once, when an object enters the snapshot; nothing hot hashes a string.

use rustc_hash::FxHashMap;
use std::sync::Arc;

/// An interned string. Equal symbols are equal strings of the same [`Interner`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Symbol(pub u32);

impl Symbol {
    /// The empty string, interned first in every interner.
    pub const EMPTY: Symbol = Symbol(0);
}

/// Two-way table of strings. Symbols are never freed: label values and names repeat across the
/// life of a cluster, and a symbol that changed its meaning would corrupt every column.
#[derive(Debug)]
pub struct Interner {
    ids: FxHashMap<Arc<str>, Symbol>,
    texts: Vec<Arc<str>>,
    /// The base-10 `i64` a text stands for (Gt and Lt selectors), parsed when it is interned.
    numbers: Vec<Option<i64>>,
}

impl Default for Interner {
    fn default() -> Self {
        let mut interner = Interner {
            ids: FxHashMap::default(),
            texts: Vec::new(),
            numbers: Vec::new(),
        };
        interner.intern("");
        interner
    }
}

impl Interner {
    pub fn intern(&mut self, text: &str) -> Symbol {
        if let Some(&symbol) = self.ids.get(text) {
            return symbol;
        }
        let symbol = Symbol(u32::try_from(self.texts.len()).expect("fewer than 2^32 strings"));
        let shared: Arc<str> = text.into();
        self.texts.push(Arc::clone(&shared));
        self.numbers.push(text.parse().ok());
        self.ids.insert(shared, symbol);
        symbol
    }

    /// The symbol of a string that was seen before; `None` means that nothing in the snapshot equals it.
    pub fn get(&self, text: &str) -> Option<Symbol> {
        self.ids.get(text).copied()
    }

    pub fn text(&self, symbol: Symbol) -> &str {
        &self.texts[symbol.0 as usize]
    }

    /// The text as a base-10 `i64`, by Go's `strconv.ParseInt(s, 10, 64)`.
    pub fn number(&self, symbol: Symbol) -> Option<i64> {
        self.numbers[symbol.0 as usize]
    }
}
