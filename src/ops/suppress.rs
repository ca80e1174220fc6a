//! The do-not-send list.

use std::path::PathBuf;

use serde::Serialize;

use super::Ops;
use super::document::{Change, WhyLeft};
use super::error::OpsError;
use super::find::SuppressedBody;
use super::when;
use crate::domain::address::Address;
use crate::intake::{self, Entry, Options, Source, Wanted};
use crate::ledger::journal::By;
use crate::ledger::suppression::{Listed, Suppressed};

/// `ittsu/suppress/1`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SuppressBody {
    pub entries: Vec<SuppressedBody>,
}

/// Where addresses come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Addresses {
    Named(Vec<String>),
    /// `-` is standard input.
    File(PathBuf),
}

/// Whether addresses go onto the list or off it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    On,
    Off,
}

/// Entries read at once.
const PAGE: i64 = 5_000;

impl Ops {
    /// Returns the list; of one kind if one is named, of these addresses if any are.
    pub async fn suppressions(
        &self,
        addresses: &[String],
        kind: Option<&str>,
    ) -> Result<SuppressBody, OpsError> {
        let mut entries = Vec::new();
        for address in addresses {
            let found = self.ledger.suppressions_of(&compare_form(address)?).await?;
            let wanted = found.iter().filter(|entry| kind.is_none_or(|kind| entry.kind == kind));
            entries.extend(wanted.map(|entry| self.suppressed(entry)));
        }
        let mut after = 0;
        while addresses.is_empty() {
            let page = self.ledger.suppressions(kind, after, PAGE).await?;
            let Some(last) = page.last() else { break };
            after = last.seq;
            entries.extend(page.iter().map(|entry| self.suppressed(entry)));
        }
        Ok(SuppressBody { entries })
    }

    /// Puts addresses on the list of one kind, or of every kind, or takes them off it.
    pub async fn suppress(
        &self,
        way: Way,
        addresses: Addresses,
        kind: Option<&str>,
        by: By,
    ) -> Result<Change, OpsError> {
        if let Some(kind) = kind {
            self.kind(kind)?;
        }
        let (addresses, unreadable) = read(addresses).await?;
        let kind = kind.unwrap_or_default();
        let Listed { matched, changed } = match way {
            Way::On => self.ledger.suppress(addresses, kind, by, self.now()).await?,
            Way::Off => self.ledger.unsuppress(addresses, kind, by, self.now()).await?,
        };
        let count = |n: i64| u64::try_from(n).unwrap_or(0);
        let same = count(matched - changed);
        let why = match (way, kind) {
            (Way::On, _) => "already on the list",
            (Way::Off, "") => {
                "not on the list of every kind (`suppress list` shows each, --kind NAME takes off one)"
            }
            (Way::Off, _) => "not on the list of that kind",
        };
        let why_left = [(why, same), ("no address could be read", unreadable)];
        let why_left = why_left.into_iter().filter(|&(_, rows)| rows > 0);
        Ok(Change {
            matched: count(matched) + unreadable,
            changed: count(changed),
            left: same + unreadable,
            why_left: why_left.map(|(why, rows)| WhyLeft { why: why.to_owned(), rows }).collect(),
            ..Change::default()
        })
    }

    /// Returns an entry of the list as documents show it.
    pub fn suppressed(&self, entry: &Suppressed) -> SuppressedBody {
        SuppressedBody {
            address: entry.address.clone(),
            kind: Some(entry.kind.clone()).filter(|kind| !kind.is_empty()),
            reason: entry.reason.clone(),
            operator: entry.operator.clone(),
            at: when::rfc3339(entry.at, &self.settings.timezone),
        }
    }
}

fn compare_form(address: &str) -> Result<String, OpsError> {
    Address::parse(address)
        .map(|(address, _)| address.compare_form())
        .map_err(|err| OpsError::usage(format!("`{address}` is no address")).because(err))
}

/// Reads every address; a line of a file in which there is none is counted, a named one is refused.
async fn read(addresses: Addresses) -> Result<(Vec<String>, u64), OpsError> {
    let source = match addresses {
        Addresses::Named(named) => {
            let read = named.iter().map(|address| compare_form(address));
            return Ok((read.collect::<Result<_, _>>()?, 0));
        }
        Addresses::File(path) if path.as_os_str() == "-" => Source::Stdin,
        Addresses::File(path) => Source::File(path),
    };
    let options = Options { wanted: Wanted::List, ..Options::default() };
    let mut reader = intake::open(source, &options).await?;
    let (mut found, mut unreadable) = (Vec::new(), 0);
    loop {
        let entries = reader.next().await?;
        if entries.is_empty() {
            return Ok((found, unreadable));
        }
        for entry in entries {
            match entry {
                Entry::Named(named) => match &named.address {
                    Some(address) => found.push(address.compare_form()),
                    None => unreadable += 1,
                },
                Entry::Person(line) => found.push(line.address.compare_form()),
                // Lists say nothing about mails.
                Entry::Told(_) | Entry::Rejected(_) => unreadable += 1,
            }
        }
    }
}
