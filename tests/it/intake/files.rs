//! Delimited text and JSON lines: what is a person, and on which line.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

use ittsu::intake::{Entry, IntakeError, Options, Source, open};
use rstest::rstest;

use super::{file, read, read_csv, read_file};

#[tokio::test]
async fn a_semicolon_file_with_everything_that_breaks_parsers_is_read() {
    let text = "No;氏名;メール;住所;メモ;メモ\r\n\
                1;髙橋;a@example.jp;\"東京都\r\n千代田区; 1\";\"\"\"x\"\"\";y\r\n\
                2;山﨑;b@example.jp;大阪;;\r\n\
                \r\n;;;;;\r\n\r\n";
    let found = read_csv(text).await;
    assert_eq!(found.head.delimiter, Some(';'));
    assert_eq!(found.head.columns, ["No", "氏名", "メール", "住所", "メモ", "メモ (2)"]);
    assert_eq!(
        found.head.notes[0].why.to_string(),
        "the column occurs twice; this one is called `メモ (2)`"
    );
    assert_eq!(found.told(), ["2 1 <a@example.jp> 髙橋", "4 2 <b@example.jp> 山﨑"]);
    assert_eq!(
        found.people()[0].fields,
        "{\"name\":\"髙橋\",\"No\":\"1\",\"氏名\":\"髙橋\",\"メール\":\"a@example.jp\",\
         \"住所\":\"東京都\\r\\n千代田区; 1\",\"メモ\":\"\\\"x\\\"\",\"メモ (2)\":\"y\"}"
    );
}

#[rstest]
#[case::comma("p.csv", "id,mail\n1,a@example.jp\n", Some(','))]
#[case::tab("p.tsv", "id\tmail\n1\ta@example.jp\n", Some('\t'))]
#[case::tab_in_a_csv("p.csv", "id\tmail\n1\ta@example.jp\n", Some('\t'))]
#[case::bar("p.txt", "id|mail\n1|a@example.jp\n", Some('|'))]
#[case::objects("p.jsonl", "{\"id\":1,\"mail\":\"a@example.jp\"}\n", None)]
#[tokio::test]
async fn the_delimiter_is_found_out(
    #[case] name: &str,
    #[case] text: &str,
    #[case] delimiter: Option<char>,
) {
    let found = read_file(name, text, &Options::default()).await.unwrap();
    assert_eq!(found.head.delimiter, delimiter);
    assert_eq!(found.people().len(), 1);
    assert_eq!(found.people()[0].key, "1");
}

#[tokio::test]
async fn a_given_delimiter_overrides_what_looks_likelier() {
    let options = Options { delimiter: Some('#'), ..Options::default() };
    let found = read_file("p.csv", "id#mail#a,b\n1#a@example.jp#x,y\n", &options).await.unwrap();
    assert_eq!(found.told(), ["2 1 <a@example.jp> -"]);
    let options = Options { delimiter: Some('；'), ..Options::default() };
    let err = read_file("p.csv", "x", &options).await.unwrap_err();
    assert_eq!(err.to_string(), "`；` cannot separate fields; one ASCII character can");
}

#[tokio::test]
async fn without_a_key_column_the_address_in_compare_form_is_the_key() {
    let found = read_csv("name,mail\nA,Taro@Example.JP\nB, taro@例え.jp \n").await;
    assert_eq!(found.head.mapping.key, None);
    assert_eq!(
        found.told(),
        ["2 taro@example.jp <Taro@Example.JP> A", "3 taro@xn--r8jz45g.jp <taro@例え.jp> B"]
    );
}

#[tokio::test]
async fn two_spellings_of_one_address_have_one_key() {
    let lines = "mail\nTaro@Example.test\ntaro@example.test\n taro@example.test \n\"taro@example.test\u{200b}\"\n";
    let found = read_csv(lines).await;
    assert!(
        found.people().iter().all(|line| line.key == "taro@example.test"),
        "{:?}",
        found.told()
    );
    assert_eq!(found.people().len(), 4);
}

#[tokio::test]
async fn json_lines_keep_numbers_lists_and_nulls() {
    let text = "{\"id\":1,\"email\":\"a@example.jp\",\"items\":[{\"n\":2}],\"note\":null}\n\n\
                {\"email\":\"b@example.jp\",\"id\":\"x\",\"late\":true}\n[1]\n{\"id\":{},\"email\":\"c@example.jp\"}\n";
    let found = read_file("orders.jsonl", text, &Options::default()).await.unwrap();
    assert_eq!(
        found.told(),
        [
            "1 1 <a@example.jp> -",
            "3 x <b@example.jp> -",
            "4 : it is a JSON array; one object on each line is needed (\"\")",
            "5 id: a list or an object stands where text must be (\"\")",
        ]
    );
    assert_eq!(
        found.people()[0].fields,
        r#"{"id":1,"email":"a@example.jp","items":[{"n":2}],"note":null}"#
    );
    assert_eq!(found.people()[1].fields, r#"{"email":"b@example.jp","id":"x","late":true}"#);
}

#[tokio::test]
async fn map_gives_columns_further_names() {
    let map = [("total", "合計"), ("name", "宛先名")].map(|(f, c)| (f.to_owned(), c.to_owned()));
    let options = Options { map: map.into(), ..Options::default() };
    let found = read_file("p.csv", "id,mail,合計,宛先名\n1,a@example.jp,100,店長\n", &options)
        .await
        .unwrap();
    assert_eq!(
        found.people()[0].fields,
        r#"{"total":"100","name":"店長","id":"1","mail":"a@example.jp","合計":"100","宛先名":"店長"}"#
    );
}

#[rstest]
#[case::no_byte("", "empty.csv is empty")]
#[case::only_blank_lines("\n\n  \n", "empty.csv is empty")]
#[case::only_a_mark("\u{feff}", "empty.csv is empty")]
#[tokio::test]
async fn an_empty_file_is_refused(#[case] text: &str, #[case] message: &str) {
    let err = read_file("empty.csv", text, &Options::default()).await.unwrap_err();
    assert_eq!(err.to_string(), message);
}

#[tokio::test]
async fn a_file_with_headings_alone_holds_nobody() {
    let found = read_csv("会員番号,メールアドレス\n").await;
    assert_eq!(found.entries, []);
    assert_eq!(found.head.mapping.address.as_deref(), Some("メールアドレス"));
}

#[tokio::test]
async fn a_file_that_is_not_there_is_named() {
    let err = read(Source::File("/nowhere/p.csv".into()), &Options::default()).await.unwrap_err();
    assert_eq!(err.to_string(), "/nowhere/p.csv cannot be opened");
}

#[tokio::test]
async fn an_old_workbook_says_how_to_save_it() {
    let err = read_file("p.csv", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", &Options::default())
        .await
        .unwrap_err();
    assert_eq!(
        err.to_string(),
        "p.csv is no workbook that can be read: it is a workbook of an old kind; save it as .xlsx or CSV"
    );
}

/// What stands before the problem has been delivered; the caller decides what to keep.
async fn read_until_it_fails(path: &Path) -> (usize, IntakeError) {
    let mut reader = open(Source::File(path.to_owned()), &Options::default()).await.unwrap();
    let mut people = 0;
    loop {
        match reader.next().await {
            Ok(entries) => {
                assert!(!entries.is_empty(), "it ended without an error");
                people += entries.iter().filter(|entry| matches!(entry, Entry::Person(_))).count();
            }
            Err(err) => return (people, err),
        }
    }
}

#[tokio::test]
async fn a_line_of_100_mb_is_refused_with_its_number() {
    let (_folder, path) = file("p.csv", "id,mail\n1,a@example.jp\n2,");
    let mut more = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
    let block = vec![b'x'; 1 << 20];
    for _ in 0..100 {
        more.write_all(&block).unwrap();
    }
    let (people, err) = read_until_it_fails(&path).await;
    assert_eq!(people, 1);
    assert_eq!(err.to_string(), "p.csv line 3: it is longer than 1048576 bytes");
}

#[tokio::test]
async fn a_quotation_mark_that_is_never_closed_is_named_by_its_line() {
    let mut text = "id,mail\n1,a@example.jp\n2,\"b@example.jp\n".to_owned();
    text.push_str(&"3,c@example.jp\n".repeat(1_000));
    let (_folder, path) = file("p.csv", text);
    let (people, err) = read_until_it_fails(&path).await;
    assert_eq!(people, 1);
    assert_eq!(err.to_string(), "p.csv line 3: a quotation mark is opened here and never closed");
}

#[tokio::test]
async fn two_hundred_thousand_people_are_read_in_bounded_chunks() {
    let mut text = "会員番号,氏名,メールアドレス\n".to_owned();
    for number in 0..200_000 {
        writeln!(text, "{number},会員{number},user{number}@example.jp").unwrap();
    }
    let (_folder, path) = file("p.csv", text);
    let mut reader = open(Source::File(path), &Options::default()).await.unwrap();
    let mut next = 0_u64;
    loop {
        let entries = reader.next().await.unwrap();
        assert!(entries.len() <= 1_000);
        for entry in &entries {
            let Entry::Person(line) = entry else { panic!("{entry:?}") };
            assert_eq!((line.key.as_str(), line.number), (&*next.to_string(), next + 2));
            next += 1;
        }
        if entries.is_empty() {
            break;
        }
    }
    assert_eq!(next, 200_000);
}

#[tokio::test]
async fn a_reader_that_is_dropped_early_ends_what_reads() {
    let text = "mail\n".to_owned() + &"a@example.jp\n".repeat(100_000);
    let (_folder, path) = file("p.csv", text);
    let mut reader = open(Source::File(path), &Options::default()).await.unwrap();
    assert_eq!(reader.next().await.unwrap().len(), 1_000);
    // The runtime of this test could not end while a task still read.
    drop(reader);
}
