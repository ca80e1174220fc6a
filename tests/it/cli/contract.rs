//! What holds for every command: help, exit codes, flags, closed pipes.

use std::io::Read;
use std::process::Stdio;

use insta::assert_snapshot;

use crate::support::shell::Shell;

#[test]
fn the_first_help_is_one_screen_of_commands() {
    assert_snapshot!(Shell::new().run(&["-h"]));
}

#[test]
fn help_and_version_are_data_and_succeed() {
    let shell = Shell::new();
    for words in [&["--version"][..], &["--help"], &["mark", "sent", "--help"]] {
        let output = shell.run(words);
        assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""), "{words:?}");
    }
}

#[test]
fn a_wrong_command_line_is_exit_2_and_says_what_would_be_right() {
    let shell = Shell::new();
    for (words, said) in [
        (&["mark", "sent", "notice-1", "--reason", "r"][..], "--key <K>"),
        (&["mark", "sent", "notice-1", "--unknown"], "--reason <TEXT>"),
        (&["change", "notice-1", "--reason", "r"], "--rate <R>"),
        (&["change", "notice-1", "--rate", "fast", "--reason", "r"], "1200/min"),
        (&["rows", "Notice"], "may hold only a-z"),
        (&["start", "notice-1", "--confirm", "some"], "a count is a whole number"),
        (&["unknown", "--older-than", "soon"], "is no length of time"),
        (&["report", "notice-1", "--format", "pdf"], "possible values: text, line, md"),
        (&["--lang", "fr", "status"], "possible values: en, ja, ko"),
        (&["suppress", "add"], "<ADDRESS>"),
        (&["pause"], "BATCH"),
        (&["お知らせ"], "there is no command `お知らせ`"),
        (&["notice-1", "status"], "stands before the command"),
    ] {
        let output = shell.run(words);
        assert_eq!(output.code, Some(2), "{words:?}: {output}");
        assert!(output.stderr.contains(said), "{words:?}: {output}");
        assert_eq!(output.stdout, "", "{words:?}");
    }
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let shell = Shell::new();
    let mut child = shell
        .command(&["completions", "bash"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!((child.wait().unwrap().code(), said.as_str()), (Some(0), ""));
}

#[test]
fn output_that_cannot_be_written_is_exit_1() {
    let shell = Shell::new();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = shell.command(&["completions", "bash"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("the output could not be written"), "{said}");
}

#[test]
fn a_change_needs_a_name_for_the_journal() {
    let shell = Shell::new().set("ITTSU_OPERATOR", " ");
    shell.write("ittsu.toml", "");
    let output = shell.run(&["suppress", "add", "a@example.jp"]);
    assert_snapshot!(output, @"
    ------- stderr
    error: nobody is named for the journal
    hint: give --operator NAME, or set ITTSU_OPERATOR
    ------- exit 2
    ");
}

#[test]
fn read_only_refuses_what_changes_something() {
    let output = Shell::new().run(&["--read-only", "init", "--kind", "notice=ask"]);
    assert_snapshot!(output, @"
    ------- stderr
    error: this command changes something
    hint: leave out --read-only to allow it
    ------- exit 5
    ");
}

#[test]
fn colour_is_for_terminals_and_for_those_who_ask() {
    let shell = Shell::new();
    let plain = shell.run(&["--config", "none", "config", "show"]);
    assert!(!plain.stderr.contains('\u{1b}'), "{plain}");
    let painted = shell.run(&["--config", "none", "--color", "always", "config", "show"]);
    assert!(painted.stderr.starts_with("\u{1b}[31merror:\u{1b}[0m"), "{painted}");
}

#[test]
fn completions_and_the_manual_know_every_command() {
    let shell = Shell::new();
    for words in [&["completions", "bash"][..], &["completions", "zsh"], &["completions", "fish"]] {
        let output = shell.run(words);
        assert_eq!(output.code, Some(0));
        assert!(output.stdout.contains("suppress"), "{words:?}");
    }
    let manual = shell.run(&["man"]);
    assert_eq!(manual.code, Some(0));
    assert!(manual.stdout.contains(".TH ittsu 1"), "{}", manual.stdout);
    assert_eq!(shell.run(&["man", "pages"]).code, Some(0));
    let mark = shell.read("pages/ittsu-mark.1");
    assert!(mark.contains("by hand"), "{mark}");
}
