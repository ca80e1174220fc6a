//! What the demo tells, in acts: read in, start, kill, go on, look, decide, report.

use std::path::Path;
use std::time::Duration;

use super::folder::Sample;
use super::mailserver::MailServer;
use super::server;
use super::worker::{Ended, Worker};
use crate::cli::error::CliError;
use crate::cli::printer::Paint;
use crate::cli::shell::Shell;
use crate::cli::{import, status, unknown};
use crate::domain::name::BatchName;
use crate::domain::plan::Act;
use crate::domain::selection::Selection;
use crate::ops::import::{Existing, HowToRead, ImportRequest, Mode, Step};
use crate::ops::settle::{Decision, Mode as Settling};
use crate::ops::source::SourceName;
use crate::ops::start::{Built, StartWish};
use crate::ops::status::{BatchBody, Check};
use crate::ops::words::thousands;
use crate::ops::{Ops, by, when};

/// Who does everything in the demo.
pub(super) const OPERATOR: &str = "demo";
/// A run that takes longer than this is stuck.
const AT_MOST: Duration = Duration::from_mins(10);

/// The stage: everything an act needs.
pub struct Stage<'a> {
    pub ops: &'a Ops,
    pub server: &'a MailServer,
    pub folder: &'a Path,
    pub config: &'a Path,
    pub samples: &'a [Sample],
    pub shell: &'a mut Shell,
}

impl Stage<'_> {
    /// Plays everything.
    pub async fn play(&mut self) -> Result<(), CliError> {
        self.read_in().await?;
        self.start().await?;
        self.kill_half_way().await?;
        self.go_on().await?;
        if let Some(key) = self.look().await? {
            self.decide(&key).await?;
        }
        self.report().await
    }

    fn act(&mut self, title: &str) -> Result<(), CliError> {
        let title = self.shell.printer.painted(Paint::Bold, title);
        self.shell.printer.line("")?;
        self.shell.printer.line(&title)
    }

    fn line(&mut self, text: &str) -> Result<(), CliError> {
        self.shell.printer.line(text)?;
        self.shell.printer.flush()
    }

    /// Shows a command as an operator would type it.
    fn command(&mut self, command: &str) -> Result<(), CliError> {
        let command = self.shell.printer.painted(Paint::Dim, &format!("$ {command}"));
        self.line(&command)
    }

    async fn read_in(&mut self) -> Result<(), CliError> {
        self.act("1  Three lists of members, each in the character set of its country")?;
        for sample in self.samples {
            let list = sample.list;
            self.command(&format!(
                "ittsu import {} {} --from {list} --title \"{}\"",
                sample.kind, sample.batch, sample.title
            ))?;
            let request = ImportRequest {
                kind: sample.kind.to_owned(),
                batch: name(sample)?,
                from: SourceName::File(self.folder.join(list)),
                except: Vec::new(),
                template: None,
                title: Some(sample.title.to_owned()),
                reading: HowToRead::default(),
                existing: Existing::Keep,
                mode: Mode::Write { confirm: None },
            };
            let (opened, found) = std::sync::mpsc::channel();
            let watch = move |step| {
                if let Step::Opened(opening) = step {
                    // Nobody listens any more only when the import has failed.
                    let _ = opened.send(opening);
                }
            };
            let watch = std::sync::Mutex::new(watch);
            let watch = |step| {
                if let Ok(watch) = watch.lock() {
                    watch(step);
                }
            };
            let imported = self.ops.import(&request, by(OPERATOR, None), &watch).await?;
            for opened in found.try_iter() {
                for line in import::understood(&opened).iter().take(3) {
                    self.line(line)?;
                }
            }
            import::tell(&imported, self.shell);
        }
        Ok(())
    }

    async fn start(&mut self) -> Result<(), CliError> {
        self.act("2  Start: the number of people is typed, so that nobody starts the wrong list")?;
        for sample in self.samples {
            let people = sample.people.len() as u64;
            self.command(&format!("ittsu start {} --confirm {people}", sample.batch))?;
            let wish = StartWish {
                batch: name(sample)?,
                confirm: Some(people),
                at: None,
                leave_unbuildable: None,
                built: Built::JustNow,
            };
            self.ops.start(wish, by(OPERATOR, None)).await?;
        }
        Ok(())
    }

    async fn kill_half_way(&mut self) -> Result<(), CliError> {
        self.act("3  A worker sends, and is killed half-way (kill -9)")?;
        self.command("ittsu work")?;
        let mut worker = self.worker()?;
        let mut waited = Duration::ZERO;
        while !server::is_keeping_waiting(self.server, self.samples.len()) {
            if let Some(ended) = self.tick(&mut worker, waited).await? {
                // Everything went out before anybody was waited for: a very small list.
                return judge(&ended);
            }
            waited += TICK;
        }
        self.counts().await?;
        worker.kill().await.map_err(|err| failed("the worker could not be killed", &err))?;
        server::calm(self.server);
        self.line("killed while it waited for answers: what became of those mails?")
    }

    async fn go_on(&mut self) -> Result<(), CliError> {
        self.act(
            "4  Another worker goes on; what the first one left is settled by each kind's rule",
        )?;
        self.command("ittsu work --until-idle")?;
        let mut worker = self.worker()?;
        self.wait(&mut worker).await?;
        let body = self.ops.status(None, Check::CountsOnly).await?;
        let now = when::rfc3339(self.ops.now(), &self.ops.settings.timezone);
        self.command("ittsu status")?;
        status::text(&body, false, &now, self.shell)?;
        self.line("service-ko sends such mails again, letter-en counts them as sent,")?;
        self.line("notice-ja holds them: a person decides.")
    }

    /// Shows what nobody knows; returns the key of a row to decide about.
    async fn look(&mut self) -> Result<Option<String>, CliError> {
        self.act("5  What nobody can know, and what is known about it")?;
        self.command("ittsu unknown")?;
        let body = self.ops.unknown(None, Duration::ZERO).await?;
        if body.rows.is_empty() {
            self.line("Nothing is unknown.")?;
            return Ok(None);
        }
        unknown::text(&body, self.shell)?;
        Ok(body.rows.first().map(|row| row.row.key.clone()))
    }

    async fn decide(&mut self, key: &str) -> Result<(), CliError> {
        self.act("6  A person decides about one of them: the member says that nothing came")?;
        let reason = "asked the member: nothing came";
        let batch = self.samples[0].batch;
        let words = format!("--key {key}");
        self.command(&format!("ittsu resend {batch} {words} --reason \"{reason}\" --confirm 1"))?;
        let decision = Decision {
            batch: name(&self.samples[0])?,
            which: Selection { keys: vec![key.to_owned()], ..Selection::default() },
            act: Act::Resend,
            to: None,
            words,
        };
        let by = by(OPERATOR, Some(reason));
        let decided = self.ops.settle(decision, Settling::Confirmed(Some(1)), by).await?;
        self.shell.changed(self.ops, false, "waiting to be sent again", decided.change)?;
        for line in &decided.consequences {
            self.line(line)?;
        }
        self.command("ittsu work --until-idle")?;
        let mut worker = self.worker()?;
        self.wait(&mut worker).await?;
        self.command(&format!("ittsu find {key}"))?;
        let found = self.ops.find(key).await?;
        self.line(&found.verdict)
    }

    async fn report(&mut self) -> Result<(), CliError> {
        self.act("7  The numbers add up")?;
        let body = self.ops.status(None, Check::CountsOnly).await?;
        let now = when::rfc3339(self.ops.now(), &self.ops.settings.timezone);
        self.command("ittsu status")?;
        status::text(&body, false, &now, self.shell)?;
        let sum = |of: fn(&BatchBody) -> i64| body.batches.iter().map(of).sum::<i64>();
        let total = sum(|batch| batch.total);
        let sent = sum(|batch| batch.sent);
        let failed = sum(|batch| batch.failed);
        let unknown = sum(|batch| batch.unknown);
        let left = sum(|batch| batch.ready + batch.sending) - unknown;
        self.line(&format!(
            "{} people = {} sent + {} failed + {} unknown + {} waiting",
            thousands(total),
            thousands(sent),
            thousands(failed),
            thousands(unknown),
            thousands(left)
        ))?;
        self.compare(&body.batches)?;
        self.farewell(unknown)
    }

    /// Puts the ledger's numbers beside the mail server's own book.
    fn compare(&mut self, batches: &[BatchBody]) -> Result<(), CliError> {
        let book = server::book(self.server);
        let n = |n: usize| thousands(i64::try_from(n).unwrap_or(i64::MAX));
        self.line(&format!(
            "The mail server's own book: {} mails for {} people.",
            n(book.mails),
            n(book.people)
        ))?;
        let twice: i64 = batches.iter().map(|batch| batch.maybe_twice).sum();
        if book.more_than_one.is_empty() {
            return self.line("Nobody got two.");
        }
        for (who, mails) in &book.more_than_one {
            self.line(&format!("  {who} got {mails}: the answer to the first was lost"))?;
        }
        self.line(&format!(
            "The ledger had named them beforehand: may have got two: {}.",
            thousands(twice)
        ))
    }

    fn farewell(&mut self, unknown: i64) -> Result<(), CliError> {
        self.act("Look further")?;
        let batch = self.samples[0].batch;
        let key = self.samples[0].people.first().map_or(0, |person| person.number);
        let mut commands = vec![
            format!("cd {}", self.folder.display()),
            "ittsu status".to_owned(),
            format!("ittsu show {batch} {key}"),
            format!("ittsu rows {batch} --state failed"),
            format!("ittsu report {batch}"),
            "ittsu journal".to_owned(),
        ];
        if unknown > 0 {
            commands.insert(2, "ittsu unknown".to_owned());
        }
        for command in commands {
            self.line(&format!("  {command}"))?;
        }
        Ok(())
    }

    fn worker(&self) -> Result<Worker, CliError> {
        Worker::start(self.config, &self.folder.join("worker.log"))
            .map_err(|err| failed("the worker could not be started", &err))
    }

    /// Waits until the worker has nothing left to do, saying how far it is.
    async fn wait(&mut self, worker: &mut Worker) -> Result<(), CliError> {
        let mut waited = Duration::ZERO;
        loop {
            if let Some(ended) = self.tick(worker, waited).await? {
                judge(&ended)?;
                return self.counts().await;
            }
            waited += TICK;
            if waited > AT_MOST {
                let message = "the worker does not come to an end";
                return Err(CliError::failed(message)
                    .hint(format!("its words: {}/worker.log", self.folder.display())));
            }
        }
    }

    /// Waits a moment; now and then says how far the batches are.
    async fn tick(
        &mut self,
        worker: &mut Worker,
        waited: Duration,
    ) -> Result<Option<Ended>, CliError> {
        let ended = worker.ended(TICK).await;
        let ended = ended.map_err(|err| failed("the worker cannot be watched", &err))?;
        if ended.is_none() && waited.as_millis().is_multiple_of(SAY.as_millis()) {
            self.counts().await?;
        }
        Ok(ended)
    }

    async fn counts(&mut self) -> Result<(), CliError> {
        let body = self.ops.status(None, Check::CountsOnly).await?;
        let now = when::clock_time(self.ops.now(), &self.ops.settings.timezone);
        let batches = body.batches.iter().map(|batch| {
            format!("{} {}/{}", batch.batch, thousands(batch.sent), thousands(batch.total))
        });
        let batches = batches.collect::<Vec<_>>().join("   ");
        self.line(&format!("  {now}  {batches} sent"))
    }
}

fn judge(ended: &Ended) -> Result<(), CliError> {
    if ended.is_good() {
        return Ok(());
    }
    let code = ended.code.map_or("a signal".to_owned(), |code| code.to_string());
    Err(CliError::failed(format!("the worker ended with {code}"))
        .hint(format!("its words: {}", ended.log.display())))
}

const TICK: Duration = Duration::from_millis(250);
const SAY: Duration = Duration::from_secs(2);

pub(super) fn name(sample: &Sample) -> Result<BatchName, CliError> {
    sample.batch.parse().map_err(|err| CliError::failed("a sample has no name").because(&err))
}

fn failed(what: &str, err: &std::io::Error) -> CliError {
    CliError::failed(what).because(err)
}
