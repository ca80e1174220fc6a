//! What lies in the demo's folder: a configuration, templates and lists, as an operator has them.

use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use encoding_rs::{EUC_KR, Encoding, SHIFT_JIS, UTF_8};

use super::people::{ENGLISH, Fate, Folk, JAPANESE, KOREAN, Person};

/// One sample batch.
#[derive(Clone, Debug)]
pub struct Sample {
    pub batch: &'static str,
    pub kind: &'static str,
    pub title: &'static str,
    /// The list as the member system wrote it, relative to the folder.
    pub list: &'static str,
    pub people: Vec<Person>,
    folk: Folk,
    encoding: &'static Encoding,
    template: (&'static str, &'static str),
}

/// The three sample batches: one language, character set and policy each.
pub fn samples(people: u32, seed: u64) -> Vec<Sample> {
    let mut chance = fastrand::Rng::with_seed(seed);
    let sizes = [people, people / 2, people / 4].map(|size| size.max(20));
    let kinds = [
        ("notice-ja", "notice", "年末年始の営業時間のお知らせ", JAPANESE, SHIFT_JIS, NOTICE_JA),
        ("service-ko", "service", "서비스 점검 안내", KOREAN, EUC_KR, SERVICE_KO),
        ("letter-en", "letter", "New opening hours", ENGLISH, UTF_8, LETTER_EN),
    ];
    let lists = ["lists/members-ja.csv", "lists/members-ko.csv", "lists/members-en.csv"];
    kinds
        .into_iter()
        .zip(sizes)
        .zip(lists)
        .map(|(((batch, kind, title, folk, encoding, template), size), list)| {
            let plan = Fates::over(size, kind);
            let people = folk.invent(size, &mut chance, |place| plan.of(place));
            Sample { batch, kind, title, list, people, folk, encoding, template }
        })
        .collect()
}

/// Who in a list meets trouble, by place in the list.
#[derive(Clone, Copy, Debug)]
struct Fates {
    size: u32,
    holds: bool,
}

impl Fates {
    fn over(size: u32, kind: &str) -> Self {
        Self { size, holds: kind == "notice" }
    }

    /// Single troubles stand far apart: three unknown outcomes in a row would pause the route.
    fn of(self, place: u32) -> Fate {
        let at = |percent: u32| self.size * percent / 100;
        match place {
            place if place == at(20) => Fate::Dropped,
            place if place == at(30) && self.holds => Fate::Silent,
            place if place == at(45) => Fate::Slow,
            place if place % 40 == 7 => Fate::Gone,
            place if place % 25 == 13 => Fate::Later,
            _ => Fate::Taken,
        }
    }
}

/// Writes everything; returns the configuration file.
pub fn write(folder: &Path, samples: &[Sample], server: SocketAddr) -> io::Result<PathBuf> {
    fs::create_dir_all(folder.join("templates"))?;
    fs::create_dir_all(folder.join("lists"))?;
    for sample in samples {
        let (name, text) = sample.template;
        fs::write(folder.join("templates").join(name), text)?;
        let csv = sample.folk.csv(&sample.people);
        let (bytes, _, _) = sample.encoding.encode(&csv);
        fs::write(folder.join(sample.list), bytes)?;
    }
    let many = samples.iter().map(|sample| sample.people.len()).sum::<usize>();
    let config = folder.join("ittsu.toml");
    fs::write(&config, configuration(server, (many / 10).clamp(20, 3_000)))?;
    Ok(config)
}

/// The configuration, as short as one may be; `ittsu init` writes one with every key explained.
fn configuration(server: SocketAddr, per_second: usize) -> String {
    format!(
        r#"# The demo's configuration. `ittsu init` writes one with every key explained.
ledger = "sqlite:ittsu.db"
label = "DEMO"

[smtp.demo]                      # the demo's own mail server; it is gone when the demo has ended
host = "127.0.0.1"
port = {port}
tls = "none"
connections = 8
rate = "{per_second}/s"          # slow enough to watch

[worker]
heartbeat = "1s"
lost_after = "15s"

[kinds.notice]                   # nobody can know: a person decides
via = "smtp.demo"
on_unknown = "hold"
from = "会員サービス <notice@service.example>"
template = "templates/notice-ja.txt"
words = {{ key = "会員番号", person = "会員" }}
retry = {{ attempts = 5, first = "2s", last = "10s" }}

[kinds.service]                  # nobody can know: it goes out again, rather twice than never
via = "smtp.demo"
on_unknown = "resend"
from = "서비스 센터 <info@service.example>"
template = "templates/service-ko.txt"
words = {{ key = "회원번호", person = "회원" }}
retry = {{ attempts = 5, first = "2s", last = "10s" }}

[kinds.letter]                   # nobody can know: it counts as sent, rather never than twice
via = "smtp.demo"
on_unknown = "assume_sent"
from = "Member Service <letter@service.example>"
template = "templates/letter-en.txt"
words = {{ key = "member number", person = "member" }}
retry = {{ attempts = 5, first = "2s", last = "10s" }}
"#,
        port = server.port(),
    )
}

const NOTICE_JA: (&str, &str) = (
    "notice-ja.txt",
    "Subject: 年末年始の営業時間のお知らせ({{ 氏名 }} 様)

{{ 氏名 }} 様 (会員番号 {{ 会員番号 }})

いつもご利用いただき、ありがとうございます。
12月30日から1月3日まで、窓口をお休みさせていただきます。

会員サービス
",
);

const SERVICE_KO: (&str, &str) = (
    "service-ko.txt",
    "Subject: 서비스 점검 안내 - {{ 이름 }} 님

{{ 이름 }} 님 (회원번호 {{ 회원번호 }})

12월 5일 02:00부터 04:00까지 서비스를 점검합니다.
이용에 불편을 드려 죄송합니다.

서비스 센터
",
);

const LETTER_EN: (&str, &str) = (
    "letter-en.txt",
    "Subject: New opening hours from January

Dear {{ name }} (member {{ member_no }}),

from January we are open until eight in the evening.

Your member service
",
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::demo::people::fate_of;

    #[test]
    fn every_list_has_every_trouble_and_the_notice_one_more() {
        for sample in samples(600, 1) {
            let many = |fate| {
                sample.people.iter().filter(|person| fate_of(&person.address) == fate).count()
            };
            assert_eq!((many(Fate::Slow), many(Fate::Dropped)), (1, 1), "{}", sample.batch);
            assert_eq!(many(Fate::Silent), usize::from(sample.kind == "notice"));
            assert!(many(Fate::Gone) > 2 && many(Fate::Later) > 2);
        }
    }

    #[test]
    fn a_list_is_written_in_the_character_set_of_its_country() {
        let dir = tempfile::tempdir().unwrap();
        let samples = samples(20, 1);
        write(dir.path(), &samples, "127.0.0.1:2525".parse().unwrap()).unwrap();
        let bytes = fs::read(dir.path().join("lists/members-ja.csv")).unwrap();
        let (text, _, broken) = SHIFT_JIS.decode(&bytes);
        assert!(!broken && text.starts_with("会員番号,氏名,メールアドレス\r\n"));
    }
}
