//! People who must not be mailed: by every kind (a hard bounce) or by one (an opt-out).
//!
//! Addresses are compared in the form of `domain::address`. The list has a rising number, so that
//! a worker can tell at each start whether somebody was added since it looked.

use std::collections::HashSet;

use crate::db::{Cell, Field, List, Row, Tx};
use crate::domain::time::Timestamp;

use super::journal::{self, By, Entry};
use super::{Ledger, LedgerError, ids};

/// One address on the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suppressed {
    pub seq: i64,
    /// In compare form.
    pub address: String,
    /// Empty: every kind.
    pub kind: String,
    pub reason: String,
    pub at: Timestamp,
    pub operator: String,
}

/// How many addresses a change of the list was about, and how many it changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listed {
    pub matched: i64,
    pub changed: i64,
}

/// Addresses looked up in one statement.
const AT_ONCE: usize = 5_000;

/// Addresses that the journal names one by one; the list itself has them all.
const MOST_NAMED: usize = 100;

impl Ledger {
    /// Returns up to `limit` addresses behind number `after`; `kind` `None` means all lists.
    pub async fn suppressions(
        &self,
        kind: Option<&str>,
        after: i64,
        limit: i64,
    ) -> Result<Vec<Suppressed>, LedgerError> {
        let mut tx = self.db.read().await?;
        let query = match kind {
            None => tx
                .query(
                    "select seq, address_key, kind, reason, at, operator from suppression
                      where seq > ? order by seq limit ?",
                )
                .bind(after),
            Some(kind) => tx
                .query(
                    "select seq, address_key, kind, reason, at, operator from suppression
                      where seq > ? and kind = ? order by seq limit ?",
                )
                .bind(after)
                .bind(kind),
        };
        query.bind(limit).fetch_all().await?.iter().map(Suppressed::of).collect()
    }

    /// Returns the entries of one address, of every kind.
    pub async fn suppressions_of(&self, address: &str) -> Result<Vec<Suppressed>, LedgerError> {
        of_address(&mut self.db.read().await?, address).await
    }

    /// Puts addresses on the list of one kind, or of every kind (`""`).
    pub async fn suppress(
        &self,
        addresses: Vec<String>,
        kind: &str,
        by: By,
        now: Timestamp,
    ) -> Result<Listed, LedgerError> {
        let request = (once_each(addresses), kind.to_owned(), by);
        self.act(request, move |tx, (addresses, kind, by)| {
            Box::pin(suppress(tx, addresses, kind, by, now))
        })
        .await
    }

    /// Takes addresses off the list of one kind, or of every kind (`""`).
    pub async fn unsuppress(
        &self,
        addresses: Vec<String>,
        kind: &str,
        by: By,
        now: Timestamp,
    ) -> Result<Listed, LedgerError> {
        let request = (once_each(addresses), kind.to_owned(), by);
        self.act(request, move |tx, (addresses, kind, by)| {
            Box::pin(unsuppress(tx, addresses, kind, by, now))
        })
        .await
    }
}

impl Suppressed {
    fn of(row: &Row) -> Result<Self, LedgerError> {
        Ok(Self {
            seq: row.int(0)?,
            address: row.text(1)?,
            kind: row.text(2)?,
            reason: row.text(3)?,
            at: Timestamp(row.int(4)?),
            operator: row.text(5)?,
        })
    }
}

pub(super) async fn of_address(tx: &mut Tx, address: &str) -> Result<Vec<Suppressed>, LedgerError> {
    let rows = tx
        .query(
            "select seq, address_key, kind, reason, at, operator from suppression
              where address_key = ? order by seq",
        )
        .bind(address)
        .fetch_all()
        .await?;
    rows.iter().map(Suppressed::of).collect()
}

fn once_each(mut addresses: Vec<String>) -> Vec<String> {
    addresses.sort_unstable();
    addresses.dedup();
    addresses
}

fn texts(texts: &[String]) -> List {
    let mut list = List::new();
    for text in texts {
        list.push(&[Cell::Text(text)]);
    }
    list
}

fn count(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

async fn suppress(
    tx: &mut Tx,
    addresses: &[String],
    kind: &str,
    by: &By,
    now: Timestamp,
) -> Result<Listed, LedgerError> {
    let mut changed = 0;
    for some in addresses.chunks(AT_ONCE) {
        let there = listed(tx, some, |on| on == kind).await?;
        let new: Vec<_> = some.iter().filter(|&address| !there.contains(address)).collect();
        if new.is_empty() {
            continue;
        }
        let first = ids::reserve(tx, ids::SUPPRESSION, count(new.len())).await?;
        let mut list = List::new();
        for (seq, address) in (first..).zip(&new) {
            list.push(&[Cell::Int(seq), Cell::Text(address)]);
        }
        let rows = tx.dialect().json_rows(&[Field::Int("seq"), Field::Text("address_key")]);
        let sql = format!(
            "insert into suppression (seq, address_key, kind, reason, at, operator)
             select v.seq, v.address_key, ?, ?, ?, ? from {rows} v"
        );
        tx.query(sql)
            .bind(kind)
            .bind(&by.reason)
            .bind(now)
            .bind(&by.operator)
            .bind(list)
            .execute()
            .await?;
        changed += count(new.len());
    }
    finish(tx, "suppress", addresses, kind, changed, by, now).await
}

async fn unsuppress(
    tx: &mut Tx,
    addresses: &[String],
    kind: &str,
    by: &By,
    now: Timestamp,
) -> Result<Listed, LedgerError> {
    let mut changed = 0;
    for some in addresses.chunks(AT_ONCE) {
        let rows = tx.dialect().json_rows(&[Field::Text("address_key")]);
        let sql = format!(
            "select s.seq from {rows} v {} suppression s on s.address_key = v.address_key
              where s.kind = ? order by s.seq",
            tx.dialect().then_join()
        );
        let found = tx.query(sql).bind(texts(some)).bind(kind).fetch_all().await?;
        let list = found.iter().map(|row| row.int(0)).collect::<Result<List, _>>()?;
        let sql = tx.dialect().delete_listed("suppression", "seq");
        let gone = tx.query(sql).bind(list).execute().await?;
        changed += i64::try_from(gone).unwrap_or(i64::MAX);
    }
    finish(tx, "unsuppress", addresses, kind, changed, by, now).await
}

async fn finish(
    tx: &mut Tx,
    action: &'static str,
    addresses: &[String],
    kind: &str,
    changed: i64,
    by: &By,
    now: Timestamp,
) -> Result<Listed, LedgerError> {
    let matched = count(addresses.len());
    if changed > 0 {
        let named: Vec<_> = addresses.iter().take(MOST_NAMED).collect();
        let details = serde_json::json!({ "kind": kind, "addresses": named });
        let entry = Entry { matched, changed, details, ..Entry::all(action) };
        journal::write(tx, &entry, by, now).await?;
    }
    Ok(Listed { matched, changed })
}

/// Returns those of `addresses` that are listed for a kind that `counts`.
pub(super) async fn listed(
    tx: &mut Tx,
    addresses: &[String],
    counts: impl Fn(&str) -> bool,
) -> Result<HashSet<String>, LedgerError> {
    let mut found = HashSet::new();
    for some in addresses.chunks(AT_ONCE) {
        let rows = tx.dialect().json_rows(&[Field::Text("address_key")]);
        let sql = format!(
            "select s.address_key, s.kind
               from {rows} v {} suppression s on s.address_key = v.address_key",
            tx.dialect().then_join()
        );
        for row in tx.query(sql).bind(texts(some)).fetch_all().await? {
            if counts(&row.text(1)?) {
                found.insert(row.text(0)?);
            }
        }
    }
    Ok(found)
}
