//! Numbers for new things, handed out in blocks.

use crate::db::Tx;

use super::LedgerError;

pub(super) const RECIPIENT: &str = "recipient";
pub(super) const BATCH: &str = "batch";
pub(super) const SCOPE: &str = "scope";
pub(super) const LEFT_OUT: &str = "left_out";
pub(super) const WORKER: &str = "worker";
pub(super) const CLAIM: &str = "claim";
pub(super) const EVIDENCE: &str = "evidence";
pub(super) const JOURNAL: &str = "journal";
pub(super) const REJECTS: &str = "rejects";
/// Never given back: a list that shrank and grew again still has a higher number.
pub(super) const SUPPRESSION: &str = "suppression";

/// Takes `n` numbers that nobody else gets and returns the first.
///
/// The block is locked until the transaction ends, so numbers become visible in rising order.
pub(super) async fn reserve(tx: &mut Tx, name: &str, n: i64) -> Result<i64, LedgerError> {
    let sql = "insert into id_block (name, next) values (?, ?)".to_owned()
        + &tx.dialect().or_update("id_block", "name", "next = old(next) + new(next) - 1");
    // A new block begins at 1, so that 0 can mean "none" everywhere.
    tx.query(sql).bind(name).bind(1 + n).execute().await?;
    let row = tx.query("select next from id_block where name = ?").bind(name).fetch_one().await?;
    Ok(row.int(0)? - n)
}
