//! `send`, `work` and `test`: mails really leave.

use insta::assert_snapshot;

use super::desk::Desk;

#[test]
fn the_whole_job_in_one_command_and_the_second_run_says_zero() {
    let desk = Desk::new("");
    desk.list("m.csv", &["ann", "bob", "r-550-511.cleo"]);
    assert_eq!(desk.run("send notice notice-1 --from m.csv").code, Some(6));
    let first = desk.run("send notice notice-1 --from m.csv --confirm 3");
    assert_eq!(first.code, Some(3), "{first}");
    assert_eq!(first.stdout, "notice-1: 2 of 3 sent, 1 failed, 0 waiting, 0 unknown.\n");
    let second = desk.run("send notice notice-1 --from m.csv --confirm 3");
    assert_snapshot!(second, @r"
    notice-1: 2 of 3 sent, 1 failed, 0 waiting, 0 unknown.
    ------- stderr
    m.csv: UTF-8, number: no, address: email, name: name
      1 | Person ann | ann@member.example
      2 | Person bob | bob@member.example
      3 | Person r-550-511.cleo | r-550-511.cleo@member.example
    notice-1: 3 read, 0 new, 3 already there
    Nothing to do: 2 sent, 1 failed, 0 waiting.
    ------- exit 0
    ");
    assert_eq!(desk.server.journal().len(), 2);
}

#[test]
fn a_source_that_grew_is_not_sent_unconfirmed() {
    let desk = Desk::new("");
    desk.list("m.csv", &["ann"]);
    desk.done("send notice notice-1 --from m.csv --confirm 1");
    desk.list("m.csv", &["ann", "bob"]);
    let asked = desk.run("send notice notice-1 --from m.csv");
    assert_eq!(asked.code, Some(6), "{asked}");
    assert!(asked.stderr.contains("--confirm 2"), "{asked}");
    assert_eq!(desk.run("send notice notice-1 --from m.csv --confirm 3").code, Some(5));
    desk.done("send notice notice-1 --from m.csv --confirm 2");
    assert_eq!(desk.batch("notice-1")["sent"], 2);
    assert_eq!(desk.server.journal().len(), 2);
}

#[test]
fn a_document_tells_what_was_read_started_and_sent() {
    let desk = Desk::new("");
    desk.list("m.csv", &["ann", "bob"]);
    let output = desk.run("send notice notice-1 --from m.csv --confirm 2 --json");
    assert_eq!((output.code, output.stderr.lines().count()), (Some(0), 1), "{output}");
    let document: serde_json::Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(document["schema"], "ittsu/send/1");
    assert_eq!(document["import"]["new"], 2);
    assert_eq!(document["start"]["what"], "started");
    assert_eq!((&document["batch"]["sent"], &document["ended"]), (&2.into(), &"idle".into()));
}

#[test]
fn a_worker_that_is_asked_to_end_leaves_a_clean_ledger() {
    let desk = Desk::new("").started(&["ann", "bob"]);
    desk.done("work --until-idle");
    let mut worker = desk.shell.command(&["work"]).spawn().unwrap();
    let begun = std::time::Instant::now();
    while desk.json("workers")["workers"].as_array().unwrap().is_empty() {
        assert!(begun.elapsed().as_secs() < 30, "the worker never registered");
    }
    let pid = rustix::process::Pid::from_raw(i32::try_from(worker.id()).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert_eq!(worker.wait().unwrap().code(), Some(143));
    assert_eq!(desk.json("workers")["workers"].as_array().unwrap().len(), 0);
}

#[test]
fn an_operator_asks_a_worker_to_stop() {
    let desk = Desk::new("").started(&["ann"]);
    desk.done("work --until-idle");
    let mut worker = desk.shell.command(&["work"]).spawn().unwrap();
    let begun = std::time::Instant::now();
    let id = loop {
        if let Some(worker) = desk.json("workers")["workers"].get(0) {
            break worker["id"].clone();
        }
        assert!(begun.elapsed().as_secs() < 30, "the worker never registered");
    };
    desk.done(&format!("workers stop {id}"));
    assert_eq!(worker.wait().unwrap().code(), Some(0));
    assert_eq!(desk.run("workers stop 999").code, Some(4));
}

#[test]
fn a_test_mail_is_never_counted() {
    let desk = Desk::new("");
    desk.list("m.csv", &["ann", "bob"]);
    desk.done("import notice notice-1 --from m.csv");
    let document = desk.json("test notice-1 --to me@desk.example --as 2");
    assert_eq!((&document["outcome"], &document["key"]), (&"accepted".into(), &"2".into()));
    let mail = &desk.server.journal()[0];
    assert_eq!(mail.to, "me@desk.example");
    let text = String::from_utf8_lossy(&mail.content).into_owned();
    assert!(text.contains("Dear Person bob"), "{text}");
    let batch = desk.batch("notice-1");
    assert_eq!((&batch["attempts"], &batch["ready"]), (&0.into(), &2.into()));
    let unanswered = desk.run("test notice-1 --to dot-close-after-accept.me@desk.example");
    assert_eq!(unanswered.code, Some(3), "{unanswered}");
    let refused = desk.run("test notice-1 --to r-550-511.me@desk.example");
    assert_eq!(refused.code, Some(1), "{refused}");
    assert_eq!(desk.json("journal notice-1")["entries"][0]["action"], "test");
}
