//! (door of the room)
