//! The frame around every screen, and what lies over it.
//!
//! ```text
//! ittsu > Batches                      PRODUCTION  sqlite:ittsu.db  hanako  14:32:08  live
//! ! notice-12: In doubt since the sender stopped: 5 ...                             u open
//! ----------------------------------------------------------------------------------------
//! (the screen)
//! ----------------------------------------------------------------------------------------
//! Enter open  c new send  p pause  / filter  q quit  ? help
//! 1 Batches  2 Unknown(5)  3 Find a person  4 Report  5 Journal  6 Health
//! ```

mod over;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::app::App;
use super::canvas::Canvas;
use super::canvas::theme::Tone;
use super::keys::{self, Binding, Command, GLOBAL, Hint};
use super::screen::{Name, View};
use super::words::{Sentence, Word};
use crate::ops::attention::Need;
use crate::ops::live::LiveBatch;
use crate::ops::words::thousands;

/// Below this size one sentence says what matters.
const SMALLEST: (u16, u16) = (60, 15);
const TOP: u16 = 3;
const BOTTOM: u16 = 3;

/// Returns the part of the window that the screen on top draws.
pub(super) fn body(whole: Rect) -> Rect {
    let height = whole.height.saturating_sub(TOP + BOTTOM);
    Rect { y: whole.y + TOP.min(whole.height), height, ..whole }
}

/// Draws everything; it only reads.
pub fn draw(app: &App, buf: &mut Buffer) {
    let whole = buf.area;
    let view = app.view();
    let mut canvas = Canvas::new(buf, app.look);
    if whole.width < SMALLEST.0 || whole.height < SMALLEST.1 {
        return small(&view, &mut canvas, whole);
    }
    header(app, &view, &mut canvas, whole);
    canvas.rule(whole, 2, "");
    attention(app, &view, &mut canvas, whole);
    canvas.look.greyed = app.lost.is_some();
    app.top().draw(&view, &mut canvas, body(whole));
    canvas.look.greyed = false;
    footer(app, &view, &mut canvas, whole);
    if let Some(overlay) = &app.overlay {
        over::draw(overlay, app, &view, &mut canvas, whole);
    }
}

/// Says in one sentence what matters when the window is too small for more.
fn small(view: &View<'_>, canvas: &mut Canvas<'_>, whole: Rect) {
    let left: i64 = view.batches().iter().map(|batch| batch.counts.left()).sum();
    let size = format!("{}x{}", whole.width, whole.height);
    let (left, unknown) = (thousands(left), thousands(view.unknown()));
    let values = [("n", left.as_str()), ("unknown", unknown.as_str()), ("size", size.as_str())];
    canvas.wrapped(whole, 0, &view.say(Sentence::TooSmall, &values), Tone::Plain);
}

fn header(app: &App, view: &View<'_>, canvas: &mut Canvas<'_>, whole: Rect) {
    let facts = &app.facts;
    let mut right: Vec<(String, Tone)> = Vec::new();
    if facts.demo {
        right.push((view.word(Word::Demo).to_owned(), Tone::Warn));
    } else if let Some(label) = &facts.label {
        right.push((label.clone(), Tone::Warn));
    }
    if app.method {
        right.push((view.word(Word::InputMethod).to_owned(), Tone::Warn));
    }
    if whole.width >= 100 {
        right.push((facts.place.clone(), Tone::Dim));
    }
    if facts.read_only {
        right.push((view.word(Word::ReadOnly).to_owned(), Tone::Warn));
    }
    if let Some(operator) = &facts.operator {
        right.push((operator.clone(), Tone::Dim));
    }
    right.push((view.clock(app.now), Tone::Plain));
    right.push(freshness(app, view));
    let gaps = 2 * u16::try_from(right.len()).unwrap_or(0).saturating_sub(1);
    let width = right.iter().map(|(text, _)| canvas.width(text)).sum::<u16>() + gaps;
    let mut at = whole.width.saturating_sub(width);
    let room = Rect { width: at.saturating_sub(1), ..whole };
    let trail = app.top().trail(view);
    canvas.spans(room, 0, &[("ittsu > ", Tone::Dim), (&trail, Tone::Title)]);
    for (text, tone) in &right {
        at += canvas.put_at(whole, at, 0, text, *tone) + 2;
    }
}

/// Says how old the numbers are.
fn freshness(app: &App, view: &View<'_>) -> (String, Tone) {
    let as_of = app.live.as_ref().map(|live| live.as_of);
    match (&app.lost, app.frozen, as_of) {
        (_, _, None) => (view.word(Word::Asking).to_owned(), Tone::Dim),
        (Some(_), _, Some(at)) => {
            let old = view.age(app.now.since(at));
            (view.say(Sentence::OldNumbers, &[("age", &old)]), Tone::Warn)
        }
        (None, Some(_), _) => (view.word(Word::Frozen).to_owned(), Tone::Warn),
        (None, None, Some(_)) => (view.word(Word::Live).to_owned(), Tone::Good),
    }
}

/// Writes the line under the header; a long one takes the rule's place as well.
fn notice(canvas: &mut Canvas<'_>, whole: Rect, text: &str, tone: Tone) {
    if canvas.width(text) <= whole.width {
        canvas.put(whole, 1, text, tone);
        return;
    }
    let blank = " ".repeat(usize::from(whole.width));
    canvas.put(whole, 2, &blank, Tone::Plain);
    let lines = canvas.wrap(text, whole.width);
    let rest: String = lines.iter().skip(1).map(String::as_str).collect();
    canvas.put(whole, 1, lines.first().map_or("", String::as_str), tone);
    canvas.put(whole, 2, &rest, tone);
}

/// The line that is there only when a person is needed, or to lead one.
fn attention(app: &App, view: &View<'_>, canvas: &mut Canvas<'_>, whole: Rect) {
    if let Some(lost) = &app.lost {
        let (time, tries) = (view.clock(lost.since), lost.tries.to_string());
        let values = [("time", time.as_str()), ("why", lost.why.as_str()), ("n", tries.as_str())];
        let sentence = match app.live {
            Some(_) => Sentence::Away,
            None => Sentence::NeverSeen,
        };
        notice(canvas, whole, &format!("! {}", view.say(sentence, &values)), Tone::Warn);
        return;
    }
    if let Some((batch, at)) = &app.starting
        && app.now < *at
    {
        let seconds = at.since(app.now).as_secs() + 1;
        let values = [("batch", batch.as_str()), ("s", &seconds.to_string())];
        notice(canvas, whole, &format!("! {}", view.say(Sentence::TakeBack, &values)), Tone::Warn);
        return;
    }
    if let Some(at) = app.frozen {
        let time = view.clock(at);
        let text = view.say(Sentence::FrozenAt, &[("time", &time)]);
        notice(canvas, whole, &text, Tone::Warn);
        return;
    }
    if let Some(tour) = app.tour {
        notice(canvas, whole, tour.hint().text(app.facts.language), Tone::Key);
        return;
    }
    let needs: Vec<_> = view
        .batches()
        .iter()
        .flat_map(|batch| batch.needs.iter().map(move |need| (batch, *need)))
        .collect();
    let Some((batch, need)) = needs.first() else { return };
    let mut text = format!("! {}: {}", batch.name, needed(batch, *need, view));
    if needs.len() > 1 {
        let more = (needs.len() - 1).to_string();
        text = format!("{text} ({})", view.say(Sentence::AndMore, &[("n", &more)]));
    }
    notice(canvas, whole, &text, Tone::Warn);
}

/// Says what a batch needs a person for.
fn needed(batch: &LiveBatch, need: Need, view: &View<'_>) -> String {
    let ready = thousands(batch.counts.ready);
    match need {
        Need::Unknown => {
            let n = thousands(batch.counts.unknown);
            view.say(Sentence::Unknown, &[("n", &n)])
        }
        Need::PausedItself => view.say(Sentence::PausedItself, &[("why", &batch.paused_because)]),
        Need::NoWorker => {
            view.say(Sentence::NoWorker, &[("n", &ready), ("command", "w / ittsu work")])
        }
        Need::NoProgress => view.say(Sentence::NothingAccepted, &[("n", &ready)]),
        Need::LongWait => {
            let waits =
                batch.oldest_ready_at.map_or_else(String::new, |at| view.age(view.now.since(at)));
            view.say(Sentence::LongWait, &[("n", &ready), ("age", &waits)])
        }
        Need::WrongSum => view.say(Sentence::WrongSum, &[]),
        Need::StartMissed => {
            let at = batch.scheduled_at.map(|at| view.near(at)).unwrap_or_default();
            view.say(Sentence::StartMissed, &[("time", &at)])
        }
        Need::Rejected => view.say(Sentence::Rejected, &[("command", "ittsu rejects list")]),
    }
}

fn footer(app: &App, view: &View<'_>, canvas: &mut Canvas<'_>, whole: Rect) {
    let row = whole.height - BOTTOM;
    canvas.rule(whole, row, "");
    if let Some(toast) = app.toast() {
        let blank = " ".repeat(usize::from(whole.width));
        canvas.put(whole, row, &blank, Tone::Plain);
        canvas.put(whole, row, &toast.text, toast.tone);
    }
    hints(app.top().name(), view, canvas, whole, row + 1);
    tabs(app.top().name(), view, canvas, whole, row + 2);
}

/// Shows the keys of the screen, as many as there is room for; `? help` always.
fn hints(name: Name, view: &View<'_>, canvas: &mut Canvas<'_>, whole: Rect, row: u16) {
    let shown = |binding: &&Binding| binding.hint == Hint::Shown;
    let of = |binding: &Binding| (binding.spelled(), view.word(binding.word));
    let global: Vec<_> = GLOBAL.iter().filter(shown).map(of).collect();
    let width = |(key, word): &(String, &str)| canvas.width(key) + canvas.width(word) + 3;
    let kept: u16 = global.iter().map(width).sum();
    let mut room = whole.width.saturating_sub(kept);
    let mut all = Vec::new();
    for hint in keys::layer(name).iter().filter(shown).map(of) {
        let needed = width(&hint);
        if needed > room {
            break;
        }
        room -= needed;
        all.push(hint);
    }
    all.extend(global);
    let mut at = 0;
    for (key, word) in &all {
        at += canvas.put_at(whole, at, row, key, Tone::Key) + 1;
        at += canvas.put_at(whole, at, row, word, Tone::Plain) + 2;
    }
}

/// The screens by number.
fn tabs(name: Name, view: &View<'_>, canvas: &mut Canvas<'_>, whole: Rect, row: u16) {
    let tabs = [
        (Command::Batches, Name::Batches),
        (Command::Unknown, Name::Unknown),
        (Command::Find, Name::Find),
        (Command::Report, Name::Report),
        (Command::Journal, Name::Journal),
        (Command::Health, Name::Health),
    ];
    let mut texts = Vec::new();
    for (command, tab) in tabs {
        let Some(binding) = GLOBAL.iter().find(|binding| binding.command == command) else {
            continue;
        };
        let count = match tab {
            Name::Unknown if view.unknown() > 0 => format!("({})", thousands(view.unknown())),
            _ => String::new(),
        };
        let batches = tab == Name::Batches && matches!(name, Name::Batch | Name::NewSend);
        let tone = match tab {
            _ if tab == name || batches => Tone::Chosen,
            Name::Unknown if view.unknown() > 0 => Tone::Doubt,
            _ => Tone::Dim,
        };
        texts.push((format!("{} {}{count}", binding.spelled(), view.word(tab.word())), tone));
    }
    let widths: u16 = texts.iter().map(|(text, _)| canvas.width(text)).sum();
    let gap = if widths + 10 > whole.width { 1 } else { 2 };
    let mut at = 0;
    for (text, tone) in &texts {
        at += canvas.put_at(whole, at, row, text, *tone) + gap;
    }
}
