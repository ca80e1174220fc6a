//! Parts that several screens draw: sums, bars, speeds, graphs, fields, entries of the journal.

use ratatui::layout::Rect;

use super::canvas::Canvas;
use super::canvas::glyphs::Shares;
use super::canvas::theme::Tone;
use super::field::Field;
use super::pace::Pace;
use super::screen::View;
use super::words::{Sentence, Word};
use crate::domain::batch::{BatchState, Counts};
use crate::ops::live::{JournalEntry, LiveBatch};
use crate::ops::words::{percent, thousands};

/// Minutes that a graph shows.
const MINUTES: u32 = 30;

impl View<'_> {
    /// Returns a sentence that has no placeholders.
    pub(super) const fn word_of(&self, sentence: Sentence) -> &'static str {
        sentence.text(self.facts.language)
    }
}

/// Returns a bar of the batch's shares.
pub(super) fn bar(canvas: &Canvas<'_>, counts: &Counts, width: usize) -> String {
    let signs = canvas.look.glyphs.bar();
    let Counts { sent, failed, unknown, .. } = *counts;
    let shares = Shares { sent, failed, unknown, total: counts.total() }.cells(width);
    signs.iter().zip(shares).map(|(sign, many)| sign.repeat(many)).collect()
}

/// Returns how far a batch is, rounded down: 100 means that nothing is left.
pub(super) fn share(counts: &Counts) -> String {
    format!("{}%", percent(counts.sent + counts.failed, counts.total()))
}

/// Returns when a batch is done, or in a word why that cannot be said.
pub(super) fn eta(batch: &LiveBatch, view: &View<'_>) -> String {
    if batch.state != BatchState::Running {
        return match (batch.state, batch.scheduled_at) {
            (BatchState::Scheduled, Some(at)) => view.near(at),
            _ => String::new(),
        };
    }
    let left = batch.counts.left() - batch.counts.unknown;
    if left == 0 {
        return if batch.counts.unknown > 0 { "?".to_owned() } else { String::new() };
    }
    if batch.waiting == Some("no_worker") {
        return "!".to_owned();
    }
    let eta = view.paces.of(&batch.name).and_then(|pace| pace.eta(left));
    eta.map_or_else(|| "-".to_owned(), |eta| view.near(eta.about))
}

/// Shows the four states and their sum in one line.
pub(super) fn sum(
    batch: &LiveBatch,
    view: &View<'_>,
    canvas: &mut Canvas<'_>,
    area: Rect,
    row: u16,
) {
    let counts = &batch.counts;
    let unknown = match counts.unknown {
        0 => String::new(),
        unknown => format!(" ({} {unknown})", view.word(Word::Unknown)),
    };
    let adds = counts.add_up();
    let texts = [
        (format!("{} {}  ", view.word(Word::ColReady), thousands(counts.ready)), Tone::Plain),
        (format!("{} {}", view.word(Word::ColSending), thousands(counts.sending)), Tone::Plain),
        (format!("{unknown}  "), Tone::Doubt),
        (format!("{} {}  ", view.word(Word::ColSent), thousands(counts.sent)), Tone::Good),
        (
            format!("{} {}  ", view.word(Word::ColFailed), thousands(counts.failed)),
            if counts.failed > 0 { Tone::Bad } else { Tone::Plain },
        ),
        (format!("{} {} ", view.word(Word::Total), thousands(counts.total())), Tone::Title),
        (
            view.word(if adds { Word::AddsUp } else { Word::DoesNotAddUp }).to_owned(),
            if adds { Tone::Dim } else { Tone::Warn },
        ),
    ];
    // Where the last word does not fit, the numbers say it by themselves; a wrong sum always shows.
    let needed: u16 = texts.iter().map(|(text, _)| canvas.width(text)).sum();
    let shown = if needed > area.width && adds { texts.len() - 1 } else { texts.len() };
    let texts: Vec<(&str, Tone)> =
        texts[..shown].iter().map(|(text, tone)| (text.as_str(), *tone)).collect();
    canvas.spans(area, row, &texts);
}

/// Shows speed, limit and the expected end in one line.
pub(super) fn speed(
    batch: &LiveBatch,
    view: &View<'_>,
    canvas: &mut Canvas<'_>,
    area: Rect,
    row: u16,
) {
    if batch.state != BatchState::Running {
        let text = match (batch.state, batch.scheduled_at, batch.started_at) {
            (BatchState::Scheduled, Some(at), _) => {
                view.say(Sentence::StartsAt, &[("time", &view.near(at))])
            }
            (_, _, Some(at)) => {
                let (time, who) = (view.near(at), batch.started_by.as_str());
                view.say(Sentence::StartedBy, &[("time", &time), ("who", who)])
            }
            _ => batch.source.clone(),
        };
        canvas.put(area, row, &text, Tone::Dim);
        return;
    }
    let pace = view.paces.of(&batch.name);
    let rate = |n: f64| view.say(Sentence::Rate, &[("n", &thousands(whole(n)))]);
    let now = pace.and_then(Pace::speed);
    let now = now.map_or_else(|| "-".to_owned(), |speed| rate(speed.now));
    let mut text = format!("{} {now}", view.word(Word::Speed));
    if !batch.limit.is_empty() {
        text = format!("{text} ({} {})", view.word(Word::Limit), batch.limit);
    }
    let left = batch.counts.left() - batch.counts.unknown;
    let eta = pace.and_then(|pace| pace.eta(left)).filter(|_| left > 0);
    let eta = match eta {
        None => view.word(Word::NoEstimate).to_owned(),
        Some(eta) => {
            let [about, from, to] = [eta.about, eta.from, eta.to].map(|at| view.near(at));
            let values = [("time", about.as_str()), ("from", from.as_str()), ("to", to.as_str())];
            format!("{} {}", view.word(Word::DoneAbout), view.say(Sentence::About, &values))
        }
    };
    canvas.put(area, row, &format!("{text}   {eta}"), Tone::Plain);
}

/// Says why nothing goes out, if nothing does.
pub(super) fn why(
    batch: &LiveBatch,
    view: &View<'_>,
    canvas: &mut Canvas<'_>,
    area: Rect,
    row: u16,
) {
    if let Some((text, tone)) = reason(batch, view) {
        canvas.put(area, row, &text, tone);
    }
}

fn reason(batch: &LiveBatch, view: &View<'_>) -> Option<(String, Tone)> {
    if batch.state == BatchState::Paused {
        let values = [("who", batch.paused_by.as_str()), ("why", batch.paused_because.as_str())];
        return Some((view.say(Sentence::PausedBy, &values), Tone::Warn));
    }
    if batch.state != BatchState::Running {
        return None;
    }
    let still = view.paces.of(&batch.name).and_then(Pace::still_for);
    let still = still.filter(|still| still.as_secs() >= 60 && batch.counts.ready > 0);
    let word = match batch.waiting {
        Some("no_worker") => Word::WaitNoWorker,
        Some("hours") => Word::WaitHours,
        Some("endpoint") => Word::WaitEndpoint,
        Some("retry") => Word::WaitRetry,
        Some("rate") if still.is_none() => Word::WaitRate,
        _ => {
            let still = still?;
            let text = view.say(Sentence::NoProgressFor, &[("age", &view.age(still))]);
            return Some((text, Tone::Warn));
        }
    };
    let mut text = view.say(Sentence::WaitingFor, &[("why", view.word(word))]);
    if let (Word::WaitRetry, Some(at)) = (word, batch.next_due_at) {
        text = format!("{text} {}", view.near(at));
    }
    let tone = if word == Word::WaitRate { Tone::Dim } else { Tone::Warn };
    Some((text, tone))
}

/// Shows how many went out in each of the last minutes.
pub(super) fn graph(batch: &LiveBatch, view: &View<'_>, canvas: &mut Canvas<'_>, area: Rect) {
    let Some(pace) = view.paces.of(&batch.name) else { return };
    let minutes = pace.minutes(MINUTES);
    let most = minutes.iter().flatten().copied().max().unwrap_or(0);
    if area.height < 3 || area.width < 40 {
        return;
    }
    canvas.put(area, 0, view.word(Word::PerMinute), Tone::Dim);
    let rows = area.height - 1;
    let glyphs = canvas.look.glyphs;
    let top = thousands(most);
    for row in 0..rows {
        let label = match row {
            0 => top.as_str(),
            _ if row + 1 == rows => "0",
            _ => "",
        };
        canvas.put_right(Rect { width: 8, ..area }, row + 1, label, Tone::Dim);
        let mut line = format!(" {}", glyphs.upright());
        for minute in &minutes {
            line.push_str(step(glyphs, *minute, most, rows, row));
        }
        canvas.put_at(area, 8, row + 1, &line, Tone::Good);
    }
}

/// Returns the sign of one minute in one row of a graph.
fn step(
    glyphs: super::canvas::glyphs::Glyphs,
    minute: Option<i64>,
    most: i64,
    rows: u16,
    row: u16,
) -> &'static str {
    let Some(sent) = minute.filter(|_| most > 0) else { return " " };
    let eighths = usize::try_from(sent * i64::from(rows) * 8 / most).unwrap_or(0);
    let below = usize::from(rows - 1 - row) * 8;
    glyphs.column(eighths.saturating_sub(below).min(8))
}

/// Shows an entry of the journal in one line.
pub(super) fn entry(
    entry: &JournalEntry,
    view: &View<'_>,
    canvas: &mut Canvas<'_>,
    area: Rect,
    row: u16,
) {
    let name = entry.name.as_deref().unwrap_or_default();
    let reason = match entry.reason.as_str() {
        "" => String::new(),
        reason => format!(": {reason}"),
    };
    let text = format!(
        "{} {} {name} {}{reason}",
        entry.operator,
        entry.action.replace('_', " "),
        entry.selection
    );
    let texts = [(view.clock(entry.at), Tone::Dim), (format!("  {text}"), Tone::Plain)];
    let texts: Vec<(&str, Tone)> =
        texts.iter().map(|(text, tone)| (text.as_str(), *tone)).collect();
    canvas.spans(area, row, &texts);
}

/// Shows a field with its label; the cursor is a reversed cell.
pub(super) fn field(
    canvas: &mut Canvas<'_>,
    area: Rect,
    row: u16,
    label: &str,
    field: &Field,
    active: bool,
) {
    let used = canvas.put(area, row, &format!("{label}: "), Tone::Title);
    let (before, behind) = field.parts();
    let room = area.width.saturating_sub(used + 2);
    // The end of a long text is what is typed now.
    let mut shown = before;
    while canvas.width(&shown) > room && !shown.is_empty() {
        shown.remove(0);
    }
    let mut at = used + canvas.put_at(area, used, row, &shown, Tone::Plain);
    if active {
        let mut letters = behind.chars();
        let under = letters.next().map_or_else(|| " ".to_owned(), |c| c.to_string());
        at += canvas.put_at(area, at, row, &under, Tone::Chosen);
        canvas.put_at(area, at, row, letters.as_str(), Tone::Plain);
    } else {
        canvas.put_at(area, at, row, &behind, Tone::Plain);
    }
}

fn whole(n: f64) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "a speed is far from the ends of an i64")]
    let whole = n.round() as i64;
    whole
}
