//! `ittsu config`: what is set, and where each value comes from.

use serde::Serialize;

use super::error::{CliError, ExitCode};
use super::printer::Paint;
use super::shell::Shell;
use crate::config::check::Severity;
use crate::domain::text::visible;
use crate::ops::document::document;

/// Show each setting and where it comes from, or check them
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Show each value and where it comes from; secrets are shown as ***
    Show {
        /// Print one JSON document instead of text
        #[arg(long)]
        json: bool,
    },
    /// Check the configuration and the files it names; nothing is connected to
    Check,
}

/// Everything that is set, for programs.
#[derive(Serialize)]
struct Everything {
    file: Option<String>,
    values: Vec<Entry>,
}

#[derive(Serialize)]
struct Entry {
    key: String,
    value: String,
    origin: String,
}

pub fn run(args: &Args, shell: &mut Shell) -> Result<ExitCode, CliError> {
    match args.action {
        Action::Show { json: true } => show_json(shell),
        Action::Show { json: false } => show(shell),
        Action::Check => check(shell),
    }
}

fn show_json(shell: &mut Shell) -> Result<ExitCode, CliError> {
    let settings = shell.settings()?;
    let file = settings.file.as_deref().map(|file| file.display().to_string());
    let values = settings.shown.into_iter().map(|shown| Entry {
        key: shown.key,
        value: shown.value,
        origin: shown.origin,
    });
    let everything = Everything { file, values: values.collect() };
    let now = shell.clock.now();
    shell.printer.json(&document("config", now, &settings.timezone, everything))?;
    Ok(ExitCode::Done)
}

fn show(shell: &mut Shell) -> Result<ExitCode, CliError> {
    let settings = shell.settings()?;
    if settings.file.is_none() {
        shell.printer.say("There is no configuration file; `ittsu init` writes one.");
    }
    let width = settings.shown.iter().map(|shown| shown.key.len()).max().unwrap_or(0);
    for shown in &settings.shown {
        let origin = shell.printer.painted(Paint::Dim, &format!("({})", visible(&shown.origin)));
        let (key, value) = (&shown.key, visible(&shown.value));
        shell.printer.line(&format!("{key:width$}  {value}  {origin}"))?;
    }
    Ok(ExitCode::Done)
}

fn check(shell: &mut Shell) -> Result<ExitCode, CliError> {
    // What `look` finds includes the warnings of the reading.
    let settings = shell.settings_in_silence()?;
    let findings = settings.look();
    for finding in &findings {
        let mark = match finding.severity {
            Severity::Stop => shell.printer.painted(Paint::Bad, "STOP"),
            Severity::Look => shell.printer.painted(Paint::Look, "LOOK"),
        };
        shell.printer.line(&format!("{mark}  {}", finding.problem))?;
    }
    if findings.iter().any(|finding| finding.severity == Severity::Stop) {
        return Err(CliError::usage("mail cannot be sent with this configuration"));
    }
    let (kinds, transports) = (settings.kinds.len(), settings.transports.len());
    let file = settings
        .file
        .as_deref()
        .map_or_else(|| "no file".to_owned(), |file| file.display().to_string());
    let mark = shell.printer.painted(Paint::Good, "OK");
    shell
        .printer
        .line(&format!("{mark}    {}: kinds: {kinds}, ways out: {transports}", visible(&file)))?;
    Ok(ExitCode::Done)
}
