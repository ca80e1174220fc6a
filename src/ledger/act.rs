//! How a request becomes one transaction.

use std::sync::Arc;

use futures_util::future::BoxFuture;

use crate::db::Tx;

use super::{Ledger, LedgerError};

/// How often a request starts over because somebody else took the same unique key meanwhile.
const TAKEN_TRIES: u32 = 5;

impl Ledger {
    /// Runs `work` on `request` in one transaction.
    ///
    /// It may be called several times: when somebody else was in the way, and when somebody else
    /// inserted the same key between its look and its insert.
    pub(super) async fn act<R, T, F>(&self, request: R, work: F) -> Result<T, LedgerError>
    where
        R: Send + Sync + 'static,
        T: Send + 'static,
        F: for<'t> Fn(&'t mut Tx, &'t R) -> BoxFuture<'t, Result<T, LedgerError>>
            + Send
            + Sync
            + 'static,
    {
        let shared = Arc::new((request, work));
        let mut tries = 0;
        loop {
            let shared = Arc::clone(&shared);
            let done = self
                .db
                .write(move |tx| {
                    let shared = Arc::clone(&shared);
                    Box::pin(async move { (shared.1)(tx, &shared.0).await })
                })
                .await;
            match done {
                Err(err) if err.is_taken() && tries < TAKEN_TRIES => tries += 1,
                done => return done,
            }
        }
    }
}
