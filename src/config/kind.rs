//! `[kinds.NAME]`: a kind of mail, and what happens to it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::tz::TimeZone;

use super::document::{Node, Value};
use super::nearest;
use super::queue::{Again, Lookup, Pattern, QueueUrl};
use super::reading::{Origin, Reading};
use super::section::Section;
use super::setting::{Setting, Zone, text};
use super::transport::Transport;
use crate::domain::hours::Hours;
use crate::domain::policy::{OnUnknown, OncePer, Policy};
use crate::domain::retry::Retry;
use crate::domain::span::Span;

/// A kind of mail: how it travels, what happens to unknowns, what "once" means.
#[derive(Clone, Debug)]
pub struct Kind {
    /// The name of its transport: `smtp.relay`.
    pub via: String,
    pub on_unknown: OnUnknown,
    pub once_per: OncePer,
    /// As it stands in the header: `会員サービス <notice@example.com>`.
    pub from: String,
    /// Where bounces go; none: the address of `from`.
    pub envelope_from: Option<String>,
    /// The default message of a batch.
    pub template: Option<PathBuf>,
    pub words: Words,
    /// Rows that a worker reserves at a time.
    pub claim: u32,
    pub retry: Retry,
    /// Codes of refusals that are tried again by rule: `429`.
    pub retry_refused: Vec<String>,
    pub hours: Option<Hours>,
    pub give_up_after: Option<Duration>,
    /// How far past its time a scheduled start is still made.
    pub late: Duration,
    pub timezone: TimeZone,
    /// Where its jobs come from.
    pub queue: Option<QueueUrl>,
    /// Where address and fields of a job are found.
    pub lookup: Option<Lookup>,
    /// What a new job for a mail that failed does.
    pub again: Again,
    /// The name of the batch that opens by itself each day.
    pub batch: Option<Pattern>,
    pub dkim: Option<Dkim>,
}

/// What the people of a kind are called on the screen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    pub key: Option<String>,
    pub person: Option<String>,
}

/// A signing key and whom it speaks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dkim {
    pub domain: String,
    pub selector: String,
    pub key: PathBuf,
}

const FIRST: Span = Span(Duration::from_mins(5));
const LAST: Span = Span(Duration::from_hours(4));
const LATE: Span = Span(Duration::from_hours(1));

pub(super) fn read_all(
    root: &mut Section<'_>,
    reading: &mut Reading<'_>,
    transports: &BTreeMap<String, Transport>,
    timezone: &TimeZone,
) -> BTreeMap<String, Kind> {
    let mut kinds = BTreeMap::new();
    for (name, section) in root.sections(reading, "kinds") {
        if let Some(kind) = Kind::read(section, reading, transports, timezone) {
            kinds.insert(name, kind);
        }
    }
    kinds
}

impl Kind {
    fn read(
        mut section: Section<'_>,
        reading: &mut Reading<'_>,
        transports: &BTreeMap<String, Transport>,
        timezone: &TimeZone,
    ) -> Option<Self> {
        let via = section.need::<String>(reading, "via", "\"smtp.relay\"");
        if let Some(via) = &via {
            check_via(&section, reading, &via.value, &via.origin, transports);
        }
        let hold = OnUnknown::one_word(Policy::Hold);
        let on_unknown = section.take_or(reading, "on_unknown", hold).value;
        let once_per = section.take_or(reading, "once_per", OncePer::Batch).value;
        let from = section.need::<Sender>(reading, "from", "\"Name <notice@example.com>\"");
        let envelope_from = section.take::<Sender>(reading, "envelope_from");
        let template = section.take::<PathBuf>(reading, "template");
        let words = Words::read(section.section("words"), reading);
        let claim = section.take_or::<u32>(reading, "claim", 500).value;
        let retry = read_retry(section.section("retry"), reading);
        let hours = section.take::<Hours>(reading, "hours").map(|hours| hours.value);
        let give_up_after = section.take::<Span>(reading, "give_up_after");
        let late = section.take_or(reading, "late", LATE).value.0;
        let zone = section.take::<Zone>(reading, "timezone");
        let dkim = Dkim::read(section.section("dkim"), reading);
        let retry_refused = section.take::<Codes>(reading, "retry_refused");
        let queue = section.take::<QueueUrl>(reading, "queue");
        let lookup = Lookup::read(section.section("lookup"), reading);
        let batch = section.take::<Pattern>(reading, "batch");
        let mut again = Again::Leave;
        if let Some(queue) = &queue {
            again = section.take_or(reading, "again", Again::Leave).value;
            check_queue(&section, reading, &queue.origin, batch.is_some(), once_per);
        }
        section.finish(reading);
        Some(Self {
            via: via?.value,
            on_unknown,
            once_per,
            from: from?.value.0,
            envelope_from: envelope_from.map(|from| from.value.0),
            template: template.map(|template| template.value),
            words,
            claim,
            retry,
            retry_refused: retry_refused.map(|codes| codes.value.0).unwrap_or_default(),
            hours,
            give_up_after: give_up_after.map(|span| span.value.0),
            late,
            queue: queue.map(|queue| queue.value),
            lookup,
            again,
            batch: batch.map(|batch| batch.value),
            timezone: zone.map_or_else(|| timezone.clone(), |zone| zone.value.0),
            dkim,
        })
    }
}

/// Refuses a queue whose jobs would have no batch, or could be mailed once a day.
fn check_queue(
    section: &Section<'_>,
    reading: &mut Reading<'_>,
    origin: &Origin,
    has_batch: bool,
    once_per: OncePer,
) {
    let key = section.key("queue");
    if !has_batch {
        let what = format!("`{key}` needs `batch` beside it, as in batch = \"order-{{date}}\"");
        reading.problem(origin, what);
    }
    if once_per == OncePer::Batch {
        let what = format!(
            "`{key}` needs once_per = \"kind\": with \"batch\" the same job on two days would be \
             two mails"
        );
        reading.problem(origin, what);
    }
}

fn check_via(
    section: &Section<'_>,
    reading: &mut Reading<'_>,
    via: &str,
    origin: &Origin,
    transports: &BTreeMap<String, Transport>,
) {
    if transports.contains_key(via) {
        return;
    }
    let key = section.key("via");
    // A transport with a mistake of its own is already named.
    if !reading.problems.is_empty() {
        return;
    }
    let known: Vec<_> = transports.keys().map(String::as_str).collect();
    let help = match (nearest(via, &known), known.as_slice()) {
        (Some(near), _) => format!("did you mean `{near}`?"),
        (None, []) => "expected the name of a section, as in [smtp.relay]".to_owned(),
        (None, known) => format!("known: {}", known.join(", ")),
    };
    reading.problem(origin, format!("`{key}` = {via}: there is no such transport; {help}"));
}

fn read_retry(mut section: Section<'_>, reading: &mut Reading<'_>) -> Retry {
    let attempts = section.take_or::<i64>(reading, "attempts", 5).value;
    let first = section.take_or(reading, "first", FIRST);
    let last = section.take_or(reading, "last", Span(LAST.0.max(first.value.0)));
    if last.value < first.value {
        let what = format!(
            "`{}` = {} is shorter than `first` = {}",
            section.key("last"),
            last.value,
            first.value
        );
        reading.problem(&last.origin, what);
    }
    section.finish(reading);
    Retry { attempts, first: first.value.0, last: last.value.0 }
}

impl Words {
    fn read(mut section: Section<'_>, reading: &mut Reading<'_>) -> Self {
        let key = section.take::<String>(reading, "key").map(|key| key.value);
        let person = section.take::<String>(reading, "person").map(|person| person.value);
        section.finish(reading);
        Self { key, person }
    }
}

impl Dkim {
    fn read(mut section: Section<'_>, reading: &mut Reading<'_>) -> Option<Self> {
        if !section.is_there() {
            return None;
        }
        let domain = section.need::<String>(reading, "domain", "\"example.com\"");
        let selector = section.need::<String>(reading, "selector", "\"ittsu1\"");
        let key = section.need::<PathBuf>(reading, "key", "\"dkim.pem\"");
        section.finish(reading);
        Some(Self { domain: domain?.value, selector: selector?.value, key: key?.value })
    }
}

/// Who a mail is from: a bare address, or one with a name.
#[derive(Clone, Debug)]
struct Sender(String);

impl Setting for Sender {
    fn read(node: &Node, _: &Path) -> Result<Self, String> {
        let expected = "a sender such as \"Name <notice@example.com>\"";
        let text = text(node, expected)?;
        let address = match text.rsplit_once('<') {
            Some((_, rest)) => rest.strip_suffix('>').unwrap_or_default(),
            None => text,
        };
        let parts = address.rsplit_once('@');
        let good = parts.is_some_and(|(local, domain)| !local.is_empty() && !domain.is_empty());
        if !good || address.contains(char::is_whitespace) || text.contains(char::is_control) {
            return Err(format!("expected {expected}, got `{text}`"));
        }
        Ok(Self(text.to_owned()))
    }

    fn show(&self) -> String {
        self.0.clone()
    }
}

/// Codes of answers, as texts.
#[derive(Clone, Debug)]
struct Codes(Vec<String>);

impl Setting for Codes {
    fn read(node: &Node, _: &Path) -> Result<Self, String> {
        let expected = "a list of codes such as [\"429\"]";
        let Value::List(items) = &node.value else {
            return Err(format!("expected {expected}, got {}", node.kind()));
        };
        let one = |node: &Node| match &node.value {
            Value::Number(code @ 400..=599) => Some(code.to_string()),
            Value::Text(code) => {
                let number = code.parse::<u16>().ok().filter(|code| (400..600).contains(code));
                number.map(|_| code.clone())
            }
            _ => None,
        };
        let codes: Option<Vec<String>> = items.iter().map(one).collect();
        codes.map(Self).ok_or_else(|| format!("expected {expected}, from 400 to 599"))
    }

    fn show(&self) -> String {
        self.0.join(", ")
    }
}

impl Setting for OnUnknown {
    fn read(node: &Node, _: &Path) -> Result<Self, String> {
        let Value::Table(entries) = &node.value else {
            return Ok(Self::one_word(read_policy(node)?));
        };
        // What is not named waits for a person.
        let mut all = Self::one_word(Policy::Hold);
        for (cause, node) in entries {
            let policy = read_policy(node)?;
            match cause.as_str() {
                "no_answer" => all.no_answer = policy,
                "crash" => all.crash = policy,
                "server_error" => all.server_error = policy,
                other => {
                    let known = ["no_answer", "crash", "server_error"];
                    let near = nearest(other, &known)
                        .map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
                    return Err(format!(
                        "unknown key `{other}`; known: {}{near}",
                        known.join(", ")
                    ));
                }
            }
        }
        Ok(all)
    }

    fn show(&self) -> String {
        format!(
            "no_answer = {}, crash = {}, server_error = {}",
            self.no_answer, self.crash, self.server_error
        )
    }
}

fn read_policy(node: &Node) -> Result<Policy, String> {
    let expected = "one of assume_sent, resend, hold";
    let word = text(node, expected)?;
    Policy::from_word(word).ok_or_else(|| format!("expected {expected}, got `{word}`"))
}
