//! Commands that only look: status, rows, find, suppress list, preview, doctor.

use insta::assert_snapshot;

use super::desk::{Desk, fields, timeless};
use crate::support::shell::Shell;

#[test]
fn the_status_of_a_batch_keeps_the_contract() {
    let desk = Desk::new("").started(&["ann"]);
    let document = desk.json("status");
    assert_eq!(fields(&document), ["schema", "as_of", "batches"]);
    assert!(document["as_of"].as_str().unwrap().ends_with("+09:00"));
    let batch = &document["batches"][0];
    for name in [
        "batch",
        "kind",
        "title",
        "state",
        "total",
        "ready",
        "sending",
        "sent",
        "failed",
        "unknown",
        "assumed",
        "maybe_twice",
        "left_out",
        "attempts",
        "oldest_ready_at",
        "on_unknown",
        "paused_because",
        "waiting_because",
        "workers",
        "rate_per_minute",
    ] {
        assert!(fields(batch).contains(&name), "{name}");
    }
    assert_eq!(batch["on_unknown"]["server_error"], "hold");
    assert_eq!(batch["waiting_because"], "no_worker");
}

#[test]
fn the_status_of_one_batch_reads_like_a_sum() {
    let desk = Desk::new("").started(&["ann", "r-550-511.bob"]);
    desk.work();
    assert_snapshot!(timeless(&desk.run("status notice-1").to_string()), @r"
    notice-1  notice  notice-1
      state     done, started TIME by hanako
      ready             0
      sending           0
      sent              1
      failed            1
      total             2  adds up
      left out          0
      attempts          2
      if unknown no answer: hold, crash: hold
    as of TIME
    ------- exit 0
    ");
}

#[test]
fn a_ledger_that_is_not_there_is_named_with_its_full_path() {
    let shell = Shell::new();
    shell.write("ittsu.toml", "ledger = \"sqlite:deep/ittsu.db\"\n");
    for words in [&["status"][..], &["unknown"], &["journal"], &["work"], &["find", "x"]] {
        let output = shell.run(words);
        assert_eq!(output.code, Some(7), "{words:?}: {output}");
        assert!(output.stderr.contains("$DIR/deep/ittsu.db"), "{words:?}: {output}");
    }
    assert!(!shell.path("deep").exists());
}

#[test]
fn rows_are_listed_page_by_page_in_the_order_of_the_import() {
    let desk = Desk::new("");
    desk.list("m.csv", &["ann", "bob", "cleo"]);
    desk.done("import notice notice-1 --from m.csv");
    let page = desk.json("rows notice-1 --limit 2");
    assert_eq!(
        (&page["schema"], &page["shown"], &page["of"]),
        (&"ittsu/rows/1".into(), &2.into(), &3.into())
    );
    let rest = desk.json("rows notice-1 --after 2");
    assert_eq!(rest["rows"][0]["key"], "3");
    for name in [
        "key",
        "address",
        "state",
        "how",
        "unknown",
        "cause",
        "unknown_attempts",
        "attempt",
        "generation",
        "message_id",
        "phase",
        "code",
        "enhanced",
        "reply",
        "worker",
        "updated_at",
        "settled_at",
    ] {
        assert!(fields(&rest["rows"][0]).contains(&name), "{name}");
    }
    let csv = desk.run("rows notice-1 --key 1 --format csv");
    assert!(csv.stdout.starts_with("key,address,state,"), "{csv}");
    assert_eq!(desk.run("show notice-1 9").code, Some(4));
}

#[test]
fn a_person_is_found_by_address_number_and_message_id() {
    let desk = Desk::new("").started(&["ann", "bob"]);
    desk.work();
    let id = desk.json("rows notice-1 --key 2")["rows"][0]["message_id"].clone();
    for who in ["2", "bob@member.example", "BOB@Member.Example", id.as_str().unwrap()] {
        let found = desk.json(&format!("find {who}"));
        assert_eq!(found["rows"][0]["key"], "2", "{who}");
        let verdict = found["verdict"].as_str().unwrap();
        assert!(verdict.ends_with("No second copy from here."), "{verdict}");
    }
    let nobody = desk.run("find zoe@member.example");
    assert_eq!(nobody.code, Some(4));
    assert_eq!(nobody.stdout, "Never heard of zoe@member.example.\n");
}

#[test]
fn whoever_is_on_the_do_not_send_list_gets_nothing() {
    let desk = Desk::new("");
    desk.list("m.csv", &["zoe"]);
    desk.done("import notice notice-0 --from m.csv");
    desk.list("m.csv", &["ann", "bob", "cleo"]);
    desk.done("suppress add ANN@member.example --reason bounced");
    let again = desk.json("suppress add ann@member.example");
    assert_eq!((&again["changed"], &again["left"]), (&0.into(), &1.into()));
    let read = desk.json("import notice notice-1 --from m.csv");
    assert_eq!((&read["new"], &read["suppressed"]), (&2.into(), &1.into()));
    desk.done("start notice-1 --confirm 2");
    desk.done("suppress add bob@member.example --kind notice");
    assert_eq!(desk.work(), Some(3));
    assert_eq!(desk.json("rows notice-1 --key 2")["rows"][0]["how"], "suppressed");
    assert_eq!(desk.server.journal().len(), 1);
    let list = desk.json("suppress list");
    assert_eq!(list["entries"].as_array().unwrap().len(), 2);
    assert_eq!(desk.json("suppress remove ann@member.example")["changed"], 1);
    assert_eq!(desk.run("suppress add nonsense").code, Some(2));
}

#[test]
fn a_preview_shows_the_message_and_the_worst_come_first() {
    let desk = Desk::new("");
    desk.shell.write("m.csv", "no,name,email\n1,Ann,ann@member.example\n2,,bob@member.example\n");
    desk.done("import notice notice-1 --from m.csv");
    assert_snapshot!(desk.run("preview notice-1"), @r"
    -- 1  337 bytes
    From: Members <notice@service.example>
    To: ann@member.example
    Subject: News for Ann

    Dear Ann, number 1.
    ------- exit 0
    ");
    let worst = desk.json("preview notice-1 --worst 1");
    assert_eq!(worst["messages"][0]["key"], "2");
    assert_eq!(worst["messages"][0]["looks"], "empty: name");
}

#[test]
fn a_doctor_says_what_is_wrong_and_what_to_do() {
    let desk = Desk::new("").started(&["ann"]);
    let healthy = desk.json("doctor");
    assert_eq!((&healthy["schema"], &healthy["stop"]), (&"ittsu/doctor/1".into(), &0.into()));
    let Desk { shell, server } = desk;
    drop(server);
    let output = shell.run(&["doctor"]);
    assert_eq!(output.code, Some(1), "{output}");
    assert!(output.stdout.contains("STOP  smtp.relay"), "{output}");
    assert!(output.stdout.contains("check `host`, `port`"), "{output}");
}
