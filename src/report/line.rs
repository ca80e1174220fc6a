//! One line for a chat.

use std::io::{self, Write};

use super::mask::Addresses;
use super::phrases::{Phrase, batch_state_in};
use super::summary::{Listing, Missing, Summary};
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
        let language = self.options.language;
        let values = [
            ("time", when::minute(batch.as_of, zone)),
            ("title", visible(title).into_owned()),
            ("sent", thousands(counts.sent)),
            ("total", thousands(counts.total())),
            ("pct", percent(counts.sent, counts.total())),
            ("failed", thousands(counts.failed)),
            ("unknown", thousands(counts.unknown)),
            ("left", thousands(batch.left())),
        ];
        let values = values.each_ref().map(|(name, value)| (*name, value.as_str()));
        self.out.write_all(Phrase::Line.with(language, &values).as_bytes())?;
        let more = |what: &str| Phrase::LineMore.with(language, &[("what", what)]);
        let rest = match batch.done_about() {
            Some(eta) => {
                let rate = format!("{:.0}", batch.rate_per_minute);
                let eta = when::near(eta, batch.as_of, zone);
                Phrase::LineEta.with(language, &[("rate", &rate), ("eta", &eta)])
            }
            // Without a speed the state says why nothing more can be promised.
            None if batch.state == BatchState::Running => String::new(),
            None => more(batch_state_in(batch.state, language)),
        };
        self.out.write_all(rest.as_bytes())?;
        if let Some(because) = &batch.paused_because {
            let why = Addresses(self.options.privacy).text(because);
            let said = Phrase::LineBecause.with(language, &[("why", &why)]);
            self.out.write_all(said.as_bytes())?;
        }
        if let Some(disagreement) = batch.disagreement(language) {
            self.out.write_all(more(&disagreement).as_bytes())?;
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
