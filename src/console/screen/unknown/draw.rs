//! Drawing the desk: the rows at the left or above, the evidence beside or below.

use ratatui::layout::Rect;

use super::{Desk, Unknown, Which};
use crate::console::canvas::theme::Tone;
use crate::console::canvas::{Canvas, Column, left, right};
use crate::console::keys::{self, Command};
use crate::console::screen::batch::loaded;
use crate::console::screen::{Name, View, time_of};
use crate::console::words::{self, Sentence, Word};
use crate::ops::evidence::Verdict;
use crate::ops::unknown::UnknownRowBody;

/// Where the parts of the desk lie.
#[derive(Clone, Copy, Debug)]
pub(super) struct Places {
    pub(super) list: Rect,
    pub(super) evidence: Rect,
    pub(super) choices: Rect,
}

/// Shares the area out: beside each other where there is room, below each other where not.
pub(super) fn places(area: Rect) -> Places {
    let top = Rect { y: area.y + 2, height: area.height.saturating_sub(2), ..area };
    if area.width >= 110 {
        let width = 56;
        let choices = 6.min(top.height);
        let list = Rect { width, height: top.height - choices, ..top };
        let choices = Rect { y: top.y + list.height, height: choices, width, ..top };
        let evidence = Rect { x: area.x + width + 2, width: area.width - width - 2, ..top };
        return Places { list, evidence, choices };
    }
    let choices = 5.min(top.height);
    let evidence = 5.min(top.height - choices);
    let list = Rect { height: top.height - choices - evidence, ..top };
    Places {
        list,
        evidence: Rect { y: list.bottom(), height: evidence, ..top },
        choices: Rect { y: list.bottom() + evidence, height: choices, ..top },
    }
}

pub(super) fn draw(it: &Unknown, view: &View<'_>, canvas: &mut Canvas<'_>, area: Rect) {
    let places = places(area);
    head(it, view, canvas, area);
    let desk = it.desk();
    let ready = match it.which {
        Which::Waiting => loaded(&it.rows, view, canvas, places.list).is_some(),
        Which::ByRule => loaded(&it.ruled, view, canvas, places.list).is_some(),
    };
    if !ready {
        return;
    }
    if desk.is_empty() {
        let text = match it.which {
            Which::Waiting => {
                let time = view.live.map(|live| view.clock(live.as_of)).unwrap_or_default();
                view.say(Sentence::NoUnknown, &[("time", &time)])
            }
            Which::ByRule => view.say(Sentence::NoByRule, &[]),
        };
        let whole = Rect { width: area.width, ..places.list };
        canvas.wrapped(whole, 1, &text, Tone::Plain);
        return;
    }
    list(it, &desk, view, canvas, places.list);
    evidence(it, view, canvas, places.evidence);
    choices(it, view, canvas, places.choices);
}

fn head(it: &Unknown, view: &View<'_>, canvas: &mut Canvas<'_>, area: Rect) {
    let tab = |which: Which| if it.which == which { Tone::Chosen } else { Tone::Plain };
    let only = it.only.as_deref().map(|only| format!("   {only}")).unwrap_or_default();
    canvas.spans(
        area,
        0,
        &[
            (&format!(" {} ", view.word(Word::Waits)), tab(Which::Waiting)),
            (&format!(" {} ", view.word(Word::ByRule)), tab(Which::ByRule)),
            (&only, Tone::Title),
        ],
    );
    let Some(rows) = it.rows.ok().filter(|_| it.which == Which::Waiting) else { return };
    let of =
        |verdict: Verdict| rows.iter().filter(|row| row.verdict == verdict).count().to_string();
    let values = [
        ("all", rows.len().to_string()),
        ("not_sent", of(Verdict::NotSent)),
        ("accepted", of(Verdict::Accepted)),
        ("nobody", of(Verdict::Unknown)),
    ];
    let values = values.each_ref().map(|(name, value)| (*name, value.as_str()));
    canvas.put(area, 1, &view.say(Sentence::SortedOut, &values), Tone::Dim);
}

fn list(it: &Unknown, desk: &[Desk<'_>], view: &View<'_>, canvas: &mut Canvas<'_>, area: Rect) {
    let columns: [Column; 6] = [left(1), left(3), left(11), left(0), right(7), left(14)];
    let are_mixed = desk.windows(2).any(|two| two[0].batch != two[1].batch);
    for (row, place) in (0..).zip(it.list.shown(desk.len(), area.height)) {
        let found = &desk[place];
        let chosen = it.chosen.as_ref() == Some(&found.id());
        let tone = |other: Tone| if chosen { Tone::Chosen } else { other };
        if chosen {
            canvas.tint(area, row, Tone::Chosen);
        }
        let mark = if it.marks.contains(&found.id()) { "[x]" } else { "[ ]" };
        let (verdict, verdict_tone) = match found.verdict {
            Some(verdict) => (view.word(words::verdict(verdict)), verdict_tone(verdict)),
            None => (view.word(Word::Assumed), Tone::Doubt),
        };
        let waits = it
            .rows
            .ok()
            .into_iter()
            .flatten()
            .find(|row| row.batch == found.batch && row.row.key == found.row.key);
        let waits = match (it.which, waits) {
            (Which::Waiting, Some(row)) => {
                let then = std::time::Duration::from_secs(row.for_seconds);
                view.age(then + view.now.since(it.looked_at))
            }
            _ => time_of(&found.row.updated_at).get(..5).unwrap_or_default().to_owned(),
        };
        let who = if are_mixed {
            format!("{}  {}", found.batch, found.row.address)
        } else {
            found.row.address.clone()
        };
        let texts = [
            (if chosen { ">" } else { " " }, tone(Tone::Plain)),
            (mark, tone(Tone::Plain)),
            (found.row.key.as_str(), tone(Tone::Plain)),
            (who.as_str(), tone(Tone::Plain)),
            (waits.as_str(), tone(Tone::Dim)),
            (verdict, tone(verdict_tone)),
        ];
        canvas.cells(area, row, &columns, &texts);
    }
}

const fn verdict_tone(verdict: Verdict) -> Tone {
    match verdict {
        Verdict::NotSent => Tone::Good,
        Verdict::Accepted => Tone::Key,
        Verdict::Unknown => Tone::Doubt,
    }
}

/// Shows what is known about the row under the cursor, the most telling last.
fn evidence(it: &Unknown, view: &View<'_>, canvas: &mut Canvas<'_>, area: Rect) {
    let Some((batch, key)) = &it.chosen else { return };
    let Some(found) = it.evidence().filter(|_| it.which == Which::Waiting) else {
        canvas.rule(area, 0, &format!("{batch}  {key}"));
        let row = it.desk().into_iter().find(|row| it.chosen.as_ref() == Some(&row.id()));
        let reply = row.and_then(|row| row.row.reply.clone()).unwrap_or_default();
        canvas.wrapped(area, 1, &reply, Tone::Plain);
        return;
    };
    canvas.rule(area, 0, &format!("{batch}  {key}  {}", found.row.address));
    let means = match found.verdict {
        Verdict::NotSent => Sentence::MeansNotSent,
        Verdict::Accepted => Sentence::MeansAccepted,
        Verdict::Unknown => Sentence::MeansNobody,
    };
    let said = format!("{}. {}", view.word(words::verdict(found.verdict)), view.word_of(means));
    let mut row = 1 + canvas.wrapped(area, 1, &said, verdict_tone(found.verdict));
    if let Some(until) = &found.answer_until {
        let text = view.say(Sentence::AnswerUntil, &[("time", time_of(until))]);
        row += canvas.wrapped(area, row, &text, Tone::Warn);
    }
    seen(found, view, canvas, area, row);
}

fn seen(found: &UnknownRowBody, view: &View<'_>, canvas: &mut Canvas<'_>, area: Rect, row: u16) {
    let room = usize::from(area.height.saturating_sub(row));
    // Where not everything fits, what was seen last says most.
    let skipped = found.evidence.len().saturating_sub(room);
    let mut row = row;
    for seen in found.evidence.iter().skip(skipped) {
        let at = seen.at.as_deref().and_then(|at| at.get(11..23)).unwrap_or("            ");
        let used = canvas.put(area, row, at, Tone::Dim);
        let rest =
            Rect { x: area.x + used + 2, width: area.width.saturating_sub(used + 2), ..area };
        let text = format!("{}  ({})", seen.what.trim_end(), seen.source);
        row += match area.height {
            0..8 => {
                canvas.put(rest, row, &text, Tone::Plain);
                1
            }
            _ => canvas.wrapped(rest, row, &text, Tone::Plain).max(1),
        };
    }
    if let Some(id) = found.row.message_id.as_deref().filter(|_| row + 1 < area.height) {
        canvas.wrapped(area, row + 1, &format!("Message-ID: {id}"), Tone::Dim);
    }
    if row + 3 < area.height
        && let Some(worker) = &found.row.worker
    {
        let text = format!("{}: {worker}", view.word(Word::Workers));
        canvas.put(area, row + 3, &text, Tone::Dim);
    }
}

/// Says what each choice does to the rows it would be about, before a key is pressed.
fn choices(it: &Unknown, view: &View<'_>, canvas: &mut Canvas<'_>, area: Rect) {
    let meant = it.meant();
    let doubles = meant.iter().filter(|row| row.verdict != Some(Verdict::NotSent)).count();
    let title = match it.marks.len() {
        0 => String::new(),
        many => format!("{}: {many}", view.word(Word::Marked)),
    };
    canvas.rule(area, 0, &title);
    let again = match doubles {
        0 => view.say(Sentence::ResendSafe, &[]),
        n => view.say(Sentence::Resend, &[("n", &n.to_string())]),
    };
    let choices = [
        (Command::SendAgain, again),
        (Command::MarkFailed, view.say(Sentence::MarkFailed, &[])),
        (Command::MarkSent, view.say(Sentence::MarkSent, &[])),
    ];
    let mut row = 1;
    for (command, means) in choices {
        let mut table = keys::layer(Name::Unknown).iter();
        let Some(binding) = table.find(|binding| binding.command == command) else { continue };
        let key = format!("{} {}", binding.spelled(), view.word(binding.word));
        let used = canvas.put(area, row, &key, Tone::Key);
        let rest =
            Rect { x: area.x + used + 2, width: area.width.saturating_sub(used + 2), ..area };
        row += canvas.wrapped(rest, row, &means, Tone::Plain).max(1);
    }
}
