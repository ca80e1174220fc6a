use insta::assert_snapshot;
use rstest::rstest;

use super::*;
use crate::domain::outcome::Blame;
use crate::domain::retry::Jitter;
use crate::domain::smtp::{Event, Loss, classify};
use crate::domain::time::Timestamp;

mod this_row;

const NOW: Timestamp = Timestamp(1_000_000_000_000);
const SECOND: Duration = Duration::from_secs(1);

/// A batch whose breakers are told what happened, row by row.
struct Told {
    breakers: BatchBreakers,
}

impl Told {
    fn new() -> Self {
        Self { breakers: BatchBreakers::new(Limits::default()) }
    }

    fn hears(&mut self, row: i64, phase: Phase, event: &Event) -> Ruling {
        let words = matches!(event, Event::Reply(..)).then(|| event.to_string());
        self.breakers.see(seen(row, phase, &classify(phase, event), words.as_deref()))
    }

    fn accepts(&mut self, row: i64) -> Vec<i64> {
        let ruling = self.hears(row, Phase::Dot, &Event::reply(250, "2.0.0 queued"));
        assert_eq!(ruling.pause, None);
        ruling.fail.into_iter().map(|(row, _)| row.0).collect()
    }

    fn suspects(&mut self, row: i64) -> Ruling {
        self.hears(row, Phase::Rcpt, &Event::reply(550, "5.7.1 sender not allowed"))
    }
}

fn seen<'a>(row: i64, phase: Phase, verdict: &'a Verdict, reply: Option<&'a str>) -> Seen<'a> {
    Seen {
        batch: "notice-12",
        route: "smtp.relay",
        row: RecipientId(row),
        key: "100234",
        attempt: Attempt(1),
        is_fresh: true,
        phase,
        verdict,
        reply,
    }
}

/// The refusal of the row that was looked at is about that row.
fn believed() -> Ruling {
    let refused = classify(Phase::Rcpt, &Event::reply(550, "5.1.1 no such user"));
    Ruling { verdict: Some(refused), ..Ruling::default() }
}

fn pause(ruling: Ruling) -> String {
    assert!(ruling.fail.is_empty());
    lines(&ruling.pause.unwrap())
}

/// Says a reason in four lines: what happened, the server's words, what it means, what to do.
fn lines(reason: &Reason) -> String {
    let reply = reason.reply.as_deref().unwrap_or("-");
    [&reason.happened, reply, &reason.means, &reason.advice].join("\n")
}

#[test]
fn b1_a_refused_login_pauses_at_once() {
    let reason = Told::new().hears(1, Phase::Auth, &Event::reply(535, "5.7.8 bad credentials"));
    assert_snapshot!(pause(reason), @"
    smtp.relay refused the login, once: more tries could lock the account.
    535 5.7.8 bad credentials
    No recipient was failed for it; they stay ready.
    Check user and password of [smtp.relay], then: ittsu resume notice-12
    ");
}

#[test]
fn b2_one_sender_refused_at_mail_pauses_at_once() {
    let reason = Told::new().hears(1, Phase::Mail, &Event::reply(550, "5.1.8 unknown sender"));
    assert_snapshot!(pause(reason), @"
    smtp.relay refused the sender, once: every mail of the batch has it.
    550 5.1.8 unknown sender
    No recipient was failed for it; they stay ready.
    Check `envelope_from` of the kind and what this login may send as, then: ittsu resume notice-12
    ");
}

#[test]
fn b2_three_suspect_recipients_in_a_row_pause() {
    let mut batch = Told::new();
    assert_eq!(batch.suspects(1), Ruling::default());
    assert_eq!(batch.suspects(2), Ruling::default());
    assert_snapshot!(pause(batch.suspects(3)), @"
    smtp.relay refused 3 recipients in a row for a reason that is not about them.
    550 5.7.1 sender not allowed
    No recipient was failed for it; they stay ready.
    Check sender, SPF, DKIM and what this login may send as, then: ittsu resume notice-12
    ");
}

#[test]
fn b3_three_messages_refused_for_their_content_pause() {
    let mut batch = Told::new();
    let spam = Event::reply(554, "5.6.0 looks like spam");
    assert_eq!(batch.hears(1, Phase::Dot, &spam), Ruling::default());
    assert_eq!(batch.hears(2, Phase::Dot, &spam), Ruling::default());
    assert_snapshot!(pause(batch.hears(3, Phase::Dot, &spam)), @"
    smtp.relay refused 3 recipients in a row for what the message holds, and everybody gets the same.
    554 5.6.0 looks like spam
    No recipient was failed for it; they stay ready.
    Look at the message (ittsu preview notice-12) and change it if need be (ittsu change notice-12 --template FILE), then: ittsu resume notice-12
    ");
}

#[test]
fn b3_one_message_that_is_too_big_pauses_at_once() {
    let reason = Told::new().hears(1, Phase::Dot, &Event::reply(552, "5.3.4 size"));
    assert_snapshot!(pause(reason), @"
    The message is too big for smtp.relay, once: everybody gets this message.
    552 5.3.4 size
    No recipient was failed for it; they stay ready.
    Make it smaller (ittsu change notice-12 --template FILE), ask for a higher limit, or, if only 100234 is to blame: ittsu mark failed notice-12 --key 100234 --reason TEXT --confirm 1, then: ittsu resume notice-12
    ");
}

#[test]
fn b4_more_than_a_tenth_of_bad_recipients_pauses() {
    let mut batch = Told::new();
    let unknown = Event::reply(550, "5.1.1 no such user");
    for row in 0..20 {
        assert_eq!(batch.hears(row, Phase::Rcpt, &unknown), Ruling::default());
        batch.accepts(100 + row);
    }
    assert_snapshot!(pause(batch.hears(20, Phase::Rcpt, &unknown)), @"
    21 of the last 41 recipients do not exist or take no mail, which is more than 10 % of 200: receivers block whoever goes on.
    550 5.1.1 no such user
    These 21 stay failed, each with its own answer; the rest stay ready.
    Look at them (ittsu rows notice-12 --state failed), clean the list, then: ittsu resume notice-12
    ");
}

#[test]
fn b4_takes_a_tenth_of_bad_recipients_for_ever() {
    let mut batch = Told::new();
    let unknown = Event::reply(550, "5.1.1 no such user");
    for row in 0..3000 {
        if row % 10 == 0 {
            assert_eq!(batch.hears(row, Phase::Rcpt, &unknown), Ruling::default());
        } else {
            batch.accepts(row);
        }
    }
}

#[test]
fn b5_a_route_that_fails_three_times_counts_as_away() {
    let refused = classify(Phase::Connect, &Event::Lost(Loss::Reset));
    let limits = Limits::default();
    let mut route = Endpoint::default();
    for _ in 0..3 {
        assert_eq!(route.reason("smtp.relay", limits, ""), None);
        route = route.failed(NOW, &refused, limits, Jitter::NONE);
    }
    let reason = route.reason("smtp.relay", limits, "connection refused").unwrap();
    assert_snapshot!(lines(&reason), @r#"
    smtp.relay cannot be used: 3 failures in a row, the last one "connection refused".
    -
    No recipient was failed for it and no try was counted; one connection goes on trying, and sending continues by itself when it gets through.
    Check host, port and network of [smtp.relay]: ittsu doctor
    "#);
}

#[test]
fn b6_three_unknowns_in_a_row_pause_the_route() {
    let mut run = UnknownRun::new(Limits::default());
    let silence = classify(Phase::Dot, &Event::Lost(Loss::Timeout));
    assert_eq!(run.see(seen(1, Phase::Dot, &silence, None)), None);
    assert_eq!(run.see(seen(2, Phase::Dot, &silence, None)), None);
    // That a connection broke before the dot says nothing about answers.
    let broke = classify(Phase::Mail, &Event::Lost(Loss::Eof));
    assert_eq!(run.see(seen(3, Phase::Mail, &broke, None)), None);
    let reason = run.see(seen(4, Phase::Dot, &silence, None)).unwrap();
    assert_snapshot!(lines(&reason), @"
    smtp.relay took 3 messages in a row and never answered: each further one could be lost or doubled.
    -
    Nobody knows whether these went out; the rule of the batch decides about them. No recipient was failed for it.
    Look at them (ittsu unknown notice-12) and at the server's log, then: ittsu resume notice-12
    ");
}

#[test]
fn b6_any_answer_begins_the_count_anew() {
    let mut run = UnknownRun::new(Limits::default());
    let silence = classify(Phase::Dot, &Event::Lost(Loss::Timeout));
    for code in [250, 450, 550] {
        let answer = classify(Phase::Dot, &Event::reply(code, ""));
        assert_eq!(run.see(seen(1, Phase::Dot, &silence, None)), None);
        assert_eq!(run.see(seen(2, Phase::Dot, &silence, None)), None);
        assert_eq!(run.see(seen(3, Phase::Dot, &answer, None)), None);
    }
}

#[test]
fn b7_a_ledger_that_cannot_be_written_shuts_the_door() {
    let mut door = LedgerDoor::default();
    let reason = door.failed(NOW, "database or disk is full").unwrap();
    assert_snapshot!(lines(&reason), @"
    The ledger could not be written, once: database or disk is full.
    -
    Nothing new is sent, because it could not be recorded. No recipient was failed for it; answers to messages on the wire are kept in a local file.
    Check the database and its disk; sending continues by itself: ittsu doctor
    ");
}

#[test]
fn b7_the_door_opens_with_the_first_write_that_works() {
    let mut door = LedgerDoor::default();
    assert!(door.is_open());
    assert!(door.failed(NOW, "gone").is_some());
    assert_eq!(door.failed(NOW + SECOND, "gone"), None);
    assert_eq!((door.is_open(), door.shut_since()), (false, Some(NOW)));
    door.written();
    assert!(door.is_open());
}

#[test]
fn a_reason_reads_as_one_paragraph_that_ends_in_a_command() {
    let ruling = Told::new().hears(1, Phase::Auth, &Event::reply(535, "5.7.8 bad\r\n\x1b[2J"));
    assert_snapshot!(ruling.pause.unwrap(), @r#"smtp.relay refused the login, once: more tries could lock the account. The server said "535 5.7.8 bad / \u{1b}[2J". No recipient was failed for it; they stay ready. Check user and password of [smtp.relay], then: ittsu resume notice-12"#);
}

#[test]
fn what_is_set_up_wrong_has_its_own_words() {
    let said: Vec<String> = [
        (Phase::Resolve, Event::NameNotFound),
        (Phase::Tls, Event::BadCertificate),
        (Phase::StartTls, Event::NotOffered("STARTTLS")),
        (Phase::Greeting, Event::reply(554, "no SMTP service here")),
        (Phase::File, Event::FileFailed("disk full".into())),
    ]
    .iter()
    .map(|(phase, event)| pause(Told::new().hears(1, *phase, event)) + "\n")
    .collect();
    assert_snapshot!(said.join("\n"), @"
    The host name of smtp.relay does not exist.
    -
    No recipient was failed for it; they stay ready.
    Check `host` of [smtp.relay], then: ittsu resume notice-12
    
    The certificate of smtp.relay is not valid, so nothing was said to it.
    -
    No recipient was failed for it; they stay ready.
    Check `host` of [smtp.relay] and the server's certificate (ittsu doctor), then: ittsu resume notice-12
    
    smtp.relay must be encrypted, and its server does not do it properly.
    -
    No recipient was failed for it; they stay ready.
    Somebody may be in between, so do not turn encryption off. Check `port` and `tls` of [smtp.relay], then: ittsu resume notice-12
    
    smtp.relay does not serve us, or not in the way that is configured.
    554 no SMTP service here
    No recipient was failed for it; they stay ready.
    Check [smtp.relay] and ask whoever runs that server, then: ittsu resume notice-12
    
    A file of smtp.relay could not be written.
    -
    No recipient was failed for it; they stay ready.
    Check the folder of [smtp.relay] and its disk, then: ittsu resume notice-12
    ");
}

#[test]
fn the_only_row_of_a_batch_pauses_it_after_its_third_refusal() {
    let mut batch = Told::new();
    batch.suspects(1);
    batch.suspects(1);
    assert_snapshot!(pause(batch.suspects(1)), @"
    smtp.relay refused the only recipient it was given, 3 times, for a reason that is not about them.
    550 5.7.1 sender not allowed
    No recipient was failed for it; they stay ready.
    Check sender, SPF, DKIM and what this login may send as, or, if only 100234 is to blame: ittsu mark failed notice-12 --key 100234 --reason TEXT --confirm 1, then: ittsu resume notice-12
    ");
}

#[test]
fn suspicion_of_the_sender_and_of_the_content_are_counted_apart() {
    let mut batch = Told::new();
    let spam = Event::reply(554, "spam");
    assert_eq!(batch.suspects(1), Ruling::default());
    assert_eq!(batch.suspects(2), Ruling::default());
    assert_eq!(batch.hears(3, Phase::Dot, &spam), Ruling::default());
    assert_eq!(batch.hears(4, Phase::Dot, &spam), Ruling::default());
    assert!(batch.suspects(5).pause.is_some());
}

#[test]
fn after_a_pause_nothing_is_remembered() {
    let mut batch = Told::new();
    for row in 1..3 {
        batch.suspects(row);
    }
    assert!(batch.suspects(3).pause.is_some());
    assert_eq!(batch.suspects(4), Ruling::default());
    assert_eq!((5..9).flat_map(|row| batch.accepts(row)).collect::<Vec<_>>(), [4]);
}

#[rstest]
#[case::not_now(Phase::Rcpt, Event::reply(450, "later"))]
#[case::greylisted(Phase::Rcpt, Event::reply(451, "4.7.1 greylisted"))]
#[case::unanswered(Phase::Dot, Event::Lost(Loss::Timeout))]
#[case::lost(Phase::Mail, Event::Lost(Loss::Eof))]
#[case::busy(Phase::Mail, Event::reply(421, "busy"))]
fn what_says_nothing_about_sender_content_or_list_never_pauses_a_batch(
    #[case] phase: Phase,
    #[case] event: Event,
) {
    let mut batch = Told::new();
    for row in 0..500 {
        assert_eq!(batch.hears(row, phase, &event), Ruling::default());
    }
}

#[test]
fn a_route_that_asks_for_time_gets_it_and_then_one_probe() {
    let busy = classify(Phase::Mail, &Event::reply(421, "busy"));
    let route = Endpoint::default();
    assert_eq!(route.way(NOW), Way::Free);
    let route = route.failed(NOW, &busy, Limits::default(), Jitter::NONE);
    assert_eq!(route.way(NOW), Way::Wait(NOW + SECOND));
    assert_eq!(route.way(NOW + SECOND), Way::Probe);
}

#[test]
fn a_routes_waits_double_up_to_five_minutes() {
    let busy = classify(Phase::Connect, &Event::Lost(Loss::Reset));
    let mut route = Endpoint::default();
    let mut waits = Vec::new();
    let mut now = NOW;
    for _ in 0..11 {
        route = route.failed(now, &busy, Limits::default(), Jitter::NONE);
        let until = route.open_until.unwrap();
        waits.push(until.since(now).as_secs());
        now = until;
    }
    assert_eq!(waits, [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
}

#[test]
fn one_lost_connection_makes_nobody_wait_three_do() {
    let lost = classify(Phase::Greeting, &Event::Lost(Loss::Eof));
    assert_eq!(lost.blame, Blame::Connection);
    let limits = Limits::default();
    let once = Endpoint::default().failed(NOW, &lost, limits, Jitter::NONE);
    let twice = once.failed(NOW, &lost, limits, Jitter::NONE);
    assert_eq!((once.way(NOW), twice.way(NOW)), (Way::Free, Way::Free));
    let thrice = twice.failed(NOW, &lost, limits, Jitter::NONE);
    assert_eq!(thrice.way(NOW), Way::Wait(NOW + SECOND * 4));
}

#[test]
fn a_server_may_ask_for_two_hours_and_not_for_more() {
    let complaints = classify(Phase::Mail, &Event::reply(421, "4.7.0 [TSS04] deferred"));
    let hours = Duration::from_hours(2);
    let limits = Limits::default();
    let route = Endpoint::default().failed(NOW, &complaints, limits, Jitter::NONE);
    assert_eq!(route.way(NOW), Way::Wait(NOW + hours));
    let short = Limits { longest_asked: SECOND * 9, ..limits };
    let route = Endpoint::default().failed(NOW, &complaints, short, Jitter::NONE);
    assert_eq!(route.way(NOW), Way::Wait(NOW + SECOND * 9));
}

#[test]
fn a_shorter_wait_never_replaces_a_longer_one() {
    let complaints = classify(Phase::Mail, &Event::reply(421, "4.7.0 [TSS04] deferred"));
    let busy = classify(Phase::Mail, &Event::reply(421, "busy"));
    let limits = Limits::default();
    let long = Endpoint::default().failed(NOW, &complaints, limits, Jitter::NONE);
    let then = long.failed(NOW + SECOND, &busy, limits, Jitter::NONE);
    assert_eq!(then.open_until, long.open_until);
}

#[test]
fn a_call_that_is_refused_names_what_is_set_for_an_api() {
    use crate::domain::smtp::Pause;
    let verdict =
        Verdict { pause: Some(Pause::Credential), ..classify(Phase::Mail, &Event::Fenced) };
    let seen = Seen {
        batch: "order-1",
        route: "http.mailco",
        row: RecipientId(1),
        key: "100234",
        attempt: Attempt(1),
        is_fresh: true,
        phase: Phase::Request,
        verdict: &verdict,
        reply: Some("401 Unauthorized"),
    };
    let said = BatchBreakers::new(Limits::default()).see(seen).pause.unwrap().to_string();
    assert!(said.contains("`headers` of [http.mailco]") && said.contains("401"), "{said}");
}
