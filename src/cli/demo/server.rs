//! The mail server of the demo: it refuses some, puts some off and hangs up on some.

use std::collections::BTreeMap;
use std::io;
use std::time::Duration;

use super::mailserver::{At, Behaviour, Deed, Keep, MailServer, Rule, Then, When};
use super::people::{Fate, fate_of};

/// How long a slow answer takes: much longer than it takes to kill whoever waits for it.
const SLOW: Duration = Duration::from_mins(2);

/// Starts the server on a free port of this machine.
pub fn start(seed: u64) -> io::Result<MailServer> {
    let to = |fate: Fate| When::To(format!("{fate}."));
    MailServer::start(
        Behaviour { seed, keep: Keep::Envelope, ..Behaviour::default() }
            .with(At::Rcpt, to(Fate::Gone), Deed::reply("550 5.1.1 no such user here"))
            .with(At::Dot, to(Fate::Silent), Deed::silence(Then::Close).taking())
            .with(At::Dot, to(Fate::Dropped), Deed::silence(Then::Close))
            .with(At::Dot, to(Fate::Slow), Deed::reply("250 2.0.0 taken at last").after(SLOW)),
    )
}

/// Makes the server answer everybody at once from now on, and take what it dropped before.
pub fn calm(server: &MailServer) {
    let troubled = |rule: &Rule| rule.at == At::Dot;
    server.change(|behaviour| behaviour.rules.retain(|rule| !troubled(rule)));
}

/// Reports whether so many slow answers are being waited for.
pub fn is_keeping_waiting(server: &MailServer, many: usize) -> bool {
    let slow = |to: &str| fate_of(to) == Fate::Slow;
    server.journal().iter().filter(|taken| slow(&taken.to)).count() >= many
}

/// What the server's own book says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Book {
    pub mails: usize,
    pub people: usize,
    /// Who was sent more than one mail, and how many.
    pub more_than_one: Vec<(String, usize)>,
}

/// Reads the server's own book.
pub fn book(server: &MailServer) -> Book {
    let mut people: BTreeMap<String, usize> = BTreeMap::new();
    let journal = server.journal();
    for taken in &journal {
        *people.entry(taken.to.clone()).or_default() += 1;
    }
    Book {
        mails: journal.len(),
        people: people.len(),
        more_than_one: people.into_iter().filter(|&(_, mails)| mails > 1).collect(),
    }
}
