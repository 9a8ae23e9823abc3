//! Deliberate mistakes, one per plugin and one per rule by which what is remembered goes, for the test that
//! the parity suite can fail.
//!
//! Without the feature `mutations` none is ever active and the compiler drops them.

#[cfg(feature = "mutations")]
mod chosen {
    use std::sync::{Mutex, PoisonError};

    static CHOSEN: Mutex<String> = Mutex::new(String::new());

    /// Makes the mistake of one plugin or rule, and of no other; the empty name makes none.
    pub fn choose(name: &str) {
        name.clone_into(&mut CHOSEN.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Whether the plugin is to make its mistake, the rule to be broken.
    pub fn active(name: &str) -> bool {
        *CHOSEN.lock().unwrap_or_else(PoisonError::into_inner) == name
    }
}

#[cfg(feature = "mutations")]
pub use chosen::{active, choose};

/// Whether the plugin is to make its mistake: never.
#[cfg(not(feature = "mutations"))]
#[inline(always)]
pub const fn active(_: &str) -> bool {
    false
}
