//! From a relay's name to addresses.

use std::net::IpAddr;

use dns_lookup::{AddrInfoHints, LookupErrorKind, SockType};

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

impl Resolver {
    /// Returns every address of `host`, in the order in which they are to be tried.
    pub async fn addresses(&self, host: &str) -> Result<Vec<IpAddr>, NameError> {
        if let Self::Fixed(answer) = self {
            return answer.clone();
        }
        if let Some(address) = literal(host) {
            return Ok(vec![address]);
        }
        let host = host.to_owned();
        let lookup = tokio::task::spawn_blocking(move || look_up(&host));
        lookup.await.unwrap_or(Err(NameError::Failed))
    }
}

/// Reads an address that was given instead of a name, with or without brackets.
pub(super) fn literal(host: &str) -> Option<IpAddr> {
    host.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

fn look_up(host: &str) -> Result<Vec<IpAddr>, NameError> {
    let hints = AddrInfoHints { socktype: SockType::Stream.into(), ..AddrInfoHints::default() };
    let found = match dns_lookup::getaddrinfo(Some(host), None, Some(hints)) {
        Ok(found) => found,
        Err(error) => return Err(reason(error.kind())),
    };
    let mut addresses = Vec::new();
    for address in found.flatten().map(|info| info.sockaddr.ip()) {
        if !addresses.contains(&address) {
            addresses.push(address);
        }
    }
    if addresses.is_empty() { Err(NameError::NotFound) } else { Ok(addresses) }
}

const fn reason(kind: LookupErrorKind) -> NameError {
    match kind {
        LookupErrorKind::NoName | LookupErrorKind::NoData => NameError::NotFound,
        _ => NameError::Failed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_needs_no_lookup() {
        assert_eq!(literal("127.0.0.1"), Some(IpAddr::from([127, 0, 0, 1])));
        assert_eq!(literal("[::1]"), "::1".parse().ok());
        assert_eq!(literal("mail.example.com"), None);
    }

    #[test]
    fn only_a_name_that_is_not_there_counts_as_not_found() {
        assert_eq!(reason(LookupErrorKind::NoName), NameError::NotFound);
        assert_eq!(reason(LookupErrorKind::NoData), NameError::NotFound);
        assert_eq!(reason(LookupErrorKind::Again), NameError::Failed);
        assert_eq!(reason(LookupErrorKind::Fail), NameError::Failed);
    }

    #[test]
    fn this_machine_has_a_name() {
        assert!(look_up("localhost").unwrap().iter().all(IpAddr::is_loopback));
    }
}
