//! `ittsu mark`: a person decides what became of rows.

use super::args::{self, SELECT_FLAGS, Select};
use super::error::{CliError, ExitCode};
use super::shell::Shell;
use super::trouble::confirming;
use super::words::{in_words, selection};
use crate::domain::name::BatchName;
use crate::domain::plan::Act;
use crate::ops::Ops;
use crate::ops::by;
use crate::ops::settle::{Decided, Decision, Mode};

/// Decide by hand that rows count as sent or as failed
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    pub action: Action,
}

#[derive(Debug, clap::Subcommand)]
pub enum Action {
    /// Count rows as sent: from unknown, ready, failed
    Sent(Mark),
    /// Count rows as failed: from unknown, ready, sent (assumed)
    Failed(Mark),
}

/// Which rows, why, and how many.
#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("which").required(true).multiple(true).args(SELECT_FLAGS)))]
pub struct Mark {
    /// The batch
    #[arg(value_name = "BATCH", value_parser = args::batch)]
    pub batch: BatchName,

    #[command(flatten)]
    pub select: Select,

    /// Why, for the journal
    #[arg(long, value_name = "TEXT")]
    pub reason: String,

    /// How many rows that is
    #[arg(long, value_name = "COUNT", value_parser = args::count)]
    pub confirm: Option<u64>,

    /// Count, but change nothing
    #[arg(long)]
    pub dry_run: bool,

    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

pub async fn run(args: Args, shell: &mut Shell) -> Result<ExitCode, CliError> {
    let (mark, act, verb) = match args.action {
        Action::Sent(mark) => (mark, Act::MarkSent, "marked sent"),
        Action::Failed(mark) => (mark, Act::MarkFailed, "marked failed"),
    };
    let (ops, operator) = shell.change().await?;
    let decision = Decision {
        batch: mark.batch,
        which: selection(&mark.select)?,
        act,
        to: None,
        words: in_words(&mark.select),
    };
    let by = by(&operator, Some(&mark.reason));
    let decided = if mark.dry_run {
        ops.settle(decision, Mode::DryRun, by).await?
    } else {
        confirming(shell, mark.confirm, "--confirm COUNT", async |confirm| {
            ops.settle(decision.clone(), Mode::Confirmed(confirm), by.clone()).await
        })
        .await?
    };
    tell(shell, &ops, mark.json, mark.dry_run, verb, decided)
}

/// Answers with what a decision changed, or would change.
pub(super) fn tell(
    shell: &mut Shell,
    ops: &Ops,
    json: bool,
    dry_run: bool,
    verb: &str,
    decided: Decided,
) -> Result<ExitCode, CliError> {
    let dry = if dry_run { format!("would be {verb}") } else { verb.to_owned() };
    let code = shell.changed(ops, json, &dry, decided.change)?;
    if !json {
        decided.consequences.iter().for_each(|line| shell.printer.say(line));
    }
    Ok(code)
}
