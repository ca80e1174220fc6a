//! Drawing the form, and below it what the check found.

use ratatui::layout::Rect;

use super::{ENCODINGS, Form, LINES, Line};
use crate::console::canvas::theme::Tone;
use crate::console::canvas::{Canvas, left, right};
use crate::console::field::Field;
use crate::console::message::{Checked, Ticket};
use crate::console::screen::batch::loaded;
use crate::console::screen::{View, n};
use crate::console::show;
use crate::console::words::{Sentence, Word};

pub(super) fn draw(it: &Form, view: &View<'_>, canvas: &mut Canvas<'_>, area: Rect) {
    if it.kinds.is_empty() {
        canvas.wrapped(area, 1, view.word_of(Sentence::NewNoKind), Tone::Warn);
        return;
    }
    canvas.put(area, 0, view.word_of(Sentence::NewHint), Tone::Dim);
    for (row, (line, word)) in (2..).zip(LINES) {
        let active = line == it.at;
        let mark = if active { "> " } else { "  " };
        canvas.put(area, row, mark, Tone::Key);
        let place = Rect { x: area.x + 2, width: area.width.saturating_sub(2), ..area };
        match line {
            Line::Kind => choice(view, canvas, place, row, word, &it.kinds[it.kind], active),
            Line::Encoding => {
                let name = ENCODINGS[it.encoding].unwrap_or("auto");
                choice(view, canvas, place, row, word, name, active);
            }
            Line::Name => show::field(canvas, place, row, view.word(word), &it.name, active),
            Line::Title => show::field(canvas, place, row, view.word(word), &it.title, active),
            Line::Source => show::field(canvas, place, row, view.word(word), &it.source, active),
            Line::Template => template(view, canvas, place, row, &it.template, active),
        }
    }
    let body = Rect { y: area.y + 9, height: area.height.saturating_sub(9), ..area };
    if it.checked.ticket == Ticket::default() {
        return;
    }
    canvas.rule(body, 0, view.word(Word::DoCheck));
    let body = Rect { y: body.y + 1, height: body.height.saturating_sub(1), ..body };
    if it.what != it.wanted() {
        // The form has changed since: what was found is no longer about it.
        canvas.put(body, 0, view.word_of(Sentence::NotYet), Tone::Dim);
        return;
    }
    if let Some(checked) = loaded(&it.checked, view, canvas, body) {
        found(checked, view, canvas, body);
    }
}

fn choice(
    view: &View<'_>,
    canvas: &mut Canvas<'_>,
    area: Rect,
    row: u16,
    word: Word,
    value: &str,
    active: bool,
) {
    let used = canvas.put(area, row, &format!("{}: ", view.word(word)), Tone::Title);
    let value = if active { format!("< {value} >") } else { value.to_owned() };
    canvas.put_at(area, used, row, &value, if active { Tone::Chosen } else { Tone::Plain });
}

fn template(
    view: &View<'_>,
    canvas: &mut Canvas<'_>,
    area: Rect,
    row: u16,
    field: &Field,
    active: bool,
) {
    show::field(canvas, area, row, view.word(Word::Message), field, active);
    if field.is_empty() && !active {
        let used = canvas.width(view.word(Word::Message)) + 2;
        canvas.put_at(area, used, row, view.word(Word::Kind), Tone::Dim);
    }
}

fn found(checked: &Checked, view: &View<'_>, canvas: &mut Canvas<'_>, area: Rect) {
    let body = &checked.body;
    let counts = [
        (Word::LinesRead, body.read, Tone::Plain),
        (Word::New, body.new, Tone::Title),
        (Word::Already, body.already, Tone::Plain),
        (Word::Changed, body.changed, Tone::Doubt),
        (Word::BadLine, body.rejected, Tone::Bad),
        (Word::Duplicate, body.duplicates, Tone::Doubt),
        (Word::SameAddress, body.same_address, Tone::Doubt),
        (Word::DoNotSend, body.suppressed, Tone::Plain),
        (Word::Unbuildable, body.unbuildable, Tone::Bad),
    ];
    let columns = [left(26), right(10)];
    let mut row = 0;
    for (word, count, tone) in counts {
        if count == 0 && !matches!(word, Word::LinesRead | Word::New) {
            continue;
        }
        let place = Rect { width: 38.min(area.width), ..area };
        canvas.cells(place, row, &columns, &[(view.word(word), Tone::Plain), (&n(count), tone)]);
        row += 1;
    }
    let side =
        Rect { x: area.x + 40.min(area.width), width: area.width.saturating_sub(40), ..area };
    source(checked, view, canvas, side);
    for finding in &body.findings {
        if row + 1 >= area.height {
            break;
        }
        let text =
            format!("{}: {} {} {}", finding.line, finding.column, finding.why, finding.value);
        canvas.put(area, row, &text, Tone::Warn);
        row += 1;
    }
    let ready = view.say(Sentence::AskRead, &[("n", &n(body.new)), ("batch", &body.batch)]);
    canvas.put(area, area.height.saturating_sub(1), &format!("F3  {ready}"), Tone::Key);
}

/// Shows how the source was understood, on its own first rows.
fn source(checked: &Checked, view: &View<'_>, canvas: &mut Canvas<'_>, area: Rect) {
    let Some(opened) = &checked.opened else { return };
    let encoding = opened.encoding.as_deref().unwrap_or("-");
    canvas.put(area, 0, &format!("{}: {encoding}", view.word(Word::Encoding)), Tone::Plain);
    for (row, (what, column)) in (1..4).zip(&opened.taken_for) {
        let word = match *what {
            "number" => view.word(Word::Number),
            "address" => view.word(Word::Address),
            _ => view.word(Word::Recipient),
        };
        canvas.put(area, row, &format!("{word}: {column}"), Tone::Plain);
    }
    for (row, sample) in (4..8).zip(&opened.samples) {
        canvas.put(area, row, &sample.join(" | "), Tone::Dim);
    }
}
