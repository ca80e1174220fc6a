//! A group as one text of statements: SQLite has no round trips, but each statement is a hop to the
//! driver's thread and back, and eight of them cost more than the commit.
//!
//! The transaction stays open until its answers are counted: short of a row it is rolled back and
//! the careful way looks at each. Rows with unknown attempts go that way too, because their counters
//! depend on the row. The text has a mark for each value, so it is read once and kept.

use std::collections::HashMap;

use crate::db::{List, Private, Value};
use crate::domain::state::{Cause, How};
use crate::domain::time::Timestamp;
use crate::ledger::LedgerError;
use crate::ledger::delivery::{Stored, cause_of};
use crate::ledger::workers::Registered;

use super::alike::{Beginning, Ending, beginnings, endings};
use super::{Answer, Finish, Start, Step, answers, moves};

/// What a row that a statement returns says.
const BEAT: i64 = 0;
const FINISHED: i64 = 1;

const BEATS: &str = "
update worker set beat = beat + 1, beat_at = ? where id = ? and lost_at is null;
select 0, changes(), 0;";

const FINISH: &str = "
update delivery
   set state = ?, how = ?, flag = ?, cause = ?, tries = tries + ?, unknown_attempts = ?,
       due_at = ?, worker = 0, phase = ?, code = ?, enhanced = ?, updated = v.value ->> 2
  from json_each(?) v
 where delivery.id = v.value ->> 0 and delivery.batch = ? and delivery.state = 'sending'
   and delivery.worker = ? and delivery.attempt = ? and delivery.unknown_attempts = 0;
select 1, changes(), 0;";

/// The attempts, each with the generation of its row; if a row was short, all of it is undone.
const ATTEMPTS: &str = "
insert into attempt (row, number, worker, generation, started, ended, phase, outcome, cause, blame,
                     code, enhanced, reply, note, review, template)
select d.id, ?, ?, d.generation, v.value ->> 1, v.value ->> 2, ?, ?, ?, ?, ?, ?,
       unhex(v.value ->> 3), v.value ->> 4, ?, ?
  from json_each(?) v cross join delivery d on d.id = v.value ->> 0;";

const START: &str = "
update delivery
   set state = 'sending', attempt = attempt + 1, cause = '', due_at = null, phase = '', code = 0,
       enhanced = '', updated = v.value ->> 1,
       first_started = iif(first_started = 0, v.value ->> 1, first_started)
  from json_each(?) v
 where delivery.id = v.value ->> 0 and delivery.batch = ? and delivery.state = 'ready'
   and delivery.worker = ? and delivery.attempt = ? - 1 and delivery.unknown_attempts = 0
   and ? = (select next from id_block where name = 'suppression')
   and (select wanted from batch where batch.id = delivery.batch) = 'running'
returning 2, id, first_started;";

/// Writes the group, or returns `None` and has written nothing.
pub(super) async fn write(
    conn: &mut Private,
    me: Registered,
    steps: &[Step],
    now: Timestamp,
) -> Result<Option<Vec<Answer>>, LedgerError> {
    let finishes: Vec<&Finish> = steps.iter().filter_map(|step| step.finish.as_ref()).collect();
    let starts: Vec<&Start> = steps.iter().filter_map(|step| step.start.as_ref()).collect();
    let Text { sql, values } = text(me, &finishes, &starts, now);
    let found = match conn.begin_with(&sql, values).await {
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
            BEAT => beats += row.int(1)?,
            FINISHED => ends += row.int(1)?,
            _ => {
                first_started.insert(row.int(1)?, Timestamp(row.int(2)?));
            }
        }
    }
    let all_ended = usize::try_from(ends).is_ok_and(|ends| ends == finishes.len());
    if beats != 1 || !all_ended || first_started.len() != starts.len() {
        conn.rollback().await?;
        return Ok(None);
    }
    conn.commit().await?;
    Ok(Some(answers(steps, &first_started)))
}

/// Statements and the values of their marks, in the order of both.
#[derive(Debug, Default)]
struct Text {
    sql: String,
    values: Vec<Value>,
}

impl Text {
    fn push<const N: usize>(&mut self, sql: &str, values: [Value; N]) {
        self.sql.push_str(sql);
        self.values.extend(values);
    }
}

fn text(me: Registered, finishes: &[&Finish], starts: &[&Start], now: Timestamp) -> Text {
    let mut text = Text::default();
    text.push(BEATS, [now.into(), me.worker.into()]);
    for (ending, rows) in endings(finishes) {
        push_ending(&mut text, me, &ending, &rows);
    }
    for (Beginning { batch, attempt, suppression_seen }, rows) in beginnings(starts) {
        let values =
            [rows.into(), batch.into(), me.worker.into(), attempt.into(), suppression_seen.into()];
        text.push(START, values);
    }
    let mut before = "insert into batch_count (batch, bucket, slot, n) values (?,?,?,?)";
    for (batch, bucket, n) in moves(finishes, starts).changed() {
        text.push(before, [batch.into(), bucket.into(), me.slot.into(), n.into()]);
        before = ", (?,?,?,?)";
    }
    if before.starts_with(',') {
        text.push(" on conflict (batch, bucket, slot) do update set n = n + excluded.n;", []);
    }
    text
}

fn push_ending(text: &mut Text, me: Registered, ending: &Ending<'_>, rows: &List) {
    let Stored { state, how, flag, due } = Stored::of(ending.settled);
    let cause = cause_of(ending.outcome);
    let cause_word = cause.map_or("", Cause::as_str);
    let (code, enhanced) = (ending.code.map_or(0, i64::from), ending.enhanced.unwrap_or(""));
    let values = [
        state.into(),
        how.map_or("", How::as_str).into(),
        flag.into(),
        cause_word.into(),
        i64::from(ending.counts).into(),
        i64::from(cause.is_some()).into(),
        due.into(),
        ending.phase.into(),
        code.into(),
        enhanced.into(),
        rows.into(),
        ending.batch.into(),
        me.worker.into(),
        ending.attempt.into(),
    ];
    text.push(FINISH, values);
    let values = [
        ending.attempt.into(),
        me.worker.into(),
        ending.phase.into(),
        ending.outcome.into(),
        cause_word.into(),
        ending.blame.into(),
        code.into(),
        enhanced.into(),
        i64::from(ending.review).into(),
        ending.template.into(),
        rows.into(),
    ];
    text.push(ATTEMPTS, values);
}
