//! One line for a chat.

use std::io::{self, Write};

use super::mask::Addresses;
use super::summary::{Listing, Missing, Summary, batch_state_name};
use super::words::{percent, thousands};
use super::{Options, Writer, when};
use crate::domain::batch::BatchState;
use crate::domain::text::visible;

pub(super) struct Lines<'w> {
    options: Options,
    out: &'w mut dyn Write,
}

impl<'w> Lines<'w> {
    pub(super) fn new(options: Options, out: &'w mut dyn Write) -> Self {
        Self { options, out }
    }
}

impl Writer for Lines<'_> {
    fn batch(&mut self, batch: &Summary) -> io::Result<()> {
        let zone = &self.options.zone;
        let counts = &batch.counts;
        let title = if batch.title.is_empty() { &batch.batch } else { &batch.title };
        write!(
            self.out,
            "[{}] {}: {} of {} sent ({} %), {} failed, {} unknown, {} left.",
            when::minute(batch.as_of, zone),
            visible(title),
            thousands(counts.sent),
            thousands(counts.total()),
            percent(counts.sent, counts.total()),
            thousands(counts.failed),
            thousands(counts.unknown),
            thousands(batch.left()),
        )?;
        match batch.done_about() {
            Some(eta) => write!(
                self.out,
                " {:.0}/min, done about {}.",
                batch.rate_per_minute,
                when::near(eta, batch.as_of, zone)
            )?,
            // Without a speed the state says why nothing more can be promised.
            None if batch.state == BatchState::Running => {}
            None => write!(self.out, " {}.", batch_state_name(batch.state))?,
        }
        if let Some(because) = &batch.paused_because {
            write!(self.out, " {}.", Addresses(self.options.privacy).text(because))?;
        }
        if let Some(disagreement) = batch.disagreement() {
            write!(self.out, " {disagreement}.")?;
        }
        writeln!(self.out)
    }

    fn row(&mut self, _: &Listing) -> io::Result<()> {
        Ok(())
    }

    fn left_out(&mut self, _: &Missing) -> io::Result<()> {
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
