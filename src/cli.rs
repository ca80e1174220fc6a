//! (door of the room)

pub mod demo;
