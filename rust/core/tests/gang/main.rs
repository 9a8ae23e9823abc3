//! Gangs in the core: all or nothing, exhaustively compared on small clusters.

mod arrangements;
mod exact;
mod preemption;
mod said;
mod scene;
mod topology;
mod transaction;
