//! `ittsu change`: settings of a batch that exists.

use std::path::PathBuf;

use super::args;
use super::error::{CliError, ExitCode};
use super::shell::Shell;
use crate::domain::name::BatchName;
use crate::domain::policy::OnUnknown;
use crate::domain::rate::Rate;
use crate::ops::by;
use crate::ops::change::ChangeWish;
use crate::ops::when;

const ON_UNKNOWN: &str =
    "What happens when nobody can know: assume_sent, resend, hold, or cause=word,…";

/// Change a batch's settings
///
/// Rate, connections and time whenever; the rest while it is a draft or paused.
#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("what").required(true).multiple(true)))]
pub struct Args {
    /// The batch
    #[arg(value_name = "BATCH", value_parser = args::batch)]
    pub batch: BatchName,

    /// Mails over time, as in 1200/min, 20/s, 50000/day
    #[arg(long, value_name = "R", group = "what")]
    pub rate: Option<Rate>,

    /// Connections at once, of all workers together
    #[arg(long, value_name = "N", group = "what")]
    pub connections: Option<u32>,

    /// When a scheduled batch starts
    #[arg(long, value_name = "TIME", group = "what")]
    pub at: Option<String>,

    /// Another message; it is built for every waiting row first
    #[arg(long, value_name = "FILE", group = "what")]
    pub template: Option<PathBuf>,

    #[arg(long, help = ON_UNKNOWN, value_name = "POLICY", group = "what", value_parser = args::on_unknown)]
    pub on_unknown: Option<OnUnknown>,

    /// Why, for the journal
    #[arg(long, value_name = "TEXT")]
    pub reason: String,

    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

pub async fn run(args: Args, shell: &mut Shell) -> Result<ExitCode, CliError> {
    let (ops, operator) = shell.change().await?;
    let at = args.at.as_deref().map(|at| when::parse(at, &ops.settings.timezone)).transpose()?;
    let wish = ChangeWish {
        rate: args.rate,
        connections: args.connections,
        at,
        template: args.template,
        on_unknown: args.on_unknown,
    };
    let change = ops.change(&args.batch, wish, by(&operator, Some(&args.reason))).await?;
    shell.changed(&ops, args.json, "changed", change)
}
