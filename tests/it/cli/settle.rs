//! What nobody can know: seeing it, deciding it, and taking the decision back.

use insta::assert_snapshot;

use super::desk::{Desk, timeless};

/// A desk at which the answer to one mail was lost, and everything else went out.
fn with_one_unknown() -> Desk {
    let desk =
        Desk::new("").started(&["ann", "dot-close-after-accept.bob", "cleo", "r-550-511.dan"]);
    assert_eq!(desk.work(), Some(3));
    desk
}

#[test]
fn an_unknown_row_shows_what_is_known_about_it() {
    let desk = with_one_unknown();
    let document = desk.json("unknown");
    assert_eq!(document["schema"], "ittsu/unknown/1");
    let row = &document["rows"][0];
    assert_eq!((&row["key"], &row["verdict"]), (&"2".into(), &"unknown".into()));
    assert_eq!((&row["state"], &row["cause"]), (&"sending".into(), &"no_answer".into()));
    let seen = row["evidence"].as_array().unwrap();
    assert_eq!(seen[1]["what"], "unknown at dot: the server closed the connection");
    assert_eq!(desk.batch("notice-1")["unknown"], 1);
    let checked = desk.run("status --check");
    assert_snapshot!(timeless(&checked.to_string()), @r"
    notice-1: Unknown: 1. Nobody knows whether they went out.  ittsu unknown notice-1
    ------- exit 8
    ");
}

#[test]
fn a_decision_names_the_number_of_rows_and_twice_is_harmless() {
    let desk = with_one_unknown();
    let select = "mark sent notice-1 --unknown --reason relay-log";
    assert_snapshot!(desk.run(select), @r"
    ------- stderr
    error: 1 rows of notice-1 would count as sent. They count as sent by hand. If they did not go out, nobody will send them
    hint: nobody can be asked here: give --confirm 1
    ------- exit 6
    ");
    assert_eq!(desk.run(&format!("{select} --confirm 2")).code, Some(5));
    assert_eq!(desk.batch("notice-1")["unknown"], 1);
    let done = desk.json(&format!("{select} --confirm 1"));
    assert_eq!(
        (&done["matched"], &done["changed"], &done["left"]),
        (&1.into(), &1.into(), &0.into())
    );
    let again = desk.json(&format!("{select} --confirm 1"));
    assert_eq!((&again["matched"], &again["changed"]), (&0.into(), &0.into()));
    assert_eq!(desk.json("rows notice-1 --key 2")["rows"][0]["how"], "operator");
    let undone = desk.json(&format!("undo {}", done["journal"]));
    assert_eq!(undone["changed"], 1);
    assert_eq!(desk.batch("notice-1")["unknown"], 1);
}

#[test]
fn what_a_person_may_not_do_is_counted_and_left() {
    let desk = with_one_unknown();
    let left = desk.json("mark failed notice-1 --key 1 --reason no --confirm 1");
    assert_eq!((&left["changed"], &left["left"]), (&0.into(), &1.into()));
    assert_eq!(left["why_left"][0]["why"], "accepted by the server (1)");
    let left = desk.json("resend notice-1 --key 1 --reason no --confirm 1");
    assert_eq!(left["why_left"][0]["why"], "counts as sent; --another-copy sends it again (1)");
    assert_eq!(
        desk.run("--read-only mark sent notice-1 --unknown --reason r --confirm 1").code,
        Some(5)
    );
}

#[test]
fn a_resent_row_goes_out_again_and_the_person_is_named_as_maybe_twice() {
    let desk = with_one_unknown();
    desk.server.change(|behaviour| {
        behaviour.addresses = ittsu::cli::demo::mailserver::Addresses::Ordinary;
    });
    desk.done("resend notice-1 --unknown --reason asked --confirm 1");
    assert_eq!(desk.work(), Some(0));
    let batch = desk.batch("notice-1");
    assert_eq!((&batch["sent"], &batch["maybe_twice"]), (&3.into(), &1.into()));
    let found = desk.json("find 2");
    assert_eq!(
        found["verdict"],
        "Handed over 2 times because an earlier answer was lost. Two copies are possible."
    );
    let got = desk.server.journal().iter().filter(|mail| mail.to.contains("bob")).count();
    assert_eq!(got, 2);
}

#[test]
fn a_failed_row_goes_to_a_corrected_address() {
    let desk = with_one_unknown();
    desk.done("resend notice-1 --key 4 --to dora@member.example --reason moved --confirm 1");
    desk.work();
    let row = &desk.json("rows notice-1 --key 4")["rows"][0];
    assert_eq!((&row["state"], &row["address"]), (&"sent".into(), &"dora@member.example".into()));
}

#[test]
fn another_copy_is_a_mail_of_its_own() {
    let desk = with_one_unknown();
    let first = desk.json("rows notice-1 --key 1")["rows"][0]["message_id"].clone();
    desk.done("resend notice-1 --key 1 --another-copy --reason lost --confirm 1");
    desk.work();
    let row = &desk.json("rows notice-1 --key 1")["rows"][0];
    assert_eq!((&row["state"], &row["generation"]), (&"sent".into(), &2.into()));
    assert_ne!(row["message_id"], first);
}

#[test]
fn every_decision_is_in_the_journal_with_its_reason() {
    let desk = with_one_unknown();
    desk.done("mark failed notice-1 --unknown --reason gave-up --confirm 1");
    let entries = desk.json("journal notice-1");
    let entry = &entries["entries"][0];
    assert_eq!((&entry["operator"], &entry["reason"]), (&"hanako".into(), &"gave-up".into()));
    assert_eq!((&entry["selection"], &entry["changed"]), (&"--unknown".into(), &1.into()));
    let shown = desk.json("show notice-1 2");
    assert_eq!(shown["journal"][0]["reason"], "gave-up");
    assert_eq!(desk.batch("notice-1")["maybe_delivered"], 1);
}
