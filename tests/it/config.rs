//! What a configuration may say, and what is said about a mistake in it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ittsu::config::check::Severity;
use ittsu::config::{ConfigError, Request, Settings, Transport};
use ittsu::domain::policy::{OncePer, Policy};
use rstest::rstest;

mod orders;

/// A configuration in which everything is right.
const GOOD: &str = r#"
ledger = "postgres://ittsu:canary@db/ittsu"
label = "PRODUCTION"
timezone = "Asia/Tokyo"
language = "ja"
only_to = ["@Example.co.jp", "me@example.com"]

[smtp.relay]
host = "mail.example.com"
port = 465
tls = "implicit"
user = "bulk"
password = { env = "SMTP_PASSWORD" }
connections = 4
messages_per_connection = 50
rate = "1200/min"
deadlines = { connect = "10s", answer = "6m" }

[folder.rehearsal]
path = "rehearsal"

[worker]
heartbeat = "2s"
lost_after = "30s"

[kinds.notice]
via = "smtp.relay"
on_unknown = "resend"
from = "会員サービス <notice@example.com>"
envelope_from = "bounce@example.com"
template = "templates/notice.txt"
words = { key = "会員番号", person = "会員" }
claim = 200
retry = { attempts = 3, first = "1m", last = "1h" }
hours = "08:00-21:00"
give_up_after = "3d"
timezone = "Asia/Seoul"
dkim = { domain = "example.com", selector = "s1", key = "dkim.pem" }

[kinds.order]
via = "folder.rehearsal"
on_unknown = { no_answer = "assume_sent" }
once_per = "kind"
from = "orders@example.com"

[queries.members]
database = "mysql://shop"
sql = "select 1 as key"
"#;

fn read(text: &str) -> Result<Settings, ConfigError> {
    read_with(text, &[])
}

fn read_with(text: &str, variables: &[(&str, &str)]) -> Result<Settings, ConfigError> {
    let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    let request = Request {
        variables: variables.iter().map(own).collect::<BTreeMap<_, _>>(),
        here: PathBuf::from("/work"),
        ..Request::default()
    };
    Settings::read(&request, Some(Path::new("/etc/ittsu.toml")), text)
}

/// Returns every mistake, one a line, without the path of the file.
fn mistakes(text: &str) -> String {
    match read(text) {
        Ok(_) => String::new(),
        Err(ConfigError::Wrong(problems)) => {
            let lines = problems.iter().map(|problem| problem.to_string().replace("/etc/", ""));
            lines.collect::<Vec<_>>().join("\n")
        }
        Err(other) => panic!("{other}"),
    }
}

/// Returns what is said about the good configuration with one text in it replaced.
fn mistakes_with(good: &str, bad: &str) -> String {
    assert!(GOOD.contains(good), "{good} is not in the configuration");
    mistakes(&GOOD.replace(good, bad))
}

#[test]
fn every_key_is_read() {
    let settings = read(GOOD).unwrap();
    assert_eq!(settings.label.as_deref(), Some("PRODUCTION"));
    assert_eq!(settings.timezone.iana_name(), Some("Asia/Tokyo"));
    assert_eq!(settings.language.as_str(), "ja");
    assert_eq!(settings.only_to, ["@example.co.jp", "me@example.com"]);
    assert_eq!(settings.worker.lost_after, Duration::from_secs(30));
    let Transport::Smtp(smtp) = &settings.transports["smtp.relay"] else { panic!("a relay") };
    assert_eq!((smtp.host.as_str(), smtp.port), ("mail.example.com", 465));
    assert_eq!(smtp.deadlines.answer, Duration::from_mins(6));
    assert_eq!(smtp.deadlines.greeting, Duration::from_mins(5));
    assert_eq!(smtp.shared.rate.unwrap().to_string(), "1200/min");
    let notice = &settings.kinds["notice"];
    assert_eq!(notice.on_unknown.crash, Policy::Resend);
    assert_eq!(notice.on_unknown.server_error, Policy::Hold);
    assert_eq!(notice.template.as_deref(), Some(Path::new("/etc/templates/notice.txt")));
    assert_eq!(notice.words.person.as_deref(), Some("会員"));
    assert_eq!(notice.retry.attempts, 3);
    assert_eq!(notice.timezone.iana_name(), Some("Asia/Seoul"));
    assert_eq!(notice.dkim.as_ref().unwrap().key, Path::new("/etc/dkim.pem"));
    let order = &settings.kinds["order"];
    assert_eq!(order.on_unknown.no_answer, Policy::AssumeSent);
    assert_eq!(order.on_unknown.crash, Policy::Hold);
    assert_eq!(order.once_per, OncePer::Kind);
    assert_eq!(order.timezone.iana_name(), Some("Asia/Tokyo"));
    assert_eq!((order.claim, order.retry.attempts), (500, 5));
}

#[test]
fn without_a_file_everything_has_its_default() {
    let request = Request { here: PathBuf::from("/desk"), ..Request::default() };
    let settings = Settings::read(&request, None, "").unwrap();
    assert_eq!(settings.ledger.expose(), "sqlite:/desk/ittsu.db");
    assert_eq!(settings.worker.heartbeat, Duration::from_secs(5));
    assert_eq!(settings.worker.lost_after, Duration::from_mins(1));
    assert!(settings.kinds.is_empty());
}

#[rstest]
#[case::unknown_key(
    "port = 465",
    "prot = 465",
    "ittsu.toml:10: unknown key `prot` in [smtp.relay]; did you mean `port`?"
)]
#[case::unknown_at_the_top(
    "label =",
    "labell =",
    "ittsu.toml:3: unknown key `labell` at the top; did you mean `label`?"
)]
#[case::unknown_section(
    "[worker]",
    "[workers]",
    "ittsu.toml:22: unknown key `workers` at the top; did you mean `worker`?"
)]
#[case::unknown_deadline(
    "connect =",
    "conect =",
    "ittsu.toml:17: unknown key `conect` in [smtp.relay.deadlines]; did you mean `connect`?"
)]
#[case::wrong_unit(
    "\"2s\"",
    "\"2x\"",
    "ittsu.toml:23: `worker.heartbeat`: `2x` is no length of time; write it like 500ms, 10s, 5m, 4h, 3d or 1h30m"
)]
#[case::no_unit(
    "\"2s\"",
    "2",
    "ittsu.toml:23: `worker.heartbeat`: expected a length of time such as \"30s\", got a number"
)]
#[case::wrong_rate(
    "1200/min",
    "1200",
    "ittsu.toml:16: `smtp.relay.rate`: `1200` is no rate; write it like 20/s, 1200/min, 6000/h or 50000/day"
)]
#[case::wrong_hours(
    "08:00-21:00",
    "8-21h",
    "ittsu.toml:35: `kinds.notice.hours`: `8-21h` are no sending hours; write them like 08:00-21:00"
)]
#[case::text_for_number(
    "connections = 4",
    "connections = \"4\"",
    "ittsu.toml:14: `smtp.relay.connections`: expected a whole number, 1 to 1000000"
)]
#[case::zero(
    "connections = 4",
    "connections = 0",
    "ittsu.toml:14: `smtp.relay.connections`: expected a whole number, 1 to 1000000"
)]
#[case::too_many(
    "connections = 4",
    "connections = 5000",
    "ittsu.toml:14: `smtp.relay.connections`: expected at most 1000"
)]
#[case::number_too_long(
    "connections = 4",
    "connections = 99999999999999999999",
    "ittsu.toml:14: `smtp.relay.connections`: expected a whole number, 1 to 1000000"
)]
#[case::wrong_word(
    "on_unknown = \"resend\"",
    "on_unknown = \"retry\"",
    "ittsu.toml:28: `kinds.notice.on_unknown`: expected one of assume_sent, resend, hold, got `retry`"
)]
#[case::wrong_cause(
    "no_answer =",
    "no_anser =",
    "ittsu.toml:42: `kinds.order.on_unknown`: unknown key `no_anser`; known: no_answer, crash, server_error; did you mean `no_answer`?"
)]
#[case::wrong_zone(
    "\"Asia/Seoul\"",
    "\"Asia/Soul\"",
    "ittsu.toml:37: `kinds.notice.timezone`: expected a time zone such as \"Asia/Tokyo\", got `Asia/Soul`"
)]
#[case::section_twice("[worker]", "[smtp.relay]", "ittsu.toml:22: duplicate key")]
#[case::key_twice("tls = \"implicit\"", "port = 465", "ittsu.toml:11: duplicate key")]
#[case::no_toml("label =", "label", "ittsu.toml:3: key with no value, expected `=`")]
#[case::nothing_near(
    "words = {",
    "colours = {",
    "ittsu.toml:32: unknown key `colours` in [kinds.notice]; known here: via, on_unknown, once_per, from, envelope_from, template, words, claim, retry, hours, give_up_after, late, timezone, dkim, retry_refused, queue, lookup, batch"
)]
#[case::a_table_was_expected(
    "words = { key = \"会員番号\", person = \"会員\" }",
    "words = \"会員\"",
    "ittsu.toml:32: `kinds.notice.words` is a text; expected a table"
)]
#[case::no_such_transport(
    "via = \"smtp.relay\"",
    "via = \"smtp.rely\"",
    "ittsu.toml:27: `kinds.notice.via` = smtp.rely: there is no such transport; did you mean `smtp.relay`?"
)]
#[case::no_via(
    "via = \"smtp.relay\"\n",
    "",
    "ittsu.toml:26: [kinds.notice] needs `via`, as in via = \"smtp.relay\""
)]
#[case::no_from(
    "from = \"orders@example.com\"",
    "",
    "ittsu.toml:40: [kinds.order] needs `from`, as in from = \"Name <notice@example.com>\""
)]
#[case::no_sender(
    "orders@example.com",
    "orders",
    "ittsu.toml:44: `kinds.order.from`: expected a sender such as \"Name <notice@example.com>\", got `orders`"
)]
#[case::line_break_in_sender(
    "orders@example.com",
    "o\\nBcc: x <orders@example.com>",
    "ittsu.toml:44: `kinds.order.from`: expected a sender such as \"Name <notice@example.com>\", got `o\\nBcc: x <orders@example.com>`"
)]
#[case::no_host(
    "host = \"mail.example.com\"\n",
    "",
    "ittsu.toml:8: [smtp.relay] needs `host`, as in host = \"mail.example.com\""
)]
#[case::port_in_the_host(
    "mail.example.com\"",
    "mail.example.com:465\"",
    "ittsu.toml:9: `smtp.relay.host`: expected a host alone; write port = 465 in a line of its own"
)]
#[case::starttls_on_465(
    "tls = \"implicit\"",
    "tls = \"starttls\"",
    "ittsu.toml:11: `smtp.relay.tls` = starttls: port 465 speaks TLS from the first byte; expected tls = \"implicit\""
)]
#[case::tls_on_587(
    "port = 465",
    "port = 587",
    "ittsu.toml:11: `smtp.relay.tls` = implicit: port 587 begins in plain text; expected tls = \"starttls\", or port = 465"
)]
#[case::password_in_plain_text(
    "port = 465\ntls = \"implicit\"",
    "port = 25\ntls = \"none\"\nallow_plaintext = true",
    "ittsu.toml:11: `smtp.relay.tls` = none: a password would travel in plain text to mail.example.com; expected tls = \"starttls\" or \"implicit\""
)]
#[case::secret_in_the_file(
    "{ env = \"SMTP_PASSWORD\" }",
    "\"canary\"",
    "ittsu.toml:13: `smtp.relay.password`: a secret never stands in the file; expected { env = \"NAME\" }, { file = \"PATH\" } or { command = \"…\" }"
)]
#[case::password_alone(
    "user = \"bulk\"\n",
    "",
    "ittsu.toml:12: `smtp.relay.password` has no user beside it"
)]
#[case::lost_too_soon(
    "lost_after = \"30s\"",
    "lost_after = \"5s\"",
    "ittsu.toml:24: `worker.lost_after` = 5s is less than three heartbeats (2s x 3 = 6s): a worker that is only slow would be taken for lost"
)]
#[case::last_before_first(
    "last = \"1h\"",
    "last = \"30s\"",
    "ittsu.toml:34: `kinds.notice.retry.last` = 30s is shorter than `first` = 1m"
)]
#[case::nobody_allowed(
    "only_to = [\"@Example.co.jp\", \"me@example.com\"]",
    "only_to = []",
    "ittsu.toml:6: `only_to`: expected a list such as [\"@example.co.jp\", \"me@example.com\"]; leave the key out to allow everybody"
)]
#[case::no_address_allowed(
    "\"me@example.com\"]",
    "\"example.com\"]",
    "ittsu.toml:6: `only_to`: `example.com` is neither an address nor an @domain"
)]
#[case::no_database(
    "mysql://shop",
    "redis://shop",
    "ittsu.toml:47: `queries.members.database`: expected sqlite:FILE, postgres://USER@HOST/NAME or mysql://USER@HOST/NAME, got `redis://shop`"
)]
fn a_mistake_names_file_line_key_and_what_was_expected(
    #[case] good: &str,
    #[case] bad: &str,
    #[case] said: &str,
) {
    assert_eq!(mistakes_with(good, bad), said);
}

#[test]
fn all_mistakes_are_named_at_once() {
    let said = mistakes(&GOOD.replace("port = 465", "prot = 465").replace("\"2s\"", "\"2x\""));
    assert_eq!(said.lines().count(), 2, "{said}");
}

#[test]
fn a_variable_wins_over_the_file_and_says_so() {
    let variables = [
        ("ITTSU_LEDGER", "sqlite:other.db"),
        ("ITTSU_SMTP__RELAY__CONNECTIONS", "2"),
        ("ITTSU_ONLY_TO", "a@example.jp, @example.kr"),
    ];
    let settings = read_with(GOOD, &variables).unwrap();
    assert_eq!(settings.ledger.expose(), "sqlite:/etc/other.db");
    assert_eq!(settings.place_of("ledger"), "ITTSU_LEDGER");
    assert_eq!(settings.transports["smtp.relay"].shared().connections, 2);
    assert_eq!(settings.only_to, ["a@example.jp", "@example.kr"]);
    assert_eq!(settings.place_of("smtp.relay.port"), "/etc/ittsu.toml:10");
    assert_eq!(settings.place_of("kinds.order.claim"), "default");
}

#[test]
fn a_mistake_in_a_variable_names_the_variable() {
    let wrong = read_with(GOOD, &[("ITTSU_WORKER__HEARTBEAT", "soon")]).unwrap_err();
    assert_eq!(
        wrong.to_string(),
        "the configuration is wrong: ITTSU_WORKER__HEARTBEAT: `worker.heartbeat`: `soon` is no \
         length of time; write it like 500ms, 10s, 5m, 4h, 3d or 1h30m"
    );
}

#[test]
fn a_mistyped_variable_is_not_ignored_in_silence() {
    let settings =
        read_with(GOOD, &[("ITTSU_LEGDER", "sqlite:x"), ("ITTSU_OPERATOR", "h")]).unwrap();
    let warnings: Vec<_> = settings.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(warnings, ["ITTSU_LEGDER: this variable sets nothing"]);
}

#[test]
fn a_short_wait_for_the_answer_is_warned_about_with_its_consequence() {
    let settings = read(&GOOD.replace("answer = \"6m\"", "answer = \"1m\"")).unwrap();
    let [warning] = settings.warnings.as_slice() else { panic!("one warning") };
    assert_eq!(warning.place, "/etc/ittsu.toml:17");
    assert!(warning.what.contains("may be sent twice or not at all"), "{warning}");
}

#[test]
fn plain_text_goes_to_this_machine_only_unless_it_is_allowed() {
    let plain = "[smtp.x]\nhost = \"HOST\"\ntls = \"none\"\n";
    for here in ["localhost", "127.0.0.1", "127.1.2.3", "::1"] {
        assert_eq!(mistakes(&plain.replace("HOST", here)), "");
    }
    assert!(mistakes(&plain.replace("HOST", "10.0.0.1")).contains("allow_plaintext = true"));
    let allowed = format!("{}allow_plaintext = true", plain.replace("HOST", "10.0.0.1"));
    assert_eq!(mistakes(&allowed), "");
}

#[test]
fn no_password_is_shown_anywhere() {
    let settings = read(GOOD).unwrap();
    let everything = format!("{settings:?}");
    assert!(!everything.contains("canary"), "{everything}");
    let shown = settings.shown.iter().find(|shown| shown.key == "smtp.relay.password").unwrap();
    assert_eq!(shown.value, "*** (variable SMTP_PASSWORD)");
    let wrong = mistakes(&GOOD.replace("postgres://ittsu:canary@db", "oracle://ittsu:canary@db"));
    assert!(wrong.contains("oracle://ittsu:***@db"), "{wrong}");
}

#[test]
fn a_file_that_everybody_can_read_with_a_password_in_it_is_warned_about() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ittsu.toml");
    std::fs::write(&file, GOOD).unwrap();
    let request = Request { file: Some(file.clone()), ..Request::default() };
    for (mode, warned) in [(0o644, true), (0o640, false)] {
        std::fs::set_permissions(&file, PermissionsExt::from_mode(mode)).unwrap();
        let warnings = Settings::load(&request).unwrap().warnings;
        assert_eq!(warnings.iter().any(|w| w.what.contains("chmod 600")), warned, "{warnings:?}");
    }
}

#[test]
fn a_look_names_every_file_and_variable_that_is_missing() {
    let findings = read(GOOD).unwrap().look();
    let mut stops: Vec<_> = findings
        .iter()
        .filter(|finding| finding.severity == Severity::Stop)
        .map(|finding| finding.problem.to_string().replace("/etc/", ""))
        .collect();
    stops.sort();
    assert_eq!(
        stops,
        [
            "ittsu.toml:13: `smtp.relay.password`: the variable SMTP_PASSWORD is not set",
            "ittsu.toml:31: `kinds.notice.template`: templates/notice.txt cannot be read: No such \
             file or directory (os error 2)",
            "ittsu.toml:38: `kinds.notice.dkim.key`: dkim.pem cannot be read: No such file or \
             directory (os error 2)",
        ]
    );
}
