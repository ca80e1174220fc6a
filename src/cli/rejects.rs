//! `ittsu rejects`: queue jobs that could not become a row.

use super::error::{CliError, ExitCode};
use super::shell::Shell;
use super::table::{self, Side};
use crate::ops::by;
use crate::ops::rejects::Which;

/// Queue jobs that could not become a row, and why
///
/// They never block the jobs behind them, and wait here for a person.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    pub action: Action,
}

#[derive(Debug, clap::Subcommand)]
pub enum Action {
    /// Show the list
    List {
        /// Only jobs of this kind
        #[arg(long, value_name = "K")]
        kind: Option<String>,

        /// Print one JSON document instead of text
        #[arg(long)]
        json: bool,
    },
    /// Show one job as it came
    Show {
        /// Its number in the list
        #[arg(value_name = "ID")]
        id: i64,

        /// Print one JSON document instead of text
        #[arg(long)]
        json: bool,
    },
    /// Take jobs in once more, after what was wrong is put right
    Retry(Change),
    /// Forget jobs; they stay in the journal
    Drop(Change),
}

/// Which jobs, and why.
#[derive(Debug, clap::Args)]
pub struct Change {
    /// Their numbers in the list
    #[arg(value_name = "ID", required_unless_present = "all", conflicts_with = "all")]
    pub ids: Vec<i64>,

    /// All of them
    #[arg(long)]
    pub all: bool,

    /// With --all: only jobs of this kind
    #[arg(long, value_name = "K", requires = "all")]
    pub kind: Option<String>,

    /// Why
    #[arg(long, value_name = "TEXT")]
    pub reason: Option<String>,

    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

pub async fn run(args: Args, shell: &mut Shell) -> Result<ExitCode, CliError> {
    let (is_retry, change) = match args.action {
        Action::List { kind, json } => return list(kind.as_deref(), json, shell).await,
        Action::Show { id, json } => return show(id, json, shell).await,
        Action::Retry(change) => (true, change),
        Action::Drop(change) => (false, change),
    };
    let (ops, operator) = shell.change().await?;
    let which = if change.all { Which::All(change.kind) } else { Which::These(change.ids) };
    let by = by(&operator, change.reason.as_deref());
    let (verb, done) = if is_retry {
        ("taken in", ops.retry_rejects(&which, by).await?)
    } else {
        ("forgotten", ops.drop_rejects(&which, by).await?)
    };
    shell.changed(&ops, change.json, verb, done)
}

async fn list(kind: Option<&str>, json: bool, shell: &mut Shell) -> Result<ExitCode, CliError> {
    let ops = shell.look().await?;
    let body = ops.rejects(kind).await?;
    if json {
        shell.printer.json(&ops.document("rejects", body))?;
        return Ok(ExitCode::Done);
    }
    if body.rejects.is_empty() {
        shell.printer.say("No rejected job waits.");
        return Ok(ExitCode::Done);
    }
    let heads = [
        ("ID", Side::Right),
        ("KIND", Side::Left),
        ("KEY", Side::Left),
        ("TIMES", Side::Right),
        ("SINCE", Side::Left),
        ("WHY", Side::Left),
    ];
    let rows = body.rejects.into_iter().map(|reject| {
        let times = reject.times.to_string();
        vec![reject.id.to_string(), reject.kind, reject.key, times, reject.first_at, reject.why]
    });
    table::print(&mut shell.printer, &heads, rows)?;
    Ok(ExitCode::Done)
}

async fn show(id: i64, json: bool, shell: &mut Shell) -> Result<ExitCode, CliError> {
    let ops = shell.look().await?;
    let reject = ops.reject(id).await?;
    if json {
        shell.printer.json(&ops.document("reject", reject))?;
        return Ok(ExitCode::Done);
    }
    shell.printer.line(&reject.why)?;
    shell.printer.line(&reject.job)?;
    Ok(ExitCode::Done)
}
