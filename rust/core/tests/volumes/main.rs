//! Volumes: the four plugins that judge them, reservations, and the volume controller.

mod binding;
mod capacity;
mod limits;
mod matching;
mod restrictions;
mod storage;
mod support;
mod zone;
