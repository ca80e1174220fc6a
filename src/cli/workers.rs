//! `ittsu workers`: who sends, and how to stop one.

use super::error::{CliError, ExitCode};
use super::shell::Shell;
use super::table::{self, Side};
use crate::ops::words::thousands;

/// Show who works, on what; or ask one to stop
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(subcommand)]
    pub action: Option<Action>,

    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, clap::Subcommand)]
pub enum Action {
    /// Ask a worker to finish what is on the wire and end
    Stop {
        /// The worker's number, as `ittsu workers` shows it
        id: i64,

        /// Print one JSON document instead of text
        #[arg(long)]
        json: bool,
    },
}

pub async fn run(args: Args, shell: &mut Shell) -> Result<ExitCode, CliError> {
    if let Some(Action::Stop { id, json }) = args.action {
        let (ops, operator) = shell.change().await?;
        let change = ops.stop_worker(id, &operator).await?;
        return shell.changed(&ops, json, "asked to stop", change);
    }
    let ops = shell.look().await?;
    let body = ops.workers().await?;
    if args.json {
        shell.printer.json(&ops.document("workers", body))?;
        return Ok(ExitCode::Done);
    }
    if body.workers.is_empty() {
        shell.printer.say("Nobody works. Start a worker: ittsu work");
        return Ok(ExitCode::Done);
    }
    let heads = [
        ("ID", Side::Right),
        ("HOST", Side::Left),
        ("PID", Side::Right),
        ("SINCE", Side::Left),
        ("LAST HEARD", Side::Left),
        ("STATE", Side::Left),
        ("KINDS", Side::Left),
        ("ROWS", Side::Right),
        ("BATCHES", Side::Left),
    ];
    let rows = body.workers.into_iter().map(|worker| {
        let kinds =
            if worker.kinds.is_empty() { "all".to_owned() } else { worker.kinds.join(", ") };
        vec![
            worker.id.to_string(),
            worker.host,
            worker.pid.to_string(),
            worker.started_at,
            worker.beat_at,
            worker.state.to_owned(),
            kinds,
            thousands(worker.rows),
            worker.batches.join(", "),
        ]
    });
    table::print(&mut shell.printer, &heads, rows)?;
    Ok(ExitCode::Done)
}
