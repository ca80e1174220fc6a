//! Names, addresses, greetings: what happens before a message can be offered.

use std::net::{IpAddr, Ipv4Addr, TcpListener};

use ittsu::cli::demo::mailserver::{At, Behaviour, Deed, Records, When};
use ittsu::domain::smtp::Event;
use ittsu::transport::smtp::resolve::NameError;
use ittsu::transport::smtp::{Credentials, Deadlines, Resolver, SmtpRoute};

use super::{PATIENT, SHORT, code, envelope, open, route_to, said, send, send_this, start};

fn named(resolver: Resolver) -> SmtpRoute {
    SmtpRoute { resolver, deadlines: PATIENT, ..SmtpRoute::plain("relay.example.test", 25) }
}

#[tokio::test]
async fn a_name_that_does_not_exist_pauses_with_the_name() {
    let ended = open(named(Resolver::Fixed(Err(NameError::NotFound)))).await.unwrap_err();
    assert_eq!(said(&ended), "resolve: not_sent, batch, pause name, close");
    let nobody = open(named(Resolver::Fixed(Ok(Vec::new())))).await.unwrap_err();
    assert_eq!(nobody.event, Event::NameNotFound);
}

#[tokio::test]
async fn a_name_that_cannot_be_looked_up_now_is_tried_again() {
    let ended = open(named(Resolver::Fixed(Err(NameError::Failed)))).await.unwrap_err();
    assert_eq!(said(&ended), "resolve: not_sent, endpoint, close");
}

/// A port on which nobody listens.
fn closed_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.local_addr().unwrap().port()
}

#[tokio::test]
async fn a_server_that_is_down_backs_the_route_off() {
    let route = SmtpRoute { deadlines: PATIENT, ..SmtpRoute::plain("127.0.0.1", closed_port()) };
    let ended = open(route).await.unwrap_err();
    assert_eq!(said(&ended), "connect: not_sent, endpoint, close");
}

#[tokio::test]
async fn every_address_of_a_name_is_tried() {
    let server = start(Behaviour::default());
    // Nobody listens on the first two: 127.0.0.0/8 is all this machine.
    let addresses = [[127, 0, 0, 99], [127, 0, 0, 98], [127, 0, 0, 1]].map(IpAddr::from).to_vec();
    let route = SmtpRoute {
        host: "relay.example.test".to_owned(),
        resolver: Resolver::Fixed(Ok(addresses)),
        ..route_to(&server)
    };
    let mut connection = open(route).await.unwrap();
    assert_eq!(code(&send(&mut connection, "taro@example.test").await), Some(250));
}

#[tokio::test]
async fn plain_text_stays_on_this_machine_unless_it_is_allowed() {
    let elsewhere = || Resolver::Fixed(Ok(vec![IpAddr::from([192, 0, 2, 1])]));
    let ended = open(named(elsewhere())).await.unwrap_err();
    assert_eq!(ended.event, Event::NotOffered("TLS"));
    assert_eq!(said(&ended), "starttls: not_sent, batch, pause downgrade, close");
    let allowed = SmtpRoute {
        allow_plaintext: true,
        deadlines: Deadlines { connect: SHORT, ..PATIENT },
        ..named(elsewhere())
    };
    let ended = open(allowed).await.unwrap_err();
    assert_eq!(said(&ended), "connect: not_sent, endpoint, close");
}

#[tokio::test]
async fn a_login_never_leaves_this_machine_in_clear_even_if_mail_may() {
    let login = Credentials { user: "bulk".to_owned(), password: "canary".to_owned().into() };
    let route = SmtpRoute {
        allow_plaintext: true,
        credentials: Some(login),
        ..named(Resolver::Fixed(Ok(vec![IpAddr::from([192, 0, 2, 1])])))
    };
    assert_eq!(open(route).await.unwrap_err().event, Event::NotOffered("TLS"));
}

#[tokio::test]
async fn an_old_server_is_spoken_to_with_helo() {
    let behaviour = Behaviour { records: Records::Lines, ..Behaviour::default() };
    let server = start(behaviour.with(At::Ehlo, When::Always, Deed::reply("502 what?")));
    let mut connection = open(route_to(&server)).await.unwrap();
    assert_eq!(code(&send(&mut connection, "taro@example.test").await), Some(250));
    let lines = server.lines();
    assert_eq!(lines[..2], ["1 EHLO localhost", "1 HELO localhost"]);
    // Nothing was offered, so nothing is assumed.
    assert_eq!(lines[2], "1 MAIL FROM:<bounce@example.com>");
}

#[tokio::test]
async fn helo_is_not_enough_where_a_login_is_needed() {
    let server = start(Behaviour::default().with(At::Ehlo, When::Always, Deed::reply("502 what?")));
    let login = Credentials { user: "bulk".to_owned(), password: "canary".to_owned().into() };
    let route = SmtpRoute { credentials: Some(login), ..route_to(&server) };
    let ended = open(route).await.unwrap_err();
    assert_eq!(said(&ended), "ehlo: not_sent, batch, pause service, close");
}

#[tokio::test]
async fn what_a_server_offers_is_said_at_mail() {
    let mut behaviour = Behaviour { records: Records::Lines, ..Behaviour::default() };
    behaviour.capabilities.push("SMTPUTF8".to_owned());
    let server = start(behaviour);
    let mut connection = open(route_to(&server)).await.unwrap();
    let steps = ittsu::transport::NoSteps;
    let plain = b"Subject: a\r\n\r\na\r\n";
    send_this(&mut connection, &envelope("taro@example.test"), plain, &steps).await;
    let eight_bit = "Subject: a\r\n\r\n一通\r\n".as_bytes();
    send_this(&mut connection, &envelope("太郎@example.test"), eight_bit, &steps).await;
    let lines = server.lines();
    let said: Vec<_> = lines.iter().filter(|line| line.contains(" MAIL ")).collect();
    assert_eq!(
        said,
        [
            "1 MAIL FROM:<bounce@example.com> SIZE=17",
            "1 MAIL FROM:<bounce@example.com> SIZE=22 BODY=8BITMIME SMTPUTF8"
        ]
    );
    assert!(lines.contains(&"1 RCPT TO:<太郎@example.test>".to_owned()));
}

#[tokio::test]
async fn an_address_beyond_ascii_fails_where_nobody_can_carry_it() {
    let server = start(Behaviour { records: Records::Lines, ..Behaviour::default() });
    let mut connection = open(route_to(&server)).await.unwrap();
    let ended = send(&mut connection, "太郎@example.test").await;
    assert_eq!(ended.event, Event::NoSmtpUtf8);
    assert_eq!(said(&ended), "mail: refused, row, counted, keep");
    // It failed before anything was said, and the connection goes on.
    assert_eq!(server.lines(), ["1 EHLO localhost"]);
    assert_eq!(code(&send(&mut connection, "taro@example.test").await), Some(250));
}

#[tokio::test]
async fn a_message_above_the_announced_size_is_not_even_offered() {
    let mut behaviour = Behaviour { records: Records::Lines, ..Behaviour::default() };
    behaviour.capabilities = vec!["SIZE 10".to_owned()];
    let server = start(behaviour);
    let mut connection = open(route_to(&server)).await.unwrap();
    let ended = send(&mut connection, "taro@example.test").await;
    assert_eq!(said(&ended), "mail: not_sent, batch, pause size, close");
    assert_eq!(server.lines(), ["1 EHLO localhost"]);
}
