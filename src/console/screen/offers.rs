//! What can be done with a batch as a whole: the questions before it, and their words.

use super::{Scene, n};
use crate::console::dialog::Dialog;
use crate::console::message::Deed;
use crate::console::screen::Want;
use crate::console::words::{Sentence, Word};
use crate::domain::batch::BatchState;
use crate::ops::live::LiveBatch;

/// Pauses at once: stopping mail never waits for an answer.
pub(super) fn pause(batch: &LiveBatch, scene: &mut Scene<'_>) {
    if !scene.may_change() {
        return;
    }
    match batch.state {
        BatchState::Running | BatchState::Scheduled => {
            scene.wants.push(Want::Do(Deed::Pause { batch: batch.name.clone() }));
        }
        _ => scene.warn(Sentence::NotPaused, &[("batch", &batch.name)]),
    }
}

/// Asks whether a paused batch goes on.
pub(super) fn resume(batch: &LiveBatch, scene: &mut Scene<'_>) {
    if !scene.may_change() {
        return;
    }
    if batch.state != BatchState::Paused {
        return scene.warn(Sentence::NotResumable, &[("batch", &batch.name)]);
    }
    let deed = Deed::Resume { batch: batch.name.clone() };
    let title = scene.view.say(Sentence::AskResume, &[("batch", &batch.name)]);
    let means = scene.view.say(Sentence::ResumeMeans, &[("n", &n(batch.counts.ready))]);
    let why = scene
        .view
        .say(Sentence::PausedBy, &[("who", &batch.paused_by), ("why", &batch.paused_because)]);
    let dialog = about(batch, scene, title, 1, deed)
        .fact(Word::Paused, why)
        .means(means)
        .command(format!("ittsu resume {}", batch.name));
    scene.confirm(dialog);
}

/// Asks for the number of people before a batch starts.
pub(super) fn start(batch: &LiveBatch, scene: &mut Scene<'_>) {
    if !scene.may_change() {
        return;
    }
    let never = batch.started_at.is_none();
    let may = matches!(batch.state, BatchState::Draft)
        || (never && matches!(batch.state, BatchState::Paused));
    if !may || batch.counts.ready == 0 {
        return scene.warn(Sentence::NotStartable, &[("batch", &batch.name)]);
    }
    let count = u64::try_from(batch.counts.ready).unwrap_or(0);
    let deed = Deed::Start { batch: batch.name.clone(), count };
    let title = scene.view.say(Sentence::AskStart, &[("batch", &batch.name)]);
    let means = scene.view.say(Sentence::StartMeans, &[]);
    // The number is typed even for one person: mail that has left cannot be taken back.
    let dialog = about(batch, scene, title, count, deed)
        .counting(count)
        .fact(Word::Recipients, n(batch.counts.ready))
        .fact(Word::Routes, batch.via.clone())
        .fact(Word::Speed, limit(batch, scene))
        .means(means)
        .command(format!("ittsu start {} --confirm {count}", batch.name));
    scene.confirm(dialog);
}

/// Asks before a batch ends for good.
pub(super) fn cancel(batch: &LiveBatch, scene: &mut Scene<'_>) {
    if !scene.may_change() {
        return;
    }
    let open =
        matches!(batch.state, BatchState::Running | BatchState::Paused | BatchState::Scheduled);
    if !open {
        return scene.warn(Sentence::NotFinal, &[("batch", &batch.name)]);
    }
    let count = u64::try_from(batch.counts.ready).unwrap_or(0);
    let deed = Deed::Cancel { batch: batch.name.clone(), count, reason: String::new() };
    let title = scene.view.say(Sentence::AskCancel, &[("batch", &batch.name)]);
    let means = scene.view.say(Sentence::CancelMeans, &[("n", &n(batch.counts.ready))]);
    let command = format!("ittsu cancel {} --confirm {count} --reason \"{{reason}}\"", batch.name);
    let dialog = about(batch, scene, title, count, deed)
        .counting(count)
        .means(means)
        .command(command)
        .with_reason(&[Word::Agreed]);
    scene.confirm(dialog);
}

/// Asks before a draft is deleted.
pub(super) fn discard(batch: &LiveBatch, scene: &mut Scene<'_>) {
    if !scene.may_change() {
        return;
    }
    if batch.state != BatchState::Draft {
        return scene.warn(Sentence::NotStartable, &[("batch", &batch.name)]);
    }
    let count = u64::try_from(batch.counts.total()).unwrap_or(0);
    let deed = Deed::Discard { batch: batch.name.clone() };
    let title = scene.view.say(Sentence::AskDiscard, &[("batch", &batch.name)]);
    let means = scene.view.say(Sentence::DiscardMeans, &[("n", &n(batch.counts.total()))]);
    let dialog = about(batch, scene, title, count, deed)
        .means(means)
        .command(format!("ittsu discard {}", batch.name));
    scene.confirm(dialog);
}

/// Asks whether a worker is started on this machine.
pub(super) fn worker(scene: &mut Scene<'_>) {
    if !scene.may_change() {
        return;
    }
    let title = scene.view.say(Sentence::AskWorker, &[]);
    let means = scene.view.say(Sentence::WorkerMeans, &[]);
    let language = scene.view.language();
    let dialog = Dialog::new(language, title, 1, Deed::StartWorker)
        .fact(Word::Ledger, scene.view.facts.place.clone())
        .means(means)
        .command("ittsu work".to_owned());
    scene.confirm(dialog);
}

/// Begins a dialog about one batch, on the ledger that is open.
fn about(batch: &LiveBatch, scene: &Scene<'_>, title: String, count: u64, deed: Deed) -> Dialog {
    let facts = scene.view.facts;
    let place = match &facts.label {
        Some(label) => format!("{label}  {}", facts.place),
        None => facts.place.clone(),
    };
    Dialog::new(facts.language, title, count, deed)
        .fact(Word::Ledger, place)
        .fact(Word::Title, batch.title.clone())
}

fn limit(batch: &LiveBatch, scene: &Scene<'_>) -> String {
    match batch.limit.as_str() {
        "" => scene.view.word(Word::None).to_owned(),
        limit => limit.to_owned(),
    }
}
