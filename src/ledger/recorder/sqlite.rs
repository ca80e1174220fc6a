//! A group as one text of statements: SQLite has no round trips, but each statement is a hop to the
//! driver's thread and back, and eight of them cost more than the commit.
//!
//! The transaction stays open until its answers are counted: short of a row it is rolled back and
//! the careful way looks at each. Rows with unknown attempts go that way too, because their counters
//! depend on the row. Literals, not one list as JSON: SQLite would read the text anew for each column.

use std::collections::HashMap;
use std::fmt::Write as _;

use crate::db::Private;
use crate::domain::state::{Cause, How};
use crate::domain::time::Timestamp;
use crate::ledger::LedgerError;
use crate::ledger::delivery::{Stored, cause_of};
use crate::ledger::workers::Registered;

use super::{Answer, Finish, Start, Step, answers, moves, push_moves};

/// What a row that a statement returns says.
const BEAT: i64 = 0;
const FINISHED: i64 = 1;
const STARTED: i64 = 2;

/// Writes the group, or returns `None` and has written nothing.
pub(super) async fn write(
    conn: &mut Private,
    me: Registered,
    steps: &[Step],
    now: Timestamp,
) -> Result<Option<Vec<Answer>>, LedgerError> {
    let finishes: Vec<&Finish> = steps.iter().filter_map(|step| step.finish.as_ref()).collect();
    let starts: Vec<&Start> = steps.iter().filter_map(|step| step.start.as_ref()).collect();
    let found = match conn.begin_with(text(me, &finishes, &starts, now)).await {
        Ok(found) => found,
        Err(err) if err.is_transient() => return Err(err.into()),
        Err(_) => {
            conn.rollback().await?;
            return Ok(None);
        }
    };
    let (mut beats, mut ends) = (0, 0);
    let mut first_started = HashMap::with_capacity(starts.len());
    for row in &found {
        match row.int(0)? {
            BEAT => beats += 1,
            FINISHED => ends += 1,
            _ => {
                first_started.insert(row.int(1)?, Timestamp(row.int(2)?));
            }
        }
    }
    if beats != 1 || ends != finishes.len() || first_started.len() != starts.len() {
        conn.rollback().await?;
        return Ok(None);
    }
    conn.commit().await?;
    Ok(Some(answers(steps, &first_started)))
}

/// Writes the statements; they hold nothing but numbers, our own words and hex.
fn text(me: Registered, finishes: &[&Finish], starts: &[&Start], now: Timestamp) -> String {
    let mut sql = String::with_capacity(2048 + 500 * finishes.len() + 100 * starts.len());
    let worker = me.worker.0;
    let _ = write!(
        sql,
        "update worker set beat = beat + 1, beat_at = {} where id = {worker} and lost_at is null
         returning {BEAT}, id, beat;",
        now.0
    );
    if !finishes.is_empty() {
        finish(&mut sql, worker, finishes);
        attempts(&mut sql, worker, finishes);
    }
    if !starts.is_empty() {
        start(&mut sql, worker, starts);
    }
    let at_key = " on conflict (batch, bucket, slot) do update set n = n + excluded.n;";
    push_moves(&mut sql, me.slot, &moves(finishes, starts), at_key);
    sql
}

fn finish(sql: &mut String, worker: i64, finishes: &[&Finish]) {
    sql.push_str(
        "update delivery
            set state = v.column4, how = v.column5, flag = v.column6, cause = v.column7,
                tries = tries + v.column8, unknown_attempts = v.column9, due_at = v.column10,
                worker = 0, phase = v.column11, code = v.column12, enhanced = v.column13,
                updated = v.column14
           from (values ",
    );
    for (i, finish) in finishes.iter().enumerate() {
        let stored = Stored::of(finish.settled);
        let cause = cause_of(finish.outcome);
        let comma = if i == 0 { "" } else { "," };
        let _ = write!(
            sql,
            "{comma}({},{},{},'{}','{}',",
            finish.row,
            finish.batch,
            finish.attempt,
            stored.state,
            stored.how.map_or("", How::as_str),
        );
        match stored.flag {
            Some(flag) => drop(write!(sql, "'{flag}',")),
            None => sql.push_str("null,"),
        }
        let _ = write!(
            sql,
            "'{}',{},{},",
            cause.map_or("", Cause::as_str),
            i64::from(finish.counts),
            i64::from(cause.is_some()),
        );
        match stored.due {
            Some(due) => drop(write!(sql, "{},", due.0)),
            None => sql.push_str("null,"),
        }
        let _ = write!(sql, "'{}',{},", finish.phase, finish.code.unwrap_or(0));
        push_text(sql, finish.enhanced.as_deref());
        let _ = write!(sql, ",{})", finish.ended.0);
    }
    let _ = write!(
        sql,
        ") v
          where delivery.id = v.column1 and delivery.batch = v.column2
            and delivery.state = 'sending' and delivery.worker = {worker}
            and delivery.attempt = v.column3 and delivery.unknown_attempts = 0
         returning {FINISHED}, id, 0;"
    );
}

/// The attempts, each with the generation of its row; if a row was short, all of it is undone.
fn attempts(sql: &mut String, worker: i64, finishes: &[&Finish]) {
    let _ = write!(
        sql,
        "insert into attempt (row, number, worker, generation, started, ended, phase, outcome,
                              cause, blame, code, enhanced, reply, note, review, template)
         select d.id, v.column2, {worker}, d.generation, v.column3, v.column4, v.column5,
                v.column6, v.column7, v.column8, v.column9, v.column10, v.column11, v.column12,
                v.column13, v.column14
           from (values "
    );
    for (i, finish) in finishes.iter().enumerate() {
        let comma = if i == 0 { "" } else { "," };
        let _ = write!(
            sql,
            "{comma}({},{},{},{},'{}','{}','{}','{}',{},",
            finish.row,
            finish.attempt,
            finish.started.0,
            finish.ended.0,
            finish.phase,
            finish.outcome.as_str(),
            cause_of(finish.outcome).map_or("", Cause::as_str),
            finish.blame,
            finish.code.unwrap_or(0),
        );
        push_text(sql, finish.enhanced.as_deref());
        sql.push_str(",x'");
        data_encoding::HEXLOWER.encode_append(&finish.reply, sql);
        sql.push_str("',");
        push_text(sql, finish.note.as_deref());
        let _ = write!(sql, ",{},{})", i64::from(finish.review), finish.template);
    }
    sql.push_str(") v cross join delivery d on d.id = v.column1;");
}

fn start(sql: &mut String, worker: i64, starts: &[&Start]) {
    sql.push_str(
        "update delivery
            set state = 'sending', attempt = v.column3, cause = '', due_at = null, phase = '',
                code = 0, enhanced = '', updated = v.column4,
                first_started = iif(first_started = 0, v.column4, first_started)
           from (values ",
    );
    for (i, start) in starts.iter().enumerate() {
        let comma = if i == 0 { "" } else { "," };
        let _ = write!(
            sql,
            "{comma}({},{},{},{},{})",
            start.row, start.batch, start.attempt, start.at.0, start.suppression_seen
        );
    }
    let _ = write!(
        sql,
        ") v
          where delivery.id = v.column1 and delivery.batch = v.column2
            and delivery.state = 'ready' and delivery.worker = {worker}
            and delivery.attempt = v.column3 - 1 and delivery.unknown_attempts = 0
            and v.column5 = (select next from id_block where name = 'suppression')
            and (select wanted from batch where batch.id = v.column2) = 'running'
         returning {STARTED}, id, first_started;"
    );
}

/// Writes a text as hex, so that nothing in it can be read as SQL.
fn push_text(sql: &mut String, text: Option<&str>) {
    match text {
        None | Some("") => sql.push_str("''"),
        Some(text) => {
            sql.push_str("cast(x'");
            data_encoding::HEXLOWER.encode_append(text.as_bytes(), sql);
            sql.push_str("' as text)");
        }
    }
}
