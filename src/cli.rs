//! The command line: arguments in, one `ops` call, words and an exit code out.
//!
//! Promise: names, flags, JSON and exit codes are a contract. Data goes to standard output, talk
//! to standard error, and nobody else prints.
//! Absent on purpose: no rule about mail; a verb never touches the ledger except through `ops`.
//! Start reading at `args` (what all commands share), then any verb: one file each, its `Args`
//! (whose doc comments are the help) above its `run`.

use std::ffi::OsString;
use std::thread;
use std::time::Duration;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use tokio::runtime;

use crate::clock::Clock;
use crate::config::nearest;
use crate::domain::name::{BatchName, COMMANDS};

pub mod args;
pub mod cancel;
pub mod change;
pub mod completions;
pub mod config;
mod console;
pub mod demo;
pub mod discard;
pub mod doctor;
pub mod error;
pub mod find;
pub mod import;
pub mod init;
pub mod journal;
mod log;
pub mod man;
pub mod mark;
pub mod open;
pub mod pause;
pub mod preview;
pub mod printer;
pub mod progress;
pub mod rejects;
pub mod report;
pub mod resend;
pub mod resume;
pub mod rows;
pub mod send;
pub mod shell;
pub mod show;
pub mod start;
pub mod status;
pub mod suppress;
pub mod table;
pub mod test;
pub mod trouble;
pub mod undo;
pub mod unknown;
pub mod words;
pub mod work;
pub mod workers;
pub mod working;

use args::Global;
use error::{CliError, ExitCode};
use shell::Shell;

/// Sends mail to many people and can say, for every one of them, whether it went out.
///
/// A batch is one notice or one day of order mail. Read people in (import), look (preview, test),
/// start it, and let workers send it (work); `send` does all of that in one command.
///
/// Without a command it opens the console, where all of this can be watched and done; without a
/// terminal it prints the status of every batch.
#[derive(Debug, Parser)]
#[command(name = "ittsu", version, max_term_width = 100, disable_help_subcommand = true)]
#[command(override_usage = "ittsu [OPTIONS] [BATCH]\n       ittsu [OPTIONS] <COMMAND>")]
#[command(after_long_help = EXIT_CODES)]
pub struct Cli {
    /// Open the console at this batch; without a terminal, show it as `status BATCH` does
    batch: Option<String>,

    #[command(flatten)]
    global: Global,

    #[command(subcommand)]
    command: Option<Command>,
}

const EXIT_CODES: &str = "\
Exit codes:
  0    done, or nothing to do
  1    failed
  2    usage or configuration
  3    partly: some rows failed or are unknown
  4    no such batch, row or file
  5    refused: the count or the state is not what was confirmed
  6    a confirmation is needed, and nobody can be asked
  7    ledger or mail server not reachable: try again
  8    `status --check` found something that needs a person
  130  stopped by SIGINT, state clean
  143  stopped by SIGTERM or SIGHUP, state clean";

/// Every verb, in the order in which an operator meets them.
#[derive(Debug, Subcommand)]
pub enum Command {
    Demo(demo::Args),
    Init(init::Args),
    Doctor(doctor::Args),
    Config(config::Args),
    Import(Box<import::Args>),
    Preview(preview::Args),
    Test(test::Args),
    Start(start::Args),
    Send(Box<send::Args>),
    Work(work::Args),
    Workers(workers::Args),
    Status(status::Args),
    Pause(pause::Args),
    Resume(resume::Args),
    Change(change::Args),
    Cancel(cancel::Args),
    Discard(discard::Args),
    Rows(rows::Args),
    Show(show::Args),
    Find(find::Args),
    Unknown(unknown::Args),
    Mark(mark::Args),
    Resend(resend::Args),
    Undo(undo::Args),
    Report(report::Args),
    Suppress(suppress::Args),
    Rejects(rejects::Args),
    Journal(journal::Args),
    Completions(completions::Args),
    Man(man::Args),
}

/// Runs the process's own arguments and returns how it ended.
pub fn main() -> std::process::ExitCode {
    run(std::env::args_os(), Clock::System).into()
}

/// Runs one command line.
pub fn run(args: impl IntoIterator<Item = OsString>, clock: Clock) -> ExitCode {
    let cli = match parse(args) {
        Ok(cli) => cli,
        Err(err) => return printer::show_usage(&err),
    };
    let full_screen = match &cli.command {
        None => console::is_possible(),
        Some(Command::Demo(args)) => args.opens_console(),
        Some(_) => false,
    };
    // On a full screen the log would run over what is drawn.
    let _log = if full_screen { None } else { log::begin(&cli.global) };
    let mut shell = Shell::new(cli.global, clock);
    let (task, word) = match (cli.command, cli.batch) {
        (Some(command), None) => (Task::Do(command), None),
        (None, None) if full_screen => (Task::Console(None), None),
        (None, None) => (Task::Do(Command::Status(status::Args::default())), None),
        (None, Some(word)) => match at_batch(&word) {
            Ok(batch) if full_screen => (Task::Console(Some(batch)), Some(word)),
            Ok(batch) => {
                let args = status::Args { batch: Some(batch), ..status::Args::default() };
                (Task::Do(Command::Status(args)), Some(word))
            }
            Err(err) => return shell.printer.fail(&err),
        },
        (Some(_), Some(word)) => {
            let message = format!("`{word}` stands before the command");
            return shell.printer.fail(&CliError::usage(message));
        }
    };
    let built = runtime::Builder::new_multi_thread().worker_threads(threads()).enable_all().build();
    let runtime = match built {
        Ok(runtime) => runtime,
        Err(err) => return shell.printer.fail(&CliError::failed("no runtime").because(&err)),
    };
    let ended = runtime.block_on(async {
        match task {
            Task::Do(command) => command.run(&mut shell).await,
            Task::Console(batch) => Box::pin(console::run(batch.as_ref(), &mut shell)).await,
        }
    });
    // A thread may still wait for standard input, which nobody is going to close.
    runtime.shutdown_timeout(Duration::from_millis(200));
    match ended {
        Ok(code) => code,
        Err(err) => shell.printer.fail(&hinted(err, word.as_deref())),
    }
}

/// Returns how many threads run tasks: half of the machine's cores.
///
/// The other half is for the ledger's own threads and the servers beside us. A mail waits for others
/// nearly all the time, and waking a second thread for each answer costs more than it brings: with
/// one on two cores, 8 connections send a fifth more, 64 as much as with two.
pub fn threads() -> usize {
    thread::available_parallelism().map_or(1, |cores| cores.get().div_ceil(2))
}

/// What one command line asks for.
enum Task {
    Do(Command),
    Console(Option<BatchName>),
}

/// Adds the command a person may have meant, where a lone word named no batch.
fn hinted(err: CliError, word: Option<&str>) -> CliError {
    let near = word.and_then(|word| nearest(word, COMMANDS));
    match near {
        Some(near) if err.code == ExitCode::NotFound => {
            err.hint(format!("did you mean the command `ittsu {near}`?"))
        }
        _ => err,
    }
}

fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Cli, clap::Error> {
    let matches = Cli::command().try_get_matches_from(args)?;
    Cli::from_arg_matches(&matches)
}

/// Reads a lone word as a batch's name.
fn at_batch(word: &str) -> Result<BatchName, CliError> {
    word.parse::<BatchName>().map_err(|err| {
        CliError::usage(format!("there is no command `{word}`, and no batch can have that name"))
            .because(&err)
            .hint("`ittsu --help` lists the commands")
    })
}

impl Command {
    async fn run(self, shell: &mut Shell) -> Result<ExitCode, CliError> {
        match self {
            Self::Demo(args) => Box::pin(demo::run(args, shell)).await,
            Self::Init(args) => init::run(args, shell).await,
            Self::Doctor(args) => doctor::run(args, shell).await,
            Self::Config(args) => config::run(&args, shell),
            Self::Import(args) => Box::pin(import::run(*args, shell)).await,
            Self::Preview(args) => preview::run(args, shell).await,
            Self::Test(args) => test::run(args, shell).await,
            Self::Start(args) => start::run(args, shell).await,
            Self::Send(args) => Box::pin(send::run(*args, shell)).await,
            Self::Work(args) => Box::pin(work::run(args, shell)).await,
            Self::Workers(args) => workers::run(args, shell).await,
            Self::Status(args) => status::run(args, shell).await,
            Self::Pause(args) => pause::run(args, shell).await,
            Self::Resume(args) => resume::run(args, shell).await,
            Self::Change(args) => change::run(args, shell).await,
            Self::Cancel(args) => cancel::run(args, shell).await,
            Self::Discard(args) => discard::run(args, shell).await,
            Self::Rows(args) => rows::run(args, shell).await,
            Self::Show(args) => show::run(args, shell).await,
            Self::Find(args) => find::run(args, shell).await,
            Self::Unknown(args) => unknown::run(args, shell).await,
            Self::Mark(args) => mark::run(args, shell).await,
            Self::Resend(args) => resend::run(args, shell).await,
            Self::Undo(args) => undo::run(args, shell).await,
            Self::Report(args) => report::run(args, shell).await,
            Self::Suppress(args) => suppress::run(args, shell).await,
            Self::Rejects(args) => rejects::run(args, shell).await,
            Self::Journal(args) => journal::run(args, shell).await,
            Self::Completions(args) => completions::run(&args, shell),
            Self::Man(args) => man::run(&args, shell),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definitions_fit_together() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_is_a_word_that_no_batch_may_have() {
        for command in Cli::command().get_subcommands() {
            assert!(COMMANDS.contains(&command.get_name()), "{command}");
        }
    }
}
