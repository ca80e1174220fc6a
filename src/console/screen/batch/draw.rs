//! Drawing one batch: a line of tabs, and below it what the tab shows.

use ratatui::layout::Rect;

use super::{Batch, Loaded, Tab};
use crate::console::canvas::theme::Tone;
use crate::console::canvas::{Canvas, left, right};
use crate::console::message::Fault;
use crate::console::screen::{View, minute_of, n, time_of};
use crate::console::show;
use crate::console::words::{self, Sentence, Word};
use crate::domain::state::State;
use crate::domain::text::lenient;
use crate::ops::live::LiveBatch;
use crate::ops::row::RowBody;
use crate::ops::rows::CauseCount;

/// Lines of a message that can be looked at.
pub(super) const MOST_LINES: usize = 400;

pub(super) fn draw(it: &Batch, view: &View<'_>, canvas: &mut Canvas<'_>, area: Rect) {
    let Some(batch) = view.batch(&it.name) else {
        canvas.put(area, 0, view.word(Word::Asking), Tone::Dim);
        return;
    };
    let state = view.word(words::batch_state(batch.state));
    canvas.spans(
        area,
        0,
        &[(batch.title.as_str(), Tone::Title), ("  ", Tone::Plain), (state, Tone::Good)],
    );
    tabs(it, batch, view, canvas, area);
    canvas.rule(area, 2, "");
    let body = Rect { y: area.y + 3, height: area.height.saturating_sub(3), ..area };
    match it.tab {
        Tab::Overview => overview(batch, view, canvas, body),
        Tab::Rows => rows(it, view, canvas, body),
        Tab::Errors => errors(it, view, canvas, body),
        Tab::Timeline => timeline(it, view, canvas, body),
        Tab::Message => message(it, view, canvas, body),
    }
    if let Some(field) = &it.test {
        let row = body.height.saturating_sub(1);
        show::field(canvas, body, row, view.word(Word::YourAddress), field, true);
    }
}

fn tabs(it: &Batch, batch: &LiveBatch, view: &View<'_>, canvas: &mut Canvas<'_>, area: Rect) {
    let mut at = 0;
    for (tab, word) in Tab::ALL {
        let count = match tab {
            Tab::Errors => batch.counts.failed + batch.counts.unknown,
            _ => 0,
        };
        let name = match count {
            0 => view.word(word).to_owned(),
            count => format!("{}({})", view.word(word), n(count)),
        };
        let (text, tone) = if tab == it.tab {
            (format!("[{name}]"), Tone::Chosen)
        } else {
            (format!(" {name} "), Tone::Plain)
        };
        at += canvas.put_at(area, at, 1, &text, tone);
    }
}

fn overview(batch: &LiveBatch, view: &View<'_>, canvas: &mut Canvas<'_>, area: Rect) {
    let counts = &batch.counts;
    let width = usize::from(area.width.saturating_sub(10)).min(100);
    let bar = show::bar(canvas, counts, width);
    canvas.spans(
        area,
        0,
        &[(&bar, Tone::Good), ("  ", Tone::Plain), (&show::share(counts), Tone::Title)],
    );
    let rows = [
        (Word::Ready, counts.ready, String::new()),
        (Word::Sending, counts.sending, part(view, Word::Unknown, counts.unknown)),
        (
            Word::Sent,
            counts.sent,
            [
                part(view, Word::Assumed, counts.assumed),
                part(view, Word::MaybeTwice, counts.maybe_twice),
            ]
            .concat(),
        ),
        (Word::Failed, counts.failed, String::new()),
    ];
    let columns = [left(12), right(10), left(0)];
    for (row, (word, count, more)) in (2..).zip(&rows) {
        let tone = match word {
            Word::Failed if *count > 0 => Tone::Bad,
            _ => Tone::Plain,
        };
        let texts = [(view.word(*word), tone), (&n(*count), tone), (more.as_str(), Tone::Doubt)];
        canvas.cells(area, row, &columns, &texts);
    }
    let adds = view.word(if counts.add_up() { Word::AddsUp } else { Word::DoesNotAddUp });
    let as_of = view.live.map(|live| view.clock(live.as_of)).unwrap_or_default();
    let as_of = format!("{adds}, {}", view.say(Sentence::AsOf, &[("time", &as_of)]));
    let texts = [
        (view.word(Word::Total), Tone::Title),
        (&*n(counts.total()), Tone::Title),
        (as_of.as_str(), Tone::Dim),
    ];
    canvas.cells(area, 6, &columns, &texts);
    let others = [(Word::LeftOut, counts.left_out), (Word::Attempts, counts.attempts)];
    let others: Vec<String> =
        others.iter().map(|(word, count)| format!("{} {}", view.word(*word), n(*count))).collect();
    canvas.put(area, 7, &others.join("   "), Tone::Dim);
    show::speed(batch, view, canvas, area, 8);
    show::why(batch, view, canvas, area, 9);
    let graph = Rect { y: area.y + 10, height: area.height.saturating_sub(10).min(6), ..area };
    show::graph(batch, view, canvas, graph);
    workers(
        batch,
        view,
        canvas,
        Rect { y: area.y + 17, height: area.height.saturating_sub(17), ..area },
    );
}

fn part(view: &View<'_>, word: Word, count: i64) -> String {
    match count {
        0 => String::new(),
        count => format!("  {} {}", view.word(word), n(count)),
    }
}

fn workers(batch: &LiveBatch, view: &View<'_>, canvas: &mut Canvas<'_>, area: Rect) {
    if area.height < 2 {
        return;
    }
    canvas.rule(area, 0, view.word(Word::Workers));
    let workers = view.live.map_or(&[][..], |live| &live.workers);
    let serving = workers
        .iter()
        .filter(|worker| worker.kinds.is_empty() || worker.kinds.contains(&batch.kind));
    for (row, worker) in (1..area.height).zip(serving) {
        let heard = view.clock(worker.beat_at);
        let (word, tone) = show_worker(worker);
        let text = format!("{:>4}  {} {}  ", worker.id, worker.host, worker.pid);
        canvas.spans(
            area,
            row,
            &[
                (&text, Tone::Plain),
                (view.word(word), tone),
                ("  ", Tone::Plain),
                (&heard, Tone::Dim),
            ],
        );
    }
}

const fn show_worker(worker: &crate::ops::live::LiveWorker) -> (Word, Tone) {
    match (worker.gone, worker.stopping) {
        (true, _) => (Word::NotAnswering, Tone::Bad),
        (false, true) => (Word::Stopping, Tone::Warn),
        (false, false) => (Word::Alive, Tone::Good),
    }
}

fn rows(it: &Batch, view: &View<'_>, canvas: &mut Canvas<'_>, area: Rect) {
    let columns = match area.width {
        0..100 => vec![left(1), left(10), left(22), left(9), left(0)],
        _ => vec![left(1), left(14), left(34), left(11), left(16), left(5), left(0)],
    };
    let wide = area.width >= 100;
    let heads = [Word::None, Word::Number, Word::Address, Word::ColState];
    let mut texts: Vec<(&str, Tone)> =
        heads.iter().map(|word| (view.word(*word), Tone::Dim)).collect();
    texts[0] = ("", Tone::Dim);
    if wide {
        texts.extend([(view.word(Word::ColWhy), Tone::Dim), ("", Tone::Dim)]);
    }
    texts.push((view.word(Word::LastWords), Tone::Dim));
    canvas.cells(area, 0, &columns, &texts);
    let body = Rect { y: area.y + 1, height: area.height.saturating_sub(2), ..area };
    let page = &it.rows.page;
    match (&it.rows.fault, page.is_empty(), it.rows.loading) {
        (Some(fault), _, _) => fault_text(fault, view, canvas, body),
        (None, true, true) => {
            canvas.put(body, 0, view.word(Word::Asking), Tone::Dim);
        }
        (None, true, false) => {
            canvas.put(body, 0, view.word_of(Sentence::NoRows), Tone::Plain);
        }
        _ => {}
    }
    for (row, place) in (0..).zip(it.rows.list.shown(page.len(), body.height)) {
        let (_, found) = &page[place];
        row_line(found, place == it.rows.list.cursor, wide, view, canvas, body, row, &columns);
    }
    let foot = area.height.saturating_sub(1);
    if it.rows.filtering || !it.rows.filter.is_empty() {
        let field = &it.rows.filter;
        show::field(canvas, area, foot, view.word(Word::DoFilter), field, it.rows.filtering);
        if it.rows.filtering && field.is_empty() {
            canvas.put_right(area, foot, view.word_of(Sentence::FilterHint), Tone::Dim);
        }
    } else {
        let more = if it.rows.is_full() { Word::More } else { Word::End };
        canvas.put(area, foot, view.word(more), Tone::Dim);
    }
}

#[expect(clippy::too_many_arguments, reason = "a line needs its place, its look and its row")]
fn row_line(
    found: &RowBody,
    chosen: bool,
    wide: bool,
    view: &View<'_>,
    canvas: &mut Canvas<'_>,
    area: Rect,
    row: u16,
    columns: &[crate::console::canvas::Column],
) {
    let tone = |other: Tone| if chosen { Tone::Chosen } else { other };
    if chosen {
        canvas.tint(area, row, Tone::Chosen);
    }
    let (state, state_tone) = standing(found, view);
    let why = found.how.and_then(crate::domain::state::How::from_word).map(words::how);
    let why = why
        .or_else(|| found.cause.and_then(crate::domain::state::Cause::from_word).map(words::cause));
    let why = why.map_or("", |word| view.word(word));
    let reply = found.reply.clone().unwrap_or_default();
    let mark = if chosen { ">" } else { " " };
    let mut texts = vec![
        (mark, tone(Tone::Plain)),
        (found.key.as_str(), tone(Tone::Plain)),
        (found.address.as_str(), tone(Tone::Plain)),
        (state, tone(state_tone)),
    ];
    let at = time_of(&found.updated_at).get(..5).unwrap_or_default();
    if wide {
        texts.extend([(why, tone(Tone::Dim)), (at, tone(Tone::Dim))]);
    }
    let words = if reply.is_empty() { why } else { reply.trim_end() };
    texts.push((words, tone(Tone::Dim)));
    canvas.cells(area, row, columns, &texts);
}

fn standing<'w>(found: &RowBody, view: &View<'w>) -> (&'w str, Tone) {
    if found.unknown {
        return (view.word(Word::Unknown), Tone::Doubt);
    }
    let state = State::from_word(found.state).unwrap_or(State::Ready);
    let tone = match state {
        State::Ready | State::Sending => Tone::Plain,
        State::Sent => Tone::Good,
        State::Failed => Tone::Bad,
    };
    (view.word(words::state(state)), tone)
}

fn errors(it: &Batch, view: &View<'_>, canvas: &mut Canvas<'_>, area: Rect) {
    let Some(causes) = loaded(&it.causes, view, canvas, area) else { return };
    if causes.is_empty() {
        canvas.put(area, 0, view.word_of(Sentence::NoErrors), Tone::Plain);
        return;
    }
    let columns = [left(1), right(8), left(10), left(16), left(10), left(0)];
    for (row, place) in (0..).zip(it.list.shown(causes.len(), area.height)) {
        let chosen = place == it.list.cursor;
        cause_line(&causes[place], chosen, view, canvas, area, row, &columns);
    }
}

fn cause_line(
    cause: &CauseCount,
    chosen: bool,
    view: &View<'_>,
    canvas: &mut Canvas<'_>,
    area: Rect,
    row: u16,
    columns: &[crate::console::canvas::Column],
) {
    let tone = |other: Tone| if chosen { Tone::Chosen } else { other };
    if chosen {
        canvas.tint(area, row, Tone::Chosen);
    }
    let in_doubt = cause.state == State::Sending;
    let state = if in_doubt { Word::Unknown } else { words::state(cause.state) };
    let why = cause.cause.map(words::cause).or_else(|| cause.how.map(words::how));
    let code = match cause.code {
        0 => String::new(),
        code => format!("{code} {}", cause.enhanced),
    };
    let reply = lenient(&cause.reply);
    let reply = if reply.trim().is_empty() { cause.note.clone() } else { reply };
    let state_tone = if in_doubt { Tone::Doubt } else { Tone::Bad };
    let texts = [
        (if chosen { ">" } else { " " }, tone(Tone::Plain)),
        (&*n(cause.rows), tone(Tone::Plain)),
        (view.word(state), tone(state_tone)),
        (why.map_or("", |word| view.word(word)), tone(Tone::Plain)),
        (code.as_str(), tone(Tone::Plain)),
        (reply.trim_end(), tone(Tone::Dim)),
    ];
    canvas.cells(area, row, columns, &texts);
}

fn timeline(it: &Batch, view: &View<'_>, canvas: &mut Canvas<'_>, area: Rect) {
    let Some(entries) = loaded(&it.timeline, view, canvas, area) else { return };
    if entries.is_empty() {
        canvas.put(area, 0, view.word_of(Sentence::NoJournal), Tone::Plain);
    }
    for (row, place) in (0..).zip(it.list.shown(entries.len(), area.height)) {
        let entry = &entries[place];
        let chosen = place == it.list.cursor;
        super::super::journal::line(entry, chosen, canvas, area, row);
    }
}

fn message(it: &Batch, view: &View<'_>, canvas: &mut Canvas<'_>, area: Rect) {
    let Some(body) = loaded(&it.message, view, canvas, area) else { return };
    let Some(message) = body.messages.first() else { return };
    let lines = letter(message, &body.from, view);
    let first = it.list.cursor.min(lines.len().saturating_sub(1));
    let mut row = 0;
    for line in &lines[first..] {
        if row >= area.height {
            break;
        }
        row += canvas.wrapped(area, row, line, Tone::Plain).max(1);
    }
}

/// Returns a message as a person gets it, line by line.
fn letter(message: &crate::ops::preview::MessageBody, from: &str, view: &View<'_>) -> Vec<String> {
    let mut lines = vec![
        format!("{}: {from}", view.word(Word::From)),
        format!("{}: {}", view.word(Word::To), message.to),
        format!("{}: {}", view.word(Word::Subject), message.subject.as_deref().unwrap_or_default()),
    ];
    lines.extend(
        message.looks.iter().map(|looks| format!("{}: {looks}", view.word(Word::Findings))),
    );
    lines.extend(
        message.error.iter().map(|error| format!("{}: {error}", view.word(Word::Unbuildable))),
    );
    lines.push(String::new());
    lines.extend(message.text.iter().flat_map(|text| text.lines()).map(str::to_owned));
    if message.html.is_some() {
        lines.extend([String::new(), "+ HTML".to_owned()]);
    }
    lines
}

/// Returns what was read, or draws that it is asked for or why it is not there.
pub(in crate::console::screen) fn loaded<'l, T>(
    loaded: &'l Loaded<T>,
    view: &View<'_>,
    canvas: &mut Canvas<'_>,
    area: Rect,
) -> Option<&'l T> {
    match &loaded.found {
        Some(Ok(found)) => return Some(found),
        Some(Err(fault)) => fault_text(fault, view, canvas, area),
        None => {
            canvas.put(area, 0, view.word(Word::Asking), Tone::Dim);
        }
    }
    None
}

/// Says why something could not be read.
pub(in crate::console::screen) fn fault_text(
    fault: &Fault,
    view: &View<'_>,
    canvas: &mut Canvas<'_>,
    area: Rect,
) {
    let text = view.say(Sentence::Failure, &[("why", &fault.message)]);
    let used = canvas.wrapped(area, 0, &text, Tone::Bad);
    if let Some(hint) = &fault.hint {
        canvas.wrapped(area, used, hint, Tone::Dim);
    }
}

/// Returns a document's time for a list.
pub(in crate::console::screen) fn short(at: &str) -> String {
    minute_of(at)
}
