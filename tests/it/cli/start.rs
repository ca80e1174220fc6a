//! `start` and what keeps a batch from it; `pause`, `resume`, `cancel`, `discard`, `change`.

use insta::assert_snapshot;

use super::desk::Desk;

#[test]
fn a_start_names_the_number_of_people_or_changes_nothing() {
    let desk = Desk::new("");
    desk.list("m.csv", &["ann", "bob", "cleo"]);
    desk.done("import notice notice-1 --from m.csv");
    assert_snapshot!(desk.run("start notice-1"), @r#"
    ------- stderr
    error: 3 people would get notice-1 "notice-1"
    hint: nobody can be asked here: give --confirm 3
    ------- exit 6
    "#);
    assert_eq!(desk.run("start notice-1 --confirm 2").code, Some(5));
    assert_eq!(desk.batch("notice-1")["state"], "draft");
    assert_snapshot!(desk.run("start notice-1 --confirm 3"), @r"
    ------- stderr
    notice-1 is started: 3 people.
    Nobody is sending. Start a worker: ittsu work
    ------- exit 0
    ");
    let again = desk.run("start notice-1 --confirm 99");
    assert!(again.stderr.contains("Nothing to do: 0 sent, 0 failed, 3 waiting"), "{again}");
    assert_snapshot!(desk.run("start notice-2 --confirm 3"), @r"
    ------- stderr
    error: there is no batch `notice-2`
    hint: did you mean `notice-1`?
    ------- exit 4
    ");
}

#[test]
fn a_batch_whose_messages_cannot_be_built_does_not_start_by_accident() {
    let desk = Desk::new("");
    desk.shell.write("notice.txt", "Subject: For {{ name }}\n\n{{ 10 / (no | int - 2) }}\n");
    desk.list("m.csv", &["ann", "bob", "cleo"]);
    let read = desk.json("import notice notice-1 --from m.csv");
    assert_eq!((&read["new"], &read["unbuildable"]), (&3.into(), &1.into()));
    let refused = desk.run("start notice-1 --confirm 3");
    assert_eq!(refused.code, Some(5), "{refused}");
    assert!(refused.stderr.contains("--leave-unbuildable 1"), "{refused}");
    assert_eq!(desk.run("start notice-1 --confirm 3 --leave-unbuildable 2").code, Some(5));
    desk.done("start notice-1 --confirm 3 --leave-unbuildable 1");
    assert_eq!(desk.work(), Some(3));
    let row = desk.json("rows notice-1 --key 2");
    assert_eq!(row["rows"][0]["how"], "unbuildable");
    assert_eq!(desk.batch("notice-1")["sent"], 2);
}

#[test]
fn a_start_may_wait_for_its_time() {
    let desk = Desk::new("");
    desk.list("m.csv", &["ann"]);
    desk.done("import notice notice-1 --from m.csv");
    let output = desk.run("start notice-1 --confirm 1 --at tomorrow");
    assert_eq!(output.code, Some(2), "{output}");
    let past = desk.run("start notice-1 --confirm 1 --at 2026-11-30T18:00");
    assert_eq!(past.code, Some(2), "{past}");
    assert!(past.stderr.contains("2026-11-30 18:00 is over"), "{past}");
    desk.done("start notice-1 --confirm 1 --at 2099-01-01T09:00");
    let batch = desk.batch("notice-1");
    assert_eq!(batch["state"], "scheduled");
    assert_eq!(batch["scheduled_at"], "2099-01-01T09:00:00+09:00");
    desk.done("change notice-1 --at 2099-01-02T09:00 --reason later");
    assert_eq!(desk.batch("notice-1")["scheduled_at"], "2099-01-02T09:00:00+09:00");
    assert_eq!(desk.work(), Some(0));
    assert_eq!(desk.batch("notice-1")["ready"], 1);
}

#[test]
fn a_time_for_what_is_started_is_not_taken_in_silence() {
    let desk = Desk::new("").started(&["ann"]);
    let again = desk.run("start notice-1 --confirm 1 --at 2099-01-03T09:00");
    assert_eq!(again.code, Some(0), "{again}");
    assert!(again.stderr.contains("notice-1 is started already"), "{again}");
}

#[test]
fn a_pause_holds_and_says_so_until_it_is_taken_back() {
    let desk = Desk::new("").started(&["ann"]);
    let paused = desk.json("pause notice-1 --reason footer");
    assert_eq!((&paused["schema"], &paused["changed"]), (&"ittsu/change/1".into(), &1.into()));
    let again = desk.run("pause notice-1");
    assert!(again.stderr.contains("Nothing to do"), "{again}");
    let batch = desk.batch("notice-1");
    assert_eq!((&batch["state"], &batch["paused_because"]), (&"paused".into(), &"footer".into()));
    assert_eq!(desk.run("start notice-1 --confirm 1").code, Some(5));
    desk.done("work --until-idle");
    assert_eq!(desk.batch("notice-1")["ready"], 1);
    desk.done("resume notice-1");
    desk.done("pause --kind notice --reason all");
    assert_eq!(desk.batch("notice-1")["state"], "paused");
    desk.done("resume --kind notice");
    desk.done("work --until-idle");
    assert_eq!(desk.batch("notice-1")["state"], "done");
}

#[test]
fn a_cancelled_batch_is_final_and_names_its_people_first() {
    let desk = Desk::new("").started(&["ann", "bob"]);
    assert_eq!(desk.run("cancel notice-1 --reason wrong").code, Some(6));
    assert_eq!(desk.run("cancel notice-1 --confirm 1 --reason wrong").code, Some(5));
    let done = desk.json("cancel notice-1 --confirm 2 --reason wrong");
    assert_eq!(done["changed"], 2);
    desk.done("cancel notice-1 --reason wrong");
    assert_eq!(desk.run("start notice-1 --confirm 2").code, Some(5));
    let batch = desk.batch("notice-1");
    assert_eq!((&batch["state"], &batch["failed"]), (&"cancelled".into(), &2.into()));
    assert_eq!(desk.run("discard notice-1").code, Some(5));
}

#[test]
fn a_draft_can_be_thrown_away_and_its_name_is_free() {
    let desk = Desk::new("");
    desk.list("m.csv", &["ann", "bob"]);
    desk.done("import notice notice-1 --from m.csv");
    desk.done("discard notice-1");
    assert_eq!(desk.run("status notice-1").code, Some(4));
    assert_eq!(desk.json("import notice notice-1 --from m.csv")["new"], 2);
}

#[test]
fn a_new_message_is_built_for_everybody_before_it_is_taken() {
    let desk = Desk::new("").started(&["ann", "bob"]);
    desk.shell.write("bad.txt", "Subject: {{ nobody }}\n\nx\n");
    desk.shell.write("good.txt", "Subject: Other news\n\nx\n");
    let running = desk.run("change notice-1 --template good.txt --reason typo");
    assert_eq!(running.code, Some(5), "{running}");
    desk.done("pause notice-1");
    let refused = desk.run("change notice-1 --template bad.txt --reason typo");
    assert_eq!(refused.code, Some(5), "{refused}");
    desk.done("change notice-1 --template good.txt --reason typo");
    assert_eq!(desk.json("preview notice-1")["messages"][0]["subject"], "Other news");
    desk.done("change notice-1 --rate 5/s --on-unknown resend --reason slower");
    assert_eq!(desk.batch("notice-1")["on_unknown"]["crash"], "resend");
}
