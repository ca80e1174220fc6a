//! `ittsu find`: everything about one person.

use super::error::{CliError, ExitCode};
use super::printer::Paint;
use super::shell::Shell;
use crate::domain::text::visible;

/// Find a person in all batches: did they get it?
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Address, key, Message-ID or provider id, exactly
    #[arg(value_name = "WHO")]
    pub who: String,

    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

pub async fn run(args: Args, shell: &mut Shell) -> Result<ExitCode, CliError> {
    let ops = shell.look().await?;
    let body = ops.find(&args.who).await?;
    let nobody = body.rows.is_empty() && body.left_out.is_empty() && body.suppressed.is_empty();
    let code = if nobody { ExitCode::NotFound } else { ExitCode::Done };
    if args.json {
        shell.printer.json(&ops.document("find", body))?;
        return Ok(code);
    }
    let verdict = shell.printer.painted(Paint::Bold, &body.verdict);
    shell.printer.line(&verdict)?;
    for found in &body.rows {
        let row = &found.row;
        let line = format!("  {}  {}  {}  {}", found.batch, row.key, row.address, row.state);
        shell.printer.line(&visible(&line))?;
        shell.printer.line(&format!("    {}", found.verdict))?;
    }
    for line in &body.left_out {
        let batch = line.batch.as_deref().unwrap_or_default();
        let line = format!(
            "  {batch}  {}  {}  left out: {} (line {} of {})",
            line.key, line.address, line.why, line.line, line.source
        );
        shell.printer.line(&visible(&line))?;
    }
    for entry in &body.suppressed {
        let kind = entry.kind.as_deref().unwrap_or("every kind");
        let line = format!(
            "  {}  do not send ({kind}), since {} by {}: {}",
            entry.address, entry.at, entry.operator, entry.reason
        );
        shell.printer.line(&visible(&line))?;
    }
    Ok(code)
}
