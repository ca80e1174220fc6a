//! `ittsu demo`: the whole product in one process.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub mod folder;
pub mod mailserver;
pub mod people;
pub mod server;
pub mod story;
mod tour;
pub mod worker;

use super::console;
use super::error::{CliError, ExitCode};
use super::shell::Shell;
use crate::config::{Request, Settings};
use crate::ops::Open;
use crate::ops::Ops;
use story::Stage;

/// Everything in one process, with nothing to set up and nothing leaving this machine
///
/// A ledger in a folder, a built-in mail server that misbehaves, sample batches in three languages,
/// and a worker that is killed half-way. Opens the console and leads through it; with --plain, or
/// without a terminal, it prints what happens and ends by itself. The folder stays for `status`,
/// `unknown` and `show` to look at.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print progress and the report, then end
    #[arg(long)]
    pub plain: bool,

    /// People in the largest sample batch
    #[arg(long, value_name = "N", default_value_t = 600)]
    pub people: u64,

    /// Folder to work in (default: a new ./ittsu-demo)
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,

    /// Repeat the run of this number
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
}

impl Args {
    /// Reports whether the demo is shown in the console.
    pub(super) fn opens_console(&self) -> bool {
        !self.plain && console::is_possible()
    }
}

pub async fn run(args: Args, shell: &mut Shell) -> Result<ExitCode, CliError> {
    shell.refuse_if_read_only()?;
    let seed = args.seed.unwrap_or_else(|| fastrand::u64(1..1_000_000));
    let full_screen = args.opens_console();
    let folder = new_folder(args.dir)?;
    let people = u32::try_from(args.people).map_err(|_err| {
        CliError::usage(format!("{} people are too many for a demo", args.people))
    })?;
    let failed = |err: io::Error| CliError::failed("the demo could not be set up").because(&err);
    let server = server::start(seed).map_err(failed)?;
    let samples = folder::samples(people, seed);
    let config = folder::write(&folder, &samples, server.addr()).map_err(failed)?;
    let ops = open(&config, &folder, shell).await?;
    if full_screen {
        let code = Box::pin(tour::run(&ops, &server, &folder, &config, &samples, shell)).await;
        ops.close().await;
        shell.printer.say(&format!("The demo is in {}", folder.display()));
        return code;
    }
    shell.printer.say(&format!(
        "Demo in {}, number {seed} (--seed {seed} repeats it). Nothing leaves this machine.",
        folder.display()
    ));
    let mut stage = Stage {
        ops: &ops,
        server: &server,
        folder: &folder,
        config: &config,
        samples: &samples,
        shell,
    };
    stage.play().await?;
    ops.close().await;
    Ok(ExitCode::Done)
}

/// Opens the demo's own ledger with the demo's own settings, whatever the operator's are.
async fn open(config: &Path, folder: &Path, shell: &Shell) -> Result<Ops, CliError> {
    let request = Request {
        file: Some(config.to_path_buf()),
        here: folder.to_path_buf(),
        ..Request::default()
    };
    let settings = Settings::load(&request)
        .map_err(|err| CliError::failed("the demo's configuration is wrong").because(&err))?;
    let mut ops = Ops::open(settings, shell.clock.clone(), Open::Create).await?;
    ops.state_dir = folder.join(".ittsu-state");
    Ok(ops)
}

/// Makes the folder that was named, or a new one.
fn new_folder(named: Option<PathBuf>) -> Result<PathBuf, CliError> {
    let failed = |folder: &Path, err: &io::Error| {
        CliError::failed(format!("the folder {} cannot be made", folder.display())).because(err)
    };
    if let Some(folder) = named {
        fs::create_dir_all(&folder).map_err(|err| failed(&folder, &err))?;
        let mut inside = fs::read_dir(&folder).map_err(|err| failed(&folder, &err))?;
        if inside.next().is_some() {
            let message = format!("the folder {} is not empty", folder.display());
            return Err(CliError::refused(message).hint("name a new one: --dir DIR"));
        }
        return std::path::absolute(&folder).map_err(|err| failed(&folder, &err));
    }
    let here = std::env::current_dir().unwrap_or_else(|_| std::env::temp_dir());
    for number in 1..1_000 {
        let name =
            if number == 1 { "ittsu-demo".to_owned() } else { format!("ittsu-demo-{number}") };
        let folder = here.join(name);
        match fs::create_dir(&folder) {
            Ok(()) => return Ok(folder),
            Err(err) if err.kind() == io::ErrorKind::AlreadyExists => {}
            Err(err) => return Err(failed(&folder, &err).hint("name another one: --dir DIR")),
        }
    }
    Err(CliError::failed("there are a thousand demos here already").hint("name one: --dir DIR"))
}
