//! A group's ticket as JSON.

use super::{Nanos, Ticket};
use crate::object::ResourceList;
use crate::resources::{Amounts, ResourceNames};
use serde::Deserialize;
use std::sync::Arc;

/// What a group says of itself.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Wire {
    priority: i32,
    /// Nanoseconds since 1970.
    created: Option<Nanos>,
    completing: bool,
    gated: bool,
    request: ResourceList,
}

impl Ticket {
    /// The ticket of a group: `priority`, `created`, `completing`, `gated` and `request`, all optional.
    ///
    /// # Errors
    /// JSON that is something else.
    pub fn of_group(
        json: &[u8],
        since: Nanos,
        lane: u32,
        names: &mut ResourceNames,
    ) -> Result<Self, serde_json::Error> {
        let wire: Wire = serde_json::from_slice(json)?;
        Ok(Ticket {
            priority: wire.priority,
            since,
            created: wire.created.unwrap_or(since),
            lane,
            place: 0,
            completing: wire.completing,
            gated: wire.gated,
            request: Some(Arc::new(Amounts::new(&wire.request, names))),
        })
    }
}
