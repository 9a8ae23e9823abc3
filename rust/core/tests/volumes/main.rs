//! Volumes: the four plugins that judge them, reservations, and the volume controller.

mod binding;
mod capacity;
mod cluster;
mod controller;
mod history;
mod limits;
mod matching;
mod properties;
mod provisioning;
mod reserve;
mod restrictions;
mod storage;
mod support;
mod zone;
