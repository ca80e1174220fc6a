//! Whether everything that sends is well: ledger, routes, workers; and the full check on demand.

use ratatui::layout::Rect;

use super::batch::{Loaded, loaded};
use super::{Scene, View, Want, offers, taken};
use crate::console::canvas::theme::Tone;
use crate::console::canvas::{Canvas, left, right};
use crate::console::dialog::Dialog;
use crate::console::keys::Command;
use crate::console::list::List;
use crate::console::message::{Answer, Ask, Deed, Fault, Ticket};
use crate::console::words::{Sentence, Word};
use crate::ops::doctor::{DoctorBody, State};
use crate::ops::live::LiveWorker;

/// What is well; the cursor stands on a worker.
#[derive(Clone, Debug, Default)]
pub struct Health {
    list: List,
    chosen: Option<i64>,
    doctor: Loaded<DoctorBody>,
}

impl Health {
    pub(super) fn open(&mut self, scene: &mut Scene<'_>) {
        self.renewed(scene);
    }

    pub(super) fn renewed(&mut self, scene: &mut Scene<'_>) {
        let workers = workers(&scene.view);
        let place = workers.iter().position(|worker| Some(worker.id) == self.chosen);
        self.list.follow(place, workers.len());
        self.chosen = workers.get(self.list.cursor).map(|worker| worker.id);
    }

    pub(super) fn command(&mut self, command: Command, scene: &mut Scene<'_>) {
        let workers = workers(&scene.view);
        if self.list.step(command, workers.len()) {
            self.chosen = workers.get(self.list.cursor).map(|worker| worker.id);
            return;
        }
        match command {
            Command::StartWorker => offers::worker(scene),
            Command::StopWorker => {
                if let Some(id) = self.chosen.filter(|_| scene.may_change()) {
                    let view = &scene.view;
                    let title = view.say(Sentence::AskStopWorker, &[("n", &id.to_string())]);
                    let dialog = Dialog::new(view.language(), title, 1, Deed::StopWorker { id })
                        .means(view.say(Sentence::StopWorkerMeans, &[]))
                        .command(format!("ittsu workers stop {id}"));
                    scene.confirm(dialog);
                }
            }
            Command::Check | Command::Refresh => self.doctor.ticket = scene.ask(Ask::Doctor),
            Command::Back => scene.wants.push(Want::Back),
            _ => {}
        }
    }

    pub(super) fn answer(&mut self, ticket: Ticket, answer: &mut Option<Result<Answer, Fault>>) {
        if let Some(found) = taken(ticket, self.doctor.ticket, answer) {
            self.doctor.found = Some(found.map(|found| match found {
                Answer::Doctor(body) => body,
                _ => DoctorBody::default(),
            }));
        }
    }

    pub(super) fn fits(&mut self, view: &View<'_>) {
        self.list.fits(6, workers(view).len());
    }

    pub(super) fn draw(&self, view: &View<'_>, canvas: &mut Canvas<'_>, area: Rect) {
        let mut row = 0;
        let as_of = view.live.map(|live| view.clock(live.as_of)).unwrap_or_default();
        let as_of = view.say(Sentence::AsOf, &[("time", &as_of)]);
        let place = view.facts.place.as_str();
        let label = format!("{}: ", view.word(Word::Ledger));
        let texts = [
            (label.as_str(), Tone::Title),
            (place, Tone::Plain),
            ("   ", Tone::Plain),
            (&*as_of, Tone::Dim),
        ];
        canvas.spans(area, row, &texts);
        row += 2;
        row = Self::routes(view, canvas, area, row) + 1;
        row = self.workers(view, canvas, area, row) + 1;
        let body = Rect { y: area.y + row, height: area.height.saturating_sub(row), ..area };
        if self.doctor.ticket == Ticket::default() || body.height == 0 {
            return;
        }
        canvas.rule(body, 0, view.word(Word::DoCheck));
        let body = Rect { y: body.y + 1, height: body.height - 1, ..body };
        if let Some(doctor) = loaded(&self.doctor, view, canvas, body) {
            checks(doctor, canvas, body);
        }
    }

    fn routes(view: &View<'_>, canvas: &mut Canvas<'_>, area: Rect, row: u16) -> u16 {
        canvas.rule(area, row, view.word(Word::Routes));
        let routes = view.live.map_or(&[][..], |live| &live.routes);
        if routes.is_empty() {
            canvas.put(area, row + 1, view.word_of(Sentence::NoRoutes), Tone::Dim);
            return row + 2;
        }
        let mut row = row + 1;
        for route in routes {
            let (word, tone) = match route.closed_until {
                Some(_) => (Word::Unreachable, Tone::Bad),
                None => (Word::Alive, Tone::Good),
            };
            let until = route.closed_until.map(|until| {
                format!("  {} {}  {}", view.word(Word::WaitRetry), view.clock(until), route.why)
            });
            let name = format!("{:<20} ", route.name);
            let until = until.unwrap_or_default();
            canvas.spans(
                area,
                row,
                &[(&name, Tone::Plain), (view.word(word), tone), (&until, Tone::Warn)],
            );
            row += 1;
        }
        row
    }

    fn workers(&self, view: &View<'_>, canvas: &mut Canvas<'_>, area: Rect, row: u16) -> u16 {
        canvas.rule(area, row, view.word(Word::Workers));
        let workers = workers(view);
        let body = Rect { y: area.y + row + 1, height: 6.min(area.height), ..area };
        if workers.is_empty() {
            canvas.put(body, 0, view.word(Word::WaitNoWorker), Tone::Warn);
            return row + 2;
        }
        let columns = [left(1), right(5), left(24), right(8), left(12), left(22), left(0)];
        for (line, place) in (0..).zip(self.list.shown(workers.len(), body.height)) {
            let worker = &workers[place];
            let chosen = Some(worker.id) == self.chosen;
            let tone = |other: Tone| if chosen { Tone::Chosen } else { other };
            if chosen {
                canvas.tint(body, line, Tone::Chosen);
            }
            let (word, state_tone) = match (worker.gone, worker.stopping) {
                (true, _) => (Word::NotAnswering, Tone::Bad),
                (false, true) => (Word::Stopping, Tone::Warn),
                (false, false) => (Word::Alive, Tone::Good),
            };
            let heard = format!(
                "{} {}",
                view.word(Word::ColBeat),
                view.age(view.now.since(worker.beat_at))
            );
            let kinds = match worker.kinds.as_slice() {
                [] => view.word(Word::All).to_owned(),
                kinds => kinds.join(", "),
            };
            let texts = [
                (if chosen { ">" } else { " " }, tone(Tone::Plain)),
                (&*worker.id.to_string(), tone(Tone::Plain)),
                (worker.host.as_str(), tone(Tone::Plain)),
                (&*worker.pid.to_string(), tone(Tone::Dim)),
                (view.word(word), tone(state_tone)),
                (heard.as_str(), tone(Tone::Dim)),
                (kinds.as_str(), tone(Tone::Dim)),
            ];
            canvas.cells(body, line, &columns, &texts);
        }
        row + 1 + u16::try_from(workers.len()).unwrap_or(0).min(6)
    }
}

fn workers<'a>(view: &View<'a>) -> &'a [LiveWorker] {
    view.live.map_or(&[], |live| live.workers.as_slice())
}

fn checks(doctor: &DoctorBody, canvas: &mut Canvas<'_>, area: Rect) {
    // What needs somebody comes first.
    let order = |state: State| match state {
        State::Stop => 0,
        State::Look => 1,
        State::Ok => 2,
    };
    let mut sorted: Vec<_> = doctor.checks.iter().collect();
    sorted.sort_by_key(|check| order(check.state));
    let mut row = 0;
    for check in sorted {
        let (word, tone) = match check.state {
            State::Ok => ("ok  ", Tone::Good),
            State::Look => ("LOOK", Tone::Warn),
            State::Stop => ("STOP", Tone::Bad),
        };
        canvas.put(area, row, word, tone);
        let rest = Rect { x: area.x + 6, width: area.width.saturating_sub(6), ..area };
        row += canvas.wrapped(rest, row, &format!("{}: {}", check.what, check.says), Tone::Plain);
        if let Some(advice) = check.advice.as_ref().filter(|_| check.state != State::Ok) {
            row += canvas.wrapped(rest, row, advice, Tone::Dim);
        }
    }
}
