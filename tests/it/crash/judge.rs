//! Compares what the ledger says with what the server has in its journal.

use std::collections::BTreeMap;
use std::time::Duration;

use ittsu::clock::Clock;
use ittsu::domain::id::BatchId;
use ittsu::domain::policy::Policy;
use ittsu::domain::selection::Selection;
use ittsu::domain::state::{Cause, How, State};
use ittsu::ledger::rows::{After, RowView};

use super::driver::{CONNECTIONS, Driver};

/// Holds I1 to I5, I8 and I9 of one batch.
pub(super) async fn judge(driver: &Driver, batch: BatchId, policy: Policy) {
    let (all, now) = (Selection::default(), Clock::System.now());
    let page = driver.ledger.rows(batch, &all, After::Start, 100_000, now).await;
    let rows = page.expect("the rows").rows;
    let accepted = accepted(driver);
    for row in &rows {
        judge_row(row, accepted.get(&row.address).copied().unwrap_or(0), policy);
    }
    bounded(driver, batch).await;
    // I5: every counter is the number of its rows.
    assert_eq!(driver.ledger.verify(Some(batch)).await.expect("a check of the sums"), []);
}

/// Returns how often each address is in the journal, which was synced before each answer.
fn accepted(driver: &Driver) -> BTreeMap<String, i64> {
    let mut accepted = BTreeMap::new();
    for mail in driver.server.journal() {
        *accepted.entry(mail.to).or_default() += 1;
    }
    accepted
}

fn judge_row(row: &RowView, accepted: i64, policy: Policy) {
    // I1: it came to its end, or a person is asked.
    let is_held = policy == Policy::Hold && row.is_unknown();
    let is_final = matches!(row.state, State::Sent | State::Failed);
    let gave_up = policy == Policy::Resend && row.is_unknown();
    assert!(is_final || is_held || gave_up, "lost: {row:?}");
    // I2: once, and once more for each attempt nobody knows about, if the policy resends.
    let most = if policy == Policy::Resend { 1 + row.unknown_attempts } else { 1 };
    assert!(accepted <= most, "accepted {accepted} times, allowed {most}: {row:?}");
    // I3: what is called accepted was.
    if row.how == Some(How::Accepted) {
        assert!(accepted >= 1, "called accepted and never was: {row:?}");
    }
    // I4: what failed was not accepted, or says that it may have been.
    if row.state == State::Failed {
        assert!(accepted == 0 || row.unknown_attempts > 0, "failed and accepted: {row:?}");
    }
    // I9: nothing went out without a start.
    assert!(accepted == 0 || row.attempt.0 >= 1, "accepted without a start: {row:?}");
}

/// I8: a crash leaves no more rows in doubt than there were messages on the wire, and of these only
/// the ones whose body was complete.
async fn bounded(driver: &Driver, batch: BatchId) {
    let now = Clock::System.now();
    let unknown = driver.ledger.unknown(Some(batch), Duration::ZERO, 100_000, now).await;
    let mut by_worker: BTreeMap<i64, usize> = BTreeMap::new();
    for row in unknown.expect("the rows in doubt") {
        if row.row.cause == Some(Cause::Crash) {
            let said = row.evidence.iter().any(|seen| seen.source == "step_file");
            assert!(said, "in doubt, and the step file says nothing: {row:?}");
            *by_worker.entry(row.worker.map_or(0, |worker| worker.id.0)).or_default() += 1;
        }
    }
    for (worker, unknown) in by_worker {
        assert!(unknown <= CONNECTIONS, "worker {worker} left {unknown} rows in doubt");
    }
}
