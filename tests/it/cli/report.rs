//! `ittsu report`, on a real ledger.

use std::os::unix::fs::PermissionsExt;

use crate::support::shell::Shell;

const CONFIG: &str = r#"
timezone = "Asia/Tokyo"
[folder.out]
path = "out"
[kinds.notice]
via = "folder.out"
on_unknown = "hold"
from = "Notices <notice@example.com>"
template = "notice.txt"
"#;

const PEOPLE: &str = "\
key,email,name
1,taro@example.jp,太郎
2,hanako@example.jp,花子
3,jiho.example.kr,지호
";

/// A shell with a draft of two people and one who was left out.
fn with_a_draft() -> Shell {
    let shell = Shell::new();
    shell.write("ittsu.toml", CONFIG);
    shell.write("notice.txt", "Subject: Hello {{ name }}\n\nDear {{ name }}\n");
    shell.write("people.csv", PEOPLE);
    let output = shell.run(&["import", "notice", "notice-1", "--from", "people.csv"]);
    assert_eq!(output.code, Some(0), "{output}");
    shell
}

#[test]
fn numbers_and_rows_are_of_the_ledger() {
    let shell = with_a_draft();
    let output = shell.run(&["report", "notice-1", "--format", "json", "--rows", "all"]);
    assert_eq!(output.code, Some(0), "{output}");
    let document: serde_json::Value = serde_json::from_str(&output.stdout).unwrap();
    let batch = &document["batches"][0];
    assert_eq!((&batch["total"], &batch["left_out"]), (&2.into(), &1.into()));
    assert_eq!(batch["adds_up"], true);
    assert_eq!(batch["rows"][0]["address"], "t***@example.jp");
    assert_eq!(batch["rows"].as_array().unwrap().len(), 2);
}

#[test]
fn left_out_people_have_their_line() {
    let shell = with_a_draft();
    let output = shell.run(&["report", "notice-1", "--rows", "left-out", "--full-addresses"]);
    assert_eq!(output.code, Some(0), "{output}");
    assert!(output.stdout.contains("people.csv:4"), "{output}");
    assert!(output.stdout.contains("jiho.example.kr"), "{output}");
}

#[test]
fn every_format_can_be_written_to_a_private_file() {
    let shell = with_a_draft();
    for format in ["text", "line", "md", "csv", "json", "html", "xlsx"] {
        let words = ["report", "notice-1", "--format", format, "--rows", "all", "-o", "r.out"];
        let output = shell.run(&words);
        assert_eq!(output.code, Some(0), "{format}: {output}");
        let about = std::fs::metadata(shell.path("r.out")).unwrap();
        assert_eq!(about.permissions().mode() & 0o777, 0o600);
        assert!(about.len() > 20, "{format}");
    }
}

#[test]
fn a_report_that_cannot_be_written_leaves_no_half_file() {
    let shell = with_a_draft();
    let output = shell.run(&["report", "notice-1", "nobody-1", "-o", "half.txt"]);
    assert_eq!(output.code, Some(4), "{output}");
    let output = shell.run(&["report", "notice-1", "-o", "no/such/folder.txt"]);
    assert_eq!(output.code, Some(1), "{output}");
    let left: Vec<_> = std::fs::read_dir(shell.path(""))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| name.contains("half") || name.contains(".part"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_batch_that_is_not_there_is_exit_4() {
    let shell = with_a_draft();
    let output = shell.run(&["report", "notice-2"]);
    assert_eq!(output.code, Some(4), "{output}");
    assert!(output.stderr.contains("notice-1"), "{output}");
}
