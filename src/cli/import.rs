//! `ittsu import`: people from a source into the ledger.

use std::fmt::Write as _;

use super::args::{self, SourceArgs};
use super::error::{CliError, ExitCode};
use super::progress::Reading;
use super::shell::Shell;
use super::words;
use crate::domain::name::BatchName;
use crate::domain::state::State;
use crate::domain::text::visible;
use crate::ops::Ops;
use crate::ops::by;
use crate::ops::error::Candidate;
use crate::ops::error::Trouble;
use crate::ops::import::Existing;
use crate::ops::import::{HowToRead, ImportBody, ImportRequest, Imported, Mode, Opened, Step};
use crate::ops::words::thousands;

/// Read people in, check them, and really build every message
///
/// Running it again adds nothing. Into a batch that was started, new people are added only with
/// --confirm and their number.
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

    /// What an older system's word for the state of a mail means here: done=sent
    ///
    /// The states are ready, sending, sent and failed. What it was sending is unknown here and
    /// waits for a person.
    #[arg(long, value_name = "OLD=NEW", value_parser = args::old_state)]
    pub map_state: Vec<(String, State)>,

    /// Take new contents for rows that are there already and were never attempted
    #[arg(long)]
    pub replace: bool,

    /// Read, check and count, but write nothing
    #[arg(long)]
    pub dry_run: bool,

    /// How many new rows may join a batch that was started
    #[arg(long, value_name = "NEW", value_parser = args::count)]
    pub confirm: Option<u64>,

    /// Print one JSON document instead of text
    #[arg(long)]
    pub json: bool,
}

pub async fn run(args: Args, shell: &mut Shell) -> Result<ExitCode, CliError> {
    let (ops, operator, _rehearsal) = if args.dry_run {
        shell.rehearse().await?
    } else {
        let (ops, operator) = shell.change_or_create().await?;
        (ops, operator, None)
    };
    let mode = if args.dry_run { Mode::DryRun } else { Mode::Write { confirm: args.confirm } };
    let existing = if args.replace { Existing::Replace } else { Existing::Keep };
    let mut request = request(args.kind, args.batch, &args.source, existing, mode)?;
    request.reading.map_state = args.map_state;
    let imported = read_in(&ops, request, &operator, args.json, shell).await?;
    if args.json {
        shell.printer.json(&ops.document("import", imported.body))?;
        return Ok(ExitCode::Done);
    }
    tell(&imported, shell);
    next_step(&imported.body, shell);
    Ok(ExitCode::Done)
}

/// Reads what is to be imported from the arguments of `import` and `send`.
pub(super) fn request(
    kind: String,
    batch: BatchName,
    source: &SourceArgs,
    existing: Existing,
    mode: Mode,
) -> Result<ImportRequest, CliError> {
    let (from, except) = words::sources(source)?;
    Ok(ImportRequest {
        kind,
        batch,
        from,
        except,
        template: source.template.clone(),
        title: source.title.clone(),
        reading: HowToRead {
            map: source.map.clone(),
            map_state: Vec::new(),
            encoding: source.encoding.clone(),
            delimiter: source.delimiter.map(char::from),
            sheet: source.sheet.clone(),
            params: source.param.clone(),
        },
        existing,
        mode,
    })
}

/// Imports with a progress line; asks for the character set or for the count where it must.
pub(super) async fn read_in(
    ops: &Ops,
    mut request: ImportRequest,
    operator: &str,
    json: bool,
    shell: &mut Shell,
) -> Result<Imported, CliError> {
    loop {
        let reading = Reading::begin(&shell.printer, json);
        let watch = |step| hear(&reading, step);
        let done = ops.import(&request, by(operator, None), &watch).await;
        reading.end();
        let err = match done {
            Ok(imported) => return Ok(imported),
            Err(err) => err,
        };
        match err.trouble.clone() {
            Trouble::Unsure(candidates) => {
                request.reading.encoding = Some(ask_encoding(&candidates, shell)?);
            }
            Trouble::Unconfirmed { found } => {
                let flag = format!("--confirm {found}");
                let typed = shell.confirmed(None, &err.message, &flag)?;
                request.mode = Mode::Write { confirm: Some(typed) };
            }
            _ => return Err(err.into()),
        }
    }
}

/// Passes on what happens while a source is read.
pub(super) fn hear(reading: &Reading, step: Step) {
    match step {
        Step::Opened(found) => reading.say(&understood(&found)),
        Step::Read(lines) => reading.read(lines),
    }
}

/// Says how a source was understood, with its first rows, so that a person can see what is wrong.
pub(super) fn understood(found: &Opened) -> Vec<String> {
    let mut how = Vec::new();
    how.extend(found.encoding.clone());
    how.extend(found.sheet.as_ref().map(|sheet| format!("sheet {sheet}")));
    how.extend(found.delimiter.and_then(|delimiter| match delimiter {
        ',' => None,
        '\t' => Some("separated by tab".to_owned()),
        other => Some(format!("separated by {other}")),
    }));
    let taken = found.taken_for.iter().map(|(what, column)| format!("{what}: {column}"));
    let how = how.into_iter().chain(taken).collect::<Vec<_>>().join(", ");
    let mut lines = vec![format!("{}: {}", visible(&found.name), visible(&how))];
    for sample in found.samples.iter().take(3) {
        lines.push(format!("  {}", visible(&sample.join(" | "))));
    }
    lines
}

pub(super) fn ask_encoding(
    candidates: &[Candidate],
    shell: &mut Shell,
) -> Result<String, CliError> {
    let mut question = "The character set is not sure. Which of these reads right?\n".to_owned();
    for (number, candidate) in candidates.iter().enumerate() {
        // Writing to a string cannot fail.
        let _ = writeln!(question, "  {}  {}", number + 1, candidate.label);
        for sample in candidate.samples.iter().take(3) {
            let _ = writeln!(question, "       {}", visible(sample));
        }
    }
    question += "Type its number: ";
    let names: Vec<_> = candidates.iter().map(|one| one.name.as_str()).collect();
    let flag = format!("--encoding {}", names.join(" or --encoding "));
    let typed = shell.answer(&question, &flag)?;
    typed
        .trim()
        .parse::<usize>()
        .ok()
        .and_then(|number| candidates.get(number.checked_sub(1)?))
        .map(|candidate| candidate.name.clone())
        .ok_or_else(|| CliError::refused("no number of the list was typed; nothing was imported"))
}

/// Says what an import came to: one line for each thing that is not as usual.
pub(super) fn tell(imported: &Imported, shell: &mut Shell) {
    let body = &imported.body;
    let n = thousands;
    let would = if body.dry_run { " (dry run: nothing was written)" } else { "" };
    let head = format!(
        "{}: {} read, {} new, {} already there{would}",
        body.batch,
        n(body.read),
        n(body.new),
        n(body.already)
    );
    shell.printer.say(&head);
    let counts = [
        ("taken over as sent", body.adopted.sent),
        ("taken over as failed", body.adopted.failed),
        ("in doubt: its sending had begun; a person decides", body.adopted.unknown),
        (
            "differs from the source, left as it is (--replace takes it)",
            body.changed - body.replaced,
        ),
        ("took the new contents", body.replaced),
        ("no longer in the source", body.gone),
        ("in another batch already", body.elsewhere),
        ("taken over from a cancelled batch", body.taken_over),
        ("same number twice, first kept", body.duplicates),
        (
            "same address under another number: in as well, such a person gets two",
            body.same_address,
        ),
        ("on the do-not-send list", body.suppressed),
        ("left out by name", body.excepted),
        ("bad lines", body.rejected),
        ("no message can be built", body.unbuildable),
    ];
    for (what, many) in counts {
        if many > 0 {
            shell.printer.say(&format!("  {:>9}  {what}", n(many)));
        }
    }
    tell_old(body, shell);
    for finding in body.findings.iter().take(10) {
        let column = match finding.column.as_str() {
            "" => String::new(),
            column => format!(", {column}"),
        };
        let line = format!("line {}{column}: {}: {}", finding.line, finding.why, finding.value);
        shell.printer.say(&format!("  {}", visible(&line)));
    }
    let more = body.findings.len().saturating_sub(10) as u64 + body.findings_left_out;
    if more > 0 {
        shell
            .printer
            .say(&format!("  and {more} more; `ittsu rows {} --left-out` lists them", body.batch));
    }
    for row in body.open_elsewhere.iter().take(5) {
        let what = if row.unknown { "unknown" } else { row.state };
        shell.printer.say(&format!(
            "  {} is {what} in {}: {}",
            visible(&row.key),
            row.batch,
            row.command
        ));
    }
    imported.notes.iter().for_each(|note| shell.printer.say(note));
}

/// Says what an older system's record came to: its counts beside what they are here.
fn tell_old(body: &ImportBody, shell: &mut Shell) {
    let n = thousands;
    if !body.old.is_empty() {
        shell.printer.say("  In the older system, and here:");
    }
    for old in &body.old {
        let word = visible(&old.word);
        shell.printer.say(&format!("  {:>9}  {word} is {}", n(old.lines), old.becomes));
    }
    if body.settled_meanwhile > body.replaced {
        shell.printer.say(&format!(
            "  {:>9}  waits here and would go out again; --replace takes what became of it",
            n(body.settled_meanwhile)
        ));
    }
}

fn next_step(body: &ImportBody, shell: &mut Shell) {
    if body.dry_run || body.new == 0 {
        return;
    }
    if !body.old.is_empty() && body.already > 0 {
        // Of those that were there already, only the ledger knows how many wait.
        shell.printer.say(&format!("How many wait: ittsu status {}", body.batch));
        return;
    }
    shell.printer.say(&format!(
        "Look at it: ittsu preview {}   Start it: ittsu start {} --confirm {}",
        body.batch,
        body.batch,
        body.new + body.already
    ));
}
