//! `ittsu init`: a first configuration.

use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::args;
use super::error::{CliError, ExitCode};
use super::shell::Shell;
use crate::config::init::{self, Answers, meaning};
use crate::domain::policy::Policy;
use crate::ops::{Open, Ops};

/// Write a commented configuration and make its ledger
///
/// Asks, for each kind of mail, which is worse when nobody can know whether it went out: twice, or
/// not at all. Never overwrites a file: beside one that is there it makes the ledger that it names,
/// if there is none yet.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// File to write
    #[arg(value_name = "FILE", default_value = "ittsu.toml")]
    pub file: PathBuf,

    /// A kind and what is worse for it: notice=twice, notice=not-at-all, or notice=ask to be asked
    /// each time; may be repeated
    #[arg(long, value_name = "NAME=WORSE", value_parser = kind)]
    pub kind: Vec<(String, Policy)>,

    /// Host of the mail server
    #[arg(long, value_name = "HOST")]
    pub host: Option<String>,

    /// Sender of the mail
    #[arg(long, value_name = "ADDRESS")]
    pub sender: Option<String>,
}

/// Reads a kind and what is worse for it.
fn kind(text: &str) -> Result<(String, Policy), String> {
    let (name, worse) = args::pair(text)?;
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_');
    if !name.chars().all(plain) {
        return Err(format!("`{name}` is no name; use a-z, 0-9, `-` and `_`"));
    }
    Ok((name, policy(&worse).ok_or("the answer is twice, not-at-all or ask")?))
}

/// Returns what follows from the worse of two mishaps.
fn policy(worse: &str) -> Option<Policy> {
    match worse.trim() {
        "twice" | "1" => Some(Policy::AssumeSent),
        "not-at-all" | "not at all" | "2" => Some(Policy::Resend),
        "ask" | "3" => Some(Policy::Hold),
        _ => None,
    }
}

pub async fn run(args: Args, shell: &mut Shell) -> Result<ExitCode, CliError> {
    shell.refuse_if_read_only()?;
    let file = shell.here()?.join(&args.file);
    shell.global.config = Some(file.clone());
    if file.exists() {
        if shell.look().await.is_ok() {
            return Err(already_there(&file));
        }
        shell.printer.say(&format!("Left as it is: {}", file.display()));
        make_ledger(shell).await?;
        return Ok(ExitCode::Done);
    }
    let answers = ask(args, shell)?;
    let folder = file.parent().unwrap_or(Path::new("."));
    write_new(&file, &init::file(&answers))?;
    shell.printer.say(&format!("Written: {}", file.display()));
    for (name, policy) in &answers.kinds {
        shell.printer.say(&format!("{name}: when nobody can know, {}", meaning(*policy)));
        let template = folder.join("templates").join(format!("{name}.txt"));
        if !template.exists() {
            write_new(&template, init::TEMPLATE)?;
            shell.printer.say(&format!("Written: {}, the message to change", template.display()));
        }
    }
    make_ledger(shell).await?;
    shell.printer.say("Next: `ittsu doctor` checks everything.");
    Ok(ExitCode::Done)
}

/// Makes the ledger of the configuration and says where it is.
async fn make_ledger(shell: &mut Shell) -> Result<(), CliError> {
    let settings = shell.settings()?;
    let ops = Ops::open(settings, shell.clock.clone(), Open::Create).await?;
    shell.printer.say(&format!("Ledger: {}", ops.place()));
    ops.close().await;
    Ok(())
}

fn ask(args: Args, shell: &mut Shell) -> Result<Answers, CliError> {
    let mut kinds = args.kind;
    if kinds.is_empty() {
        let flag = "--kind notice=twice, --kind notice=not-at-all or --kind notice=ask";
        let name = shell.answer("Name of the kind of mail, as in notice or order: ", flag)?;
        let worse = shell.answer(QUESTION, flag)?;
        let given = kind(&format!("{name}={worse}"));
        kinds.push(given.map_err(CliError::usage)?);
    }
    Ok(Answers {
        host: args.host.unwrap_or_else(|| "mail.example.com".to_owned()),
        sender: args.sender.unwrap_or_else(|| "Notices <notice@example.com>".to_owned()),
        kinds,
    })
}

const QUESTION: &str = "\
When nobody can know whether a mail went out, which is worse: sending it twice, or not at all?
  1 twice        it counts as sent: may lose one, never doubles
  2 not at all   it is sent again: may double, never loses
  3 ask          it waits for a person
Type 1, 2 or 3: ";

fn write_new(path: &Path, text: &str) -> Result<(), CliError> {
    let write = || {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let mut options = std::fs::OpenOptions::new();
        let mut file = options.write(true).create_new(true).mode(0o600).open(path)?;
        file.write_all(text.as_bytes())
    };
    write().map_err(|err: std::io::Error| match err.kind() {
        ErrorKind::AlreadyExists => already_there(path),
        _ => CliError::failed(format!("{} could not be written", path.display())).because(&err),
    })
}

fn already_there(path: &Path) -> CliError {
    CliError::refused(format!("{} is there already and is left as it is", path.display()))
        .hint("give another FILE, or change that one; `ittsu config check` checks it")
}
