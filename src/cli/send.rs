//! `ittsu send`: the whole job in one command.

use std::fmt::Write as _;

use serde::Serialize;

use super::args::{self, SourceArgs};
use super::error::{CliError, ExitCode};
use super::import;
use super::progress::Reading;
use super::shell::Shell;
use super::start;
use super::working::{self, Done, Goal, Talk};
use crate::domain::name::BatchName;
use crate::domain::text::visible;
use crate::ops::Ops;
use crate::ops::by;
use crate::ops::error::Trouble;
use crate::ops::import::Existing;
use crate::ops::import::{ImportBody, Mode};
use crate::ops::send::{Prepared, SendWish};
use crate::ops::start::StartBody;
use crate::ops::status::{BatchBody, Check};
use crate::ops::words::thousands;
use crate::ops::work::{Serve, Until};

/// Import, start and work until idle: the whole job in one command
///
/// The same command again resumes what it started, or says that there is nothing to do.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Kind of mail, from the configuration
    #[arg(value_name = "KIND")]
    pub kind: String,

    /// The batch
    #[arg(value_name = "BATCH", value_parser = args::batch)]
    pub batch: BatchName,

    #[command(flatten)]
    pub source: SourceArgs,

    /// Take new contents for rows that are there already and were never attempted
    #[arg(long)]
    pub replace: bool,

    /// How many rows are to be sent, of this batch
    #[arg(long, value_name = "COUNT", value_parser = args::count)]
    pub confirm: Option<u64>,

    /// Start although messages of so many rows cannot be built; those rows fail
    #[arg(long, value_name = "COUNT", value_parser = args::count)]
    pub leave_unbuildable: Option<u64>,

    /// End when nothing is due now instead of waiting for retries
    #[arg(long)]
    pub no_wait: bool,

    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

/// `ittsu/send/1`.
#[derive(Debug, Serialize)]
struct SendBody {
    import: ImportBody,
    start: StartBody,
    batch: Option<BatchBody>,
    /// Why the worker ended; none when there was nothing to do.
    ended: Option<&'static str>,
}

pub async fn run(args: Args, shell: &mut Shell) -> Result<ExitCode, CliError> {
    let (ops, operator) = shell.change_or_create().await?;
    let prepared = Box::pin(prepare(&args, &ops, &operator, shell)).await?;
    let start = &prepared.start;
    if !args.json {
        import::tell(&prepared.imported, shell);
        if start.what != "nothing_to_do" {
            start::tell(start, shell);
        }
    }
    // Rows of another worker are waited for as well: the job is done when they are.
    let is_idle = start.ready + start.sending - start.unknown == 0;
    let mut done = None;
    if !is_idle {
        let until = if args.no_wait { Until::NothingDue } else { Until::Idle };
        let talk = if args.json { Talk::Silent } else { Talk::Aloud };
        done = Some(
            working::run(&ops, Goal { serve: Serve::Batch(prepared.id), until, talk }, shell)
                .await?,
        );
    }
    let status = ops.status(Some(&args.batch), Check::CountsOnly).await?;
    let batch = status.batches.into_iter().next();
    let partly = batch.as_ref().is_some_and(is_partly);
    let code = match &done {
        Some(done) => done.code(partly),
        None => ExitCode::Done,
    };
    if args.json {
        let ended = done.as_ref().map(Done::why);
        let body = SendBody { import: prepared.import, start: prepared.start, batch, ended };
        shell.printer.json(&ops.document("send", body))?;
        return Ok(code);
    }
    if let Some(done) = &done {
        working::tell(done, shell);
    } else {
        start::tell(&prepared.start, shell);
    }
    if let Some(batch) = &batch {
        tell_result(batch, shell)?;
    }
    Ok(code)
}

/// Reports whether somebody did not get the mail, or nobody knows.
fn is_partly(batch: &BatchBody) -> bool {
    batch.failed > 0 || batch.unknown > 0 || batch.state == "paused"
}

/// Imports and starts, asking for the count where a person can be asked.
async fn prepare(
    args: &Args,
    ops: &Ops,
    operator: &str,
    shell: &mut Shell,
) -> Result<Prepared, CliError> {
    let existing = if args.replace { Existing::Replace } else { Existing::Keep };
    let mode = Mode::Write { confirm: None };
    let mut request =
        import::request(args.kind.clone(), args.batch.clone(), &args.source, existing, mode)?;
    let mut wish = SendWish { confirm: args.confirm, leave_unbuildable: args.leave_unbuildable };
    loop {
        let reading = Reading::begin(&shell.printer, args.json);
        let watch = |step| import::hear(&reading, step);
        let done = ops.prepare(&request, wish, by(operator, None), &watch).await;
        reading.end();
        let err = match done {
            Ok(prepared) => return Ok(prepared),
            Err(err) => err,
        };
        match &err.trouble {
            Trouble::Unsure(candidates) => {
                request.reading.encoding = Some(import::ask_encoding(candidates, shell)?);
            }
            Trouble::Unconfirmed { found } if wish.confirm.is_none() => {
                let flag = format!("--confirm {found}");
                wish.confirm = Some(shell.confirmed(None, &err.message, &flag)?);
            }
            _ => return Err(err.into()),
        }
    }
}

/// Says where everybody of the batch stands now.
fn tell_result(batch: &BatchBody, shell: &mut Shell) -> Result<(), CliError> {
    let mut line = format!(
        "{}: {} of {} sent, {} failed, {} waiting, {} unknown.",
        batch.batch,
        thousands(batch.sent),
        thousands(batch.total),
        thousands(batch.failed),
        thousands(batch.ready + batch.sending - batch.unknown),
        thousands(batch.unknown),
    );
    // Writing to a string cannot fail.
    if batch.assumed > 0 {
        let _ = write!(line, " Assumed: {}.", thousands(batch.assumed));
    }
    if batch.maybe_twice > 0 {
        let _ = write!(line, " May have got two: {}.", thousands(batch.maybe_twice));
    }
    shell.printer.line(&line)?;
    if batch.unknown > 0 {
        shell.printer.say(&format!("To decide about the unknown: ittsu unknown {}", batch.batch));
    }
    if let Some(why) = &batch.paused_because {
        shell.printer.say(&format!("Paused: {}", visible(why)));
    }
    Ok(())
}
