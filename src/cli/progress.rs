//! How far a long command has come: a line that moves on a terminal, a line every 10 s elsewhere.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::printer::{Printer, aside};
use crate::ops::words::thousands;

/// How often a line is printed where nobody watches a terminal.
pub const EVERY: Duration = Duration::from_secs(10);

/// The lines of a source that were read so far.
#[derive(Debug)]
pub struct Reading {
    bar: ProgressBar,
    /// None on a terminal, and where nobody wants to hear anything.
    plain: Option<Mutex<Plain>>,
    silent: bool,
    began: Instant,
}

/// When the last line was printed, where there is no terminal.
#[derive(Debug)]
struct Plain {
    last: Instant,
}

impl Reading {
    /// Begins; a program that reads a document wants to hear nothing.
    pub fn begin(printer: &Printer, json: bool) -> Self {
        let silent = json || printer.is_quiet();
        let terminal = printer.talk_is_terminal() && !silent;
        let target =
            if terminal { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target);
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
            bar.set_style(style);
        }
        let now = Instant::now();
        let plain = (!terminal && !silent).then(|| Mutex::new(Plain { last: now }));
        Self { bar, plain, silent, began: now }
    }

    /// Tells how far it is.
    pub fn read(&self, lines: i64) {
        let seconds = self.began.elapsed().as_secs_f64().max(0.001);
        #[expect(clippy::cast_precision_loss, reason = "a speed is for people")]
        let speed = lines as f64 / seconds;
        #[expect(clippy::cast_possible_truncation, reason = "no source has so many lines a second")]
        let speed = thousands(speed as i64);
        let text = format!("Lines read: {}, {speed}/s", thousands(lines));
        let Some(plain) = &self.plain else {
            self.bar.set_message(text);
            return self.bar.tick();
        };
        let Ok(mut plain) = plain.lock() else { return };
        if plain.last.elapsed() >= EVERY {
            plain.last = Instant::now();
            aside(&text);
        }
    }

    /// Says lines above the progress.
    pub fn say(&self, lines: &[String]) {
        if !self.silent {
            self.bar.suspend(|| lines.iter().for_each(|line| aside(line)));
        }
    }

    /// Takes the progress line away.
    pub fn end(&self) {
        self.bar.finish_and_clear();
    }
}
