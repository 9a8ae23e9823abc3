//! Deliberate mistakes, one per plugin, for the test that the parity suite can fail.
//!
//! Without the feature `mutations` none is ever active and the compiler drops them.

#[cfg(feature = "mutations")]
mod chosen {
    use std::sync::{Mutex, PoisonError};

    static CHOSEN: Mutex<String> = Mutex::new(String::new());

    /// Makes the mistake of one plugin, and of no other; the empty name makes none.
    pub fn choose(plugin: &str) {
        plugin.clone_into(&mut CHOSEN.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Whether the plugin is to make its mistake.
    pub fn active(plugin: &str) -> bool {
        *CHOSEN.lock().unwrap_or_else(PoisonError::into_inner) == plugin
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
