//! Lists of whom to leave out, of keys, of addresses that must not be mailed.

use ittsu::intake::{Options, Wanted};

use super::read_file;

async fn told(text: &str) -> Vec<String> {
    let options = Options { wanted: Wanted::List, ..Options::default() };
    read_file("list.csv", text, &options).await.unwrap().told()
}

#[tokio::test]
async fn a_bare_list_may_hold_addresses_or_keys() {
    assert_eq!(
        told("a@example.jp\nb@example.jp\n").await,
        [r#"1 None Some("a@example.jp")"#, r#"2 None Some("b@example.jp")"#]
    );
    assert_eq!(told("100\n\n 200 \n").await, [r#"1 Some("100") None"#, r#"3 Some("200") None"#]);
}

#[tokio::test]
async fn a_heading_that_is_known_is_no_entry() {
    assert_eq!(told("会員番号\n100\n").await, [r#"2 Some("100") None"#]);
    assert_eq!(told("email\na@example.jp\n").await, [r#"2 None Some("a@example.jp")"#]);
}

#[tokio::test]
async fn a_list_with_both_may_lack_one_of_them() {
    assert_eq!(
        told("id,mail\n1,a@example.jp\n2,\n,b@example.jp\n3,nobody\n").await,
        [
            r#"2 Some("1") Some("a@example.jp")"#,
            r#"3 Some("2") None"#,
            r#"4 None Some("b@example.jp")"#,
            r#"5 mail: no @ in the address ("nobody")"#,
        ]
    );
}
