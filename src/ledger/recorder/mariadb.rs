//! A group in one packet: `begin; …; commit`, refused by the server itself when a row is short.
//!
//! MariaDB has no `update … returning`, so the packet counts with `row_count()` and its last
//! statement sets a column that may not be null to null if a count is wrong: error 1048 comes before
//! the commit. Then the careful way looks at each row. Rows with unknown attempts go that way as
//! well, because their counters depend on the row.
//!
//! `straight_join`: the list comes first whatever the statistics say of a table just filled.

use std::collections::HashMap;
use std::fmt::Write as _;

use crate::db::Private;
use crate::domain::state::{Cause, How};
use crate::domain::time::Timestamp;
use crate::ledger::LedgerError;
use crate::ledger::delivery::{Stored, cause_of};
use crate::ledger::workers::Registered;

use super::{Answer, Finish, Start, Step, answers, moves, push_moves};

/// Writes the group, or returns `None` and has written nothing.
pub(super) async fn write(
    conn: &mut Private,
    me: Registered,
    steps: &[Step],
    now: Timestamp,
) -> Result<Option<Vec<Answer>>, LedgerError> {
    let mut finishes: Vec<&Finish> = steps.iter().filter_map(|step| step.finish.as_ref()).collect();
    let mut starts: Vec<&Start> = steps.iter().filter_map(|step| step.start.as_ref()).collect();
    finishes.sort_unstable_by_key(|finish| finish.row);
    starts.sort_unstable_by_key(|start| start.row);
    let packet = packet(me, &finishes, &starts, now);
    let found = match conn.packet(packet).await {
        Ok(found) => found,
        Err(err) if err.is_transient() => return Err(err.into()),
        Err(_) => {
            conn.rollback().await?;
            return Ok(None);
        }
    };
    let mut first_started = HashMap::with_capacity(starts.len());
    for row in &found {
        first_started.insert(row.int(0)?, Timestamp(row.int(1)?));
    }
    Ok(Some(answers(steps, &first_started)))
}

/// Writes the packet; it holds nothing but numbers, our own words and hex.
fn packet(me: Registered, finishes: &[&Finish], starts: &[&Start], now: Timestamp) -> String {
    let mut sql = String::with_capacity(1024 + 600 * finishes.len() + 200 * starts.len());
    let worker = me.worker;
    let _ = write!(
        sql,
        "begin; update worker set beat = beat + 1, beat_at = {}
                 where id = {worker} and lost_at is null; set @mine = row_count();",
        now.0
    );
    // Batches before rows, as everybody who changes both.
    lock_batches(&mut sql, starts);
    finish(&mut sql, worker.0, finishes);
    start(&mut sql, worker.0, starts);
    let at_key = " on duplicate key update n = batch_count.n + values(n);";
    push_moves(&mut sql, me.slot, &moves(finishes, starts), at_key);
    let _ = write!(
        sql,
        "update worker set beat = if(@mine = 1 and @finished = {} and @started = {}, beat, null)
          where id = {worker};",
        finishes.len(),
        starts.len()
    );
    if !starts.is_empty() {
        sql.push_str("select id, first_started from delivery where id in (");
        list(&mut sql, starts.iter().map(|start| start.row.0));
        sql.push_str(");");
    }
    sql.push_str("commit");
    sql
}

fn list(sql: &mut String, numbers: impl Iterator<Item = i64>) {
    for (i, n) in numbers.enumerate() {
        let comma = if i == 0 { "" } else { "," };
        let _ = write!(sql, "{comma}{n}");
    }
}

fn lock_batches(sql: &mut String, starts: &[&Start]) {
    let mut batches: Vec<i64> = starts.iter().map(|start| start.batch.0).collect();
    batches.sort_unstable();
    batches.dedup();
    if batches.is_empty() {
        return;
    }
    // Not `do (select …)`: `do` swallows errors, and after a deadlock the rest of the packet would
    // run outside of any transaction.
    sql.push_str("select count(*) into @batches from batch where id in (");
    list(sql, batches.into_iter());
    sql.push_str(") lock in share mode;");
}

fn finish(sql: &mut String, worker: i64, finishes: &[&Finish]) {
    sql.push_str("set @finished = 0;");
    if finishes.is_empty() {
        return;
    }
    sql.push_str("update (");
    for (i, finish) in finishes.iter().enumerate() {
        let stored = Stored::of(finish.settled);
        let cause = cause_of(finish.outcome);
        let flag = stored.flag.map_or("null".to_owned(), |flag| quoted(flag.as_str()));
        let due = stored.due.map_or("null".to_owned(), |due| due.0.to_string());
        let union = if i == 0 { "" } else { " union all " };
        let _ = write!(
            sql,
            "{union}select {} v_id,{} v_batch,{} v_attempt,'{}' v_state,'{}' v_how,{flag} v_flag,
             '{}' v_cause,{} v_tries,{} v_unknown,{due} v_due,'{}' v_phase,{} v_code,
             {} v_enhanced,{} v_ended",
            finish.row,
            finish.batch,
            finish.attempt,
            stored.state,
            stored.how.map_or("", How::as_str),
            cause.map_or("", Cause::as_str),
            i64::from(finish.counts),
            i64::from(cause.is_some()),
            finish.phase,
            finish.code.unwrap_or(0),
            text(finish.enhanced.as_deref().unwrap_or("")),
            finish.ended.0,
        );
    }
    let _ = write!(
        sql,
        ") v straight_join delivery d on d.id = v_id
         set d.state = v_state, d.how = v_how, d.flag = v_flag, d.cause = v_cause,
             d.tries = d.tries + v_tries, d.unknown_attempts = v_unknown, d.due_at = v_due,
             d.worker = 0, d.phase = v_phase, d.code = v_code, d.enhanced = v_enhanced,
             d.updated = v_ended
       where d.batch = v_batch and d.state = 'sending' and d.worker = {worker}
         and d.attempt = v_attempt and d.unknown_attempts = 0;
       set @finished = row_count();"
    );
    attempts(sql, worker, finishes);
}

/// The attempts, each with the generation of its row; if a row was short, all of it is undone.
fn attempts(sql: &mut String, worker: i64, finishes: &[&Finish]) {
    sql.push_str(
        "insert into attempt (row, number, worker, generation, started, ended, phase, outcome,
                              cause, blame, code, enhanced, reply, note, review, template)
         select v_row, v_number, v_worker, d.generation, v_started, v_ended, v_phase, v_outcome,
                v_cause, v_blame, v_code, v_enhanced, v_reply, v_note, v_review, v_template
           from (",
    );
    for (i, finish) in finishes.iter().enumerate() {
        let union = if i == 0 { "" } else { " union all " };
        let _ = write!(
            sql,
            "{union}select {} v_row,{} v_number,{worker} v_worker,{} v_started,{} v_ended,
             '{}' v_phase,'{}' v_outcome,'{}' v_cause,'{}' v_blame,{} v_code,{} v_enhanced,
             x'{}' v_reply,{} v_note,{} v_review,{} v_template",
            finish.row,
            finish.attempt,
            finish.started.0,
            finish.ended.0,
            finish.phase,
            finish.outcome.as_str(),
            cause_of(finish.outcome).map_or("", Cause::as_str),
            finish.blame,
            finish.code.unwrap_or(0),
            text(finish.enhanced.as_deref().unwrap_or("")),
            data_encoding::HEXLOWER.encode(&finish.reply),
            text(finish.note.as_deref().unwrap_or("")),
            i64::from(finish.review),
            finish.template,
        );
    }
    sql.push_str(") v straight_join delivery d on d.id = v_row;");
}

fn start(sql: &mut String, worker: i64, starts: &[&Start]) {
    sql.push_str("set @started = 0;");
    if starts.is_empty() {
        return;
    }
    sql.push_str("update (");
    for (i, start) in starts.iter().enumerate() {
        let union = if i == 0 { "" } else { " union all " };
        let _ = write!(
            sql,
            "{union}select {} v_id,{} v_batch,{} v_attempt,{} v_at,{} v_seen",
            start.row, start.batch, start.attempt, start.at.0, start.suppression_seen
        );
    }
    let _ = write!(
        sql,
        ") v straight_join delivery d on d.id = v_id straight_join batch b on b.id = v_batch
         set d.state = 'sending', d.attempt = v_attempt, d.cause = '', d.due_at = null,
             d.phase = '', d.code = 0, d.enhanced = '', d.updated = v_at,
             d.first_started = if(d.first_started = 0, v_at, d.first_started)
       where d.batch = v_batch and d.state = 'ready' and d.worker = {worker}
         and d.attempt = v_attempt - 1 and d.unknown_attempts = 0 and b.wanted = 'running'
         and v_seen = (select next from id_block where name = 'suppression');
       set @started = row_count();"
    );
}

fn quoted(word: &str) -> String {
    format!("'{word}'")
}

/// Writes a text as hex, so that no setting of the server can read it otherwise.
fn text(text: &str) -> String {
    if text.is_empty() {
        return "''".to_owned();
    }
    format!("_utf8mb4 x'{}'", data_encoding::HEXLOWER.encode(text.as_bytes()))
}
