//! `ittsu work`: a worker.

use super::error::{CliError, ExitCode};
use super::shell::Shell;
use super::working::{self, Goal, Talk};
use crate::ops::work::{Serve, Until};

/// Run a worker: it sends what was started
///
/// Any number may run, on any machine that reaches the ledger.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// End when nothing is left, or everything left is paused
    #[arg(long)]
    pub until_idle: bool,

    /// With --until-idle: end when nothing is due now instead of waiting for retries
    #[arg(long, requires = "until_idle")]
    pub no_wait: bool,

    /// Only batches of this kind; may be given several times
    #[arg(long, value_name = "K")]
    pub kind: Vec<String>,
}

pub async fn run(args: Args, shell: &mut Shell) -> Result<ExitCode, CliError> {
    // A worker is nobody: under systemd there is no operator, and it writes no journal.
    shell.refuse_if_read_only()?;
    let ops = shell.look().await?;
    let serve =
        if args.kind.is_empty() { Serve::Everything } else { Serve::Kinds(args.kind.clone()) };
    let until = match (args.until_idle, args.no_wait) {
        (false, _) => Until::Forever,
        (true, false) => Until::Idle,
        (true, true) => Until::NothingDue,
    };
    let done = working::run(&ops, Goal { serve, until, talk: Talk::Aloud }, shell).await?;
    working::tell(&done, shell);
    let unknown = match until {
        Until::Forever => 0,
        Until::Idle | Until::NothingDue => working::unknown_now(&ops, &args.kind).await?,
    };
    Ok(done.code(done.finished.counts.failed > 0 || done.paused || unknown > 0))
}
