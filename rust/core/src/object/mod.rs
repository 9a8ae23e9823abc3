//! Kubernetes objects as the core reads them: trimmed serde structs in the API's own JSON form.
//!
//! Input is expected to be defaulted and validated; unknown fields are ignored, `null` counts as absent.
//! `Option` is kept where upstream tells nil from empty.

mod meta;
mod node;
mod pod;
mod policy;
mod storage;

pub use meta::*;
pub use node::*;
pub use pod::*;
pub use policy::*;
pub use storage::*;

use serde::{Deserialize, Deserializer};

/// Deserializes a field whose `null` means its default, as Go's decoder does.
pub(crate) fn nullable<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}
