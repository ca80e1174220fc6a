//! Drawing what lies over a screen. No frame at the right: wide text could tear it.

use ratatui::layout::Rect;

use crate::console::app::App;
use crate::console::canvas::Canvas;
use crate::console::canvas::theme::Tone;
use crate::console::dialog::{Button, Confirm, Dialog, Stage, judged};
use crate::console::overlay::{self, Overlay};
use crate::console::screen::View;
use crate::console::show;
use crate::console::words::{Sentence, Word};

pub(super) fn draw(
    overlay: &Overlay,
    app: &App,
    view: &View<'_>,
    canvas: &mut Canvas<'_>,
    whole: Rect,
) {
    match overlay {
        Overlay::Ask(dialog) => ask(dialog, view, canvas, whole),
        Overlay::Read { title, lines, first } => {
            let area = boxed(canvas, whole, whole.width.saturating_sub(6), whole.height, title);
            let mut row = 0;
            for line in lines.iter().skip(*first) {
                if row >= area.height {
                    break;
                }
                row += canvas.wrapped(area, row, line, Tone::Plain).max(1);
            }
        }
        Overlay::Palette { words, cursor } => {
            let title = view.word(Word::Palette);
            let area = boxed(canvas, whole, 64, 18, title);
            show::field(canvas, area, 0, ":", words, true);
            let found = overlay::palette(app.top().name(), words.text(), view.language());
            let body = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
            let first = cursor.saturating_sub(usize::from(body.height).saturating_sub(1));
            for (row, (place, binding)) in
                (0..body.height).zip(found.iter().enumerate().skip(first))
            {
                let tone = if place == *cursor { Tone::Chosen } else { Tone::Plain };
                if place == *cursor {
                    canvas.tint(body, row, Tone::Chosen);
                }
                canvas.put(body, row, view.word(binding.word), tone);
                canvas.put_right(body, row, &binding.spelled(), tone);
            }
        }
    }
}

/// Empties a box in the middle, draws its rules, and returns what is inside.
fn boxed(canvas: &mut Canvas<'_>, whole: Rect, width: u16, height: u16, title: &str) -> Rect {
    let width = width.min(whole.width);
    let height = height.min(whole.height.saturating_sub(2));
    let area = Rect {
        x: whole.x + (whole.width - width) / 2,
        y: whole.y + (whole.height - height) / 2,
        width,
        height,
    };
    canvas.clear(area);
    canvas.rule(area, 0, title);
    canvas.rule(area, height.saturating_sub(1), "");
    let upright = canvas.look.glyphs.upright();
    for row in 1..height.saturating_sub(1) {
        canvas.put(area, row, upright, Tone::Dim);
    }
    Rect {
        x: area.x + 2,
        y: area.y + 1,
        width: width.saturating_sub(3),
        height: height.saturating_sub(2),
    }
}

fn ask(dialog: &Dialog, view: &View<'_>, canvas: &mut Canvas<'_>, whole: Rect) {
    let width = 76.min(whole.width);
    let inside = width.saturating_sub(3);
    let title = canvas.wrap(&dialog.title, inside);
    let shell = dialog.shell();
    let shell_lines = if shell.is_empty() { 0 } else { canvas.wrap(&shell, inside).len() + 2 };
    let means = canvas.wrap(&dialog.means, inside).len();
    let ready = if dialog.stage == Stage::Reason { dialog.ready.len() } else { 0 };
    let reason = if dialog.reason.is_some() { 2 + ready } else { 0 };
    let height = title.len() + dialog.facts.len() + means + shell_lines + reason + 8;
    let height = u16::try_from(height).unwrap_or(u16::MAX);
    let area = boxed(canvas, whole, width, height, "");
    let mut row = 0;
    for line in &title {
        canvas.put(area, row, line, Tone::Title);
        row += 1;
    }
    row += 1;
    for (word, value) in &dialog.facts {
        let used = canvas.put(area, row, &format!("{}  ", view.word(*word)), Tone::Dim);
        canvas.put_at(area, used.max(14), row, value, Tone::Plain);
        row += 1;
    }
    row += canvas.wrapped(area, row, &dialog.means, Tone::Warn);
    row += 1;
    row = reason_lines(dialog, view, canvas, area, row);
    row = confirm_lines(dialog, view, canvas, area, row);
    if !shell.is_empty() {
        canvas.put(area, row + 1, &format!("{}:", view.word(Word::SameCommand)), Tone::Dim);
        canvas.wrapped(area, row + 2, &shell, Tone::Key);
    }
    canvas.put_right(
        area,
        area.height.saturating_sub(1),
        view.word_of(Sentence::EscBack),
        Tone::Dim,
    );
}

fn reason_lines(
    dialog: &Dialog,
    view: &View<'_>,
    canvas: &mut Canvas<'_>,
    area: Rect,
    row: u16,
) -> u16 {
    let Some(field) = &dialog.reason else { return row };
    let asked = dialog.stage == Stage::Reason;
    let mut row = row;
    if asked {
        canvas.put(area, row, view.word_of(Sentence::ChooseReason), Tone::Plain);
        row += 1;
        for (digit, ready) in (1..).zip(&dialog.ready) {
            canvas.put(area, row, &format!("  {digit}  {}", view.word(*ready)), Tone::Key);
            row += 1;
        }
    }
    show::field(canvas, area, row, view.word(Word::Reason), field, asked);
    row + 1
}

fn confirm_lines(
    dialog: &Dialog,
    view: &View<'_>,
    canvas: &mut Canvas<'_>,
    area: Rect,
    row: u16,
) -> u16 {
    if dialog.stage == Stage::Reason {
        return row;
    }
    match &dialog.confirm {
        Confirm::Count { typed, .. } => {
            canvas.put(area, row, view.word_of(Sentence::TypeCount), Tone::Plain);
            let used = canvas.put(area, row + 1, "> ", Tone::Key);
            let used = used + canvas.put_at(area, used, row + 1, typed, Tone::Title);
            canvas.put_at(area, used, row + 1, " ", Tone::Chosen);
            let judged = judged(&dialog.confirm).map_or("", |sentence| view.word_of(sentence));
            canvas.put_at(area, used + 4, row + 1, judged, Tone::Dim);
        }
        Confirm::Button(button) => {
            let tone = |this: Button| if this == *button { Tone::Chosen } else { Tone::Plain };
            let act = format!("[ {} ]", view.word(dialog.verb()));
            canvas.spans(
                area,
                row,
                &[
                    (view.word_of(Sentence::SafeButton), tone(Button::Back)),
                    ("   ", Tone::Plain),
                    (&act, tone(Button::Do)),
                ],
            );
            canvas.put(area, row + 1, view.word_of(Sentence::Choose), Tone::Dim);
        }
    }
    row + 2
}
