//! `ittsu doctor`: what is wrong, and what to do about it.

use super::error::{CliError, ExitCode};
use super::printer::Paint;
use super::shell::Shell;
use crate::domain::text::visible;
use crate::ops::Open;
use crate::ops::Ops;
use crate::ops::doctor::{CheckBody, DoctorBody, State, configuration};
use crate::ops::document::document;
use crate::ops::error::Trouble;

/// Check everything and say what to do
///
/// Configuration, ledger, sums, state folder, name, connection, certificate and login of every
/// transport. Sends nothing.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

pub async fn run(args: Args, shell: &mut Shell) -> Result<ExitCode, CliError> {
    let settings = shell.settings_in_silence()?;
    let zone = settings.timezone.clone();
    let mut body = DoctorBody::default();
    configuration(&settings, &mut body);
    // A doctor changes nothing; but only a ledger that may be written can be swept.
    let open = if shell.global.read_only { Open::ReadOnly } else { Open::Existing };
    let mut code = ExitCode::Failed;
    match Ops::open(settings, shell.clock.clone(), open).await {
        Ok(ops) => ops.doctor(&mut body).await,
        Err(err) => {
            if err.trouble == Trouble::Away {
                code = ExitCode::Unreachable;
            }
            let err = CliError::from(err);
            body.add("ledger", State::Stop, err.to_string(), err.hint);
        }
    }
    if body.stop == 0 {
        code = ExitCode::Done;
    }
    if args.json {
        shell.printer.json(&document("doctor", shell.clock.now(), &zone, body))?;
        return Ok(code);
    }
    for check in &body.checks {
        text(check, shell)?;
    }
    shell.printer.line(&format!("ok: {}  LOOK: {}  STOP: {}", body.ok, body.look, body.stop))?;
    Ok(code)
}

fn text(check: &CheckBody, shell: &mut Shell) -> Result<(), CliError> {
    let (word, paint) = match check.state {
        State::Ok => ("ok  ", Paint::Good),
        State::Look => ("LOOK", Paint::Look),
        State::Stop => ("STOP", Paint::Bad),
    };
    let word = shell.printer.painted(paint, word);
    let line = format!("{word}  {}: {}", visible(&check.what), visible(&check.says));
    shell.printer.line(&line)?;
    match &check.advice {
        Some(advice) => shell.printer.line(&format!("      {}", visible(advice))),
        None => Ok(()),
    }
}
