//! Lists from other people's computers come out as they were written.

use encoding_rs::{EUC_JP, EUC_KR, Encoding, SHIFT_JIS};
use ittsu::intake::{Found as How, IntakeError, Options};
use rstest::rstest;

use super::{read_csv, read_file};

const JAPANESE: &str = "会員番号,氏名,メールアドレス\r\n1,髙橋 一郎,takahashi@example.co.jp\r\n2,山﨑 花子,yamazaki@example.ne.jp\r\n";
const KOREAN: &str =
    "회원번호,이름,이메일\r\n1,김철수,kim@example.co.kr\r\n2,설뷁호,seol@example.kr\r\n";

async fn assert_reads(bytes: Vec<u8>, label: &str, how: How, people: [&str; 2]) {
    let found = read_csv(bytes).await;
    let charset = found.head.charset.as_ref().unwrap();
    assert_eq!((charset.label.as_str(), charset.found), (label, how));
    assert_eq!(found.told(), people);
}

const JAPANESE_PEOPLE: [&str; 2] =
    ["2 1 <takahashi@example.co.jp> 髙橋 一郎", "3 2 <yamazaki@example.ne.jp> 山﨑 花子"];
const KOREAN_PEOPLE: [&str; 2] = ["2 1 <kim@example.co.kr> 김철수", "3 2 <seol@example.kr> 설뷁호"];

fn encoded(text: &str, encoding: &'static Encoding) -> Vec<u8> {
    let (bytes, _, unmappable) = encoding.encode(text);
    assert!(!unmappable, "{text}");
    bytes.into_owned()
}

#[tokio::test]
async fn a_cp932_file_keeps_its_rare_names() {
    assert_reads(encoded(JAPANESE, SHIFT_JIS), "Shift_JIS (CP932)", How::Detected, JAPANESE_PEOPLE)
        .await;
}

#[tokio::test]
async fn a_cp949_file_keeps_its_rare_syllables() {
    assert_reads(encoded(KOREAN, EUC_KR), "EUC-KR (CP949)", How::Detected, KOREAN_PEOPLE).await;
}

#[tokio::test]
async fn an_euc_jp_file_is_no_korean() {
    let text = JAPANESE.replace('髙', "高").replace('﨑', "崎");
    let people = JAPANESE_PEOPLE.map(|line| line.replace('髙', "高").replace('﨑', "崎"));
    let people = [people[0].as_str(), people[1].as_str()];
    assert_reads(encoded(&text, EUC_JP), "EUC-JP", How::Detected, people).await;
}

#[rstest]
#[case::little_with_mark(&[0xff, 0xfe], u16::to_le_bytes, How::Mark, "UTF-16LE")]
#[case::big_with_mark(&[0xfe, 0xff], u16::to_be_bytes, How::Mark, "UTF-16BE")]
#[case::little_without(&[], u16::to_le_bytes, How::Detected, "UTF-16LE")]
#[tokio::test]
async fn utf_16_is_read_with_and_without_its_mark(
    #[case] mark: &[u8],
    #[case] bytes: fn(u16) -> [u8; 2],
    #[case] how: How,
    #[case] label: &str,
) {
    let text = JAPANESE.encode_utf16().flat_map(bytes);
    let bytes = mark.iter().copied().chain(text).collect();
    assert_reads(bytes, label, how, JAPANESE_PEOPLE).await;
}

#[tokio::test]
async fn utf_8_is_read_with_and_without_its_mark() {
    assert_reads(JAPANESE.into(), "UTF-8", How::Valid, JAPANESE_PEOPLE).await;
    assert_reads(format!("\u{feff}{KOREAN}").into(), "UTF-8", How::Mark, KOREAN_PEOPLE).await;
}

#[tokio::test]
async fn the_first_address_of_a_headerless_file_with_a_mark_is_whole() {
    let found = read_csv("\u{feff}taro@example.jp,太郎\nhana@example.jp,花\n").await;
    assert!(!found.head.has_headings);
    assert_eq!(found.head.columns, ["1", "2"]);
    assert_eq!(
        found.told(),
        ["1 taro@example.jp <taro@example.jp> -", "2 hana@example.jp <hana@example.jp> -"]
    );
    assert_eq!(found.people()[0].fields, r#"{"1":"taro@example.jp","2":"太郎"}"#);
}

/// A bank's export: readings in half-width kana, addresses that tell no country.
const READINGS: &str = "\
id,mail,yomi\n1,a@gmail.com,ﾔﾏﾀﾞ ﾀﾛｳ\n2,b@gmail.com,ｽｽﾞｷ ｲﾁﾛｳ\n3,c@gmail.com,ﾀｶﾊｼ ﾊﾅｺ\n\
4,d@gmail.com,ｻｲﾄｳ ｼﾞｭﾝ\n5,e@gmail.com,ﾜﾀﾅﾍﾞ ｶｽﾞｺ\n6,f@gmail.com,ﾊｾｶﾞﾜ ﾕｳ\n";

#[tokio::test]
async fn half_width_kana_come_out_as_kana_or_are_asked_about() {
    let bytes = encoded(READINGS, SHIFT_JIS);
    let japanese = Options { language: Some("ja".to_owned()), ..Options::default() };
    let found = read_file("yomi.csv", &bytes, &japanese).await.unwrap();
    assert!(found.people()[0].fields.contains("ﾔﾏﾀﾞ ﾀﾛｳ"), "{:?}", found.people()[0]);
    match read_file("yomi.csv", &bytes, &Options::default()).await {
        Ok(found) => assert!(found.people()[0].fields.contains("ﾔﾏﾀﾞ ﾀﾛｳ")),
        Err(IntakeError::Unsure { candidates, .. }) => {
            assert!(candidates[0].samples[0].contains("ﾔﾏﾀﾞ ﾀﾛｳ"), "{candidates:?}");
        }
        Err(err) => panic!("{err}"),
    }
}

#[tokio::test]
async fn a_file_that_may_be_anything_is_asked_about_with_samples() {
    let bytes = b"id,mail,name\n1,a@example.com,\xb1\xb2\n";
    let err = read_file("x.csv", bytes, &Options::default()).await.unwrap_err();
    assert_eq!(err.to_string(), "the character set of x.csv is not sure");
    let IntakeError::Unsure { candidates, .. } = err else { panic!("not asked") };
    let japanese = candidates.iter().find(|candidate| candidate.name == "Shift_JIS").unwrap();
    assert_eq!(japanese.label, "Shift_JIS (CP932)");
    assert_eq!(japanese.samples, ["1,a@example.com,ｱｲ"]);

    let given = Options { encoding: Some("cp949".to_owned()), ..Options::default() };
    let found = read_file("x.csv", bytes, &given).await.unwrap();
    assert_eq!(found.head.charset.as_ref().unwrap().found, How::Given);
    assert_eq!(found.told(), ["2 1 <a@example.com> 굉"]);
}

#[tokio::test]
async fn a_damaged_line_is_rejected_and_the_others_go_in() {
    let mut bytes = JAPANESE.repeat(20).into_bytes();
    bytes.extend_from_slice(b"3,\x8d\x82\x8b\xb4,c@example.jp\n");
    let found = read_csv(bytes).await;
    let rejected: Vec<_> = found.rejected().into_iter().collect();
    let last = rejected.last().unwrap();
    assert_eq!(last.finding.line, 61);
    assert_eq!(last.finding.column, "氏名");
    assert_eq!(last.finding.why.to_string(), "it holds a character that is no UTF-8");
    assert_eq!((last.key.as_str(), last.address.as_str()), ("3", "c@example.jp"));
}

#[tokio::test]
async fn an_encoding_nobody_knows_is_refused() {
    let given = Options { encoding: Some("klingon".to_owned()), ..Options::default() };
    let err = read_file("x.csv", "a@example.jp", &given).await.unwrap_err();
    assert_eq!(err.to_string(), "`klingon` is no character set that is known here");
}
