//! One sentence for the person on the phone: did they get it, and how often?
//!
//! Promise: the sentence says no more than the ledger knows.

use jiff::tz::TimeZone;

use super::when;
use super::words::thousands;
use crate::domain::state::{How, State};
use crate::domain::text::{lenient, visible};
use crate::domain::time::Timestamp;
use crate::ledger::rows::{AttemptView, Found, LeftOutLine, RowStory};

/// Returns the sentence about one row.
pub fn of_row(story: &RowStory, zone: &TimeZone) -> String {
    let row = &story.row;
    let handed: Vec<_> = story
        .attempts
        .iter()
        .filter(|attempt| attempt.generation == row.generation)
        .filter(|attempt| matches!(attempt.outcome.as_str(), "accepted" | "unknown"))
        .collect();
    let copies = if row.generation.0 > 1 {
        format!(" A person ordered another copy: this is copy {}.", row.generation.0)
    } else {
        String::new()
    };
    let said = match row.state {
        State::Sent => sent(story, &handed, zone),
        State::Failed => failed(story, zone),
        State::Ready => ready(story, zone),
        State::Sending if row.is_unknown() && story.attempts.is_empty() => {
            "An older system had begun to send it, and nobody knows whether it was accepted."
                .to_owned()
        }
        State::Sending if row.is_unknown() => {
            let at = handed.last().map_or(row.updated, |attempt| attempt.started);
            format!(
                "Handed over at {}, and nobody knows whether it was accepted.",
                when::minute(at, zone)
            )
        }
        State::Sending => "It is on the wire right now.".to_owned(),
    };
    said + &copies
}

fn sent(story: &RowStory, handed: &[&AttemptView], zone: &TimeZone) -> String {
    let row = &story.row;
    let at = |time: Timestamp| when::minute(time, zone);
    if handed.len() > 1 {
        return format!(
            "Handed over {} times because an earlier answer was lost. Two copies are possible.",
            handed.len()
        );
    }
    match (row.how, handed.last()) {
        (Some(How::Assumed), Some(attempt)) => format!(
            "Handed over once, {}; the answer was lost. It counts as sent by the batch's rule.",
            at(attempt.started)
        ),
        (Some(How::Operator), _) => {
            format!("A person counted it as sent, {}{}.", at(row.updated), reason(story))
        }
        (Some(How::Evidence), _) => {
            format!("Handed over once; records show that it was accepted, {}.", at(row.updated))
        }
        (Some(How::Imported), _) => {
            format!("Taken over as sent from an older system, {}.", at(row.updated))
        }
        (_, Some(attempt)) => format!(
            "Handed over once, {}, accepted: \"{}\". No second copy from here.",
            at(attempt.ended),
            reply(attempt)
        ),
        (_, None) => format!("It counts as sent since {}.", at(row.updated)),
    }
}

fn failed(story: &RowStory, zone: &TimeZone) -> String {
    let row = &story.row;
    let last = story.attempts.last();
    let words = last.map(reply).unwrap_or_default();
    let why = match row.how {
        Some(How::Refused) => format!("the server refused it: \"{words}\""),
        Some(How::Suppressed) => "the address is on the do-not-send list".to_owned(),
        Some(How::Unbuildable) => "no message could be built for this person".to_owned(),
        Some(How::Expired) if words.is_empty() => "it came too late".to_owned(),
        Some(How::Expired) => format!("tries or time were used up; last reply: \"{words}\""),
        Some(How::Cancelled) => "the batch was cancelled first".to_owned(),
        Some(How::Operator) => format!("a person counted it as failed{}", reason(story)),
        Some(How::Imported) => "taken over as failed from an older system".to_owned(),
        _ => "it counts as failed".to_owned(),
    };
    let doubt = if row.unknown_attempts > 0 {
        " The answer to an earlier attempt was lost, so it may have arrived all the same."
    } else {
        ""
    };
    format!("Not sent: {why}, {}.{doubt}", when::minute(row.updated, zone))
}

fn ready(story: &RowStory, zone: &TimeZone) -> String {
    let row = &story.row;
    let tried = match row.attempt.0 {
        0 => String::new(),
        n => format!(" Tried: {}.", thousands(n)),
    };
    let next = match row.due_at {
        Some(due) if due.0 > 0 => format!(" Next try from {}.", when::minute(due, zone)),
        _ => String::new(),
    };
    let doubt = if row.unknown_attempts > 0 {
        " The answer to an earlier attempt was lost, so a copy may be there already."
    } else {
        ""
    };
    format!("Not sent yet: it waits in {}.{tried}{next}{doubt}", story.batch.name)
}

/// Returns what the operator wrote when they decided this row last.
fn reason(story: &RowStory) -> String {
    match story.journal.last() {
        Some(entry) if !entry.reason.is_empty() => {
            format!(" ({}: {})", visible(&entry.operator), visible(&entry.reason))
        }
        Some(entry) => format!(" ({})", visible(&entry.operator)),
        None => String::new(),
    }
}

fn reply(attempt: &AttemptView) -> String {
    let text = lenient(&attempt.reply);
    let text = if text.is_empty() { attempt.note.clone() } else { text };
    visible(text.trim_end()).into_owned()
}

/// Returns the sentence about someone who got no row.
pub fn of_left_out(line: &LeftOutLine) -> String {
    let place = if line.line > 0 {
        format!("line {} of {}", line.line, visible(&line.source))
    } else {
        visible(&line.source).into_owned()
    };
    format!("Not in this batch: {} ({place}).", visible(&line.why))
}

/// Returns the one sentence about a person.
pub fn of_person(who: &str, found: &Found, zone: &TimeZone) -> String {
    let who = visible(who);
    match (found.rows.as_slice(), found.left_out.as_slice()) {
        ([], []) if found.suppressed.is_empty() => format!("Never heard of {who}."),
        ([], []) => format!("No mail to {who}: the address is on the do-not-send list."),
        ([story], []) => of_row(story, zone),
        ([], [line]) => of_left_out(line),
        ([], lines) => format!("No mail to {who}: left out {} times.", lines.len()),
        (rows, _) => {
            let sent = rows.iter().filter(|story| story.row.state == State::Sent).count();
            let twice = rows.iter().filter(|story| story.row.handed_again).count();
            let doubt = match twice {
                0 => String::new(),
                n => format!(" Possibly twice: {n}."),
            };
            format!("Mails to {who}: {} rows, {sent} sent.{doubt} Each has its line.", rows.len())
        }
    }
}
