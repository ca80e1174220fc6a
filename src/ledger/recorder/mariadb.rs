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
use crate::ledger::moves::Moves;
use crate::ledger::workers::Registered;

use super::alike::{Beginning, Ending, beginnings, endings};
use super::{Answer, Finish, Start, Step, answers, moves};

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
    let mut sql = String::with_capacity(6 * 1024 + 500 * finishes.len() + 100 * starts.len());
    let worker = me.worker;
    let _ = write!(
        sql,
        "begin; update worker set beat = beat + 1, beat_at = {}
                 where id = {worker} and lost_at is null; set @mine = row_count();",
        now.0
    );
    // Batches before rows, as everybody who changes both.
    lock_batches(&mut sql, starts);
    sql.push_str("set @finished = 0, @started = 0;");
    for (ending, rows) in endings(finishes) {
        push_ending(&mut sql, worker.0, &ending, &text(&rows.into_text()));
    }
    for (beginning, rows) in beginnings(starts) {
        push_beginning(&mut sql, worker.0, beginning, &text(&rows.into_text()));
    }
    push_moves(&mut sql, me.slot, &moves(finishes, starts));
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

fn push_ending(sql: &mut String, worker: i64, ending: &Ending<'_>, rows: &str) {
    let stored = Stored::of(ending.settled);
    let cause = cause_of(ending.outcome);
    let cause_word = cause.map_or("", Cause::as_str);
    let flag = stored.flag.map_or("null".to_owned(), |flag| format!("'{flag}'"));
    let due = stored.due.map_or("null".to_owned(), |due| due.0.to_string());
    let (code, enhanced) = (ending.code.unwrap_or(0), text(ending.enhanced.unwrap_or("")));
    let Ending { batch, attempt, phase, outcome, blame, template, .. } = ending;
    let _ = write!(
        sql,
        "update json_table({rows}, '$[*]' columns (
                  id bigint path '$[0]', ended bigint path '$[2]')) v
           straight_join delivery d on d.id = v.id
            set d.state = '{}', d.how = '{}', d.flag = {flag}, d.cause = '{cause_word}',
                d.tries = d.tries + {}, d.unknown_attempts = {}, d.due_at = {due}, d.worker = 0,
                d.phase = '{phase}', d.code = {code}, d.enhanced = {enhanced}, d.updated = v.ended
          where d.batch = {batch} and d.state = 'sending' and d.worker = {worker}
            and d.attempt = {attempt} and d.unknown_attempts = 0;
         set @finished = @finished + row_count();",
        stored.state,
        stored.how.map_or("", How::as_str),
        i64::from(ending.counts),
        i64::from(cause.is_some()),
    );
    // Each with the generation of its row; if a row was short, all of it is undone.
    let _ = write!(
        sql,
        "insert into attempt (row, number, worker, generation, started, ended, phase, outcome,
                              cause, blame, code, enhanced, reply, note, review, template)
         select d.id, {attempt}, {worker}, d.generation, v.started, v.ended, '{phase}', '{}',
                '{cause_word}', '{blame}', {code}, {enhanced}, unhex(v.reply), v.note, {},
                {template}
           from json_table({rows}, '$[*]' columns (
                  id bigint path '$[0]', started bigint path '$[1]', ended bigint path '$[2]',
                  reply longtext path '$[3]', note longtext path '$[4]')) v
           straight_join delivery d on d.id = v.id;",
        outcome.as_str(),
        i64::from(ending.review),
    );
}

fn push_beginning(sql: &mut String, worker: i64, beginning: Beginning, rows: &str) {
    let Beginning { batch, attempt, suppression_seen } = beginning;
    let _ = write!(
        sql,
        "update json_table({rows}, '$[*]' columns (
                  id bigint path '$[0]', at bigint path '$[1]')) v
           straight_join delivery d on d.id = v.id straight_join batch b on b.id = d.batch
            set d.state = 'sending', d.attempt = {attempt}, d.cause = '', d.due_at = null,
                d.phase = '', d.code = 0, d.enhanced = '', d.updated = v.at,
                d.first_started = if(d.first_started = 0, v.at, d.first_started)
          where d.batch = {batch} and d.state = 'ready' and d.worker = {worker}
            and d.attempt = {attempt} - 1 and d.unknown_attempts = 0 and b.wanted = 'running'
            and {suppression_seen} = (select next from id_block where name = 'suppression');
         set @started = @started + row_count();"
    );
}

fn push_moves(sql: &mut String, slot: i64, moves: &Moves) {
    let mut before = "insert into batch_count (batch, bucket, slot, n) values ";
    for (batch, bucket, n) in moves.changed() {
        let _ = write!(sql, "{before}({batch},'{bucket}',{slot},{n})");
        before = ",";
    }
    if before == "," {
        sql.push_str(" on duplicate key update n = batch_count.n + values(n);");
    }
}

/// Writes a text as hex, so that no setting of the server can read it otherwise.
fn text(text: &str) -> String {
    if text.is_empty() {
        return "''".to_owned();
    }
    format!("_utf8mb4 x'{}'", data_encoding::HEXLOWER.encode(text.as_bytes()))
}
