//! A kind of the configuration, as batches keep it and as workers use it.

use super::Ops;
use super::error::OpsError;
use super::template_file;
use crate::compose::{BuildError, Built, Dkim, Person, RequestBody, Sender, Stamp, Template};
use crate::config::Kind;
use crate::ledger::batches::{Batch, Frozen, Message, Words};

/// A kind with what a batch of it would freeze now.
#[derive(Clone, Debug)]
pub struct Present<'a> {
    pub name: &'a str,
    pub kind: &'a Kind,
    pub frozen: Frozen,
}

/// What builds the messages of one batch.
#[derive(Debug)]
pub struct Builder {
    pub template: Template,
    pub sender: Sender,
    pub dkim: Option<Dkim>,
    /// What a mail API is sent, when the batch goes to one.
    pub request: Option<RequestBody>,
}

impl Builder {
    /// Builds a message, and the call that would carry it, as they would leave.
    pub fn build(&self, person: &Person<'_>, stamp: &Stamp) -> Result<Built, BuildError> {
        let built = self.template.build(&self.sender, person, stamp, self.dkim.as_ref())?;
        if let Some(request) = &self.request {
            request.fill(&self.sender, person, stamp, &built)?;
        }
        Ok(built)
    }

    /// Builds what is handed to the transport.
    pub fn content(&self, person: &Person<'_>, stamp: &Stamp) -> Result<Vec<u8>, BuildError> {
        let built = self.template.build(&self.sender, person, stamp, self.dkim.as_ref())?;
        match &self.request {
            Some(request) => request.fill(&self.sender, person, stamp, &built),
            None => Ok(built.content),
        }
    }
}

impl Ops {
    /// Returns the kind of that name.
    pub fn kind(&self, name: &str) -> Result<Present<'_>, OpsError> {
        let kinds = &self.settings.kinds;
        let Some((name, kind)) = kinds.get_key_value(name) else {
            let err = OpsError::usage(format!("there is no kind `{name}` in the configuration"));
            let known: Vec<_> = kinds.keys().map(String::as_str).collect();
            return Err(match known.as_slice() {
                [] => err.hint("`ittsu init` writes a configuration"),
                known => err.hint(format!("kinds: {}", known.join(", "))),
            });
        };
        Ok(Present { name, kind, frozen: frozen(kind)? })
    }

    /// Returns what builds the messages of `batch` from `message`.
    ///
    /// The signing key is a secret of the configuration and never in the ledger; a batch whose
    /// kind is gone from there is built unsigned.
    pub fn builder(&self, batch: &Batch, message: &Message) -> Result<Builder, OpsError> {
        let dkim = match self.settings.kinds.get(&batch.kind) {
            Some(kind) => signer(kind)?,
            None => None,
        };
        builder(&batch.frozen.from, message, dkim, self.request_body(&batch.frozen.via)?)
    }
}

/// Reads template and sender once, for any number of messages.
pub fn builder(
    from: &str,
    message: &Message,
    dkim: Option<Dkim>,
    request: Option<RequestBody>,
) -> Result<Builder, OpsError> {
    let template = Template::parse(&message.text, message.html.as_deref())
        .map_err(|err| OpsError::usage("the template cannot be used").because(err))?;
    let sender = Sender::parse(from)
        .map_err(|err| OpsError::usage("the sender cannot be used").because(err))?;
    Ok(Builder { template, sender, dkim, request })
}

/// Reads the signing key of a kind, if it has one.
pub fn signer(kind: &Kind) -> Result<Option<Dkim>, OpsError> {
    let Some(dkim) = &kind.dkim else { return Ok(None) };
    let place = dkim.key.display();
    let key = std::fs::read(&dkim.key).map_err(|err| {
        OpsError::usage(format!("the DKIM key {place} cannot be read")).because(err)
    })?;
    Dkim::new(&dkim.domain, &dkim.selector, &key)
        .map(Some)
        .map_err(|err| OpsError::usage(format!("the DKIM key {place} cannot be used")).because(err))
}

/// Reads the default message of a kind, if it has one.
pub fn default_message(kind: &Kind) -> Result<Option<Message>, OpsError> {
    let Some(path) = &kind.template else { return Ok(None) };
    let file = template_file::read(path)?;
    Ok(Some(Message { text: file.text, html: file.html }))
}

fn frozen(kind: &Kind) -> Result<Frozen, OpsError> {
    let envelope_from = match &kind.envelope_from {
        Some(envelope_from) => address_of(envelope_from)?,
        None => address_of(&kind.from)?,
    };
    Ok(Frozen {
        via: kind.via.clone(),
        from: kind.from.clone(),
        envelope_from,
        on_unknown: kind.on_unknown,
        once_per: kind.once_per,
        retry: kind.retry,
        retry_refused: kind.retry_refused.clone(),
        hours: kind.hours,
        timezone: kind.timezone.iana_name().unwrap_or("UTC").to_owned(),
        give_up_after: kind.give_up_after,
        claim: i64::from(kind.claim),
        words: Words {
            key: kind.words.key.clone().unwrap_or_default(),
            person: kind.words.person.clone().unwrap_or_default(),
        },
    })
}

fn address_of(from: &str) -> Result<String, OpsError> {
    Sender::parse(from)
        .map(|sender| sender.address)
        .map_err(|err| OpsError::usage("the sender cannot be used").because(err))
}
