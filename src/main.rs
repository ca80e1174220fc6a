//! The `ittsu` binary: everything is in the library.

fn main() {}
