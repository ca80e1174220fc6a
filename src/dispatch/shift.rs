//! What everything shares that works under one identity.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

use crate::clock::Clock;
use crate::compose::message_id::Codec;
use crate::domain::retry::Jitter;
use crate::ledger::Ledger;
use crate::ledger::workers::Registered;
use crate::shutdown::Shutdown;

use super::errand::{Errand, Errands};
use super::outcome_file::Kept;
use super::progress::{Teller, Why};
use super::pulse::Pulse;
use super::recorder::Desk;
use super::settings::Settings;
use super::step_file::{Slot, StepFile};
use super::tally::Tally;

/// One identity at work: from registering to leaving, or to being taken for lost.
#[derive(Debug)]
pub(super) struct Shift {
    pub(super) me: Registered,
    pub(super) settings: Arc<Settings>,
    pub(super) ledger: Ledger,
    pub(super) clock: Clock,
    /// Asked when this shift has to end, for whatever reason.
    pub(super) shutdown: Shutdown,
    pub(super) pulse: Arc<Pulse>,
    pub(super) desk: Desk,
    pub(super) errands: Errands,
    pub(super) codec: Codec,
    pub(super) tally: Arc<Tally>,
    pub(super) teller: Teller,
    steps: StepFile,
    steps_path: PathBuf,
    /// Ends that are neither in the ledger nor will be before this process ends.
    unrecorded: AtomicUsize,
    /// Numbers of the step file that no connection uses.
    slots: Mutex<Vec<usize>>,
    chance: Mutex<fastrand::Rng>,
    why: Mutex<Option<Why>>,
    look: Notify,
    /// Living workers, this one included.
    living: AtomicUsize,
}

/// The parts a shift is put together from.
pub(super) struct Parts {
    pub(super) me: Registered,
    pub(super) settings: Arc<Settings>,
    pub(super) ledger: Ledger,
    pub(super) clock: Clock,
    pub(super) shutdown: Shutdown,
    pub(super) pulse: Arc<Pulse>,
    pub(super) desk: Desk,
    pub(super) errands: Errands,
    pub(super) codec: Codec,
    pub(super) tally: Arc<Tally>,
    pub(super) teller: Teller,
    pub(super) steps: StepFile,
    pub(super) steps_path: PathBuf,
    pub(super) connections: usize,
}

impl Shift {
    pub(super) fn new(parts: Parts) -> Self {
        let seed = parts.settings.seed ^ parts.me.worker.0.unsigned_abs();
        Self {
            me: parts.me,
            settings: parts.settings,
            ledger: parts.ledger,
            clock: parts.clock,
            shutdown: parts.shutdown,
            pulse: parts.pulse,
            desk: parts.desk,
            errands: parts.errands,
            codec: parts.codec,
            tally: parts.tally,
            teller: parts.teller,
            steps: parts.steps,
            steps_path: parts.steps_path,
            unrecorded: AtomicUsize::new(0),
            slots: Mutex::new((0..parts.connections).rev().collect()),
            chance: Mutex::new(fastrand::Rng::with_seed(seed)),
            why: Mutex::new(None),
            look: Notify::new(),
            living: AtomicUsize::new(1),
        }
    }

    /// Reports whether nothing new may begin.
    pub(super) fn is_over(&self) -> bool {
        self.shutdown.is_draining() || self.pulse.health().is_final()
    }

    /// Ends the shift for this reason; the first reason stays.
    pub(super) fn end(&self, why: Why) {
        self.why.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(why);
        if !self.shutdown.is_draining() {
            self.shutdown.ask();
        }
    }

    /// Returns why the shift ended by itself, if it did.
    pub(super) fn why(&self) -> Option<Why> {
        self.why.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn jitter(&self) -> Jitter {
        Jitter(self.chance.lock().unwrap_or_else(PoisonError::into_inner).f64())
    }

    /// Counts ends that could not be recorded; their rows are in doubt.
    pub(super) fn not_recorded(&self, ends: u32) {
        self.unrecorded.fetch_add(ends as usize, Ordering::Relaxed);
        self.tally.in_doubt(u64::from(ends));
    }

    pub(super) fn unrecorded(&self) -> usize {
        self.unrecorded.load(Ordering::Relaxed)
    }

    pub(super) fn steps_path(&self) -> PathBuf {
        self.steps_path.clone()
    }

    /// Hands in what an answer said that came too late to be recorded.
    pub(super) fn learn(&self, kept: Kept) {
        self.errands.ask(Errand::Learn(kept));
    }

    /// Asks for a look at the batches before the next one is due.
    pub(super) fn look_soon(&self) {
        self.look.notify_one();
    }

    pub(super) async fn look_asked(&self) {
        self.look.notified().await;
    }

    pub(super) fn living(&self) -> usize {
        self.living.load(Ordering::Relaxed).max(1)
    }

    pub(super) fn set_living(&self, living: usize) {
        self.living.store(living, Ordering::Relaxed);
    }

    /// Takes a place in the step file for a connection.
    pub(super) fn take_slot(&self) -> Option<(usize, Slot)> {
        let number = self.slots.lock().unwrap_or_else(PoisonError::into_inner).pop()?;
        Some((number, self.steps.slot(number)))
    }

    pub(super) fn free_slot(&self, number: usize) {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner).push(number);
    }
}
