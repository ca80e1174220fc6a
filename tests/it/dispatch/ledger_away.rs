//! Nothing is sent that cannot be recorded, and what was sent is recorded in the end.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ittsu::cli::demo::mailserver::{At, Behaviour, Deed, When};
use ittsu::db::{Location, Open};
use ittsu::dispatch::progress::{Progress, Why};
use ittsu::dispatch::settings::Settings;
use ittsu::domain::policy::{OnUnknown, Policy};
use ittsu::domain::state::{How, State};
use ittsu::ledger::Ledger;
use ittsu::ledger::batches::Frozen;
use ittsu::ledger::evidence::Seen;
use ittsu::transport::Route;

use super::office::{Office, Running, people};
use super::proxy::{Proxy, Way};
use crate::support::engines::{Engine, Place, run};

/// Lists tests that need a way to the ledger that can be cut.
macro_rules! over_the_network {
    ($($name:ident),* $(,)?) => {
        mod postgres {
            $(#[test] fn $name() {
                super::run(super::Engine::Postgres, super::$name);
            })*
        }
        mod mariadb {
            $(#[test] fn $name() {
                super::run(super::Engine::MariaDb, super::$name);
            })*
        }
    };
}

over_the_network! {
    a_ledger_that_goes_away_and_comes_back_loses_nothing,
    a_lost_acknowledgement_is_looked_up,
    a_worker_stopped_while_the_ledger_is_away_leaves_its_outcomes_to_the_next,
    a_worker_cut_off_beyond_the_limit_hands_in_late_answers_as_evidence,
    under_resend_a_late_answer_settles_the_row_before_a_second_copy_goes,
}

mod sqlite {
    #[test]
    fn a_worker_whose_ledger_file_is_moved_away_sends_nothing_more() {
        super::run(super::Engine::Sqlite, super::a_worker_whose_ledger_file_is_moved_away);
    }
    #[test]
    fn a_worker_whose_ledger_file_is_replaced_by_a_copy_sends_nothing_more() {
        super::run(super::Engine::Sqlite, super::a_worker_whose_ledger_file_is_replaced);
    }
}

/// An office whose workers reach the ledger over a proxy.
struct Far {
    office: Office,
    proxy: Proxy,
    ledger: Ledger,
}

impl Far {
    async fn on(place: Place, behaviour: Behaviour) -> Self {
        let (head, tail) = place.url.rsplit_once('@').expect("a URL with a user");
        let (server, database) = tail.split_once('/').expect("a URL with a database");
        let server: SocketAddr = server.parse().expect("an address");
        let proxy = Proxy::before(server).await;
        let url = format!("{head}@{}/{database}", proxy.addr);
        let base = place.path("");
        let office = Office::on(place, behaviour).await;
        let mut location = Location::parse(&url, &base).expect("a ledger's address");
        location.lost_after = LOST_AFTER;
        let ledger =
            Ledger::open(&location, Open::Existing).await.expect("the ledger over the proxy");
        Self { office, proxy, ledger }
    }

    /// Puts a worker behind the proxy that waits so long for the answer to a dot.
    fn hire(&self, answer: Duration) -> Running {
        self.office.hire_on(self.ledger.clone(), self.settings(answer))
    }

    /// Puts a worker beside the proxy.
    fn hire_near(&self, answer: Duration) -> Running {
        self.office.hire(self.settings(answer))
    }

    fn settings(&self, answer: Duration) -> Settings {
        let mut settings = self.office.settings();
        settings.lost_after = LOST_AFTER;
        for route in settings.routes.values_mut() {
            if let Route::Smtp(smtp) = &mut route.route {
                smtp.deadlines.answer = answer;
            }
            route.longest = answer + Duration::from_secs(10);
        }
        settings
    }
}

const LOST_AFTER: Duration = Duration::from_secs(2);
const ANSWER: Duration = Duration::from_secs(2);

/// F12 and F13.
async fn a_ledger_that_goes_away_and_comes_back_loses_nothing(place: Place) {
    let slow = Behaviour { thinks: Duration::from_millis(5), ..Behaviour::default() };
    let far = Far::on(place, slow).await;
    let batch = far.office.running("notice-1", &people(400), Office::frozen()).await;
    let mut worker = far.hire(ANSWER);

    for round in 1..=3 {
        far.office
            .until("some more are out", || async {
                far.office.server.seen().accepted >= round * 80
            })
            .await;
        far.proxy.set(Way::Cut);
        while !matches!(worker.told.recv().await, Some(Progress::LedgerAway { .. })) {}
        let most = far.office.server.seen().accepted + 8;
        far.proxy.set(Way::Open);
        // While it was away at most what was on the wire went out.
        assert!(far.office.server.seen().accepted <= most);
    }
    let finished = worker.ended().await;

    assert_eq!((finished.why, finished.in_doubt), (Why::Idle, 0));
    assert_eq!(far.office.counts(batch).await.sent, 400);
    far.office.check(batch).await;
}

/// F14 and T5.
async fn a_lost_acknowledgement_is_looked_up(place: Place) {
    let slow = Behaviour { thinks: Duration::from_millis(2), ..Behaviour::default() };
    let far = Far::on(place, slow).await;
    let batch = far.office.running("notice-1", &people(400), Office::frozen()).await;
    let worker = far.hire(ANSWER);

    for round in 1..=8 {
        far.office
            .until("some more are out", || async {
                far.office.server.seen().accepted >= round * 40
            })
            .await;
        far.proxy.set(Way::LosesTheAnswer);
        far.office.until("an answer is lost", || async { far.proxy.way() == Way::Open }).await;
    }
    let finished = worker.ended().await;

    assert_eq!((finished.why, finished.in_doubt), (Why::Idle, 0));
    assert_eq!(far.office.counts(batch).await.sent, 400);
    far.office.check(batch).await;
}

/// `protocol.md` 17: the next worker replays before it sweeps.
async fn a_worker_stopped_while_the_ledger_is_away_leaves_its_outcomes_to_the_next(place: Place) {
    let late = Deed::reply("250 2.0.0 ok").after(Duration::from_millis(300));
    let behaviour = Behaviour::default().with(At::Dot, When::Always, late);
    let far = Far::on(place, behaviour).await;
    let batch = far.office.running("notice-1", &people(40), Office::frozen()).await;
    let mut worker = far.hire(ANSWER);
    far.office
        .until("mails are on the wire", || async { far.office.counts(batch).await.sending >= 4 })
        .await;

    far.proxy.set(Way::Cut);
    while !matches!(worker.told.recv().await, Some(Progress::LedgerAway { .. })) {}
    far.office.until("an outcome is kept here", || async { kept(&far.office) > 0 }).await;
    worker.shutdown.ask();
    worker.shutdown.ask();
    let finished = worker.ended().await;
    assert!(finished.in_doubt > 0 && kept(&far.office) > 0, "{finished:?}");

    far.office.server.change(|behaviour| behaviour.rules.clear());
    let second = far.hire_near(ANSWER);
    second.ended().await;

    let rows = far.office.rows(batch).await;
    let settled = rows.iter().filter(|row| row.state == State::Sent).count();
    let unknown = rows.iter().filter(|row| row.is_unknown()).count();
    assert_eq!(settled + unknown, 40, "{rows:?}");
    assert!(rows.iter().any(|row| row.state == State::Sent && row.attempt.0 == 1), "{rows:?}");
    far.office.check(batch).await;
}

/// Returns how many bytes the outcome files hold.
fn kept(office: &Office) -> u64 {
    let files = std::fs::read_dir(office.place.path("state")).expect("a state directory");
    let files = files.map(|file| file.expect("a file"));
    let outcomes =
        files.filter(|file| file.path().extension().is_some_and(|end| end == "outcomes"));
    outcomes.map(|file| file.metadata().map_or(0, |about| about.len())).sum()
}

/// F09: cut off for longer than `lost_after`, between dot and answer.
async fn a_worker_cut_off_beyond_the_limit_hands_in_late_answers_as_evidence(place: Place) {
    let late = Deed::reply("250 2.0.0 ok").after(Duration::from_secs(4));
    let behaviour = Behaviour::default().with(At::Dot, When::To("late".to_owned()), late);
    let far = Far::on(place, behaviour).await;
    let list = vec!["late@example.test".to_owned()];
    let batch = far.office.running("notice-1", &list, Office::frozen()).await;
    let mut first = far.hire(Duration::from_secs(10));
    on_the_wire(&far, batch).await;

    far.proxy.set(Way::Frozen);
    let second = far.hire_near(ANSWER);
    far.office
        .until("the row is given up", || async {
            far.office.row(batch, "late@example.test").await.is_unknown()
        })
        .await;
    far.office.until("the answer came", || async { far.office.server.seen().accepted == 1 }).await;
    far.proxy.set(Way::Open);
    while !matches!(first.told.recv().await, Some(Progress::Fenced { .. })) {}
    far.office
        .until("the late answer settles the row", || async {
            far.office.row(batch, "late@example.test").await.state == State::Sent
        })
        .await;

    let row = far.office.row(batch, "late@example.test").await;
    assert_eq!((row.how, row.attempt.0), (Some(How::Accepted), 1), "{row:?}");
    let evidence = far.office.ledger.evidence(row.id).await.unwrap();
    assert!(evidence.iter().any(|seen| seen.source == Seen::LateAnswer), "{evidence:?}");
    second.ended().await;
    first.ended().await;
    far.office.check(batch).await;
}

/// F10 and T1: the second attempt would begin only after the last moment of the first answer.
async fn under_resend_a_late_answer_settles_the_row_before_a_second_copy_goes(place: Place) {
    let late = Deed::reply("250 2.0.0 ok").after(Duration::from_secs(4));
    let behaviour = Behaviour::default().with(At::Dot, When::To("late".to_owned()), late);
    let far = Far::on(place, behaviour).await;
    let list = vec!["late@example.test".to_owned()];
    let frozen = Frozen { on_unknown: OnUnknown::one_word(Policy::Resend), ..Office::frozen() };
    let batch = far.office.running("notice-1", &list, frozen).await;
    let mut first = far.hire(Duration::from_secs(10));
    on_the_wire(&far, batch).await;

    far.proxy.set(Way::Frozen);
    let second = far.hire_near(Duration::from_secs(10));
    far.office
        .until("the row is ready again", || async {
            far.office.row(batch, "late@example.test").await.state == State::Ready
        })
        .await;
    let row = far.office.row(batch, "late@example.test").await;
    let waits = row.due_at.unwrap().since(far.office.clock.now());
    assert!(waits > Duration::from_secs(10), "{waits:?}");
    far.office.until("the answer came", || async { far.office.server.seen().accepted == 1 }).await;
    far.proxy.set(Way::Open);
    while !matches!(first.told.recv().await, Some(Progress::Fenced { .. })) {}
    second.ended().await;
    first.ended().await;

    let row = far.office.row(batch, "late@example.test").await;
    assert_eq!((row.state, row.how, row.attempt.0), (State::Sent, Some(How::Accepted), 1));
    far.office.check(batch).await;
}

async fn on_the_wire(far: &Far, batch: ittsu::domain::id::BatchId) {
    // The dot is on its way when the server has the message and thinks about it.
    far.office
        .until("it is started", || async { far.office.counts(batch).await.sending == 1 })
        .await;
    far.office.until("its dot was noted", || async { far.office.dots_noted() == 1 }).await;
}

async fn a_worker_whose_ledger_file_is_moved_away(place: Place) {
    swapped(place, |_, _| ()).await;
}

async fn a_worker_whose_ledger_file_is_replaced(place: Place) {
    swapped(place, |from, to| {
        std::fs::copy(from, to).expect("a copy");
    })
    .await;
}

/// Moves the ledger's file away in mid-run, puts something else in its place, and back at the end.
async fn swapped(place: Place, put_instead: impl Fn(&Path, &Path)) {
    let slow = Behaviour { thinks: Duration::from_millis(20), ..Behaviour::default() };
    let office = Office::on(place, slow).await;
    let batch = office.running("notice-1", &people(400), Office::frozen()).await;
    let worker = office.hire(office.settings());
    office.until("some are out", || async { office.server.seen().accepted >= 40 }).await;

    let (file, aside) = (office.place.path("ledger.db"), office.place.path("aside.db"));
    let ends = |path: &Path, end: &str| PathBuf::from(format!("{}{end}", path.display()));
    for end in ["", "-wal", "-shm"] {
        std::fs::rename(ends(&file, end), ends(&aside, end)).expect("the file is moved away");
    }
    put_instead(&aside, &file);
    let finished = worker.ended().await;

    assert_eq!(finished.why, Why::LedgerReplaced);
    let out = office.server.seen().accepted;
    assert!(out < 400, "it sent on although nothing could be recorded");
    let _ = std::fs::remove_file(&file);
    for end in ["", "-wal", "-shm"] {
        std::fs::rename(ends(&aside, end), ends(&file, end)).expect("the file is put back");
    }
    office.work().await;

    let counts = office.counts(batch).await;
    assert_eq!(counts.sent + counts.unknown, 400, "{counts:?}");
    office.check(batch).await;
}
