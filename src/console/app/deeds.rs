//! Deeds: what a confirmation leads to, and what is said when one has ended.

use super::{App, TAKE_BACK};
use crate::console::canvas::theme::Tone;
use crate::console::message::{Deed, Effect, Fault, Outcome};
use crate::console::screen::Screen;
use crate::console::words::Sentence;

impl App {
    /// Hands a confirmed deed on; leaving needs nobody else.
    pub(super) fn confirmed(deed: Deed, effects: &mut Vec<Effect>) {
        match deed {
            Deed::Leave => effects.push(Effect::Quit),
            deed => effects.push(Effect::Do(Box::new(deed))),
        }
    }

    /// Takes back a start that has not happened yet; false if there is none.
    pub(super) fn take_back(&mut self, effects: &mut Vec<Effect>) -> bool {
        let Some((batch, at)) = self.starting.clone() else { return false };
        if at <= self.now {
            return false;
        }
        self.starting = None;
        effects.push(Effect::Do(Box::new(Deed::TakeBack { batch })));
        true
    }

    /// Says what became of a deed, and lets the screens look again.
    pub(super) fn done(
        &mut self,
        deed: &Deed,
        outcome: Result<Outcome, Fault>,
        effects: &mut Vec<Effect>,
    ) {
        effects.push(Effect::Refresh);
        match outcome {
            Err(fault) => {
                let why = match &fault.hint {
                    Some(hint) => format!("{} ({hint})", fault.message),
                    None => fault.message,
                };
                self.say(Sentence::Failure, &[("why", &why)], Tone::Warn);
            }
            Ok(outcome) => {
                self.tell_outcome(deed, &outcome);
                if let (Deed::Start { batch, .. }, true) = (deed, outcome.change.changed > 0) {
                    self.starting = Some((batch.clone(), self.now + TAKE_BACK));
                }
                self.tour = self.tour.map(|tour| tour.did(deed));
                if let Some(Screen::Unknown(desk)) = self.stack.last_mut() {
                    desk.wrote(outcome.change.journal);
                }
                self.on_every(effects, |screen, scene| screen.done(deed, scene));
            }
        }
    }

    fn tell_outcome(&mut self, deed: &Deed, outcome: &Outcome) {
        let language = self.facts.language;
        let change = &outcome.change;
        let changed = change.changed.to_string();
        let note = outcome.note.as_str();
        match deed {
            Deed::Pause { batch } | Deed::TakeBack { batch } if change.changed > 0 => {
                self.say(Sentence::PausedNow, &[("batch", batch)], Tone::Plain);
            }
            Deed::StartWorker => {
                self.say(Sentence::WorkerStarted, &[("n", note)], Tone::Plain);
            }
            Deed::Save { .. } => self.say(Sentence::Saved, &[("file", note)], Tone::Plain),
            Deed::Test { to, .. } => {
                let (outcome, reply) = note.split_once(' ').unwrap_or((note, ""));
                let values = [("to", to.as_str()), ("outcome", outcome), ("reply", reply)];
                self.say(Sentence::TestSent, &values, Tone::Plain);
            }
            Deed::Read(_) => {
                let n = self.facts.language;
                let text = Sentence::NewReady.with(n, &[("n", &changed)]);
                self.tell(text, Tone::Plain);
            }
            _ if change.changed == 0 => {
                let why: Vec<&str> = change.why_left.iter().map(|left| left.why.as_str()).collect();
                let why = why.join(", ");
                let what = if why.is_empty() { deed.name().text(language) } else { why.as_str() };
                self.say(Sentence::NothingToDo, &[("what", what)], Tone::Plain);
            }
            _ if change.left > 0 => {
                let why: Vec<String> = change
                    .why_left
                    .iter()
                    .map(|left| format!("{} {}", left.rows, left.why))
                    .collect();
                let (left, why) = (change.left.to_string(), why.join(", "));
                let values = [("done", changed.as_str()), ("left", &left), ("why", &why)];
                self.say(Sentence::Changed, &values, Tone::Warn);
            }
            _ => {
                let what = deed.name().text(language);
                let mut text = Sentence::Done.with(language, &[("what", what), ("n", &changed)]);
                if let (Deed::Settle { .. }, Some(entry)) = (deed, change.journal) {
                    let undo = Sentence::CanUndo.with(language, &[("n", &entry.to_string())]);
                    text = format!("{text} {undo}");
                }
                self.tell(text, Tone::Good);
            }
        }
    }
}
