//! The body of a call to a mail API: the sender's own text with the message's parts filled in.

use minijinja::{AutoEscape, Environment, UndefinedBehavior, context};

use super::template::reason;
use super::variables::Variables;
use super::{BuildError, Built, Person, Sender, Stamp};

/// The one name within the environment.
const BODY: &str = "body";
/// What a body may name.
const KNOWN: &[&str] = &[
    "address",
    "name",
    "from",
    "from_name",
    "subject",
    "text",
    "html",
    "key",
    "message_id",
    "idempotency_key",
    "fields",
];

/// The body of a call, read once and filled in for any number of mails.
#[derive(Debug)]
pub struct RequestBody {
    env: Environment<'static>,
    must_be_json: bool,
}

impl RequestBody {
    /// Reads a body that is JSON and stays it, whatever stands in the fields.
    pub fn json(body: &str) -> Result<Self, String> {
        Self::parse(body, true)
    }

    /// Reads a body of another form; its own filters have to keep the fields apart.
    pub fn other(body: &str) -> Result<Self, String> {
        Self::parse(body, false)
    }

    fn parse(body: &str, must_be_json: bool) -> Result<Self, String> {
        let mut env = Environment::new();
        env.set_undefined_behavior(UndefinedBehavior::Strict);
        env.set_auto_escape_callback(|_| AutoEscape::None);
        env.add_template_owned(BODY, body.to_owned()).map_err(|err| reason(&err))?;
        let template = env.get_template(BODY).map_err(|err| reason(&err))?;
        let globals: Vec<String> = env.globals().map(|(name, _)| name.to_owned()).collect();
        let names = template.undeclared_variables(false);
        let unknown = names.iter().filter(|name| !KNOWN.contains(&name.as_str()));
        let mut unknown: Vec<_> = unknown.filter(|name| !globals.contains(name)).collect();
        unknown.sort();
        if let Some(name) = unknown.first() {
            let known = KNOWN.join(", ");
            return Err(format!("there is no `{name}`; known: {known} (columns: fields.NAME)"));
        }
        Ok(Self { env, must_be_json })
    }

    /// Fills the body in for one mail.
    pub fn fill(
        &self,
        sender: &Sender,
        person: &Person<'_>,
        stamp: &Stamp,
        built: &Built,
    ) -> Result<Vec<u8>, BuildError> {
        let variables = Variables::new(person)?;
        let template = self.env.get_template(BODY).map_err(|err| wrong(reason(&err)))?;
        let body = template
            .render(context! {
                address => person.address.on_the_wire(),
                name => variables.name().unwrap_or_default(),
                from => &sender.address,
                from_name => sender.name.clone().unwrap_or_default(),
                subject => &built.subject,
                text => &built.text,
                html => built.html.clone().unwrap_or_default(),
                key => person.key,
                message_id => &stamp.message_id,
                idempotency_key => once(&stamp.message_id),
                fields => variables.fields(),
            })
            .map_err(|err| wrong(reason(&err)))?;
        // A filter makes `null` of a column that is not there; no mail shall hold that.
        if let Some(name) = variables.last_missed() {
            return Err(wrong(format!("there is no column `{name}`")));
        }
        if self.must_be_json
            && let Err(err) = serde_json::from_str::<serde::de::IgnoredAny>(&body)
        {
            return Err(wrong(format!("it is no JSON ({err}); write {{{{ … | tojson }}}}")));
        }
        Ok(body.into_bytes())
    }
}

/// Returns what is the same for every try of one mail and different for any other mail: what
/// stands before the `@` of its Message-ID.
pub fn once(message_id: &str) -> &str {
    let id = message_id.trim_start_matches('<').trim_end_matches('>');
    id.split_once('@').map_or(id, |(local, _)| local)
}

fn wrong(why: String) -> BuildError {
    BuildError::Request(why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::address::Address;
    use crate::domain::time::Timestamp;

    fn fill(body: &str, fields: &str) -> Result<String, BuildError> {
        let sender = Sender::parse("店 <shop@example.jp>").unwrap();
        let (address, _) = Address::parse("taro@example.jp").unwrap();
        let person = Person { key: "9001", address: &address, fields };
        let stamp = Stamp { message_id: "<abc.def@example.jp>".to_owned(), date: Timestamp(0) };
        let built = Built {
            subject: "ご注文 \"9001\"".to_owned(),
            text: "line 1\nline 2\n".to_owned(),
            html: None,
            content: Vec::new(),
            size: 0,
        };
        let filled = RequestBody::json(body).unwrap().fill(&sender, &person, &stamp, &built)?;
        Ok(String::from_utf8(filled).unwrap())
    }

    #[test]
    fn a_body_holds_the_parts_of_the_message_whatever_stands_in_them() {
        let body = r#"{"to":{{ address | tojson }},"s":{{ subject | tojson }},
            "t":{{ text | tojson }},"k":{{ key | tojson }},"i":{{ idempotency_key | tojson }},
            "n":{{ name | tojson }},"total":{{ fields.total | tojson }}}"#;
        let filled = fill(body, r#"{"name":"太郎","total":"\"},{\"to\":\"x"}"#).unwrap();
        let json: serde_json::Value = serde_json::from_str(&filled).unwrap();
        assert_eq!(json["to"], "taro@example.jp");
        assert_eq!(json["s"], "ご注文 \"9001\"");
        assert_eq!(json["t"], "line 1\nline 2\n");
        assert_eq!(json["i"], "abc.def");
        assert_eq!(json["n"], "太郎");
        assert_eq!(json["total"], "\"},{\"to\":\"x");
        assert_eq!(json.as_object().unwrap().len(), 7);
    }

    #[test]
    fn a_field_that_breaks_out_of_a_body_makes_the_mail_unbuildable() {
        let err = fill(r#"{"to":"{{ name }}"}"#, r#"{"name":"a\"b"}"#).unwrap_err();
        assert!(err.to_string().contains("tojson"), "{err}");
    }

    #[test]
    fn a_column_that_is_not_there_makes_the_mail_unbuildable() {
        assert!(fill("{{ fields.total | tojson }}", "{}").is_err());
    }

    #[test]
    fn a_name_nobody_knows_is_found_when_the_body_is_read() {
        let why = RequestBody::json("{{ adress | tojson }}").unwrap_err();
        assert!(why.contains("`adress`") && why.contains("address"), "{why}");
    }

    #[test]
    fn the_key_of_a_call_is_that_of_its_message() {
        assert_eq!(once("<abc.def@example.jp>"), "abc.def");
    }
}
