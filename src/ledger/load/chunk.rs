//! A chunk of lines: sorted, written, added up.
//!
//! The first chunk is written without looking: a key that is there already takes the whole chunk
//! back. Then the keys are looked up first, until a chunk comes in which none was there.

use std::sync::Arc;

use crate::ledger::{Ledger, LedgerError, Refused, ids};

use super::look::{self, fingerprint_of};
use super::sort::{Against, Plan};
use super::write::{Job, JobError, Written};
use super::{CHUNK, Ids, LeftOut, MOST_NAMED, NewRow, Work, Writes, count};

/// How often a chunk is looked at again because somebody else wrote the same keys meanwhile.
const STALE_TRIES: u32 = 10;

/// Sorts and writes one chunk, and adds it to the sums.
pub(super) async fn chunk(
    ledger: &Ledger,
    work: &mut Work,
    rows: Vec<NewRow>,
    rejected: Vec<LeftOut>,
) -> Result<(), LedgerError> {
    let mut tries = 0;
    loop {
        let (plan, looked) = plan(ledger, work, &rows).await?;
        if let Err(refused) = may_add(work, &plan) {
            if looked {
                return Err(refused.into());
            }
            work.straight = false;
            continue;
        }
        if work.request.writes == Writes::Nothing {
            apply(work, plan, &rejected, &Written::default(), 0);
            return Ok(());
        }
        let first = reserve(ledger, work, &plan).await?;
        let job = Arc::new(Job::new(work, ledger.db.dialect(), plan, &rejected, first));
        let shared = Arc::clone(&job);
        let written = ledger
            .db
            .write(move |tx| {
                let job = Arc::clone(&shared);
                Box::pin(async move { job.write(tx).await })
            })
            .await;
        match written {
            Ok(written) => {
                let job = Arc::into_inner(job).expect("the transaction is over");
                // All keys were new: the next chunk's may be as well.
                work.straight = !looked || job.plan.named.is_empty();
                use_up(work, &job.plan);
                apply(work, job.plan, &rejected, &written, first);
                return Ok(());
            }
            Err(JobError::Stale) if tries < STALE_TRIES => {
                tries += 1;
                work.straight = false;
            }
            Err(JobError::Stale) => return Err(Refused::Loading(work.batch.name.clone()).into()),
            Err(JobError::Ledger(err)) => return Err(err),
        }
    }
}

/// Decides what becomes of the lines; says whether every key was looked up.
async fn plan(ledger: &Ledger, work: &Work, rows: &[NewRow]) -> Result<(Plan, bool), LedgerError> {
    let suppressed = work.known.suppressed(ledger, &work.batch.kind, rows).await?;
    let only_counts = work.request.writes == Writes::Nothing;
    let look_at_all = only_counts || !work.straight;
    let there = look::there(
        ledger,
        work.batch.scope,
        rows.iter().filter(|row| look_at_all || suppressed.contains(&row.address_key)),
    )
    .await?;
    let plan = Plan::of(
        rows,
        &Against {
            batch: work.batch.id,
            existing: work.request.existing,
            seen: &work.seen,
            known: &work.known,
            there: &there,
            suppressed: &suppressed,
            only_counts,
        },
    );
    Ok((plan, look_at_all))
}

/// Refuses to add more rows than were confirmed.
fn may_add(work: &Work, plan: &Plan) -> Result<(), Refused> {
    let waiting = plan.new.iter().filter(|row| row.is_waiting()).count();
    let now = work.sums.new + count(waiting + plan.taken_over.len());
    match work.request.writes {
        Writes::UpTo(confirmed) if now > confirmed => Err(Refused::CountDiffers { confirmed, now }),
        _ => Ok(()),
    }
}

/// Takes numbers for the new rows and widens the bounds of the batch, in a short transaction.
///
/// After the first chunk, numbers for several chunks are taken at once: each taking is a commit.
async fn reserve(ledger: &Ledger, work: &mut Work, plan: &Plan) -> Result<i64, LedgerError> {
    let needed = count(plan.new.len());
    let others = plan.taken_over.iter().map(|(id, ..)| *id);
    let (low, high) = others.fold((i64::MAX, 0), |(low, high), id| (low.min(id), high.max(id)));
    let enough = work.ids.left >= needed;
    if enough && high == 0 {
        return Ok(work.ids.next);
    }
    let take = match (enough, work.sums.read) {
        (true, _) => 0,
        (false, 0) => needed,
        (false, _) => needed.max(5 * count(CHUNK)),
    };
    let batch = work.batch.id;
    let first = ledger
        .act((), move |tx, ()| {
            Box::pin(async move {
                let first =
                    if take > 0 { ids::reserve(tx, ids::RECIPIENT, take).await? } else { 0 };
                let low = if take > 0 { low.min(first) } else { low };
                let high = if take > 0 { high.max(first + take - 1) } else { high };
                tx.query(
                    "update batch
                        set first_row = case when first_row = 0 or first_row > ?
                                             then ? else first_row end,
                            last_row = case when last_row < ? then ? else last_row end
                      where id = ?",
                )
                .bind(low)
                .bind(low)
                .bind(high)
                .bind(high)
                .bind(batch)
                .execute()
                .await?;
                Ok(first)
            })
        })
        .await?;
    if take > 0 {
        work.ids = Ids { next: first, left: take };
    }
    Ok(work.ids.next)
}

fn use_up(work: &mut Work, plan: &Plan) {
    let used = count(plan.new.len());
    work.ids.next += used;
    work.ids.left -= used;
}

/// Adds a chunk that is written to what the load knows.
fn apply(work: &mut Work, plan: Plan, rejected: &[LeftOut], written: &Written, first: i64) {
    let sums = &mut work.sums;
    let waiting = count(plan.new.iter().filter(|row| row.is_waiting()).count());
    let (new, taken_over) = (count(plan.new.len()), count(plan.taken_over.len()));
    sums.new += waiting + taken_over;
    sums.adopted.count(plan.new.iter());
    sums.taken_over += taken_over;
    sums.already += plan.already;
    sums.elsewhere += plan.elsewhere;
    sums.duplicates += plan.duplicates;
    sums.suppressed += plan.suppressed;
    sums.rejected += count(rejected.len());
    sums.changed += plan.changed;
    sums.settled_meanwhile += plan.settled_meanwhile;
    sums.replaced += written.replaced;
    sums.read = sums.new
        + sums.adopted.total()
        + sums.already
        + sums.elsewhere
        + sums.duplicates
        + sums.suppressed
        + sums.rejected;
    let room = MOST_NAMED - sums.open_elsewhere.len().min(MOST_NAMED);
    sums.open_elsewhere.extend(plan.open_elsewhere.into_iter().take(room));
    for address in plan.addresses {
        sums.same_address += i64::from(!work.known.addresses.insert(address));
    }
    work.known.counted.extend(plan.keys);
    plan.named.into_iter().for_each(|row| work.seen.insert(row));
    if first > 0 {
        work.seen.insert_all(first, new);
    }
    for line in plan.left_out.iter().chain(rejected) {
        let print = fingerprint_of(line);
        if let Some(known) = work.known.left_out.get_mut(&print) {
            known.pop();
            if known.is_empty() {
                work.known.left_out.remove(&print);
            }
        }
    }
}
