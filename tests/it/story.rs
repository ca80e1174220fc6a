//! The notice of the design's first page, on MariaDB, from the member table to the third run.
//!
//! A service mails a notice to 5,012 members. The run breaks after the 1,500th mail and is started
//! again: nobody gets it twice without being named, nobody is left out, and the third run says zero.

use std::collections::BTreeMap;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use ittsu::cli::demo::mailserver::{Behaviour, Keep, MailServer};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use sqlx::{AssertSqlSafe, Connection, Executor, MySqlConnection};

use crate::support::engines::{self, Engine, Place};
use crate::support::shell::{Output, Shell};

const MEMBERS: i64 = 5_012;
const REFUSED: i64 = 12;
const CONNECTIONS: i64 = 8;
const SEND: [&str; 9] = [
    "send",
    "notice",
    "notice-12",
    "--from",
    "query:members",
    "--param",
    "grade=2",
    "--confirm",
    "5012",
];

#[test]
fn a_notice_that_breaks_after_1_500_mails_reaches_everybody_and_nobody_is_mailed_twice_unnamed() {
    engines::run(Engine::MariaDb, |ledger| async move {
        // Taken whole: only its name would be moved in here otherwise, and the database be gone.
        let ledger: Place = ledger;
        let shop = Place::on(Engine::MariaDb).await;
        make_members(&shop.url).await;
        let behaviour = Behaviour { keep: Keep::Envelope, ..Behaviour::default() };
        let server = MailServer::start(behaviour).unwrap();
        let shell = desk(&ledger.url, &shop.url, &server);

        // The first run is killed, as hard as the kernel can, after the 1,500th acceptance.
        let mut first = start(&shell);
        wait_until(&shell, &mut first, || server.seen().accepted >= 1_500);
        kill_process(Pid::from_raw(first.id().try_into().unwrap()).unwrap(), Signal::KILL).unwrap();
        first.wait().unwrap();
        let broken = batch(&shell);
        assert_eq!(broken["total"], MEMBERS);
        let at_hand = broken["sending"].as_i64().unwrap();
        assert!(at_hand <= CONNECTIONS, "only what was on the wire is in doubt: {broken}");
        assert!(broken["ready"].as_i64().unwrap() > 0, "{broken}");

        // The second run is the same command: it goes on where the first one stopped.
        let second = shell.run(&SEND);
        assert_eq!(second.code, Some(3), "twelve are refused: {second}");
        assert_eq!(
            counts(&second),
            [("read", MEMBERS), ("new", 0), ("already", MEMBERS)],
            "{second}"
        );
        let done = batch(&shell);
        for (name, n) in [
            ("total", MEMBERS),
            ("sent", MEMBERS - REFUSED),
            ("failed", REFUSED),
            ("ready", 0),
            ("sending", 0),
            ("unknown", 0),
        ] {
            assert_eq!(done[name], n, "{name}: {done}");
        }
        assert_eq!(done["state"], "done");
        let mails = mails(&server);
        assert_eq!(i64::try_from(mails.len()), Ok(MEMBERS - REFUSED), "everybody got it");
        let twice: Vec<_> = mails.iter().filter(|&(_, &n)| n > 1).map(|(who, _)| who).collect();
        let named = done["maybe_twice"].as_i64().unwrap();
        let doubles = i64::try_from(twice.len()).expect("a few");
        assert!(doubles <= named && named <= CONNECTIONS, "{twice:?}: {done}");
        for who in twice {
            let found = shell.run(&["find", who]);
            assert!(found.stdout.contains("Two copies are possible"), "{found}");
        }

        // The third run finds nothing to do, and says so with a count.
        let before = server.journal().len();
        let third = shell.run(&SEND);
        assert_eq!(third.code, Some(0), "{third}");
        assert!(
            third.stderr.contains("Nothing to do: 5,000 sent, 12 failed, 0 waiting."),
            "{third}"
        );
        assert!(third.stderr.contains("5,012 read, 0 new, 5,012 already there"), "{third}");
        assert_eq!(server.journal().len(), before, "not one mail more");
    });
}

/// Fills the shop's `member` table: those who are to get the notice, and some who are not.
async fn make_members(url: &str) {
    let mut shop = MySqlConnection::connect(url).await.unwrap();
    shop.execute(
        "create table member (member_no bigint primary key, email varchar(190) not null,
                              name varchar(190) not null, use_yn char(1) not null,
                              grade int not null)",
    )
    .await
    .unwrap();
    let member = |no: i64| {
        // Every 418th mailbox is gone: twelve of 5,012.
        let word = if no % 418 == 7 { "r-550-511." } else { "" };
        format!("({no}, '{word}member{no}@mail.example', '会員 {no}', 'Y', 2)")
    };
    let left = |no: i64| format!("({no}, 'left{no}@mail.example', '退会 {no}', 'N', 2)");
    let low = |no: i64| format!("({no}, 'low{no}@mail.example', '会員 {no}', 'Y', 1)");
    let mut rows: Vec<_> = (1..=MEMBERS).map(member).collect();
    rows.extend((6_001..6_101).map(left).chain((7_001..7_101).map(low)));
    for some in rows.chunks(1_000) {
        let sql = format!("insert into member values {}", some.join(", "));
        shop.execute(AssertSqlSafe(sql)).await.unwrap();
    }
    shop.close().await.unwrap();
}

fn desk(ledger: &str, shop: &str, server: &MailServer) -> Shell {
    let shell = Shell::new();
    let port = server.addr().port();
    shell.write(
        "ittsu.toml",
        format!(
            r#"ledger = "{ledger}"
timezone = "Asia/Tokyo"
[smtp.relay]
host = "127.0.0.1"
port = {port}
tls = "none"
connections = {CONNECTIONS}
[worker]
heartbeat = "1s"
lost_after = "10s"
[kinds.notice]
via = "smtp.relay"
on_unknown = "resend"
once_per = "batch"
from = "会員サービス <notice@service.example>"
template = "notice.txt"
words = {{ key = "会員番号", person = "会員" }}
claim = 500
retry = {{ attempts = 5, first = "1s", last = "2s" }}
[queries.members]
database = "{shop}"
sql = "select member_no as `key`, email as address, name from member where use_yn = 'Y' and grade >= :grade"
"#
        ),
    );
    shell.write(
        "notice.txt",
        "Subject: お知らせ ({{ name }} 様)\n\n{{ name }} 様\n\n休業のお知らせです。\n",
    );
    shell
}

fn start(shell: &Shell) -> Child {
    let words = std::fs::File::create(shell.path("first.log")).unwrap();
    shell.command(&SEND).stdout(Stdio::null()).stderr(words).spawn().unwrap()
}

fn wait_until(shell: &Shell, child: &mut Child, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        let ended = child.try_wait().unwrap();
        assert_eq!(ended, None, "the run ended by itself: {}", shell.read("first.log"));
        assert!(begun.elapsed() < Duration::from_mins(5), "the run does not come on");
        std::thread::yield_now();
    }
}

fn batch(shell: &Shell) -> Value {
    let output = shell.run(&["status", "notice-12", "--json"]);
    let document: Value =
        serde_json::from_str(&output.stdout).unwrap_or_else(|err| panic!("{err}: {output}"));
    document["batches"][0].clone()
}

/// Reads the first line of an import's answer: so many read, new and already there.
fn counts(output: &Output) -> [(&'static str, i64); 3] {
    let line = output.stderr.lines().find(|line| line.starts_with("notice-12: ")).unwrap_or("");
    let mut numbers = line.split([' ', ':']).filter_map(|word| word.replace(',', "").parse().ok());
    ["read", "new", "already"].map(|name| (name, numbers.next().unwrap_or(-1)))
}

/// Returns how many mails each person got, by the mail server's own book.
fn mails(server: &MailServer) -> BTreeMap<String, usize> {
    let mut mails = BTreeMap::new();
    for taken in server.journal() {
        *mails.entry(taken.to).or_default() += 1;
    }
    mails
}
