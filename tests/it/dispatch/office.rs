//! A ledger, a mail server and workers, for one test.

use std::collections::BTreeMap;
use std::future::Future;
use std::time::Duration;

use ittsu::cli::demo::mailserver::{Behaviour, MailServer};
use ittsu::clock::Clock;
use ittsu::db::{Location, Open};
use ittsu::dispatch::identity::Myself;
use ittsu::dispatch::progress::{Finished, Progress, Teller};
use ittsu::dispatch::settings::{Grouping, RouteSettings, Serve, Settings, Until};
use ittsu::dispatch::{DispatchError, Worker, step_file};
use ittsu::domain::batch::Counts;
use ittsu::domain::breaker::Limits;
use ittsu::domain::id::{BatchId, WorkerId};
use ittsu::domain::policy::{OnUnknown, OncePer, Policy};
use ittsu::domain::rate::Rate;
use ittsu::domain::retry::Retry;
use ittsu::domain::selection::Selection;
use ittsu::domain::state::State;
use ittsu::domain::step::Step;
use ittsu::ledger::Ledger;
use ittsu::ledger::batches::start::StartRequest;
use ittsu::ledger::batches::{Frozen, Made, Message, NewBatch, Words};
use ittsu::ledger::counts::BatchStatus;
use ittsu::ledger::journal::By;
use ittsu::ledger::load::{Existing, LoadRequest, NewRow, Writes};
use ittsu::ledger::rows::{After, RowView};
use ittsu::shutdown::Shutdown;
use ittsu::transport::Route;
use ittsu::transport::smtp::SmtpRoute;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::support::engines::Place;

/// The one transport of these tests.
pub(crate) const RELAY: &str = "smtp.relay";

/// Everything a test needs to send mail.
pub(crate) struct Office {
    pub(crate) ledger: Ledger,
    pub(crate) server: MailServer,
    pub(crate) clock: Clock,
    pub(crate) place: Place,
}

/// A worker on a task of its own.
pub(crate) struct Running {
    pub(crate) shutdown: Shutdown,
    pub(crate) told: mpsc::Receiver<Progress>,
    task: JoinSet<Result<Finished, DispatchError>>,
}

impl Office {
    /// Opens an office with an empty ledger.
    pub(crate) async fn on(place: Place, behaviour: Behaviour) -> Self {
        let url = place.url.clone();
        let location = Location::parse(&url, &place.path("")).expect("a ledger's address");
        let ledger = Ledger::open(&location, Open::Create).await.expect("a new ledger");
        let server = MailServer::start(behaviour).expect("a mail server");
        Self { ledger, server, clock: Clock::System, place }
    }

    /// Returns the settings a batch has unless a test says otherwise.
    pub(crate) fn frozen() -> Frozen {
        Frozen {
            via: RELAY.to_owned(),
            from: "会員サービス <notice@example.com>".to_owned(),
            envelope_from: "bounce@example.com".to_owned(),
            on_unknown: OnUnknown::one_word(Policy::Hold),
            once_per: OncePer::Batch,
            retry: Retry {
                attempts: 5,
                first: Duration::from_millis(20),
                last: Duration::from_millis(100),
            },
            retry_refused: Vec::new(),
            hours: None,
            timezone: "UTC".to_owned(),
            give_up_after: None,
            claim: 500,
            words: Words::default(),
        }
    }

    /// Makes a draft of one mail to each address; the key is the address.
    pub(crate) async fn draft(&self, name: &str, people: &[String], frozen: Frozen) -> BatchId {
        let text = "Subject: {{ name }}\n\nDear {{ name }}, this is yours: {{ token }}\n";
        self.draft_of(name, people, frozen, text).await
    }

    /// Makes a draft with a message of its own.
    pub(crate) async fn draft_of(
        &self,
        name: &str,
        people: &[String],
        frozen: Frozen,
        text: &str,
    ) -> BatchId {
        let now = self.clock.now();
        let new = NewBatch {
            name: name.parse().expect("a batch's name"),
            kind: "notice".to_owned(),
            title: name.to_owned(),
            frozen,
            message: Message { text: text.to_owned(), html: None },
            source: "a test".to_owned(),
        };
        let Made::New(batch) = self.ledger.create_draft(new, now).await.expect("a draft") else {
            panic!("{name} is there already");
        };
        let request = LoadRequest {
            batch: batch.id,
            source: "a test".to_owned(),
            existing: Existing::Keep,
            writes: Writes::Everything,
        };
        let by = By::new("hanako", "");
        let mut load = self.ledger.load(request, by, now).await.expect("a load");
        for (line, address) in people.iter().enumerate() {
            let fields = serde_json::json!({"name": format!("n{line}"), "token": address});
            let row = NewRow {
                line: i64::try_from(line).expect("a line"),
                key: address.clone(),
                address: address.clone(),
                address_key: address.to_lowercase(),
                fields: fields.to_string(),
                past: None,
            };
            load.push(row).await.expect("a row");
        }
        load.finish().await.expect("a load that ends");
        batch.id
    }

    /// Lets workers take a batch.
    pub(crate) async fn start(&self, batch: BatchId, frozen: Frozen) {
        let now = self.clock.now();
        let confirm = self.counts(batch).await.ready;
        let request = StartRequest {
            batch,
            confirm,
            at: None,
            frozen,
            message: None,
            leave_unbuildable: None,
        };
        self.ledger.start(request, By::new("hanako", ""), now).await.expect("a start");
    }

    /// Makes a batch and lets workers take it.
    pub(crate) async fn running(&self, name: &str, people: &[String], frozen: Frozen) -> BatchId {
        let batch = self.draft(name, people, frozen.clone()).await;
        self.start(batch, frozen).await;
        batch
    }

    /// Returns the settings of a worker that ends when nothing is left to do.
    pub(crate) fn settings(&self) -> Settings {
        let mut route = SmtpRoute::plain("127.0.0.1", self.server.addr().port());
        route.deadlines.greeting = Duration::from_secs(2);
        route.deadlines.command = Duration::from_secs(2);
        route.deadlines.data = Duration::from_secs(2);
        route.deadlines.body = Duration::from_secs(2);
        route.deadlines.answer = Duration::from_secs(2);
        let route = RouteSettings {
            route: Route::Smtp(route),
            connections: 8,
            messages_per_connection: 100,
            rate: None,
            request: None,
            longest: Duration::from_secs(6),
        };
        Settings {
            state_dir: self.place.path("state"),
            heartbeat: Duration::from_millis(100),
            lost_after: Duration::from_secs(4),
            serve: Serve::Everything,
            until: Until::Idle,
            routes: BTreeMap::from([(RELAY.to_owned(), route)]),
            only_to: Vec::new(),
            zone: jiff::tz::TimeZone::UTC,
            dkim: BTreeMap::new(),
            limits: Limits { longest_asked: Duration::from_millis(50), ..Limits::default() },
            grouping: Grouping::Together,
            seed: 7,
        }
    }

    /// Puts a worker to work.
    pub(crate) fn hire(&self, settings: Settings) -> Running {
        self.hire_on(self.ledger.clone(), settings)
    }

    /// Puts a worker to work that reaches the ledger in its own way.
    pub(crate) fn hire_on(&self, ledger: Ledger, settings: Settings) -> Running {
        let (teller, told) = Teller::pair();
        let shutdown = Shutdown::default();
        let mut task = JoinSet::new();
        task.spawn(Worker::run(settings, ledger, self.clock.clone(), shutdown.clone(), teller));
        Running { shutdown, told, task }
    }

    /// Counts the hand-overs whose last note is the dot, over all workers here.
    pub(crate) fn dots_noted(&self) -> usize {
        let boot = Myself::look().process.boot;
        let Ok(files) = std::fs::read_dir(self.place.path("state")) else { return 0 };
        let noted = files.flat_map(|file| {
            let path = file.expect("a file").path();
            let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
            let worker = name.rsplit('-').next().and_then(|number| number.parse().ok());
            step_file::read(&path, WorkerId(worker.unwrap_or(0)), &boot)
        });
        noted.filter(|noted| noted.step == Step::Dot).count()
    }

    /// Works until nothing is left.
    pub(crate) async fn work(&self) -> Finished {
        self.hire(self.settings()).ended().await
    }

    pub(crate) async fn status(&self, batch: BatchId) -> BatchStatus {
        let status = self.ledger.status(Some(batch), self.clock.now()).await.expect("the numbers");
        status.batches.into_iter().next().expect("a batch that is there")
    }

    pub(crate) async fn counts(&self, batch: BatchId) -> Counts {
        self.status(batch).await.counts
    }

    pub(crate) async fn rows(&self, batch: BatchId) -> Vec<RowView> {
        let (all, now) = (Selection::default(), self.clock.now());
        let page = self.ledger.rows(batch, &all, After::Start, 100_000, now);
        page.await.expect("the rows").rows
    }

    pub(crate) async fn row(&self, batch: BatchId, key: &str) -> RowView {
        let rows = self.rows(batch).await;
        rows.into_iter().find(|row| row.key == key).expect("a row of that key")
    }

    /// Returns how often each address was accepted by the server.
    pub(crate) fn accepted(&self) -> BTreeMap<String, usize> {
        let mut accepted = BTreeMap::new();
        for mail in self.server.journal() {
            *accepted.entry(mail.to).or_default() += 1;
        }
        accepted
    }

    /// Waits until the ledger or the server shows what a test waits for.
    pub(crate) async fn until<F: Future<Output = bool>>(
        &self,
        what: &str,
        mut holds: impl FnMut() -> F,
    ) {
        let waits = async {
            while !holds().await {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(Duration::from_mins(1), waits)
            .await
            .unwrap_or_else(|_| panic!("it never came to this: {what}"));
    }

    /// Compares the ledger with the journal: nothing twice, nothing lost, no false word, true sums.
    pub(crate) async fn check(&self, batch: BatchId) {
        self.check_sums().await;
        let accepted = self.accepted();
        for row in self.rows(batch).await {
            let times = accepted.get(&row.address).copied().unwrap_or(0);
            assert!(times <= 1, "{} was accepted {times} times", row.address);
            match row.state {
                State::Sent => assert_eq!(times, 1, "{} is sent and never was", row.address),
                State::Failed => assert_eq!(times, 0, "{} failed and went out", row.address),
                State::Ready | State::Sending => {}
            }
        }
    }

    /// Compares every counter with the rows.
    pub(crate) async fn check_sums(&self) {
        assert_eq!(self.ledger.verify(None).await.expect("a check of the sums"), []);
    }
}

impl Running {
    /// Waits for its own end.
    pub(crate) async fn ended(mut self) -> Finished {
        let mut last = std::collections::VecDeque::new();
        let ended = tokio::time::timeout(Duration::from_mins(1), async {
            loop {
                tokio::select! {
                    ended = self.task.join_next() => return ended.expect("a worker"),
                    Some(told) = self.told.recv() => {
                        last.push_back(told);
                        if last.len() > 8 {
                            last.pop_front();
                        }
                    }
                }
            }
        })
        .await;
        let Ok(ended) = ended else { panic!("the worker does not end; it last said {last:#?}") };
        ended.expect("a worker that does not panic").expect("a worker that is let in")
    }

    /// Asks once and waits for the end.
    pub(crate) async fn drained(self) -> Finished {
        self.shutdown.ask();
        self.ended().await
    }
}

/// Makes `n` ordinary addresses.
pub(crate) fn people(n: usize) -> Vec<String> {
    (1..=n).map(|number| format!("person{number}@example.test")).collect()
}

/// Sets the rate of the one transport.
pub(crate) fn at_rate(mut settings: Settings, rate: &str) -> Settings {
    let rate: Rate = rate.parse().expect("a rate");
    settings.routes.values_mut().for_each(|route| route.rate = Some(rate));
    settings
}

/// Lists tests whose subject does not depend on the engine.
macro_rules! on_sqlite {
    ($($name:ident),* $(,)?) => {
        mod on_sqlite {
            $(#[test] fn $name() {
                $crate::support::engines::run($crate::support::engines::Engine::Sqlite, super::$name);
            })*
        }
    };
}
pub(crate) use on_sqlite;
