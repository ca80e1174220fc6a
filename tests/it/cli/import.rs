//! `import`: what goes in, what stays out, and what is asked first.

use insta::assert_snapshot;

use super::desk::{Desk, fields};

#[test]
fn an_import_answers_with_the_contract_and_a_second_one_adds_nobody() {
    let desk = Desk::new("");
    desk.shell.write(
        "m.csv",
        "no,name,email\n1,Ann,ann@member.example\n2,Bob,bob.member.example\n1,Ann,ann2@member.example\n",
    );
    let first = desk.json("import notice notice-1 --from m.csv");
    assert_eq!(first["schema"], "ittsu/import/1");
    let counts = ["read", "new", "already", "elsewhere", "duplicates", "suppressed", "rejected"];
    assert_eq!(counts.map(|name| first[name].as_i64().unwrap()), [3, 1, 0, 0, 1, 0, 1]);
    assert_eq!(first["encoding"], "UTF-8");
    assert_eq!(
        first["findings"][0],
        serde_json::json!({"line": 3, "column": "email", "why": "no @ in the address",
                           "value": "bob.member.example"})
    );
    for name in ["as_of", "batch", "changed", "gone", "same_address", "unbuildable"] {
        assert!(fields(&first).contains(&name), "{name}");
    }
    let second = desk.json("import notice notice-1 --from m.csv");
    assert_eq!(counts.map(|name| second[name].as_i64().unwrap()), [3, 0, 1, 0, 1, 0, 1]);
}

#[test]
fn what_is_wrong_with_the_whole_source_changes_nothing() {
    let desk = Desk::new("");
    desk.list("m.csv", &["ann"]);
    desk.shell.write("empty.csv", "no,name,email\n");
    desk.shell.write("typo.txt", "Subject: Hello {{ nmae }}\n\nDear {{ nmae }}\n");
    desk.shell.write("sjis.csv", b"no,name,email\n1,\xb1\xb2\xb3,a@member.example\n");
    for (line, code, said) in [
        ("import notice notice-1 --from none.csv", 4, "cannot be opened"),
        ("import notice notice-1 --from empty.csv", 1, "names nobody"),
        ("import letter notice-1 --from m.csv", 2, "there is no kind `letter`"),
        ("import notice notice-1 --from query:members", 4, "no [queries.members]"),
        ("import notice notice-1 --from batch:notice-9", 4, "there is no batch `notice-9`"),
        ("import notice notice-1 --from m.csv --template typo.txt", 2, "no column `nmae`"),
        ("import notice notice-1 --from m.csv --map email=mail", 2, "no column `mail`"),
    ] {
        let output = desk.run(line);
        assert_eq!(output.code, Some(code), "{line}: {output}");
        assert!(output.stderr.contains(said), "{line}: {output}");
    }
    assert_eq!(desk.run("status notice-1").code, Some(4));
}

#[test]
fn a_character_set_that_is_not_sure_is_never_guessed() {
    let desk = Desk::new("");
    // Half-width kana in Shift_JIS are just as good Korean syllables.
    desk.shell.write("kana.csv", b"no,name,email\n1,\xb1\xb2\xb3\xb4,a@member.example\n");
    let output = desk.run("import notice notice-1 --from kana.csv");
    assert_eq!(output.code, Some(6), "{output}");
    assert!(output.stderr.contains("--encoding Shift_JIS"), "{output}");
    let read = desk.json("import notice notice-1 --from kana.csv --encoding Shift_JIS");
    assert_eq!((&read["new"], &read["encoding"]), (&1.into(), &"Shift_JIS".into()));
}

#[test]
fn a_dry_run_counts_and_writes_nothing() {
    let desk = Desk::new("");
    desk.list("m.csv", &["ann", "bob"]);
    let counted = desk.json("import notice notice-1 --from m.csv --dry-run");
    assert_eq!((&counted["new"], &counted["dry_run"]), (&2.into(), &true.into()));
    // Not even a ledger.
    assert_eq!(desk.run("status notice-1").code, Some(7));
}

#[test]
fn nobody_joins_a_started_batch_unconfirmed() {
    let desk = Desk::new("").started(&["ann", "bob"]);
    desk.list("m.csv", &["ann", "bob", "cleo", "dan"]);
    let asked = desk.run("import notice notice-1 --from m.csv");
    assert_snapshot!(asked, @r"
    ------- stderr
    m.csv: UTF-8, number: no, address: email, name: name
      1 | Person ann | ann@member.example
      2 | Person bob | bob@member.example
      3 | Person cleo | cleo@member.example
    error: notice-1 was started, and 2 people would be added to it
    hint: nobody can be asked here: give --confirm 2
    ------- exit 6
    ");
    assert_eq!(desk.run("import notice notice-1 --from m.csv --confirm 3").code, Some(5));
    assert_eq!(desk.batch("notice-1")["total"], 2);
    desk.done("import notice notice-1 --from m.csv --confirm 2");
    assert_eq!(desk.batch("notice-1")["total"], 4);
    // Again there is nobody to add, and the number is not compared.
    desk.done("import notice notice-1 --from m.csv --confirm 2");
    assert_eq!(desk.batch("notice-1")["total"], 4);
}

#[test]
fn a_row_with_other_contents_is_left_until_it_is_to_be_replaced() {
    let desk = Desk::new("");
    desk.list("m.csv", &["ann", "bob"]);
    desk.done("import notice notice-1 --from m.csv");
    desk.list("m.csv", &["ann", "bert"]);
    let left = desk.json("import notice notice-1 --from m.csv");
    assert_eq!(
        (&left["changed"], &left["replaced"], &left["already"]),
        (&1.into(), &0.into(), &2.into())
    );
    let replaced = desk.json("import notice notice-1 --from m.csv --replace");
    assert_eq!((&replaced["changed"], &replaced["replaced"]), (&1.into(), &1.into()));
    let row = desk.json("rows notice-1 --key 2");
    assert_eq!(row["rows"][0]["address"], "bert@member.example");
}

#[test]
fn people_come_from_another_batch_and_are_left_out_by_name() {
    let desk = Desk::new("").started(&["ann", "r-550-511.bob", "cleo"]);
    assert_eq!(desk.work(), Some(3));
    let failed = desk.json("import notice notice-2 --from batch:notice-1?state=failed");
    assert_eq!(failed["new"], 1);
    desk.shell.write("not.csv", "cleo@member.example\n");
    let others = desk.json("import notice notice-3 --from batch:notice-1 --except not.csv");
    assert_eq!(
        (&others["new"], &others["excepted"], &others["read"]),
        (&2.into(), &1.into(), &3.into())
    );
    let left_out = desk.json("rows notice-3 --left-out");
    assert_eq!(left_out["left_out"][0]["key"], "3");
}

#[test]
fn standard_input_is_a_source_also_for_a_started_batch() {
    let desk = Desk::new("").started(&["ann"]);
    let words = ["import", "notice", "notice-1", "--from", "-", "--confirm", "1", "--json"];
    let input = "no,name,email\n1,Person ann,ann@member.example\n2,Bob,bob@member.example\n";
    let output = desk.shell.run_with(&words, input);
    assert_eq!(output.code, Some(0), "{output}");
    assert_eq!(desk.batch("notice-1")["total"], 2);
}
