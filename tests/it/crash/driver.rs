//! Starts workers, kills them, and starts them again.

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use ittsu::cli::demo::mailserver::{At, Behaviour, Deed, MailServer, Then, When};
use ittsu::clock::Clock;
use ittsu::db::{Location, Open};
use ittsu::dispatch::failpoint::FailPoint;
use ittsu::domain::batch::Counts;
use ittsu::domain::id::BatchId;
use ittsu::domain::policy::{OnUnknown, OncePer, Policy};
use ittsu::domain::retry::Retry;
use ittsu::ledger::Ledger;
use ittsu::ledger::batches::pause::Reach;
use ittsu::ledger::batches::start::StartRequest;
use ittsu::ledger::batches::{Frozen, Made, Message, NewBatch, Words};
use ittsu::ledger::journal::By;
use ittsu::ledger::load::{Existing, LoadRequest, NewRow, Writes};

use crate::support::engines::Place;

const WORKERS: usize = 4;
/// Of all workers together, as everywhere.
pub(crate) const CONNECTIONS: usize = 16;
const ROWS: usize = 1000;
/// Every place kills at least so many workers on each engine.
const EACH_PLACE: usize = 5;

/// One engine's storm.
pub(crate) struct Driver {
    pub(crate) ledger: Ledger,
    pub(crate) server: MailServer,
    pub(crate) seed: u64,
    pub(crate) crashes_wanted: usize,
    /// Workers killed so far, by place; random moments under `random`.
    crashes: BTreeMap<&'static str, usize>,
    chance: fastrand::Rng,
    rounds: usize,
    clock: Clock,
    place: Place,
}

/// How a worker is to die.
#[derive(Clone, Copy, Debug)]
enum Death {
    At(FailPoint, u32),
    After(Duration),
}

/// A worker that is going to die, or to finish.
struct Doomed {
    child: Child,
    death: Death,
    born: Instant,
}

impl Driver {
    pub(crate) async fn on(place: Place) -> Self {
        let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
        let seed = number("ITTSU_CRASH_SEED").unwrap_or_else(|| fastrand::u64(..));
        let crashes_wanted = number("ITTSU_CRASHES")
            .map_or(210, |wanted: u64| usize::try_from(wanted).expect("a number"));
        let behaviour = Behaviour {
            seed,
            journal: Some(place.path("accepted.jsonl")),
            thinks: Duration::from_millis(3),
            ..Behaviour::default()
        };
        let behaviour = behaviour
            .with(At::Dot, When::ShareOnce(0.02), Deed::silence(Then::Close).taking())
            .with(
                At::Dot,
                When::ShareOnce(0.05),
                Deed::reply("250 2.0.0 slow").after(Duration::from_millis(60)),
            );
        let server = MailServer::start(behaviour).expect("a mail server");
        let location = Location::parse(&place.url, &place.path("")).expect("a ledger's address");
        let ledger = Ledger::open(&location, Open::Create).await.expect("a new ledger");
        let chance = fastrand::Rng::with_seed(seed);
        let (crashes, clock) = (BTreeMap::new(), Clock::System);
        let driver =
            Self { ledger, server, seed, crashes_wanted, crashes, chance, rounds: 0, clock, place };
        std::fs::write(driver.config(), driver.config_text()).expect("a configuration");
        driver
    }

    /// Reports whether enough workers were killed, at every place.
    pub(crate) fn is_satisfied(&self) -> bool {
        let each = |place: &FailPoint| self.killed_at(place.as_str()) >= EACH_PLACE;
        self.crashes.values().sum::<usize>() >= self.crashes_wanted
            && FailPoint::ALL.iter().all(each)
    }

    fn killed_at(&self, place: &str) -> usize {
        self.crashes.get(place).copied().unwrap_or(0)
    }

    pub(crate) fn print(&self) {
        println!(
            "{} crashes in {} rounds: {:?}",
            self.crashes.values().sum::<usize>(),
            self.rounds,
            self.crashes
        );
    }

    fn config(&self) -> PathBuf {
        self.place.path("ittsu.toml")
    }

    fn config_text(&self) -> String {
        std::fs::write(self.place.path("notice.txt"), "Subject: hello\n\nhello\n")
            .expect("a template");
        format!(
            r#"
ledger = "{ledger}"

[smtp.relay]
host = "127.0.0.1"
port = {port}
tls = "none"
connections = {all}

[worker]
heartbeat = "300ms"
lost_after = "30s"

[kinds.notice]
via = "smtp.relay"
on_unknown = "hold"
once_per = "batch"
from = "notice@example.com"
template = "notice.txt"
"#,
            ledger = self.place.url,
            port = self.server.addr().port(),
            all = CONNECTIONS,
        )
    }

    /// Makes one batch for each policy and starts them.
    pub(crate) async fn make_batches(&mut self) -> Vec<(BatchId, Policy)> {
        self.rounds += 1;
        let mut batches = Vec::new();
        for &policy in Policy::ALL {
            batches.push((self.make_batch(policy).await, policy));
        }
        batches
    }

    async fn make_batch(&self, policy: Policy) -> BatchId {
        let now = self.clock.now();
        let frozen = Frozen {
            via: "smtp.relay".to_owned(),
            from: "notice@example.com".to_owned(),
            envelope_from: "notice@example.com".to_owned(),
            on_unknown: OnUnknown::one_word(policy),
            once_per: OncePer::Batch,
            retry: Retry {
                attempts: 8,
                first: Duration::from_millis(10),
                last: Duration::from_millis(100),
            },
            retry_refused: Vec::new(),
            hours: None,
            timezone: "UTC".to_owned(),
            give_up_after: None,
            claim: 100,
            words: Words::default(),
        };
        let name = format!("round-{}-{}", self.rounds, policy.as_str().replace('_', "-"));
        let text = "Subject: {{ key }}\n\nThis is for {{ key }}.\n".to_owned();
        let new = NewBatch {
            name: name.parse().expect("a batch's name"),
            kind: "notice".to_owned(),
            title: name.clone(),
            frozen: frozen.clone(),
            message: Message { text, html: None },
            source: "a storm".to_owned(),
        };
        let made = self.ledger.create_draft(new, now).await.expect("a draft");
        let (Made::New(batch) | Made::Already(batch)) = made;
        let request = LoadRequest {
            batch: batch.id,
            source: "a storm".to_owned(),
            existing: Existing::Keep,
            writes: Writes::Everything,
        };
        let by = By::new("hanako", "");
        let mut load = self.ledger.load(request, by.clone(), now).await.expect("a load");
        for line in 0..ROWS {
            // Two in a hundred do not exist.
            let word = if line % 50 == 7 { "r-550-511" } else { "person" };
            let address = format!("{word}.{name}.{line}@example.test");
            let row = NewRow {
                line: i64::try_from(line).expect("a line"),
                key: address.clone(),
                address: address.clone(),
                address_key: address,
                fields: format!(r#"{{"key":"k{line}"}}"#),
                past: None,
            };
            load.push(row).await.expect("a row");
        }
        load.finish().await.expect("a load that ends");
        let start = StartRequest {
            batch: batch.id,
            confirm: i64::try_from(ROWS).expect("a number of rows"),
            at: None,
            frozen,
            message: None,
            leave_unbuildable: None,
        };
        self.ledger.start(start, by, now).await.expect("a start");
        batch.id
    }

    /// Keeps four workers dying until the batches are nearly through or enough have died.
    pub(crate) async fn storm(&mut self, batches: &[(BatchId, Policy)]) {
        let mut doomed: Vec<Doomed> = Vec::new();
        while !self.is_satisfied() && self.left(batches).await > 60 {
            while doomed.len() < WORKERS {
                let death = self.choose();
                let child = self.hire(death);
                doomed.push(Doomed { child, death, born: Instant::now() });
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
            doomed = self.reap(doomed);
            self.resume(batches).await;
        }
        for mut one in doomed {
            one.child.kill().expect("a worker to kill");
            self.count(one.child.wait().expect("a worker's end").signal(), "random");
        }
    }

    /// Chooses a place that killed fewest, or a random moment.
    fn choose(&mut self) -> Death {
        let places = FailPoint::ALL.iter().copied();
        let rarest =
            places.min_by_key(|place| (self.killed_at(place.as_str()), self.chance.u8(..)));
        let rarest = rarest.filter(|place| self.killed_at(place.as_str()) < 2 * EACH_PLACE);
        match rarest {
            Some(place) if self.chance.u8(..) < 140 => {
                let claims = matches!(place, FailPoint::ClaimBefore | FailPoint::ClaimAfter);
                Death::At(place, self.chance.u32(1..=if claims { 2 } else { 20 }))
            }
            _ => Death::After(Duration::from_millis(self.chance.u64(80..400))),
        }
    }

    fn hire(&self, death: Death) -> Child {
        let mut command = self.command(&["work", "--until-idle"]);
        if let Death::At(place, pass) = death {
            command.env("ITTSU_FAIL_AT", format!("{}:{pass}", place.as_str()));
        }
        command.spawn().expect("a worker")
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ittsu"));
        command
            .arg("--config")
            .arg(self.config())
            .args(words)
            .env_clear()
            .env("HOME", self.place.path(""))
            .env("ITTSU_OPERATOR", "hanako")
            .env("ITTSU_STATE_DIR", self.place.path("state"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    /// Kills those whose moment has come and counts the dead.
    fn reap(&mut self, doomed: Vec<Doomed>) -> Vec<Doomed> {
        let mut living = Vec::new();
        for mut one in doomed {
            if let Death::After(wait) = one.death
                && one.born.elapsed() >= wait
            {
                one.child.kill().expect("a worker to kill");
            }
            match one.child.try_wait().expect("a worker's state") {
                None => living.push(one),
                Some(status) => {
                    let place = match one.death {
                        Death::At(place, _) => place.as_str(),
                        Death::After(_) => "random",
                    };
                    self.count(status.signal(), place);
                }
            }
        }
        living
    }

    fn count(&mut self, signal: Option<i32>, place: &'static str) {
        if signal == Some(9) {
            *self.crashes.entry(place).or_default() += 1;
        }
    }

    /// Lets workers finish in peace.
    pub(crate) async fn finish(&self, batches: &[(BatchId, Policy)]) {
        for _ in 0..20 {
            let mut children: Vec<Child> = (0..2)
                .map(|_| self.command(&["work", "--until-idle"]).spawn().expect("a worker"))
                .collect();
            for child in &mut children {
                let status = wait(child).await;
                assert!(matches!(status.code(), Some(0 | 3)), "a worker ended with {status}");
            }
            self.resume(batches).await;
            if self.left(batches).await == 0 {
                return;
            }
        }
        panic!("rows are left that nobody sends: {:?}", self.counts(batches).await);
    }

    /// Lets a batch go on that paused itself: three unknown outcomes in a row happen in a storm.
    async fn resume(&self, batches: &[(BatchId, Policy)]) {
        for &(batch, _) in batches {
            let by = By::new("hanako", "the storm goes on");
            let _ = self.ledger.resume(Reach::Batch(batch), by, self.clock.now()).await;
        }
    }

    /// Counts the rows that are neither final nor in doubt.
    async fn left(&self, batches: &[(BatchId, Policy)]) -> i64 {
        let counts = self.counts(batches).await;
        counts.iter().map(|counts| counts.ready + counts.sending - counts.unknown).sum()
    }

    async fn counts(&self, batches: &[(BatchId, Policy)]) -> Vec<Counts> {
        let status = self.ledger.status(None, self.clock.now()).await.expect("the numbers");
        let is_mine = |id| batches.iter().any(|&(batch, _)| batch == id);
        let mine = status.batches.into_iter().filter(|status| is_mine(status.batch.id));
        mine.map(|status| status.counts).collect()
    }
}

/// Waits for a child without holding up the runtime.
async fn wait(child: &mut Child) -> std::process::ExitStatus {
    let ends = async {
        loop {
            if let Some(status) = child.try_wait().expect("a worker's state") {
                return status;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_mins(2), ends).await.expect("a worker that ends")
}
