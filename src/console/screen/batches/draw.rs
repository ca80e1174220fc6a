//! Drawing the batches: the table above, the batch under the cursor below.
//!
//! ```text
//! BATCH       TITLE             STATE      LEFT    SENT FAILED PROGRESS DONE
//! > notice-12 冬のセール ..     Running   13,514 34,581   115 #####x?. 14:44
//! -- notice-12 冬のセール -----------------------------------------------
//! Ready 13,482  Sending 32  Sent 34,581  Failed 115  Total 48,210 adds up
//! ```

use ratatui::layout::Rect;

use super::{Batches, Sort};
use crate::console::canvas::theme::Tone;
use crate::console::canvas::{Canvas, Column, left, right};
use crate::console::screen::{View, n};
use crate::console::show;
use crate::console::words::{self, Sentence, Word};
use crate::domain::batch::BatchState;
use crate::ops::live::LiveBatch;

/// How the rows of the area are shared out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Heights {
    pub(super) list: u16,
    pub(super) detail: u16,
}

/// Returns how many rows the list and the pane below it take.
pub(super) const fn heights(area: Rect) -> Heights {
    let detail = match area.height {
        0..12 => 0,
        12..26 => 6,
        _ => 13,
    };
    Heights { list: area.height - detail, detail }
}

pub(super) fn draw(it: &Batches, view: &View<'_>, canvas: &mut Canvas<'_>, area: Rect) {
    let heights = heights(area);
    let list = Rect { height: heights.list, ..area };
    table(it, view, canvas, list);
    if it.filtering || !it.filter.is_empty() {
        let row = heights.list.saturating_sub(1);
        show::field(canvas, list, row, view.word(Word::DoFilter), &it.filter, it.filtering);
        if it.filtering {
            let hint = view.word_of(Sentence::FilterWords);
            canvas.put_right(list, row, hint, Tone::Dim);
        }
    }
    if heights.detail > 0
        && let Some(batch) = it.under_cursor(view)
    {
        let pane = Rect { y: area.y + heights.list, height: heights.detail, ..area };
        detail(batch, view, canvas, pane);
    }
}

fn columns(width: u16) -> Vec<Column> {
    if width < 70 {
        vec![left(2), left(0), right(8), right(8), right(6)]
    } else if width < 100 {
        vec![left(1), left(12), left(0), left(10), right(7), right(7), right(6), left(8), left(6)]
    } else {
        let mut wide = vec![left(1), left(17), left(10), left(0), left(10), right(8), right(8)];
        wide.extend([right(8), right(6), left(12), left(6)]);
        wide
    }
}

fn table(it: &Batches, view: &View<'_>, canvas: &mut Canvas<'_>, area: Rect) {
    let columns = columns(area.width);
    canvas.cells(area, 0, &columns, &heads(it, view, area.width));
    let batches = it.shown(view);
    let body = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
    if batches.is_empty() {
        let text = match (view.live, it.filter.is_empty()) {
            (None, _) => view.word(Word::Asking).to_owned(),
            (Some(_), true) => view.say(Sentence::NoBatches, &[]),
            (Some(_), false) => view.say(Sentence::NoMatch, &[("what", it.filter.text())]),
        };
        canvas.wrapped(body, 1, &text, Tone::Plain);
        return;
    }
    let range = it.list.shown(batches.len(), body.height);
    for (row, place) in (0..).zip(range) {
        let batch = batches[place];
        let chosen = it.chosen.as_deref() == Some(batch.name.as_str());
        line(batch, chosen, view, canvas, body, row, &columns);
    }
}

fn heads<'w>(it: &Batches, view: &View<'w>, width: u16) -> Vec<(&'w str, Tone)> {
    let by = |sort: Sort| if it.sort == sort { Tone::Key } else { Tone::Dim };
    let w = |word: Word| view.word(word);
    let name = (w(Word::Batch), by(Sort::Name));
    let title = (w(Word::Title), Tone::Dim);
    let state = (w(Word::ColState), by(Sort::Urgent));
    let sent = (w(Word::ColSent), Tone::Dim);
    let failed = (w(Word::ColFailed), Tone::Dim);
    let left = (w(Word::ColLeft), by(Sort::Left));
    let progress = (w(Word::ColProgress), Tone::Dim);
    let done = (w(Word::ColDone), Tone::Dim);
    let none = ("", Tone::Dim);
    if width < 70 {
        return vec![none, name, left, sent, failed];
    }
    if width < 100 {
        return vec![none, name, title, state, left, sent, failed, progress, done];
    }
    let kind = (w(Word::Kind), Tone::Dim);
    let ready = (w(Word::ColReady), by(Sort::Left));
    let sending = (w(Word::ColSending), Tone::Dim);
    vec![none, name, kind, title, state, ready, sending, sent, failed, progress, done]
}

fn line(
    batch: &LiveBatch,
    chosen: bool,
    view: &View<'_>,
    canvas: &mut Canvas<'_>,
    area: Rect,
    row: u16,
    columns: &[Column],
) {
    let counts = &batch.counts;
    let base = if chosen { Tone::Chosen } else { Tone::Plain };
    let tone = |other: Tone| if chosen { Tone::Chosen } else { other };
    if chosen {
        canvas.tint(area, row, Tone::Chosen);
    }
    let mark = match (chosen, batch.needs.is_empty()) {
        (_, false) => "!",
        (true, true) => ">",
        (false, true) => " ",
    };
    let mark = (mark, tone(if batch.needs.is_empty() { Tone::Plain } else { Tone::Warn }));
    let (sent, failed) = (n(counts.sent), n(counts.failed));
    let failed_tone = tone(if counts.failed > 0 { Tone::Bad } else { Tone::Dim });
    let left_count = n(counts.left());
    if area.width < 70 {
        let texts = [
            mark,
            (batch.name.as_str(), base),
            (left_count.as_str(), base),
            (sent.as_str(), base),
            (failed.as_str(), failed_tone),
        ];
        return canvas.cells(area, row, columns, &texts);
    }
    let state = view.word(words::batch_state(batch.state));
    let state = (state, tone(state_tone(batch)));
    let eta = show::eta(batch, view);
    let bar = show::bar(canvas, counts, if area.width < 100 { 8 } else { 12 });
    let ready = n(counts.ready);
    let sending = match counts.unknown {
        0 => n(counts.sending),
        unknown => format!("{}({unknown}?)", n(counts.sending)),
    };
    let sending_tone = tone(if counts.unknown > 0 { Tone::Doubt } else { Tone::Plain });
    let (name, title) = ((batch.name.as_str(), base), (batch.title.as_str(), base));
    let sent = (sent.as_str(), base);
    let failed = (failed.as_str(), failed_tone);
    let bar = (bar.as_str(), tone(Tone::Good));
    let eta = (eta.as_str(), base);
    if area.width < 100 {
        let left = (left_count.as_str(), sending_tone);
        let texts = [mark, name, title, state, left, sent, failed, bar, eta];
        return canvas.cells(area, row, columns, &texts);
    }
    let kind = (batch.kind.as_str(), tone(Tone::Dim));
    let (ready, sending) = ((ready.as_str(), base), (sending.as_str(), sending_tone));
    let texts = [mark, name, kind, title, state, ready, sending, sent, failed, bar, eta];
    canvas.cells(area, row, columns, &texts);
}

fn state_tone(batch: &LiveBatch) -> Tone {
    match batch.state {
        BatchState::Running => Tone::Good,
        BatchState::Paused => Tone::Warn,
        BatchState::Draft | BatchState::Scheduled => Tone::Plain,
        BatchState::Done | BatchState::Cancelled => Tone::Dim,
    }
}

/// Shows the batch under the cursor: its sum, its speed, and what happened last.
fn detail(batch: &LiveBatch, view: &View<'_>, canvas: &mut Canvas<'_>, area: Rect) {
    canvas.rule(area, 0, &format!("{}  {}", batch.name, batch.title));
    let area = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
    show::sum(batch, view, canvas, area, 0);
    show::speed(batch, view, canvas, area, 1);
    show::why(batch, view, canvas, area, 2);
    let news = if area.height > 8 {
        let graph = Rect { y: area.y + 3, height: 6, ..area };
        show::graph(batch, view, canvas, graph);
        9
    } else {
        3
    };
    for (row, entry) in (news..area.height).zip(view.live.map_or(&[][..], |live| &live.news)) {
        show::entry(entry, view, canvas, area, row);
    }
}
