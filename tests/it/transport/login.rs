//! Logging in, and what a refused login must never reveal.

use ittsu::cli::demo::mailserver::{At, Behaviour, Deed, Login, Records, Then, When};
use ittsu::domain::smtp::Event;
use ittsu::transport::Ended;
use ittsu::transport::smtp::{Credentials, SmtpRoute};
use rstest::rstest;

use super::{code, open, route_to, said, send, start};

const CANARY: &str = "canary-7f3a";
/// `CANARY`, and NUL `bulk` NUL `CANARY`, in base64.
const IN_BASE64: [&str; 2] = ["Y2FuYXJ5LTdmM2E=", "AGJ1bGsAY2FuYXJ5LTdmM2E="];

fn needs_login(mechanisms: &'static str) -> Behaviour {
    let login = Login { user: "bulk".into(), password: CANARY.into(), mechanisms };
    Behaviour { login: Some(login), records: Records::Lines, ..Behaviour::default() }
}

fn with_password(route: SmtpRoute, password: &str) -> SmtpRoute {
    let login = Credentials { user: "bulk".to_owned(), password: password.to_owned().into() };
    SmtpRoute { credentials: Some(login), ..route }
}

fn reveals(ended: &Ended) -> bool {
    let everything = format!("{ended:?}");
    let reply =
        ended.reply.as_ref().map(|reply| String::from_utf8_lossy(&reply.bytes).into_owned());
    let texts = [everything, reply.unwrap_or_default()];
    texts
        .iter()
        .any(|text| text.contains(CANARY) || IN_BASE64.iter().any(|word| text.contains(word)))
}

#[rstest]
#[case::plain("PLAIN LOGIN", "1 AUTH PLAIN AGJ1bGsAY2FuYXJ5LTdmM2E=")]
#[case::login("LOGIN", "1 AUTH LOGIN")]
#[tokio::test]
async fn a_login_opens_the_server(#[case] mechanisms: &'static str, #[case] line: &str) {
    let server = start(needs_login(mechanisms));
    let mut connection = open(with_password(route_to(&server), CANARY)).await.unwrap();
    assert_eq!(code(&send(&mut connection, "taro@example.test").await), Some(250));
    assert!(server.lines().contains(&line.to_owned()), "{:?}", server.lines());
}

#[rstest]
#[case::a_wrong_password("535 5.7.8 no", "auth: not_sent, batch, pause credential, close")]
#[case::a_mechanism_too_weak("534 no", "auth: not_sent, batch, pause credential, close")]
#[case::encryption_required("538 no", "auth: not_sent, batch, pause credential, close")]
#[case::a_login_before_the_login("530 no", "auth: not_sent, batch, pause credential, close")]
#[case::an_unknown_mechanism("504 no", "auth: not_sent, batch, pause credential, close")]
#[case::a_bad_parameter("501 no", "auth: not_sent, batch, pause credential, close")]
#[case::a_bad_order("503 no", "auth: not_sent, batch, pause credential, close")]
#[case::too_many_logins(
    "454 4.7.0 too many login attempts",
    "auth: deferred, endpoint, after 5 min, close"
)]
#[case::a_password_change("432 no", "auth: deferred, endpoint, after 5 min, close")]
#[case::shutting_down("421 no", "auth: deferred, endpoint, after 5 min, close")]
#[case::nonsense("850 NONSENSE", "auth: not_sent, connection, close")]
#[case::one_more_question("334 eh", "auth: not_sent, connection, close")]
#[tokio::test]
async fn a_refused_login(#[case] answer: &str, #[case] expected: &str) {
    for mechanisms in ["PLAIN", "LOGIN"] {
        let refused = Deed::reply(answer);
        let server = start(needs_login(mechanisms).with(At::Auth, When::Always, refused));
        let ended = open(with_password(route_to(&server), CANARY)).await.unwrap_err();
        assert_eq!(said(&ended), expected, "{mechanisms}");
    }
}

#[tokio::test]
async fn a_login_that_is_cut_off_says_nothing_about_the_password() {
    let server =
        start(needs_login("PLAIN").with(At::Auth, When::Always, Deed::silence(Then::Close)));
    let ended = open(with_password(route_to(&server), CANARY)).await.unwrap_err();
    assert_eq!(said(&ended), "auth: not_sent, connection, close");
}

#[tokio::test]
async fn a_wrong_password_is_refused_by_the_server_itself() {
    for mechanisms in ["PLAIN", "LOGIN"] {
        let server = start(needs_login(mechanisms));
        let ended = open(with_password(route_to(&server), "wrong")).await.unwrap_err();
        assert_eq!(said(&ended), "auth: not_sent, batch, pause credential, close");
    }
}

#[tokio::test]
async fn a_server_without_a_known_mechanism_pauses() {
    let server = start(needs_login("XOAUTH2"));
    let ended = open(with_password(route_to(&server), CANARY)).await.unwrap_err();
    assert_eq!(ended.event, Event::NotOffered("AUTH PLAIN or LOGIN"));
    assert_eq!(said(&ended), "auth: not_sent, batch, pause service, close");
    assert!(server.lines().iter().all(|line| !line.contains("AUTH")));
}

#[tokio::test]
async fn no_password_is_in_anything_that_is_kept() {
    for echo in [CANARY, IN_BASE64[0], IN_BASE64[1]] {
        let answer = format!("535 5.7.8 bad credentials: {echo}");
        let server = start(needs_login("PLAIN").with(At::Auth, When::Always, Deed::reply(answer)));
        let route = with_password(route_to(&server), CANARY);
        assert!(!format!("{route:?}").contains(CANARY));
        let ended = open(route).await.unwrap_err();
        assert!(!reveals(&ended), "{ended:?}");
        assert_eq!(code(&ended), Some(535));
    }
}
