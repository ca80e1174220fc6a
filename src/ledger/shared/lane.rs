//! The connections of a transport, of all workers together.

use std::sync::Arc;

use crate::db::{Field, List, Tx};
use crate::domain::id::WorkerId;
use crate::domain::time::Timestamp;
use crate::ledger::{Ledger, LedgerError};

/// Who holds a transport's lanes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lanes {
    /// Workers that hold lanes, and how many.
    pub holders: Vec<(WorkerId, i64)>,
    pub free: i64,
}

impl Ledger {
    /// Takes a free lane of the first `connections`, or returns `None` if all are taken.
    pub async fn take_lane(
        &self,
        transport: String,
        worker: WorkerId,
        connections: i64,
        now: Timestamp,
    ) -> Result<Option<i64>, LedgerError> {
        Ok(self.take_lanes(transport, worker, 1, connections, now).await?.pop())
    }

    /// Takes up to `wanted` free lanes of the first `connections`.
    pub async fn take_lanes(
        &self,
        transport: String,
        worker: WorkerId,
        wanted: usize,
        connections: i64,
        now: Timestamp,
    ) -> Result<Vec<i64>, LedgerError> {
        let transport: Arc<str> = transport.into();
        self.db
            .write(move |tx| {
                let transport = Arc::clone(&transport);
                let few = i64::try_from(wanted).unwrap_or(i64::MAX).min(connections);
                Box::pin(async move { take(tx, &transport, worker, few, connections, now).await })
            })
            .await
    }

    /// Gives lanes back.
    pub async fn release_lanes(
        &self,
        transport: String,
        worker: WorkerId,
        numbers: Vec<i64>,
        now: Timestamp,
    ) -> Result<(), LedgerError> {
        let transport: Arc<str> = transport.into();
        let numbers: List = numbers.into_iter().collect();
        self.db
            .write(move |tx| {
                let (transport, numbers) = (Arc::clone(&transport), numbers.clone());
                Box::pin(async move {
                    let list = tx.dialect().json_rows(&[Field::Int("number")]);
                    let sql = format!(
                        "update lane set worker = 0, since = ? where transport = ? and worker = ?
                            and number in (select v.number from {list} v)"
                    );
                    let lanes = tx.query(sql).bind(now).bind(&*transport).bind(worker);
                    lanes.bind(numbers).execute().await?;
                    Ok(())
                })
            })
            .await
    }

    /// Returns who holds the lanes, so that a worker can tell whether it has more than its share.
    pub async fn lanes(&self, transport: &str, connections: i64) -> Result<Lanes, LedgerError> {
        let sql = "select worker, count(*) from lane
                    where transport = ? and number <= ? and worker <> 0
                    group by worker order by worker";
        let mut tx = self.db.read().await?;
        let rows = tx.query(sql).bind(transport).bind(connections).fetch_all().await?;
        let mut lanes = Lanes { holders: Vec::with_capacity(rows.len()), free: connections };
        for row in rows {
            let held = row.int(1)?;
            lanes.holders.push((WorkerId(row.int(0)?), held));
            lanes.free -= held;
        }
        Ok(lanes)
    }
}

async fn take(
    tx: &mut Tx,
    transport: &str,
    worker: WorkerId,
    wanted: i64,
    connections: i64,
    now: Timestamp,
) -> Result<Vec<i64>, LedgerError> {
    let free = take_free(tx, transport, worker, wanted, connections, now).await?;
    if i64::try_from(free.len()) == Ok(wanted) {
        return Ok(free);
    }
    // Either all are taken, or some were never opened: the missing ones are made, for everybody.
    let sql = "select count(*) from lane where transport = ? and number <= ?";
    let known = tx.query(sql).bind(transport).bind(connections).fetch_one().await?.int(0)?;
    if known >= connections {
        return Ok(free);
    }
    let sql = "insert into lane (transport, number, worker, since) values (?, ?, 0, ?)".to_owned()
        + &tx.dialect().keep_existing("lane", "transport, number");
    for number in 1..=connections {
        tx.query(sql.clone()).bind(transport).bind(number).bind(now).execute().await?;
    }
    let left = wanted - i64::try_from(free.len()).unwrap_or(wanted);
    let more = take_free(tx, transport, worker, left, connections, now).await?;
    Ok(free.into_iter().chain(more).collect())
}

async fn take_free(
    tx: &mut Tx,
    transport: &str,
    worker: WorkerId,
    wanted: i64,
    connections: i64,
    now: Timestamp,
) -> Result<Vec<i64>, LedgerError> {
    let sql = "select number from lane where transport = ? and number <= ? and worker = 0
                order by number limit ?"
        .to_owned()
        + tx.dialect().skip_locked();
    let free = tx.query(sql).bind(transport).bind(connections).bind(wanted).fetch_all().await?;
    let numbers: Vec<i64> = free.iter().map(|row| row.int(0)).collect::<Result<_, _>>()?;
    if numbers.is_empty() {
        return Ok(numbers);
    }
    let sql = format!(
        "update lane set worker = ?, since = ?
          where transport = ? and worker = 0 and number in (select v.id from {} v)",
        tx.dialect().json_rows(&[Field::Int("id")])
    );
    let list: List = numbers.iter().copied().collect();
    tx.query(sql).bind(worker).bind(now).bind(transport).bind(list).execute().await?;
    Ok(numbers)
}
