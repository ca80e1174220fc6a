//! The only door to standard output and standard error.
//!
//! Data goes to standard output, talk to standard error. A reader that went away (`| head`) is no
//! error: what follows is dropped, and the command ends with the code it deserves.

use std::io::{self, ErrorKind, IsTerminal, Write};

use serde::Serialize;

use super::args::{ColorChoice, Global};
use super::error::{CliError, ExitCode};
use crate::domain::text::visible;
use crate::report::to_json;

/// How a piece of text is painted; it must read the same without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    Bold,
    Dim,
    Good,
    Look,
    Bad,
}

impl Paint {
    const fn code(self) -> &'static str {
        match self {
            Self::Bold => "1",
            Self::Dim => "2",
            Self::Good => "32",
            Self::Look => "33",
            Self::Bad => "31",
        }
    }
}

/// Prints; knows whether people or programs read.
pub struct Printer {
    data: Stream,
    talk: Stream,
    quiet: bool,
    verbose: u8,
    closed: bool,
}

/// One of the two ways out.
struct Stream {
    out: Box<dyn Write + Send>,
    is_terminal: bool,
    paints: bool,
}

impl Stream {
    fn new(out: impl Write + Send + 'static, is_terminal: bool, color: ColorChoice) -> Self {
        let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let paints = match color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => is_terminal && !plain,
        };
        Self { out: Box::new(out), is_terminal, paints }
    }
}

impl Printer {
    /// Returns the printer of this process.
    pub fn new(global: &Global) -> Self {
        let (data, talk) = (io::stdout(), io::stderr());
        let (reads, hears) = (data.is_terminal(), talk.is_terminal());
        Self {
            data: Stream::new(io::BufWriter::new(data), reads, global.color),
            talk: Stream::new(talk, hears, global.color),
            quiet: global.quiet,
            verbose: global.verbose,
            closed: false,
        }
    }

    /// Prints one line of data.
    pub fn line(&mut self, text: &str) -> Result<(), CliError> {
        self.bytes(text.as_bytes())?;
        self.bytes(b"\n")
    }

    /// Prints data as it is.
    pub fn bytes(&mut self, bytes: &[u8]) -> Result<(), CliError> {
        if self.closed {
            return Ok(());
        }
        let result = self.data.out.write_all(bytes);
        self.judge(result)
    }

    /// Prints one JSON document.
    pub fn json(&mut self, document: &impl Serialize) -> Result<(), CliError> {
        let text = to_json(document)
            .map_err(|err| CliError::failed("the document could not be written").because(&err))?;
        self.line(&text)?;
        self.flush()
    }

    /// Hands over what was printed so far.
    pub fn flush(&mut self) -> Result<(), CliError> {
        if self.closed {
            return Ok(());
        }
        let result = self.data.out.flush();
        self.judge(result)
    }

    /// Reports whether nobody reads the data any more: a long listing may end.
    pub const fn is_closed(&self) -> bool {
        self.closed
    }

    /// Reports whether a person reads the data.
    pub const fn data_is_terminal(&self) -> bool {
        self.data.is_terminal
    }

    /// Reports whether a person reads the talk, so that a progress line may be redrawn.
    pub const fn talk_is_terminal(&self) -> bool {
        self.talk.is_terminal
    }

    /// Reports whether talk was turned off.
    pub const fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Tells the person something, unless they asked for quiet.
    pub fn say(&mut self, text: &str) {
        if !self.quiet {
            self.talk(text);
        }
    }

    /// Tells the person something that only `-v` shows.
    pub fn detail(&mut self, text: &str) {
        if self.verbose > 0 && !self.quiet {
            self.talk(text);
        }
    }

    /// Asks a person something; the answer is typed on the same line.
    pub fn ask(&mut self, question: &str) {
        drop(write!(self.talk.out, "{question}"));
        drop(self.talk.out.flush());
    }

    /// Warns; not even `-q` silences it.
    pub fn warn(&mut self, text: &str) {
        let mark = self.painted_talk(Paint::Look, "warning:");
        self.talk(&format!("{mark} {text}"));
    }

    /// Tells why a command ended without success, and returns its exit code.
    pub fn fail(&mut self, err: &CliError) -> ExitCode {
        // Data first: what was found before the error stands above it.
        drop(self.flush());
        let mark = self.painted_talk(Paint::Bad, "error:");
        self.talk(&format!("{mark} {}", visible(&err.message)));
        for cause in &err.because {
            self.talk(&format!("  because: {}", visible(cause)));
        }
        if let Some(hint) = &err.hint {
            let mark = self.painted_talk(Paint::Bold, "hint:");
            self.talk(&format!("{mark} {}", visible(hint)));
        }
        err.code
    }

    /// Returns `text` painted for standard output, if it is painted at all.
    pub fn painted(&self, paint: Paint, text: &str) -> String {
        paint_if(self.data.paints, paint, text)
    }

    /// Returns `text` painted for standard error, if it is painted at all.
    pub fn painted_talk(&self, paint: Paint, text: &str) -> String {
        paint_if(self.talk.paints, paint, text)
    }

    /// Nobody may be there to listen (a closed terminal); sending goes on all the same.
    fn talk(&mut self, text: &str) {
        // On one terminal, what was printed before stands above it.
        drop(self.flush());
        drop(writeln!(self.talk.out, "{text}"));
        drop(self.talk.out.flush());
    }

    fn judge(&mut self, result: io::Result<()>) -> Result<(), CliError> {
        match result {
            Ok(()) => Ok(()),
            Err(err) if err.kind() == ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(())
            }
            Err(err) => Err(CliError::failed("the output could not be written").because(&err)),
        }
    }
}

impl Drop for Printer {
    fn drop(&mut self) {
        drop(self.flush());
    }
}

fn paint_if(paints: bool, paint: Paint, text: &str) -> String {
    if paints { format!("\x1b[{}m{text}\x1b[0m", paint.code()) } else { text.to_owned() }
}

/// Says a line while the printer is in other hands: what watches a long command.
pub(super) fn aside(text: &str) {
    // Nobody may be there to listen; the command goes on all the same.
    drop(writeln!(io::stderr(), "{text}"));
}

/// Prints help, the version, or what is wrong with the command line.
pub(super) fn show_usage(err: &clap::Error) -> ExitCode {
    // Nothing can be done for a reader that is gone.
    drop(err.print());
    if err.use_stderr() { ExitCode::Usage } else { ExitCode::Done }
}
