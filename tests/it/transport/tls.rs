//! TLS: who is trusted, and what is refused.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;

use ittsu::cli::demo::mailserver::{
    At, Behaviour, Deed, Login, MailServer, Records, ServerTls, Then, When,
};
use ittsu::domain::smtp::Event;
use ittsu::transport::smtp::{Credentials, Resolver, SmtpRoute, Tls, Trust};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, date_time_ymd};
use rstest::rstest;
use rustls_pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio_rustls::rustls::{self, ServerConfig};

use super::{MESSAGE, PATIENT, code, open, route_to, said, send, send_over, start};

const HOST: &str = "mail.example.test";

/// A certificate authority of our own, in a file that a route can trust.
struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    folder: tempfile::TempDir,
}

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("ca.pem"), issuer.pem()).unwrap();
        Self { issuer, folder }
    }

    fn trust(&self) -> Trust {
        Trust::file(self.folder.path().join("ca.pem"))
    }

    fn certificate(
        &self,
        name: &str,
        change: impl FnOnce(&mut CertificateParams),
    ) -> Arc<ServerConfig> {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        change(&mut params);
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        config(certificate.der().clone(), &key)
    }

    fn good(&self) -> Arc<ServerConfig> {
        self.certificate(HOST, |_| {})
    }

    fn route(&self, server: &MailServer, tls: Tls) -> SmtpRoute {
        SmtpRoute {
            host: HOST.to_owned(),
            tls,
            trust: self.trust(),
            resolver: Resolver::Fixed(Ok(vec![Ipv4Addr::LOCALHOST.into()])),
            ..route_to(server)
        }
    }
}

fn config(
    certificate: rustls_pki_types::CertificateDer<'static>,
    key: &KeyPair,
) -> Arc<ServerConfig> {
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    Arc::new(config)
}

fn serving(tls: ServerTls) -> MailServer {
    start(Behaviour { tls, records: Records::Lines, ..Behaviour::default() })
}

fn implicit(config: Arc<ServerConfig>) -> MailServer {
    serving(ServerTls::Implicit(config))
}

#[tokio::test]
async fn mail_travels_under_implicit_tls() {
    let authority = Authority::new();
    let server = implicit(authority.good());
    let mut connection = open(authority.route(&server, Tls::Implicit)).await.unwrap();
    for _ in 0..3 {
        assert_eq!(code(&send(&mut connection, "taro@example.test").await), Some(250));
    }
    connection.close().await;
    assert_eq!(server.journal()[2].content, MESSAGE);
}

#[tokio::test]
async fn a_large_message_arrives_whole_under_tls() {
    let authority = Authority::new();
    let server = implicit(authority.good());
    let content = b".a line of the body\r\n".repeat(100_000);
    let ended = send_over(authority.route(&server, Tls::Implicit), "taro@a.test", &content).await;
    assert_eq!(code(&ended), Some(250));
    assert!(server.journal()[0].content == content);
}

#[tokio::test]
async fn starttls_greets_again_and_logs_in_only_then() {
    let authority = Authority::new();
    let login = Login { user: "bulk".into(), password: "secret".into(), mechanisms: "PLAIN" };
    let server = start(Behaviour {
        tls: ServerTls::StartTls(authority.good()),
        login: Some(login),
        records: Records::Lines,
        ..Behaviour::default()
    });
    let credentials = Credentials { user: "bulk".into(), password: "secret".to_owned().into() };
    let route =
        SmtpRoute { credentials: Some(credentials), ..authority.route(&server, Tls::StartTls) };
    let mut connection = open(route).await.unwrap();
    assert_eq!(code(&send(&mut connection, "taro@example.test").await), Some(250));
    let lines = server.lines();
    let verbs: Vec<_> = lines.iter().filter_map(|line| line.split(' ').nth(1)).collect();
    assert_eq!(verbs, ["EHLO", "STARTTLS", "EHLO", "AUTH", "MAIL", "RCPT", "DATA"]);
}

#[rstest]
#[case::expired(HOST, |params: &mut CertificateParams| {
    params.not_before = date_time_ymd(2001, 1, 1);
    params.not_after = date_time_ymd(2002, 1, 1);
})]
#[case::not_yet_valid(HOST, |params: &mut CertificateParams| {
    params.not_before = date_time_ymd(2190, 1, 1);
    params.not_after = date_time_ymd(2191, 1, 1);
})]
#[case::for_another_name("mail.example.com", |_: &mut CertificateParams| {})]
#[tokio::test]
async fn a_bad_certificate_pauses_and_nothing_is_said(
    #[case] name: &str,
    #[case] change: fn(&mut CertificateParams),
) {
    let authority = Authority::new();
    for (tls, server) in [
        (Tls::Implicit, ServerTls::Implicit(authority.certificate(name, change))),
        (Tls::StartTls, ServerTls::StartTls(authority.certificate(name, change))),
    ] {
        let server = serving(server);
        let ended = open(authority.route(&server, tls)).await.unwrap_err();
        assert_eq!(ended.event, Event::BadCertificate);
        assert_eq!(said(&ended), "tls: not_sent, batch, pause certificate, close");
        assert!(server.lines().iter().all(|line| !line.contains("MAIL")));
    }
}

#[tokio::test]
async fn a_certificate_that_nobody_signed_is_not_trusted() {
    let authority = Authority::new();
    let key = KeyPair::generate().unwrap();
    let own = CertificateParams::new(vec![HOST.to_owned()]).unwrap().self_signed(&key).unwrap();
    let server = implicit(config(own.der().clone(), &key));
    let ended = open(authority.route(&server, Tls::Implicit)).await.unwrap_err();
    assert_eq!(ended.event, Event::BadCertificate);
    // Nor is our own authority by a route that trusts the system's.
    let server = implicit(authority.good());
    let route = SmtpRoute { trust: Trust::default(), ..authority.route(&server, Tls::Implicit) };
    assert_eq!(open(route).await.unwrap_err().verdict.outcome.as_str(), "not_sent");
    assert_eq!(server.lines(), [""; 0]);
}

#[tokio::test]
async fn a_server_that_stripped_starttls_gets_nothing() {
    let authority = Authority::new();
    let server = serving(ServerTls::None);
    let ended = open(authority.route(&server, Tls::StartTls)).await.unwrap_err();
    assert_eq!(ended.event, Event::NotOffered("STARTTLS"));
    assert_eq!(said(&ended), "starttls: not_sent, batch, pause downgrade, close");
    assert_eq!(server.lines(), ["1 EHLO localhost"]);
}

#[rstest]
#[case::later("454 4.7.0 not now", "starttls: deferred, endpoint, close")]
#[case::never("501 5.5.1 no", "starttls: not_sent, batch, pause downgrade, close")]
#[case::nonsense("850 NONSENSE", "starttls: not_sent, connection, close")]
#[tokio::test]
async fn a_refused_starttls(#[case] answer: &str, #[case] expected: &str) {
    let authority = Authority::new();
    let server = start(
        Behaviour { tls: ServerTls::StartTls(authority.good()), ..Behaviour::default() }.with(
            At::StartTls,
            When::Always,
            Deed::reply(answer),
        ),
    );
    let ended = open(authority.route(&server, Tls::StartTls)).await.unwrap_err();
    assert_eq!(said(&ended), expected);
}

#[tokio::test]
async fn words_injected_before_the_handshake_are_refused() {
    let authority = Authority::new();
    let server = start(
        Behaviour {
            tls: ServerTls::StartTls(authority.good()),
            records: Records::Lines,
            ..Behaviour::default()
        }
        .with(
            At::StartTls,
            When::Always,
            Deed::bytes("220 go\r\n250-AUTH PLAIN\r\n250 ok\r\n"),
        ),
    );
    let ended = open(authority.route(&server, Tls::StartTls)).await.unwrap_err();
    assert_eq!(ended.event, Event::Injected);
    assert_eq!(said(&ended), "starttls: not_sent, batch, pause downgrade, close");
    assert_eq!(server.lines(), ["1 EHLO localhost", "1 STARTTLS"]);
}

#[tokio::test]
async fn a_server_that_leaves_instead_of_the_handshake_is_no_injection() {
    let authority = Authority::new();
    let leaves = Deed::reply("220 go").then(Then::Close);
    let server = start(
        Behaviour { tls: ServerTls::StartTls(authority.good()), ..Behaviour::default() }.with(
            At::StartTls,
            When::Always,
            leaves,
        ),
    );
    let ended = open(authority.route(&server, Tls::StartTls)).await.unwrap_err();
    assert_eq!(ended.verdict.outcome.as_str(), "not_sent");
    assert_eq!(ended.verdict.pause, None);
}

/// Answers one hello with these bytes and closes.
fn answer_hello(bytes: &'static [u8]) -> (u16, std::thread::JoinHandle<()>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let thread = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut hello = [0; 4096];
        assert!(stream.read(&mut hello).unwrap() > 0);
        stream.write_all(bytes).unwrap();
        // Until the client is gone: a reset must not overtake the answer.
        let _ = stream.read(&mut hello);
    });
    (port, thread)
}

#[rstest]
#[case::an_alert_that_the_version_is_too_new(&b"\x15\x03\x01\x00\x02\x02\x46"[..])]
#[case::a_hello_of_tls_1_0(
    // ServerHello, version 3.1, 32 bytes of chance, no session, TLS_RSA_WITH_AES_128_CBC_SHA.
    &b"\x16\x03\x01\x00\x2a\x02\x00\x00\x26\x03\x01\
       0123456789abcdef0123456789abcdef\x00\x00\x2f\x00"[..]
)]
#[case::a_plain_greeting(&b"220 mail.example.test ESMTP\r\n"[..])]
#[tokio::test]
async fn a_server_of_old_or_without_tls_is_never_spoken_to_in_clear(#[case] bytes: &'static [u8]) {
    let authority = Authority::new();
    let (port, thread) = answer_hello(bytes);
    let route = SmtpRoute {
        tls: Tls::Implicit,
        trust: authority.trust(),
        deadlines: PATIENT,
        ..SmtpRoute::plain("127.0.0.1", port)
    };
    let ended = open(route).await.unwrap_err();
    assert_eq!(ended.event, Event::HandshakeFailed);
    assert_eq!(said(&ended), "tls: not_sent, endpoint, close");
    thread.join().unwrap();
}

#[rstest]
#[case::no_file(None)]
#[case::no_certificate_in_it(Some("hello"))]
#[tokio::test]
async fn authorities_that_cannot_be_read_are_our_own_fault(#[case] content: Option<&str>) {
    let authority = Authority::new();
    let path = authority.folder.path().join("other.pem");
    if let Some(content) = content {
        std::fs::write(&path, content).unwrap();
    }
    let server = implicit(authority.good());
    let route = SmtpRoute { trust: Trust::file(&path), ..authority.route(&server, Tls::Implicit) };
    let ended = open(route).await.unwrap_err();
    assert_eq!(said(&ended), "tls: not_sent, batch, pause local, close");
    assert!(format!("{:?}", ended.event).contains("other.pem"));
}

#[tokio::test]
async fn authorities_that_were_put_right_are_read_again() {
    let authority = Authority::new();
    let path = authority.folder.path().join("late.pem");
    let server = implicit(authority.good());
    let route = SmtpRoute { trust: Trust::file(&path), ..authority.route(&server, Tls::Implicit) };
    assert!(open(route.clone()).await.is_err());
    std::fs::write(&path, authority.issuer.pem()).unwrap();
    assert!(open(route.clone()).await.is_ok());
    // And from then on they are in memory, for all clones of the route.
    std::fs::remove_file(&path).unwrap();
    assert!(open(route).await.is_ok());
}

#[tokio::test]
async fn a_silent_handshake_runs_into_the_deadline() {
    let authority = Authority::new();
    // A server in clear waits for a line that never comes.
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let mut route = SmtpRoute {
        tls: Tls::Implicit,
        trust: authority.trust(),
        deadlines: PATIENT,
        ..SmtpRoute::plain("127.0.0.1", listener.local_addr().unwrap().port())
    };
    route.deadlines.connect = 4 * super::SHORT;
    let ended = open(route).await.unwrap_err();
    assert_eq!(said(&ended), "tls: not_sent, endpoint, close");
}
