//! The console, opened: where it stands, who sits at it, and what its terminal can show.

use std::ffi::OsString;
use std::io::{self, IsTerminal as _};

use super::error::{CliError, ExitCode};
use super::shell::Shell;
use crate::config::{Language, Settings};
use crate::console::{self, Facts, Opening, Surroundings, Tools};
use crate::domain::name::BatchName;
use crate::ops::Ops;
use crate::shutdown::Shutdown;

/// Opens the console, at a batch if one is named.
pub(super) async fn run(
    batch: Option<&BatchName>,
    shell: &mut Shell,
) -> Result<ExitCode, CliError> {
    let ops = match shell.look().await {
        Err(err) if is_first_time(shell) => {
            return Err(err.hint(
                "`ittsu init` sets up, `ittsu demo` shows everything with nothing to set up",
            ));
        }
        opened => opened?,
    };
    if let Some(batch) = batch {
        // A name that is none is said here, where it can be read.
        ops.batch(batch).await?;
    }
    let facts = facts(&ops, shell);
    let mut worker = vec![OsString::from("work")];
    if let Some(file) = &ops.settings.file {
        worker.extend(["--config".into(), file.into()]);
    }
    if let Some(ledger) = &shell.global.ledger {
        worker.extend(["--ledger".into(), ledger.into()]);
    }
    let tools = Tools { worker, log: ops.state_dir.join("worker.log"), clean: false };
    let opening = Opening {
        facts,
        batch: batch.map(ToString::to_string),
        tools,
        surroundings: surroundings(shell),
    };
    let code = sit(&ops, opening).await;
    ops.close().await;
    code
}

/// Reports whether nothing is configured here yet.
fn is_first_time(shell: &Shell) -> bool {
    let settings = shell.settings_in_silence();
    shell.global.ledger.is_none() && settings.is_ok_and(|settings| settings.file.is_none())
}

/// Runs the console until it is closed or the process is asked to end.
pub(super) async fn sit(ops: &Ops, opening: Opening) -> Result<ExitCode, CliError> {
    let shutdown = Shutdown::default();
    let listening = shutdown.clone().listen();
    let failed = |err: io::Error| CliError::failed("the terminal failed").because(&err);
    tokio::select! {
        ended = console::open(ops.clone(), opening, shutdown.clone()) => ended.map_err(failed)?,
        heard = listening => heard.map_err(failed)?,
    }
    Ok(match shutdown.signal() {
        None => ExitCode::Done,
        Some(2) => ExitCode::Interrupted,
        Some(_) => ExitCode::Terminated,
    })
}

/// Reports whether a person sits at a terminal that can show the console.
pub(super) fn is_possible() -> bool {
    let term = std::env::var("TERM").unwrap_or_default();
    io::stdin().is_terminal() && io::stdout().is_terminal() && !matches!(&*term, "" | "dumb")
}

/// Returns what never changes while the console is open.
pub(super) fn facts(ops: &Ops, shell: &Shell) -> Facts {
    let settings = &ops.settings;
    Facts {
        language: language(settings, shell),
        label: settings.label.clone(),
        place: ops.place(),
        operator: shell.operator().ok(),
        read_only: shell.global.read_only,
        demo: false,
        zone: settings.timezone.clone(),
        kinds: settings.kinds.keys().cloned().collect(),
    }
}

/// Returns the language: a flag, a variable or the file names it, else the locale does.
fn language(settings: &Settings, shell: &Shell) -> Language {
    let named =
        settings.shown.iter().any(|shown| shown.key == "language" && shown.origin != "default");
    if shell.global.lang.is_some() || named {
        return shell.global.lang.unwrap_or(settings.language);
    }
    match locale().get(..2) {
        Some("ja") => Language::Ja,
        Some("ko") => Language::Ko,
        _ => Language::En,
    }
}

/// Returns the locale of messages, by the usual order of variables.
fn locale() -> String {
    let variables = ["LC_ALL", "LC_CTYPE", "LANG"];
    let mut set = variables.into_iter().filter_map(|name| std::env::var(name).ok());
    set.find(|value| !value.is_empty()).unwrap_or_default()
}

/// Returns what the variables say about the terminal.
pub(super) fn surroundings(shell: &Shell) -> Surroundings {
    let variable = |name| std::env::var(name).ok().filter(|value: &String| !value.is_empty());
    let locale = locale();
    let lower = locale.to_lowercase();
    let no_color =
        variable("NO_COLOR").is_some() || shell.global.color == super::args::ColorChoice::Never;
    Surroundings {
        no_color: no_color && shell.global.color != super::args::ColorChoice::Always,
        theme: variable("ITTSU_THEME"),
        ascii: variable("ITTSU_ASCII").is_some(),
        utf8: lower.contains("utf-8") || lower.contains("utf8"),
        east_asian: ["ja", "ko", "zh"].iter().any(|language| lower.starts_with(language)),
        width: variable("ITTSU_WIDTH"),
        term: variable("TERM").unwrap_or_default(),
        depth: variable("COLORTERM").unwrap_or_default(),
        ground: variable("COLORFGBG").unwrap_or_default(),
    }
}
