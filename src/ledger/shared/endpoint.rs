//! Whether a transport is down, for all workers, and who may try it.

use std::sync::Arc;

use crate::db::Tx;
use crate::domain::id::WorkerId;
use crate::domain::time::Timestamp;
use crate::ledger::{Ledger, LedgerError};

/// The state of a transport as all workers see it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EndpointRow {
    /// Nothing is tried before this; 0 when all is well.
    pub closed_until: Timestamp,
    pub why: String,
    pub failures: i64,
    /// The worker that may try it, if one does.
    pub probe: Option<WorkerId>,
    pub updated: Timestamp,
}

impl Ledger {
    /// Returns the state of a transport; one never heard of is well.
    pub async fn endpoint(&self, transport: &str) -> Result<EndpointRow, LedgerError> {
        read(&mut self.db.read().await?, transport).await
    }

    /// Notes another failure and closes the transport until `until`; returns the state after it.
    ///
    /// A later time that somebody else has set stays. Whoever had the probe has lost it.
    pub async fn endpoint_failed(
        &self,
        transport: String,
        why: String,
        until: Timestamp,
        now: Timestamp,
    ) -> Result<EndpointRow, LedgerError> {
        let said: Arc<(String, String)> = Arc::new((transport, why));
        self.db
            .write(move |tx| {
                let said = Arc::clone(&said);
                Box::pin(async move { failed(tx, &said.0, &said.1, until, now).await })
            })
            .await
    }

    /// Makes this worker the only one that tries the transport; false if another one does, or if
    /// it is closed.
    pub async fn take_probe(
        &self,
        transport: String,
        worker: WorkerId,
        now: Timestamp,
    ) -> Result<bool, LedgerError> {
        let transport: Arc<str> = transport.into();
        self.db
            .write(move |tx| {
                let transport = Arc::clone(&transport);
                Box::pin(async move {
                    let sql = "update endpoint set probe_worker = ?, updated = ?
                                where transport = ? and open_until <= ? and probe_worker in (0, ?)";
                    let probe = tx.query(sql).bind(worker).bind(now).bind(&*transport).bind(now);
                    Ok(probe.bind(worker).execute().await? == 1)
                })
            })
            .await
    }

    /// Notes that the transport works: everybody may use it again.
    pub async fn endpoint_ok(&self, transport: String, now: Timestamp) -> Result<(), LedgerError> {
        let transport: Arc<str> = transport.into();
        self.db
            .write(move |tx| {
                let transport = Arc::clone(&transport);
                Box::pin(async move {
                    let sql = "update endpoint
                                  set open_until = 0, why = '', failures = 0, probe_worker = 0,
                                      updated = ?
                                where transport = ?";
                    tx.query(sql).bind(now).bind(&*transport).execute().await?;
                    Ok(())
                })
            })
            .await
    }
}

async fn failed(
    tx: &mut Tx,
    transport: &str,
    why: &str,
    until: Timestamp,
    now: Timestamp,
) -> Result<EndpointRow, LedgerError> {
    let keep = tx.dialect().keep_existing("endpoint", "transport");
    let sql = "insert into endpoint (transport, open_until, why, failures, probe_worker, updated)
               values (?, 0, '', 0, 0, ?)"
        .to_owned()
        + &keep;
    tx.query(sql).bind(transport).bind(now).execute().await?;
    let sql = "update endpoint
                  set open_until = case when open_until > ? then open_until else ? end, why = ?,
                      failures = failures + 1, probe_worker = 0, updated = ?
                where transport = ?";
    let update = tx.query(sql).bind(until).bind(until).bind(why).bind(now).bind(transport);
    update.execute().await?;
    read(tx, transport).await
}

async fn read(tx: &mut Tx, transport: &str) -> Result<EndpointRow, LedgerError> {
    let sql = "select open_until, why, failures, probe_worker, updated
                 from endpoint where transport = ?";
    let Some(row) = tx.query(sql).bind(transport).fetch_optional().await? else {
        return Ok(EndpointRow::default());
    };
    Ok(EndpointRow {
        closed_until: Timestamp(row.int(0)?),
        why: row.text(1)?,
        failures: row.int(2)?,
        probe: Some(row.int(3)?).filter(|&worker| worker != 0).map(WorkerId),
        updated: Timestamp(row.int(4)?),
    })
}
