//! Switching over from what a shop had: its own record of order mail is read once, and nobody whose
//! mail the old system sent gets another.

use serde_json::{Value, json};

use super::lookup::tell;
use super::shop::{STREAM, Shop, job};
use crate::support::api::Says;
use crate::support::engines::{Place, on_every_engine};

on_every_engine! {
    a_shop_that_switches_over_sends_nothing_twice,
}

const IMPORT: &str = "import order old-log --from query:old_log --map-state done=sent \
                      --map-state wait=ready --map-state working=sending --map-state error=failed";

/// An old record with two mails that were sent, one that waits, one begun, one failed, and one
/// whose word nobody knows.
async fn old_shop(place: &Place) -> (Shop, Place) {
    let database = Place::on(place.engine).await;
    tell(
        &database.url,
        &[
            "create table order_mail_log (id bigint, status varchar(20), tries int,
                                          sent_at varchar(30), email varchar(100))",
            "insert into order_mail_log values
               (1, 'done', 1, '2026-11-01 10:00:00', null), (2, 'done', 3, null, 'gone'),
               (3, 'wait', 0, null, 'c3@shop.example'), (4, 'working', 1, null, 'c4@shop.example'),
               (5, 'error', 2, '2026-11-02 10:00:00', 'c5@shop.example'),
               (6, 'Done?', 1, null, 'c6@shop.example')",
        ],
    )
    .await;
    let query = format!(
        "[queries.old_log]\ndatabase = \"{}\"\nsql = \"select id, email as address, \
         status as state, tries as attempts, sent_at as settled_at from order_mail_log order by id\"",
        database.url
    );
    (Shop::with(&place.url, STREAM, &query, |_| Says::yes()), database)
}

fn numbers(document: &Value, names: &[&str]) -> Vec<i64> {
    names.iter().map(|name| document[name].as_i64().expect("a number")).collect()
}

async fn a_shop_that_switches_over_sends_nothing_twice(place: Place) {
    let (shop, _database) = old_shop(&place).await;
    let line = IMPORT.split_whitespace().collect::<Vec<_>>().join(" ");
    let sums = ["read", "new", "already", "elsewhere", "duplicates", "suppressed", "rejected"];

    let dry = shop.json(&format!("{line} --dry-run"));
    assert_eq!(numbers(&dry, &sums), [6, 1, 0, 0, 0, 0, 1], "{dry:#}");
    assert_eq!(dry["adopted"], json!({"sent": 2, "failed": 1, "unknown": 1}));
    let old = |word: &str, lines: i64, becomes: &str| json!({"word": word, "lines": lines, "becomes": becomes});
    assert_eq!(
        dry["old"],
        json!([
            old("wait", 1, "ready"),
            old("working", 1, "unknown"),
            old("done", 2, "sent"),
            old("error", 1, "failed")
        ])
    );
    assert_eq!(shop.run("status old-log").code, Some(4));
    let said = shop.run(&format!("{line} --dry-run"));
    assert!(said.stderr.contains("        2  done is sent"), "{said}");

    let first = shop.json(&line);
    assert_eq!(numbers(&first, &sums), [6, 1, 0, 0, 0, 0, 1], "{first:#}");
    let finding = &first["findings"][0];
    assert_eq!((&finding["line"], &finding["column"]), (&json!(6), &json!("state")), "{first:#}");
    let counts = ["total", "ready", "sending", "unknown", "sent", "failed", "attempts"];
    let batch = |shop: &Shop| shop.json("status old-log")["batches"][0].clone();
    assert_eq!(numbers(&batch(&shop), &counts), [5, 1, 1, 1, 2, 1, 7]);
    let again = shop.json(&line);
    assert_eq!(numbers(&again, &sums), [6, 0, 5, 0, 0, 0, 1], "{again:#}");
    assert_eq!(numbers(&batch(&shop), &counts), [5, 1, 1, 1, 2, 1, 7]);

    let rows = shop.json("rows old-log --state sent")["rows"].clone();
    for row in rows.as_array().unwrap() {
        assert_eq!(
            (&row["how"], &row["message_id"]),
            (&json!("imported"), &Value::Null),
            "{row:#}"
        );
        assert_eq!(row["address"], json!(""), "{row:#}");
    }
    assert!(rows[0]["settled_at"].as_str().unwrap().starts_with("2026-11-01T10:00:00"), "{rows:#}");
    let unknown = shop.json("unknown old-log")["rows"].clone();
    assert_eq!((&unknown[0]["key"], &unknown[0]["verdict"]), (&json!("4"), &json!("unknown")));
    assert_eq!(unknown[0]["evidence"][0]["source"], json!("imported"), "{unknown:#}");

    // The shop queues what it queued before, and one more.
    for id in [1, 2, 3, 4, 5, 7] {
        shop.redis.add("orders", &job(&id.to_string()));
    }
    assert_eq!(shop.run("work --until-idle").code, Some(0));
    assert_eq!(shop.times().into_keys().collect::<Vec<_>>(), ["7"]);
    assert_eq!(shop.redis.pending("orders"), 0);

    // What waits goes out once it is started; what is in doubt when a person says so.
    assert_eq!(shop.run("start old-log --confirm 1").code, Some(0));
    let resent = shop.run("resend old-log --key 4 --reason asked --confirm 1");
    assert_eq!(resent.code, Some(0), "{resent}");
    let worked = shop.run("work --until-idle");
    assert!(matches!(worked.code, Some(0 | 3)), "{worked}");
    assert_eq!(shop.times().into_keys().collect::<Vec<_>>(), ["3", "4", "7"]);
    assert_eq!(shop.nobody_twice(), 3);
    assert_eq!(numbers(&batch(&shop), &counts), [5, 0, 0, 0, 4, 1, 9]);
    let checked = shop.run("doctor");
    assert!(!checked.stdout.contains("STOP  sums"), "{checked}");
}

#[test]
fn an_ordinary_column_called_state_is_said_and_changes_nothing() {
    let shop = Shop::open("sqlite:ittsu.db", "");
    shop.shell.write("m.csv", "key,address,state\n1,a@shop.example,CA\n2,b@shop.example,NY\n");
    let imported = shop.run("import order order-ca --from m.csv");
    assert_eq!(imported.code, Some(0), "{imported}");
    assert!(imported.stderr.contains("2 read, 2 new"), "{imported}");
    assert!(imported.stderr.contains("--map-state WORD=sent"), "{imported}");
    let wrong = shop.run("import order order-ca --from m.csv --map-state CA=gone");
    assert_eq!(wrong.code, Some(2), "{wrong}");
}
