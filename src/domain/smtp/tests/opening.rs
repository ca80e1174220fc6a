//! Replies up to MAIL: they concern the route, the login and the sender.

use rstest::rstest;

use super::*;
use crate::domain::outcome::Phase::{Auth, Ehlo, Greeting, Mail, StartTls};

#[rstest]
#[case::a_greeting_of_421_backs_the_route_off(
    Greeting,
    "421 too busy",
    "deferred, endpoint, close"
)]
#[case::a_greeting_of_4yz_backs_the_route_off(Greeting, "450 later", "deferred, endpoint, close")]
#[case::a_greeting_of_554_pauses_the_batch(
    Greeting,
    "554 no SMTP service here",
    "not_sent, batch, pause service, close"
)]
#[case::a_greeting_of_250_is_out_of_step(Greeting, "250 hello", "not_sent, connection, close")]
#[case::ehlo_4yz_backs_the_route_off(Ehlo, "421 4.3.2 closing", "deferred, endpoint, close")]
#[case::ehlo_5yz_pauses_the_batch(Ehlo, "550 go away", "not_sent, batch, pause service, close")]
#[case::starttls_454_backs_the_route_off(
    StartTls,
    "454 TLS not available",
    "deferred, endpoint, close"
)]
#[case::starttls_5yz_pauses_the_batch(
    StartTls,
    "502 not here",
    "not_sent, batch, pause downgrade, close"
)]
#[case::auth_454_too_many_logins_waits_long_with_one_probe(
    Auth,
    "454 4.7.0 too many login attempts",
    "deferred, endpoint, after 5 min, close"
)]
#[case::auth_421_waits_long(Auth, "421 4.7.0 later", "deferred, endpoint, after 5 min, close")]
#[case::auth_432_waits_long(
    Auth,
    "432 4.7.12 password change needed",
    "deferred, endpoint, after 5 min, close"
)]
#[case::auth_of_another_4yz_backs_the_route_off(Auth, "471 no", "deferred, endpoint, close")]
#[case::auth_535_pauses_the_batch(
    Auth,
    "535 5.7.8 bad credentials",
    "not_sent, batch, pause credential, close"
)]
#[case::auth_534_pauses_the_batch(
    Auth,
    "534 5.7.9 too weak",
    "not_sent, batch, pause credential, close"
)]
#[case::auth_538_pauses_the_batch(
    Auth,
    "538 5.7.11 encryption needed",
    "not_sent, batch, pause credential, close"
)]
#[case::auth_530_pauses_the_batch(
    Auth,
    "530 5.7.0 first STARTTLS",
    "not_sent, batch, pause credential, close"
)]
#[case::auth_504_pauses_the_batch(
    Auth,
    "504 5.5.4 mechanism",
    "not_sent, batch, pause credential, close"
)]
#[case::auth_501_pauses_the_batch(
    Auth,
    "501 5.5.2 cannot decode",
    "not_sent, batch, pause credential, close"
)]
#[case::auth_503_pauses_the_batch(
    Auth,
    "503 5.5.1 bad sequence",
    "not_sent, batch, pause credential, close"
)]
#[case::a_challenge_that_was_not_asked_for_is_out_of_step(
    Auth,
    "334 VXNlcm5hbWU6",
    "not_sent, connection, close"
)]
#[case::mail_421_backs_the_route_off(Mail, "421 4.4.2 timeout", "deferred, endpoint, close")]
#[case::mail_4yz_backs_the_route_off_and_keeps_the_row_ready(
    Mail,
    "451 4.3.0 try again",
    "deferred, endpoint, keep"
)]
#[case::mail_452_backs_the_route_off(Mail, "452 4.3.1 disk full", "deferred, endpoint, keep")]
#[case::a_sender_refused_at_mail_pauses_the_batch(
    Mail,
    "550 5.7.1 sender rejected",
    "not_sent, batch, pause sender, close"
)]
#[case::a_sender_domain_refused_at_mail_pauses_the_batch(
    Mail,
    "553 5.1.8 bad sender domain",
    "not_sent, batch, pause sender, close"
)]
#[case::a_plain_550_at_mail_pauses_the_batch(
    Mail,
    "550 no",
    "not_sent, batch, pause sender, close"
)]
#[case::parameters_refused_at_mail_pause_the_batch(
    Mail,
    "555 5.5.4 unsupported",
    "not_sent, batch, pause sender, close"
)]
#[case::a_size_refused_at_mail_pauses_the_batch(
    Mail,
    "552 5.3.4 message too big",
    "not_sent, batch, pause size, close"
)]
#[case::a_plain_552_at_mail_is_the_size(
    Mail,
    "552 exceeds limit",
    "not_sent, batch, pause size, close"
)]
#[case::a_login_demanded_at_mail_pauses_the_batch(
    Mail,
    "530 5.7.0 authentication required",
    "not_sent, batch, pause credential, close"
)]
#[case::a_login_refused_in_the_middle_of_a_run_pauses_the_batch(
    Mail,
    "535 5.7.8 password changed",
    "not_sent, batch, pause credential, close"
)]
#[case::a_354_to_mail_is_out_of_step(Mail, "354 go", "not_sent, connection, close")]
#[case::gmails_rate_limit_as_421_slows_the_route_down(
    Mail,
    "421 4.7.28 same Message-ID",
    "deferred, endpoint, after 10 min, close"
)]
#[case::yahoos_tss04_pauses_the_route_for_two_hours(
    Mail,
    "421 4.7.0 [TSS04] Messages deferred",
    "deferred, endpoint, after 120 min, close"
)]
#[case::outlooks_rp_001_pauses_the_route_for_two_hours(
    Mail,
    "421 RP-001 unusual rate of complaints",
    "deferred, endpoint, after 120 min, close"
)]
fn what_a_reply_before_rcpt_means(#[case] phase: Phase, #[case] line: &str, #[case] meaning: &str) {
    assert_eq!(say(classify(phase, &answer(line))), meaning);
}
