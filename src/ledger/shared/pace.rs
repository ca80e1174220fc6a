//! The rate of a transport, taken in lots of about a second.
//!
//! Tokens of a worker that dies are lost, never doubled.

use std::sync::Arc;

use crate::db::Tx;
use crate::domain::rate::{Rate, Tokens, Window};
use crate::domain::time::Timestamp;
use crate::ledger::{Ledger, LedgerError};

impl Ledger {
    /// Takes up to `wanted` tokens of a rate that all who name the same `transport` share.
    ///
    /// `day` is the local calendar day around `now`: its midnight and the next one.
    pub async fn take_tokens(
        &self,
        transport: String,
        rate: Rate,
        wanted: i64,
        now: Timestamp,
        day: (Timestamp, Timestamp),
    ) -> Result<Tokens, LedgerError> {
        let transport: Arc<str> = transport.into();
        self.db
            .write(move |tx| {
                let transport = Arc::clone(&transport);
                Box::pin(async move { take(tx, &transport, rate, wanted, now, day).await })
            })
            .await
    }
}

async fn take(
    tx: &mut Tx,
    transport: &str,
    rate: Rate,
    wanted: i64,
    now: Timestamp,
    day: (Timestamp, Timestamp),
) -> Result<Tokens, LedgerError> {
    let keep = tx.dialect().keep_existing("pace", "transport");
    let sql = "insert into pace (transport, window_text, window_start, used) values (?, '', 0, 0)"
        .to_owned()
        + &keep;
    tx.query(sql).bind(transport).execute().await?;
    let sql = "select window_text, window_start, used from pace where transport = ?".to_owned()
        + tx.dialect().for_update();
    let row = tx.query(sql).bind(transport).fetch_one().await?;
    // A window of another length says nothing about this rate.
    let stored = if row.text(0)? == rate.per.as_str() {
        Some(Window { start: Timestamp(row.int(1)?), used: row.int(2)? })
    } else {
        None
    };
    let tokens = rate.take(now, stored, wanted, day);
    if let Tokens::Taken { window, .. } = tokens {
        let sql = "update pace set window_text = ?, window_start = ?, used = ? where transport = ?";
        tx.query(sql)
            .bind(rate.per.as_str())
            .bind(window.start)
            .bind(window.used)
            .bind(transport)
            .execute()
            .await?;
    }
    Ok(tokens)
}
