//! Looks at a row once more, right before it goes, and builds its message.

use crate::compose::message_id::Codec;
use crate::compose::request::once;
use crate::compose::{Person, RequestBody, Stamp};
use crate::domain::address::Address;
use crate::domain::state::How;
use crate::domain::time::Timestamp;
use crate::transport::Envelope;

use super::hands::Job;

/// Why a row failed whose batch was given up.
pub(super) const TOO_LATE: &str = "it was not sent within the time its kind allows";

/// A message that is ready to go.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) envelope: Envelope,
    pub(super) content: Vec<u8>,
    /// The Date in it.
    pub(super) date: Timestamp,
}

/// Why a row does not go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Unfit {
    /// It fails without an attempt.
    Fails { how: How, note: String },
    /// No message can be built for it; whether that is its own fault depends on the others.
    Unbuildable { note: String },
}

/// Checks a row and builds its message with `date`, the first start of its generation.
pub(super) fn prepare(
    job: &Job,
    now: Timestamp,
    date: Timestamp,
    only_to: &[String],
    codec: &Codec,
    request: Option<&RequestBody>,
) -> Result<Prepared, Unfit> {
    let fails = |how, note: &str| Err(Unfit::Fails { how, note: note.to_owned() });
    if job.row.suppressed {
        return fails(How::Suppressed, "the address is on the do-not-send list");
    }
    if job.served.gives_up_at.is_some_and(|at| at <= now) {
        return fails(How::Expired, TOO_LATE);
    }
    let unbuildable = |note: String| Unfit::Unbuildable { note };
    let (address, _) =
        Address::parse(&job.row.address).map_err(|error| unbuildable(error.to_string()))?;
    if !is_allowed(&address, only_to) {
        return fails(How::Suppressed, "only_to leaves this address out");
    }
    let served = &job.served;
    let person = Person { key: &job.row.key, address: &address, fields: &job.row.fields };
    let message_id = codec.write(job.row.id, job.row.generation, served.sender.domain());
    let stamp = Stamp { message_id, date };
    let built = served
        .template
        .build(&served.sender, &person, &stamp, served.dkim.as_deref())
        .map_err(|error| unbuildable(error.to_string()))?;
    let content = match request {
        None => built.content,
        Some(request) => request
            .fill(&served.sender, &person, &stamp, &built)
            .map_err(|error| unbuildable(error.to_string()))?,
    };
    let once = once(&stamp.message_id).to_owned();
    let from = served.envelope_from.clone();
    let envelope = Envelope { from, to: address.on_the_wire(), once };
    Ok(Prepared { envelope, content, date })
}

/// Reports whether `only_to` lets mail go to this address; an empty list lets everything go.
pub fn is_allowed(address: &Address, only_to: &[String]) -> bool {
    let form = address.compare_form();
    only_to.is_empty()
        || only_to.iter().any(|allowed| match allowed.strip_prefix('@') {
            Some(domain) => domain.eq_ignore_ascii_case(address.domain()),
            None => Address::parse(allowed).is_ok_and(|(only, _)| only.compare_form() == form),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(address: &str, only_to: &[&str]) -> bool {
        let only_to: Vec<String> = only_to.iter().map(|&text| text.to_owned()).collect();
        is_allowed(&Address::parse(address).unwrap().0, &only_to)
    }

    #[test]
    fn only_to_names_addresses_and_whole_domains() {
        assert!(allowed("a@example.jp", &[]));
        assert!(allowed("a@example.jp", &["@example.jp"]));
        assert!(allowed("a@Example.JP", &["b@example.jp", "A@example.jp"]));
        assert!(!allowed("c@example.jp", &["b@example.jp"]));
        assert!(!allowed("a@evil-example.jp", &["@example.jp"]));
        assert!(!allowed("a@sub.example.jp", &["@example.jp"]));
    }
}
