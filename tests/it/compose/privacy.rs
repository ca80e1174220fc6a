//! Nobody gets what belongs to another.

use ittsu::compose::{Person, Sender, Stamp, Template};
use ittsu::domain::address::Address;

use super::{AT, parse};

#[test]
fn five_thousand_people_get_their_own_token_and_nobody_elses() {
    let text =
        "Subject: {{ token }} for {{ name }}\nX-Token: {{ token }}\n\n{{ token }} {{ key }}\n";
    let template = Template::parse(text, Some("<b>{{ token }}</b>")).unwrap();
    let sender = Sender::parse("notice@example.com").unwrap();
    for person in 0..5_000 {
        let token = format!("token-{person:05}");
        let (address, _) = Address::parse(&format!("user{person:05}@example.jp")).unwrap();
        let fields =
            serde_json::json!({ "name": format!("会員{person:05}"), "token": token }).to_string();
        let key = person.to_string();
        let row = Person { key: &key, address: &address, fields: &fields };
        let stamp = Stamp { message_id: format!("<m{person}@example.com>"), date: AT };
        let built = template.build(&sender, &row, &stamp, None).unwrap();
        let message = parse(&built);
        let seen = [
            message.subject().unwrap().to_owned(),
            message.body_text(0).unwrap().into_owned(),
            message.body_html(0).unwrap().into_owned(),
            message.header_raw("X-Token").unwrap().to_owned(),
        ];
        for part in &seen {
            assert_eq!(part.matches("token-").count(), 1, "{part}");
            assert!(part.contains(&token), "{part}");
        }
        let to = message.to().and_then(|to| to.first()).unwrap();
        assert_eq!(to.address(), Some(address.on_the_wire().as_str()));
        assert_eq!(to.name(), Some(format!("会員{person:05}").as_str()));
    }
}
