//! Every line that cannot become a row says where, why and with which value.

use ittsu::intake::{Finding, Findings, Options, Why};

use super::{read_csv, read_file};

#[tokio::test]
async fn bad_lines_are_listed_and_good_ones_go_in() {
    let text = "会員番号,氏名,メール\n\
                1,太郎,taro@example.jp\n\
                2,花子,hanako.example.jp\n\
                ,次郎,jiro@example.jp\n\
                4,三郎\n\
                5,四郎,shiro@example.jp,x\n\
                6,五郎,goro@example.jp,,\n\
                7,\"山田\n一郎\",ichi@example.jp\n\
                8,六郎,\"a\nb@example.jp\"\n\
                \"9\r\",七郎,shichi@example.jp\n\
                10,八郎,\"name@verizon,net\"\n\
                11,\"九郎\"x,kuro@example.jp\n\
                12,\u{0}十郎,juro@example.jp\n\
                13,十一郎,\n";
    let found = read_csv(text).await;
    insta::assert_snapshot!(found.told().join("\n"), @r#"
    2 1 <taro@example.jp> 太郎
    3 メール: no @ in the address ("hanako.example.jp")
    4 会員番号: the key is empty ("")
    5 : it has 2 fields, the header has 3 ("")
    6 : it has 4 fields, the header has 3 ("")
    7 6 <goro@example.jp> 五郎
    8 氏名: it holds a line break ("山田\n一郎")
    10 メール: a line break in the address ("a\nb@example.jp")
    12 9 <shichi@example.jp> 七郎
    14 メール: a comma in the domain `verizon,net`; is a dot meant? ("name@verizon,net")
    15 : text follows a closing quotation mark ("")
    16 氏名: it holds a NUL character ("\0十郎")
    17 メール: the address is empty ("")
    "#);
}

#[tokio::test]
async fn a_key_has_at_most_190_characters() {
    let fits = "鍵".repeat(190);
    let long = "鍵".repeat(191);
    let found = read_csv(format!("id,mail\n{fits},a@example.jp\n{long},b@example.jp\n")).await;
    assert_eq!(found.people()[0].key, fits);
    let rejected = found.rejected()[0];
    assert_eq!(rejected.finding.why, Why::LongKey(191));
    assert_eq!(rejected.finding.value.chars().count(), 81, "cut for showing");
}

#[tokio::test]
async fn what_surrounds_a_key_and_cannot_be_seen_is_removed() {
    let found =
        read_csv("id,mail\n\u{3000}100 ,a@example.jp\n\u{200b}100\u{feff},b@example.jp\n").await;
    assert!(found.people().iter().all(|line| line.key == "100"), "{:?}", found.told());
}

#[tokio::test]
async fn tabs_and_line_breaks_may_stand_in_fields_that_reach_no_header() {
    let found =
        read_csv("id,mail,memo\n1,a@example.jp,\"x\n\ty\"\n2,b@example.jp,\"\u{1b}[31m\"\n").await;
    assert_eq!(
        found.told(),
        ["2 1 <a@example.jp> -", "4 memo: it holds an escape character (\"\\u{1b}[31m\")"]
    );
}

#[tokio::test]
async fn columns_that_cannot_be_told_apart_are_asked_about() {
    for (text, message) in [
        (
            "id,mail,mail\n1,a@x.jp,b@x.jp\n",
            "p.csv line 1: more than one column could be the address: mail, mail (2)",
        ),
        ("a,b\nx@x.jp x,y\n", "p.csv has no column with mail addresses; its columns are a, b"),
    ] {
        let err = read_file("p.csv", text, &Options::default()).await.unwrap_err();
        assert_eq!(err.to_string(), message);
    }
}

#[test]
fn at_most_a_thousand_findings_are_kept_and_the_others_counted() {
    let mut findings = Findings::default();
    for line in 1..=1_234 {
        let (column, value) = (String::new(), String::new());
        findings.push(Finding { line, column, why: Why::NoKey, value });
    }
    assert_eq!((findings.kept.len(), findings.left_out), (1_000, 234));
    assert_eq!(findings.kept.last().unwrap().line, 1_000);
}
