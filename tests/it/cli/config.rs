//! `ittsu config`.

use insta::assert_snapshot;

use crate::support::shell::Shell;

const FILE: &str = r#"ledger = "mysql://ittsu:canary@db/ittsu"
[smtp.relay]
host = "mail.example.com"
user = "bulk"
password = { env = "SMTP_PASSWORD" }
"#;

#[test]
fn each_value_is_shown_with_the_place_it_comes_from() {
    let shell = Shell::new().set("ITTSU_SMTP__RELAY__CONNECTIONS", "3");
    shell.write("ittsu.toml", FILE);
    let output = shell.run(&["config", "show", "--lang", "ko"]);
    assert_snapshot!(output);
}

#[test]
fn the_same_is_one_json_document() {
    let shell = Shell::new();
    shell.write("conf/mine.toml", FILE);
    let output = shell.run(&["--config", "conf/mine.toml", "config", "show", "--json"]);
    assert_eq!(output.code, Some(0));
    let document: serde_json::Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!(document["schema"], "ittsu/config/1");
    assert_eq!(document["file"], "$DIR/conf/mine.toml");
    assert_eq!(document["values"][0]["key"], "ledger");
    assert_eq!(document["values"][0]["value"], "mysql://ittsu:***@db/ittsu");
    assert_eq!(document["values"][0]["origin"], "$DIR/conf/mine.toml:1");
}

#[test]
fn a_check_names_what_stops_sending() {
    let shell = Shell::new();
    shell.write("ittsu.toml", FILE);
    assert_snapshot!(shell.run(&["config", "check"]));
}

#[test]
fn a_check_of_a_good_file_says_so() {
    let shell = Shell::new();
    shell.write("ittsu.toml", "[folder.out]\npath = \"out\"\n");
    assert_snapshot!(shell.run(&["config", "check"]), @"
    OK    $DIR/ittsu.toml: kinds: 0, ways out: 1
    ------- exit 0
    ");
}

#[test]
fn mistakes_stop_every_command_with_exit_2() {
    let shell = Shell::new();
    shell.write("ittsu.toml", "[smtp.relay]\nhots = \"x\"\nport = \"25\"\n");
    assert_snapshot!(shell.run(&["config", "show"]));
}

#[test]
fn a_named_file_that_is_not_there_is_exit_4() {
    let output = Shell::new().run(&["--config", "nowhere.toml", "config", "show"]);
    assert_snapshot!(output, @"
    ------- stderr
    error: there is no configuration file $DIR/nowhere.toml
    hint: `ittsu init` writes a configuration
    ------- exit 4
    ");
}

#[test]
fn what_stands_in_the_file_cannot_command_the_terminal() {
    let shell = Shell::new();
    shell.write("ittsu.toml", "label = \"\\u001b[2Jx\\u202e\"\n\"\\u001b]0;t\" = 1\n");
    let output = shell.run(&["config", "show"]);
    assert!(!output.to_string().contains('\u{1b}'), "{output}");
    shell.write("ittsu.toml", "label = \"\\u001b[2Jx\\u202e\"\n");
    let output = shell.run(&["config", "show"]);
    assert!(output.stdout.contains("\\u{1b}[2Jx\\u{202e}"), "{output}");
}
