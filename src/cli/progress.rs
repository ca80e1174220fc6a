//! How far a long command has come.
