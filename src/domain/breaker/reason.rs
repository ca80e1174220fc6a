//! The words of the breakers, for a person at three in the morning.
//!
//! Every reason says what happened and how often, the server's own words, what it means for the
//! mails, and what to do.

use std::fmt;

use super::{Breaker, Limits, Seen};
use crate::domain::outcome::Phase;
use crate::domain::smtp::{Pause, Suspect};
use crate::domain::text::quote;

/// Why something paused itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    pub breaker: Breaker,
    /// What happened and how often.
    pub happened: String,
    /// The server's own words, safe to show.
    pub reply: Option<String>,
    /// What it means for the mails.
    pub means: String,
    /// What to do.
    pub advice: String,
}

/// What most reasons mean for the mails.
const NOBODY_FAILED: &str = "No recipient was failed for it; they stay ready.";

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.happened)?;
        if let Some(reply) = &self.reply {
            write!(f, " The server said \"{reply}\".")?;
        }
        write!(f, " {} {}", self.means, self.advice)
    }
}

impl Reason {
    /// B1, B2 and B3 where one answer is enough, and what is set up wrong.
    pub(super) fn at_once(why: Pause, seen: Seen<'_>) -> Self {
        let Seen { route, batch, .. } = seen;
        let is_call = seen.phase == Phase::Request;
        let (breaker, happened, check) = match why {
            Pause::Credential if is_call => (
                Breaker::Credential,
                format!("{route} refused our key, once: more tries could lock the account."),
                format!("Check `headers` of [{route}] and what the key may do"),
            ),
            Pause::Service if is_call => (
                Breaker::Setup,
                format!(
                    "{route} does not take this kind of call, once: every mail makes the same."
                ),
                format!(
                    "Check `url`, `method` and `body` of [{route}]; redirects are not followed"
                ),
            ),
            Pause::Credential => (
                Breaker::Credential,
                format!("{route} refused the login, once: more tries could lock the account."),
                format!("Check user and password of [{route}]"),
            ),
            Pause::Sender => (
                Breaker::Sender,
                format!("{route} refused the sender, once: every mail of the batch has it."),
                "Check `envelope_from` of the kind and what this login may send as".to_owned(),
            ),
            Pause::Size => (
                Breaker::Content,
                format!("The message is too big for {route}, once: everybody gets this message."),
                format!(
                    "Make it smaller (ittsu change {batch} --template FILE), ask for a higher limit{}",
                    or_only_this(seen)
                ),
            ),
            Pause::Name => (
                Breaker::Setup,
                format!("The host name of {route} does not exist."),
                format!("Check `host` of [{route}]"),
            ),
            Pause::Certificate => (
                Breaker::Setup,
                format!("The certificate of {route} is not valid, so nothing was said to it."),
                format!("Check `host` of [{route}] and the server's certificate (ittsu doctor)"),
            ),
            Pause::Downgrade => (
                Breaker::Setup,
                format!("{route} must be encrypted, and its server does not do it properly."),
                format!(
                    "Somebody may be in between, so do not turn encryption off. Check `port` and \
                     `tls` of [{route}]"
                ),
            ),
            Pause::Service => (
                Breaker::Setup,
                format!("{route} does not serve us, or not in the way that is configured."),
                format!("Check [{route}] and ask whoever runs that server"),
            ),
            Pause::Local => (
                Breaker::Setup,
                format!("A file of {route} could not be written."),
                format!("Check the folder of [{route}] and its disk"),
            ),
        };
        Self {
            breaker,
            happened,
            reply: reply(seen),
            means: NOBODY_FAILED.to_owned(),
            advice: then_resume(&check, batch),
        }
    }

    /// B2 and B3 where several recipients were refused in a row.
    pub(super) fn suspects(kind: Suspect, rows: usize, times: usize, seen: Seen<'_>) -> Self {
        let Seen { route, batch, .. } = seen;
        let (breaker, why, check) = match kind {
            Suspect::Sender => (
                Breaker::Sender,
                "for a reason that is not about them",
                "Check sender, SPF, DKIM and what this login may send as".to_owned(),
            ),
            Suspect::Content => (
                Breaker::Content,
                "for what the message holds, and everybody gets the same",
                format!(
                    "Look at the message (ittsu preview {batch}) and change it if need be (ittsu \
                     change {batch} --template FILE)"
                ),
            ),
        };
        let (happened, check) = if rows > 1 {
            (format!("{route} refused {rows} recipients in a row {why}."), check)
        } else {
            let only = "refused the only recipient it was given,";
            (
                format!("{route} {only} {times} times, {why}."),
                format!("{check}{}", or_only_this(seen)),
            )
        };
        Self {
            breaker,
            happened,
            reply: reply(seen),
            means: NOBODY_FAILED.to_owned(),
            advice: then_resume(&check, batch),
        }
    }

    /// B4.
    pub(super) fn list_quality(bad: usize, of: usize, limits: Limits, seen: Seen<'_>) -> Self {
        let Limits { bad_share, window, .. } = limits;
        let batch = seen.batch;
        Self {
            breaker: Breaker::ListQuality,
            happened: format!(
                "{bad} of the last {of} recipients do not exist or take no mail, which is more than \
                 {bad_share} % of {window}: receivers block whoever goes on."
            ),
            reply: reply(seen),
            means: format!(
                "These {bad} stay failed, each with its own answer; the rest stay ready."
            ),
            advice: then_resume(
                &format!("Look at them (ittsu rows {batch} --state failed), clean the list"),
                batch,
            ),
        }
    }

    /// B5.
    pub(super) fn endpoint(route: &str, failures: i64, last: &str) -> Self {
        Self {
            breaker: Breaker::Endpoint,
            happened: format!(
                "{route} cannot be used: {failures} failures in a row, the last one \"{}\".",
                quote(last)
            ),
            reply: None,
            means: "No recipient was failed for it and no try was counted; one connection goes on \
                    trying, and sending continues by itself when it gets through."
                .to_owned(),
            advice: format!("Check host, port and network of [{route}]: ittsu doctor"),
        }
    }

    /// B6.
    pub(super) fn unknowns(times: usize, seen: Seen<'_>) -> Self {
        let Seen { route, batch, .. } = seen;
        Self {
            breaker: Breaker::Unknowns,
            happened: match seen.reply {
                Some(_) => format!(
                    "{route} answered {times} calls in a row without saying whether it took the \
                     mail: each further one could be lost or doubled."
                ),
                None => format!(
                    "{route} took {times} messages in a row and never answered: each further one \
                     could be lost or doubled."
                ),
            },
            reply: reply(seen),
            means:
                "Nobody knows whether these went out; the rule of the batch decides about them. \
                    No recipient was failed for it."
                    .to_owned(),
            advice: then_resume(
                &format!("Look at them (ittsu unknown {batch}) and at the server's log"),
                batch,
            ),
        }
    }

    /// B7.
    pub(super) fn ledger(error: &str) -> Self {
        Self {
            breaker: Breaker::Ledger,
            happened: format!("The ledger could not be written, once: {}.", quote(error)),
            reply: None,
            means:
                "Nothing new is sent, because it could not be recorded. No recipient was failed \
                    for it; answers to messages on the wire are kept in a local file."
                    .to_owned(),
            advice: "Check the database and its disk; sending continues by itself: ittsu doctor"
                .to_owned(),
        }
    }
}

/// Ends in a command that can be copied, so without a period.
fn then_resume(check: &str, batch: &str) -> String {
    format!("{check}, then: ittsu resume {batch}")
}

/// Says how to go on without this one row, if it alone is to blame.
fn or_only_this(seen: Seen<'_>) -> String {
    let (batch, key) = (seen.batch, quote(seen.key));
    if key.is_empty() {
        return String::new();
    }
    format!(
        ", or, if only {key} is to blame: ittsu mark failed {batch} --key {key} --reason TEXT \
         --confirm 1"
    )
}

fn reply(seen: Seen<'_>) -> Option<String> {
    seen.reply.map(quote).filter(|words| !words.is_empty())
}
