//! `ittsu start`: a draft becomes a send.

use super::args;
use super::error::{CliError, ExitCode};
use super::shell::Shell;
use super::trouble::confirming;
use crate::domain::name::BatchName;
use crate::ops::by;
use crate::ops::start::{Built, StartBody, StartWish};
use crate::ops::when;
use crate::ops::words::thousands;

/// Let workers take a batch
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The batch
    #[arg(value_name = "BATCH", value_parser = args::batch)]
    pub batch: BatchName,

    /// How many rows are ready to be sent
    #[arg(long, value_name = "COUNT", value_parser = args::count)]
    pub confirm: Option<u64>,

    /// When: RFC 3339, or local time as in 2026-11-30T18:00
    #[arg(long, value_name = "TIME")]
    pub at: Option<String>,

    /// Start although messages of so many rows cannot be built; those rows fail
    #[arg(long, value_name = "COUNT", value_parser = args::count)]
    pub leave_unbuildable: Option<u64>,

    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

pub async fn run(args: Args, shell: &mut Shell) -> Result<ExitCode, CliError> {
    let (ops, operator) = shell.change().await?;
    let at = args.at.as_deref().map(|at| when::parse(at, &ops.settings.timezone)).transpose()?;
    let body = confirming(shell, args.confirm, "--confirm COUNT", async |confirm| {
        let wish = StartWish {
            batch: args.batch.clone(),
            confirm,
            at,
            leave_unbuildable: args.leave_unbuildable,
            built: Built::NotYet,
        };
        ops.start(wish, by(&operator, None)).await
    })
    .await?;
    if args.json {
        shell.printer.json(&ops.document("start", body))?;
    } else {
        tell(&body, shell);
        tell_who_sends(&body, shell);
        if body.what == "nothing_to_do" && at.is_some() {
            shell
                .printer
                .say(&format!("The time was not taken: {} is started already.", body.batch));
        }
    }
    Ok(ExitCode::Done)
}

/// Says what a start came to.
pub(super) fn tell(body: &StartBody, shell: &mut Shell) {
    let name = &body.batch;
    let n = thousands(i64::try_from(body.matched).unwrap_or(i64::MAX));
    let line = match (body.what, &body.at) {
        ("scheduled", Some(at)) => format!("{name} starts {at}: {n} people."),
        ("paused", _) => format!(
            "{name} is started with {n} people, but its kind is paused: nothing goes out yet."
        ),
        ("nothing_to_do", _) => nothing_to_do(body),
        _ => format!("{name} is started: {n} people."),
    };
    shell.printer.say(&line);
}

/// Says that nobody takes what waits.
fn tell_who_sends(body: &StartBody, shell: &mut Shell) {
    if body.workers == 0 && body.ready > 0 {
        shell.printer.say("Nobody is sending. Start a worker: ittsu work");
    }
}

fn nothing_to_do(body: &StartBody) -> String {
    let unknown = match body.unknown {
        0 => String::new(),
        n => format!(", {} unknown", thousands(n)),
    };
    format!(
        "Nothing to do: {} sent, {} failed, {} waiting{unknown}.",
        thousands(body.sent),
        thousands(body.failed),
        thousands(body.ready + body.sending - body.unknown)
    )
}
