//! The two example configurations for mail APIs, each against a server of that shape.

use serde_json::Value;

use crate::support::api::{Api, Call, Says};
use crate::support::shell::{Output, Shell};

const PLAIN: &str = include_str!("../../../assets/api-plain.toml");
const YES_OR_NO: &str = include_str!("../../../assets/api-yes-or-no.toml");

/// Sets a desk up with an example whose address is that of `api` and nothing else is changed.
fn desk(example: &str, api: &Api) -> Shell {
    let url = example.lines().find(|line| line.starts_with("url = ")).expect("an address");
    let example = example.replace(url, &format!("url = \"{}\"", api.url()));
    let shell = Shell::new().set("MAIL_API_TOKEN", "t0ken").set("MAIL_API_SECRET", "s3cret");
    shell.write("ittsu.toml", format!("ledger = \"sqlite:ittsu.db\"\n{example}"));
    shell
        .write("order.txt", "Subject: Order {{ key }}\n\nDear {{ name }}, you paid {{ total }}.\n");
    shell.write(
        "orders.csv",
        "key,address,name,total\n9001,ann@shop.example,Ann,\"1,200\"\n\
         9002,bob@shop.example,\"Bob \"\"the\"\" B\",7\n9003,eve@shop.example,Eve,8\n",
    );
    shell
}

fn send(shell: &Shell) -> Output {
    let words = "send order order-1 --from orders.csv --confirm 3";
    shell.run(&words.split(' ').collect::<Vec<_>>())
}

fn show(shell: &Shell, key: &str) -> Value {
    let output = shell.run(&["show", "order-1", key, "--json"]);
    serde_json::from_str(&output.stdout).unwrap_or_else(|_| panic!("{output}"))
}

#[test]
fn the_example_of_a_plain_api_sends_and_fails_what_is_refused() {
    let api = Api::start(|call| match call.field("to").as_str() {
        "eve@shop.example" => {
            Says::answer("422 Unprocessable Entity", r#"{"error":"eve@shop.example is inactive"}"#)
        }
        _ => Says::yes(),
    });
    let shell = desk(PLAIN, &api);
    assert_eq!(shell.run(&["config", "check"]).code, Some(0));
    let sent = send(&shell);
    assert_eq!(sent.stdout, "order-1: 2 of 3 sent, 1 failed, 0 waiting, 0 unknown.\n", "{sent}");
    let bob = api.taken().into_iter().find(|call| call.field("to") == "bob@shop.example");
    let bob = bob.expect("the mail to bob");
    assert_eq!(bob.field("text"), "Dear Bob \"the\" B, you paid 7.\n");
    assert_eq!(bob.field("subject"), "Order 9002");
    assert_eq!(bob.header("authorization"), Some("Bearer t0ken"));
    assert_eq!(bob.header("content-type"), Some("application/json"));
    let eve = show(&shell, "9003");
    assert!(eve.to_string().contains("inactive"), "{eve}");
    let ann = show(&shell, "9001").to_string();
    assert!(ann.contains("the provider's id: m-1"), "{ann}");
    let again = send(&shell);
    assert_eq!((again.code, api.calls().len()), (Some(0), 3), "{again}");
    assert!(!shell.run(&["config", "show"]).stdout.contains("t0ken"));
}

#[test]
fn the_example_of_an_api_that_says_yes_or_no_believes_the_body() {
    let yes = r#"{"header":{"isSuccessful":true},"body":{"data":{"requestId":"20261130"}}}"#;
    let no = r#"{"header":{"isSuccessful":false,"resultMessage":"eve@shop.example: blocked"}}"#;
    let to = |call: &Call| {
        let body: Value = serde_json::from_str(&call.body).expect("a body of JSON");
        body["receiverList"][0]["receiveMailAddr"].as_str().expect("an address").to_owned()
    };
    let api = Api::start(move |call| match to(call).as_str() {
        "ann@shop.example" => Says::answer("200 OK", yes).but_takes(),
        "bob@shop.example" => Says::answer("200 OK", "{}").but_takes(),
        _ => Says::answer("200 OK", no),
    });
    let shell = desk(YES_OR_NO, &api);
    assert_eq!(shell.run(&["config", "check"]).code, Some(0));
    let sent = send(&shell);
    // Nothing in the answer said yes or no about bob, and no answer is assumed to be sent.
    let line = "order-1: 2 of 3 sent, 1 failed, 0 waiting, 0 unknown. Assumed: 1.\n";
    assert_eq!(sent.stdout, line, "{sent}");
    assert!(show(&shell, "9002").to_string().contains("assumed"));
    assert!(show(&shell, "9001").to_string().contains("20261130"));
    assert_eq!(api.calls()[0].header("x-secret-key"), Some("s3cret"));
}

#[test]
fn a_placeholder_nobody_knows_in_a_body_stops_everything_before_a_call() {
    let api = Api::start(|_| Says::yes());
    let shell = desk(&PLAIN.replace("{{ address | tojson }}", "{{ adress | tojson }}"), &api);
    let sent = send(&shell);
    assert_eq!(sent.code, Some(2), "{sent}");
    assert!(sent.stderr.contains("`adress`"), "{sent}");
    assert_eq!(api.calls().len(), 0);
}

#[test]
fn a_column_that_the_body_names_and_nobody_has_stops_the_start() {
    let api = Api::start(|_| Says::yes());
    let shell = desk(&PLAIN.replace("{{ text | tojson }}", "{{ fields.sum | tojson }}"), &api);
    let sent = send(&shell);
    assert!(sent.stderr.contains("`sum`"), "{sent}");
    assert_eq!(api.calls().len(), 0);
}
