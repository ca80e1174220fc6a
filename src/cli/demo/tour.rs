//! The demo in the console: the batches go out, a worker dies, and a person settles what is left.

use std::path::Path;
use std::time::Duration;

use super::folder::Sample;
use super::mailserver::MailServer;
use super::server;
use super::story::{self, OPERATOR};
use super::worker::Worker;
use crate::cli::console;
use crate::cli::error::{CliError, ExitCode};
use crate::cli::shell::Shell;
use crate::console::{Facts, Opening, Tools};
use crate::ops::import::{Existing, HowToRead, ImportRequest, Mode};
use crate::ops::source::SourceName;
use crate::ops::start::{Built, StartWish};
use crate::ops::{Ops, by};

/// How often the mail server's book is looked at.
const TICK: Duration = Duration::from_millis(250);
/// How long the batches are watched before the worker dies.
const WATCH: Duration = Duration::from_secs(6);

/// Reads everybody in, starts the batches, and opens the console on them.
pub(super) async fn run(
    ops: &Ops,
    server: &MailServer,
    folder: &Path,
    config: &Path,
    samples: &[Sample],
    shell: &mut Shell,
) -> Result<ExitCode, CliError> {
    for sample in samples {
        begin(ops, folder, sample).await?;
    }
    let facts = Facts {
        operator: Some(OPERATOR.to_owned()),
        read_only: false,
        demo: true,
        ..console::facts(ops, shell)
    };
    let log = folder.join("worker.log");
    let worker = ["work".into(), "--config".into(), config.into()];
    let opening = Opening {
        facts,
        batch: None,
        tools: Tools { worker: worker.to_vec(), log: log.clone(), clean: true },
        surroundings: console::surroundings(shell),
    };
    tokio::select! {
        ended = console::sit(ops, opening) => ended,
        played = play(server, samples.len(), config, &log) => played,
    }
}

/// Reads one list in and starts it, as an operator would have done before.
async fn begin(ops: &Ops, folder: &Path, sample: &Sample) -> Result<(), CliError> {
    let request = ImportRequest {
        kind: sample.kind.to_owned(),
        batch: story::name(sample)?,
        from: SourceName::File(folder.join(sample.list)),
        except: Vec::new(),
        template: None,
        title: Some(sample.title.to_owned()),
        reading: HowToRead::default(),
        existing: Existing::Keep,
        mode: Mode::Write { confirm: None },
    };
    let imported = ops.import(&request, by(OPERATOR, None), &|_| {}).await?;
    let wish = StartWish {
        batch: story::name(sample)?,
        confirm: u64::try_from(imported.body.new).ok(),
        at: None,
        leave_unbuildable: None,
        built: Built::JustNow,
    };
    ops.start(wish, by(OPERATOR, None)).await?;
    Ok(())
}

/// Plays what happens behind the screen: one worker dies while it waits for answers, another one
/// goes on and stays. Never ends while it goes well.
async fn play(
    server: &MailServer,
    batches: usize,
    config: &Path,
    log: &Path,
) -> Result<ExitCode, CliError> {
    let failed = |err: std::io::Error| CliError::failed("a demo worker failed").because(&err);
    let mut worker = Worker::start(config, log).map_err(failed)?;
    while !server::is_keeping_waiting(server, batches)
        && worker.ended(TICK).await.map_err(failed)?.is_none()
    {}
    if worker.ended(WATCH).await.map_err(failed)?.is_none() {
        worker.kill().await.map_err(failed)?;
    }
    server::calm(server);
    loop {
        let mut worker = Worker::staying(config, log).map_err(failed)?;
        // A worker that somebody stops in the console stays stopped for a while.
        while worker.ended(WATCH).await.map_err(failed)?.is_none() {}
        tokio::time::sleep(WATCH).await;
    }
}
