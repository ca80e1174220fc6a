//! Whole flows: keys in, frames out, and what the ledger says afterwards.

use crossterm::event::KeyCode;
use ittsu::domain::plan::Act;
use ittsu::domain::selection::Selection;
use ittsu::ops::by;
use ittsu::ops::settle::Decision;

use super::seat::{Seat, facts};
use crate::cli::desk::Desk;

/// Returns the numbers of the line below the list: ready, sending, sent, failed, total.
fn sum(frame: &str) -> Option<[i64; 5]> {
    let line = frame.lines().find(|line| line.starts_with("Ready ") && line.contains("Total"))?;
    let number = |name: &str| -> Option<i64> {
        let (_, rest) = line.split_once(&format!("{name} "))?;
        let digits = rest.split(|c: char| !(c.is_ascii_digit() || c == ',')).next()?;
        digits.replace(',', "").parse().ok()
    };
    Some([
        number("Ready")?,
        number("Sending")?,
        number("Sent")?,
        number("Failed")?,
        number("Total")?,
    ])
}

#[tokio::test(flavor = "multi_thread")]
async fn every_frame_adds_up_while_mail_goes_out_and_the_last_one_is_the_ledger() {
    let people: Vec<String> = (0..400).map(|n| format!("p{n}")).collect();
    let people: Vec<&str> = people.iter().map(String::as_str).collect();
    let desk = Desk::new("").started(&people);
    let mut seat = Seat::at(&desk).await;
    seat.sees("notice-1").await;
    let mut worker = desk.shell.command(&["work", "--until-idle"]).spawn().expect("a worker");
    seat.sees("Sent 400").await;
    worker.wait().expect("its end");
    let frames = seat.frames();
    let sums: Vec<[i64; 5]> = frames.iter().filter_map(|frame| sum(frame)).collect();
    assert!(!sums.is_empty());
    for [ready, sending, sent, failed, total] in &sums {
        assert_eq!(ready + sending + sent + failed, *total, "{sums:?}");
        assert_eq!(*total, 400);
    }
    let early = frames.iter().filter(|frame| frame.contains("Done") && !frame.contains("Sent 400"));
    assert_eq!(early.filter(|frame| frame.contains("100%")).count(), 0);
    seat.leaves().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn pausing_asks_nothing_and_going_on_asks() {
    let desk = Desk::new("").started(&["ann", "bob"]);
    let mut seat = Seat::at(&desk).await;
    seat.sees("notice-1").await;
    seat.typed("p");
    seat.sees("Paused: notice-1").await;
    assert_eq!(desk.batch("notice-1")["state"], "paused");
    seat.typed("e");
    seat.sees("ittsu resume notice-1").await;
    assert_eq!(desk.batch("notice-1")["state"], "paused");
    // Enter alone takes the safe button.
    seat.press(KeyCode::Enter);
    seat.sees("Paused").await;
    seat.typed("e");
    seat.sees("[ Back ]").await;
    seat.press(KeyCode::Right);
    seat.press(KeyCode::Enter);
    seat.sees("Running").await;
    assert_eq!(desk.batch("notice-1")["state"], "running");
    seat.leaves().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rows_in_doubt_are_settled_with_a_reason_and_a_typed_number_and_taken_back() {
    let people = ["dot-close-before-accept.ann", "dot-close-before-accept.bob", "cleo"];
    let desk = Desk::new("on_unknown = \"hold\"").started(&people);
    assert_eq!(desk.run("work --until-idle --no-wait").code, Some(3));
    let mut seat = Seat::at(&desk).await;
    seat.sees("Unknown(2)").await;
    seat.typed("u");
    seat.sees("NOBODY KNOWS").await;
    seat.typed("*");
    seat.sees("Selected: 2").await;
    seat.press(KeyCode::F(8));
    seat.sees("mark failed: 2 of notice-1").await;
    seat.typed("5");
    seat.sees("Type the number of recipients").await;
    seat.paste("2");
    seat.sees("Pasted text never runs").await;
    seat.press(KeyCode::Enter);
    seat.typed("3");
    seat.press(KeyCode::Enter);
    assert_eq!(desk.batch("notice-1")["unknown"], 2);
    seat.press(KeyCode::Backspace);
    seat.typed("２");
    seat.sees("Enter goes on").await;
    seat.press(KeyCode::Enter);
    seat.sees("Done: mark failed, 2.").await;
    assert_eq!(desk.batch("notice-1")["failed"], 2);
    let journal = desk.json("journal");
    assert_eq!(journal["entries"][0]["reason"], "agreed in the team");
    assert_eq!(journal["entries"][0]["operator"], "hanako");
    seat.typed("z");
    seat.sees("Take entry").await;
    seat.press(KeyCode::Right);
    seat.press(KeyCode::Enter);
    seat.sees("Done: undo, 2.").await;
    assert_eq!(desk.batch("notice-1")["unknown"], 2);
    seat.leaves().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_that_moved_on_since_it_was_shown_is_left_alone_and_counted() {
    let people = ["dot-close-before-accept.ann", "dot-close-before-accept.bob"];
    let desk = Desk::new("on_unknown = \"hold\"").started(&people);
    assert_eq!(desk.run("work --until-idle --no-wait").code, Some(3));
    let mut seat = Seat::at(&desk).await;
    seat.sees("Unknown(2)").await;
    seat.typed("u");
    seat.sees("NOBODY KNOWS").await;
    seat.typed("*");
    seat.press(KeyCode::F(9));
    seat.sees("mark sent: 2 of notice-1").await;
    desk.done("mark failed notice-1 --key 1 --reason called --confirm 1");
    seat.typed("5");
    seat.typed("2");
    seat.press(KeyCode::Enter);
    seat.sees("Changed: 1. Left alone: 1").await;
    let batch = desk.batch("notice-1");
    assert_eq!((&batch["sent"], &batch["failed"]), (&1.into(), &1.into()));
    // The same key at another attempt is another row to whoever decided about the first one.
    desk.done("resend notice-1 --key 1 --reason again --confirm 1");
    assert_eq!(desk.run("work --until-idle --no-wait").code, Some(3));
    let decision = Decision {
        batch: "notice-1".parse().unwrap(),
        which: Selection { keys: vec!["1".into()], unknown: true, ..Selection::default() },
        act: Act::MarkSent,
        to: None,
        words: String::new(),
    };
    let seen = [("1".to_owned(), 1)];
    let who = by("hanako", Some("late"));
    let decided = seat.ops.settle_seen(decision, &seen, 1, who).await.unwrap();
    assert_eq!((decided.change.changed, decided.change.left), (0, 1));
    assert_eq!(desk.batch("notice-1")["unknown"], 1);
    seat.leaves().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_send_is_checked_read_in_started_by_its_number_and_taken_back() {
    let desk = Desk::new("");
    desk.list("m.csv", &["ann", "bob", "cleo"]);
    desk.list("first.csv", &["dora"]);
    desk.done("import notice notice-0 --from first.csv");
    let mut seat = Seat::at(&desk).await;
    seat.sees("notice-0").await;
    seat.typed("c");
    seat.sees("Kind: < notice >").await;
    seat.press(KeyCode::Tab);
    seat.typed("notice-1");
    seat.press(KeyCode::Tab);
    seat.typed("冬のお知らせ");
    seat.press(KeyCode::Tab);
    seat.paste(&desk.shell.path("m.csv").display().to_string());
    seat.press(KeyCode::F(2));
    seat.sees("Read in 3 people as notice-1?").await;
    seat.press(KeyCode::F(3));
    seat.sees("Nothing is sent before you start it").await;
    seat.press(KeyCode::Right);
    seat.press(KeyCode::Enter);
    seat.sees("3 people can get this mail").await;
    assert_eq!(desk.batch("notice-1")["state"], "draft");
    seat.press(KeyCode::F(6));
    seat.sees("ittsu start notice-1 --confirm 3").await;
    seat.typed("3");
    seat.press(KeyCode::Enter);
    seat.sees("Esc takes it back").await;
    assert_eq!(desk.batch("notice-1")["state"], "scheduled");
    seat.press(KeyCode::Esc);
    seat.sees("Paused: notice-1").await;
    assert_eq!(desk.batch("notice-1")["state"], "paused");
    seat.leaves().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ledger_that_is_lost_leaves_old_numbers_and_a_way_out() {
    let desk = Desk::new("").started(&["ann", "bob"]);
    let mut seat = Seat::at(&desk).await;
    seat.sees("notice-1").await;
    seat.ops.close().await;
    seat.sees("old numbers").await;
    seat.sees("The ledger is not reachable since").await;
    assert!(seat.now().contains("notice-1"), "{}", seat.now());
    seat.typed("p");
    seat.sees("Not now: the ledger is not reachable.").await;
    seat.leaves().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_only_looks_changes_nothing_and_is_told_so() {
    let desk = Desk::new("").started(&["ann"]);
    let mut seat = Seat::with(&desk, facts(None)).await;
    seat.sees("notice-1").await;
    seat.sees("look only").await;
    seat.typed("p");
    seat.sees("This console only looks").await;
    assert_eq!(desk.batch("notice-1")["state"], "running");
    seat.leaves().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_report_is_looked_at_and_saved() {
    let desk = Desk::new("").started(&["ann", "bob"]);
    desk.done("work --until-idle");
    let mut seat = Seat::at(&desk).await;
    seat.sees("notice-1").await;
    seat.typed("4");
    seat.sees("Space picks batches").await;
    seat.press(KeyCode::Enter);
    seat.sees("2 of 2 sent (100 %)").await;
    seat.press(KeyCode::F(2));
    seat.sees("File to write").await;
    for _ in 0..60 {
        seat.press(KeyCode::Backspace);
    }
    seat.typed(&desk.shell.path("r.html").display().to_string());
    seat.press(KeyCode::Enter);
    seat.sees("Written:").await;
    assert!(desk.shell.read("r.html").contains("notice-1"));
    seat.leaves().await;
}
