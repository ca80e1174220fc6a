//! A group in one statement, one round trip and one commit.

use std::collections::HashMap;
use std::fmt::Write as _;

use crate::db::Private;
use crate::domain::state::{Cause, Flag, How};
use crate::domain::time::Timestamp;
use crate::ledger::LedgerError;
use crate::ledger::delivery::{Stored, cause_of};
use crate::ledger::workers::Registered;

use super::{Answer, Finish, Start, Step, answers};

/// Writes the group, or returns `None` if a row did not match or the worker was swept: then what
/// did match is written, and the careful way finds it.
pub(super) async fn write(
    conn: &mut Private,
    me: Registered,
    steps: &[Step],
    now: Timestamp,
) -> Result<Option<Vec<Answer>>, LedgerError> {
    let mut finishes: Vec<&Finish> = steps.iter().filter_map(|step| step.finish.as_ref()).collect();
    let mut starts: Vec<&Start> = steps.iter().filter_map(|step| step.start.as_ref()).collect();
    // In rising order, as everybody else who changes several rows.
    finishes.sort_unstable_by_key(|finish| finish.row);
    starts.sort_unstable_by_key(|start| start.row);
    let mut query = conn.query(SQL).bind(now).bind(me.worker);
    for array in finish_arrays(&finishes) {
        query = query.bind(array);
    }
    for array in start_arrays(&starts) {
        query = query.bind(array);
    }
    let matched = query.bind(me.slot).fetch_all().await?;
    if matched.len() != finishes.len() + starts.len() {
        return Ok(None);
    }
    let mut first_started = HashMap::with_capacity(starts.len());
    for row in matched {
        first_started.insert(row.int(0)?, Timestamp(row.int(1)?));
    }
    Ok(Some(answers(steps, &first_started)))
}

/// `fence` locks the worker first, so that a sweep comes wholly before or wholly after.
const SQL: &str = "
with fence as (
  update worker set beat = beat + 1, beat_at = ? where id = ? and lost_at is null returning id
), f as (
  select v.id, v.batch, v.attempt, v.started, v.ended, v.due, v.tries, v.unknown, v.code, v.review,
         v.template, v.state, v.how, v.flag, v.cause, v.phase, v.enhanced, v.outcome, v.blame,
         v.note, v.reply
    from unnest(?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[],
                ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::text[],
                ?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[],
                ?::text[], ?::bytea[])
      as v(id, batch, attempt, started, ended, due, tries, unknown, code, review, template,
           state, how, flag, cause, phase, enhanced, outcome, blame, note, reply)
), s as (
  select v.id, v.batch, v.attempt, v.at, v.seen
    from unnest(?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bigint[])
      as v(id, batch, attempt, at, seen)
), b as (
  select id from batch where id in (select batch from s) and wanted = 'running'
   order by id for share
), fin as (
  update delivery d
     set state = f.state, how = f.how, flag = f.flag, cause = f.cause, tries = d.tries + f.tries,
         unknown_attempts = d.unknown_attempts + f.unknown, due_at = f.due, worker = 0,
         phase = f.phase, code = f.code, enhanced = f.enhanced, updated = f.ended
    from f, fence
   where d.id = f.id and d.batch = f.batch and d.state = 'sending' and d.worker = fence.id
     and d.attempt = f.attempt
  returning d.id, d.batch, d.generation, d.state, d.how, d.flag, d.unknown_attempts,
            fence.id as mine, f.attempt, f.started, f.ended, f.phase, f.outcome, f.cause, f.blame,
            f.code, f.enhanced, f.reply, f.note, f.review, f.template
), sta as (
  update delivery d
     set state = 'sending', attempt = s.attempt, cause = '', due_at = null, phase = '', code = 0,
         enhanced = '', updated = s.at,
         handed_again = d.handed_again + case when d.unknown_attempts > 0 then 1 else 0 end,
         first_started = case when d.first_started = 0 then s.at else d.first_started end
    from s, b, fence
   where d.id = s.id and d.batch = s.batch and b.id = s.batch and d.state = 'ready'
     and d.worker = fence.id and d.attempt = s.attempt - 1
     and s.seen = (select next from id_block where name = 'suppression')
  returning d.id, d.batch, d.first_started, d.unknown_attempts, d.handed_again
), att as (
  insert into attempt (row, number, worker, generation, started, ended, phase, outcome, cause,
                       blame, code, enhanced, reply, note, review, template)
  select id, attempt, mine, generation, started, ended, phase, outcome, cause, blame, code,
         enhanced, reply, note, review, template
    from fin
), moves as (
  select batch, bucket, sum(n) as n
    from (select batch, 'sending' as bucket, -1 as n from fin where state <> 'sending'
          union all select batch, 'unknown', 1 from fin where flag = 'unknown'
          union all select batch, state, 1 from fin where state <> 'sending'
          union all select batch, 'assumed', 1 from fin where how = 'assumed'
          union all select batch, 'maybe_delivered', 1 from fin
                     where state = 'failed' and unknown_attempts > 0
          union all select batch, 'ready', -1 from sta
          union all select batch, 'sending', 1 from sta
          union all select batch, 'attempts', 1 from sta
          union all select batch, 'maybe_twice', 1 from sta
                     where unknown_attempts > 0 and handed_again = 1) m
   group by batch, bucket having sum(n) <> 0
   order by batch, bucket
), counted as (
  insert into batch_count (batch, bucket, slot, n)
  select batch, bucket, ?::bigint, n from moves
  on conflict (batch, bucket, slot) do update set n = batch_count.n + excluded.n
)
select id, -1::bigint from fin union all select id, first_started from sta";

/// An array literal in the making.
struct Array(String);

impl Array {
    fn new() -> Self {
        Self("{".to_owned())
    }

    fn separate(&mut self) {
        if self.0.len() > 1 {
            self.0.push(',');
        }
    }

    fn int(&mut self, n: i64) {
        self.separate();
        let _ = write!(self.0, "{n}");
    }

    fn null(&mut self) {
        self.separate();
        self.0.push_str("null");
    }

    fn text(&mut self, text: &str) {
        self.separate();
        self.0.push('"');
        for c in text.chars() {
            if matches!(c, '"' | '\\') {
                self.0.push('\\');
            }
            self.0.push(c);
        }
        self.0.push('"');
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.separate();
        let _ = write!(self.0, "\"\\\\x{}\"", data_encoding::HEXLOWER.encode(bytes));
    }

    fn close(mut self) -> String {
        self.0.push('}');
        self.0
    }
}

fn finish_arrays(finishes: &[&Finish]) -> Vec<String> {
    let mut arrays: Vec<Array> = (0..21).map(|_| Array::new()).collect();
    for finish in finishes {
        let stored = Stored::of(finish.settled);
        let cause = cause_of(finish.outcome);
        let numbers = [
            Some(finish.row.0),
            Some(finish.batch.0),
            Some(finish.attempt.0),
            Some(finish.started.0),
            Some(finish.ended.0),
            stored.due.map(|due| due.0),
            Some(i64::from(finish.counts)),
            Some(i64::from(cause.is_some())),
            Some(finish.code.map_or(0, i64::from)),
            Some(i64::from(finish.review)),
            Some(finish.template),
        ];
        let words = [
            Some(stored.state.as_str()),
            Some(stored.how.map_or("", How::as_str)),
            stored.flag.map(Flag::as_str),
            Some(cause.map_or("", Cause::as_str)),
            Some(finish.phase.as_str()),
            Some(finish.enhanced.as_deref().unwrap_or("")),
            Some(finish.outcome.as_str()),
            Some(finish.blame.as_str()),
            Some(finish.note.as_deref().unwrap_or("")),
        ];
        let mut next = arrays.iter_mut();
        for number in numbers {
            match (next.next(), number) {
                (Some(array), Some(n)) => array.int(n),
                (Some(array), None) => array.null(),
                (None, _) => {}
            }
        }
        for word in words {
            match (next.next(), word) {
                (Some(array), Some(text)) => array.text(text),
                (Some(array), None) => array.null(),
                (None, _) => {}
            }
        }
        if let Some(array) = next.next() {
            array.bytes(&finish.reply);
        }
    }
    arrays.into_iter().map(Array::close).collect()
}

fn start_arrays(starts: &[&Start]) -> Vec<String> {
    let mut arrays: Vec<Array> = (0..5).map(|_| Array::new()).collect();
    for start in starts {
        let numbers =
            [start.row.0, start.batch.0, start.attempt.0, start.at.0, start.suppression_seen];
        for (number, array) in numbers.into_iter().zip(&mut arrays) {
            array.int(number);
        }
    }
    arrays.into_iter().map(Array::close).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_cannot_leave_its_array() {
        let mut array = Array::new();
        array.text("a\",\"b\\");
        array.text("");
        array.null();
        array.bytes(b"\x00\xff");
        assert_eq!(array.close(), r#"{"a\",\"b\\","",null,"\\x00ff"}"#);
    }
}
