//! `ittsu init`.

use insta::assert_snapshot;

use crate::support::shell::Shell;

#[test]
fn a_first_configuration_is_written_and_right() {
    let shell = Shell::new();
    let output = shell.run(&["init", "--kind", "notice=not-at-all", "--kind", "order=twice"]);
    assert_snapshot!(output, @"
    ------- stderr
    Written: $DIR/ittsu.toml
    notice: when nobody can know, send again: may double, never loses
    Written: $DIR/templates/notice.txt, the message to change
    order: when nobody can know, count as sent: may lose one, never doubles
    Written: $DIR/templates/order.txt, the message to change
    Ledger: sqlite:$DIR/ittsu.db
    Next: `ittsu doctor` checks everything.
    ------- exit 0
    ");
    assert_eq!(shell.run(&["config", "check"]).code, Some(0));
    assert_eq!(shell.run(&["status"]).code, Some(0));
}

#[test]
fn a_file_that_is_there_is_never_overwritten_and_gets_its_ledger() {
    let shell = Shell::new();
    let mine = "# mine\nledger = \"sqlite:other.db\"\n";
    shell.write("mine.toml", mine);
    assert_snapshot!(shell.run(&["init", "mine.toml", "--kind", "notice=ask"]), @"
    ------- stderr
    Left as it is: $DIR/mine.toml
    Ledger: sqlite:$DIR/other.db
    ------- exit 0
    ");
    assert_snapshot!(shell.run(&["init", "mine.toml", "--kind", "notice=ask"]), @"
    ------- stderr
    error: $DIR/mine.toml is there already and is left as it is
    hint: give another FILE, or change that one; `ittsu config check` checks it
    ------- exit 5
    ");
    assert_eq!(shell.read("mine.toml"), mine);
}

#[test]
fn without_a_terminal_the_question_becomes_the_name_of_a_flag() {
    let shell = Shell::new();
    let output = shell.run(&["init"]);
    assert_eq!(output.code, Some(6));
    assert!(output.stderr.contains("--kind notice=twice"), "{output}");
    assert!(!shell.path("ittsu.toml").exists());
}
