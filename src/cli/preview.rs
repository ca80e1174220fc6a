//! `ittsu preview`: what a person will get.

use super::args;
use super::error::{CliError, ExitCode};
use super::printer::Paint;
use super::shell::Shell;
use crate::domain::name::BatchName;
use crate::domain::text::visible;
use crate::ops::preview::{MessageBody, Which};

/// Show real built messages of a batch
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The batch
    #[arg(value_name = "BATCH", value_parser = args::batch)]
    pub batch: BatchName,

    /// The message of this row
    #[arg(long, value_name = "K", conflicts_with = "worst")]
    pub key: Option<String>,

    /// The N messages most likely to look wrong: the longest, those with empty fields
    #[arg(long, value_name = "N")]
    pub worst: Option<u64>,

    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

pub async fn run(args: Args, shell: &mut Shell) -> Result<ExitCode, CliError> {
    let ops = shell.look().await?;
    let which = match (args.key, args.worst) {
        (Some(key), _) => Which::Key(key),
        (None, Some(many)) => Which::Worst(usize::try_from(many).unwrap_or(usize::MAX)),
        (None, None) => Which::First,
    };
    let body = ops.preview(&args.batch, &which).await?;
    let broken = body.messages.iter().any(|message| message.error.is_some());
    let code = if broken { ExitCode::Failed } else { ExitCode::Done };
    if args.json {
        shell.printer.json(&ops.document("preview", body))?;
        return Ok(code);
    }
    for (place, message) in body.messages.iter().enumerate() {
        if place > 0 {
            shell.printer.line("")?;
        }
        text(&body.from, message, shell)?;
    }
    Ok(code)
}

fn text(from: &str, message: &MessageBody, shell: &mut Shell) -> Result<(), CliError> {
    let size = message.size.map(|size| format!("  {size} bytes")).unwrap_or_default();
    let looks = message.looks.as_deref().map(|why| format!("  {}", visible(why)));
    let head = format!("-- {}{size}{}", visible(&message.key), looks.unwrap_or_default());
    let head = shell.printer.painted(Paint::Dim, &head);
    shell.printer.line(&head)?;
    shell.printer.line(&format!("From: {}", visible(from)))?;
    shell.printer.line(&format!("To: {}", visible(&message.to)))?;
    if let Some(error) = &message.error {
        let line =
            shell.printer.painted(Paint::Bad, &format!("cannot be built: {}", visible(error)));
        return shell.printer.line(&line);
    }
    shell
        .printer
        .line(&format!("Subject: {}", visible(message.subject.as_deref().unwrap_or(""))))?;
    shell.printer.line("")?;
    for line in message.text.as_deref().unwrap_or_default().lines() {
        shell.printer.line(&visible(line))?;
    }
    if let Some(html) = &message.html {
        shell
            .printer
            .line(&format!("-- and an HTML part of {} characters", html.chars().count()))?;
    }
    Ok(())
}
