//! From a relay's name to addresses.
use std::net::IpAddr;

/// Says why a name gave no address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameError {
    /// The name does not exist, or has no address.
    NotFound,
    /// It could not be looked up now.
    Failed,
}

/// Where names are looked up.
#[derive(Clone, Debug, Default)]
pub enum Resolver {
    /// The system's own way.
    #[default]
    System,
    /// Always this answer, whatever the name.
    Fixed(Result<Vec<IpAddr>, NameError>),
}
