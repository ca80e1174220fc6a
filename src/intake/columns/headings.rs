//! What people call the columns of their lists, in English, Japanese and Korean.

use unicode_normalization::UnicodeNormalization as _;

/// Headings of the address, the surest first; compared as `plain` writes them.
pub(super) const ADDRESS: &[&str] = &[
    "email",
    "emailaddress",
    "mailaddress",
    "mail",
    "メールアドレス",
    "eメールアドレス",
    "eメール",
    "電子メールアドレス",
    "電子メール",
    "メール",
    "メアド",
    "mailアドレス",
    "emailアドレス",
    "이메일",
    "이메일주소",
    "메일주소",
    "메일",
    "전자우편",
    "전자메일",
    "전자우편주소",
    "이메일아이디",
    "address",
    "アドレス",
    "to",
    "recipient",
    "宛先",
    "送信先",
    "받는사람",
    "수신자",
    "수신자이메일",
];

/// Headings of the business's own id, the surest first.
pub(super) const KEY: &[&str] = &[
    "key",
    "memberno",
    "memberid",
    "membernumber",
    "membercode",
    "customerno",
    "customerid",
    "customernumber",
    "customercode",
    "orderno",
    "orderid",
    "ordernumber",
    "userno",
    "userid",
    "usernumber",
    "accountid",
    "accountno",
    "会員番号",
    "会員id",
    "会員no",
    "会員コード",
    "顧客番号",
    "顧客id",
    "顧客no",
    "顧客コード",
    "お客様番号",
    "お客様id",
    "注文番号",
    "注文id",
    "注文no",
    "受注番号",
    "ご注文番号",
    "ユーザーid",
    "ユーザid",
    "利用者番号",
    "利用者id",
    "管理番号",
    "契約番号",
    "社員番号",
    "学籍番号",
    "회원번호",
    "회원id",
    "회원아이디",
    "회원코드",
    "고객번호",
    "고객id",
    "고객코드",
    "주문번호",
    "주문id",
    "사용자id",
    "사용자번호",
    "사번",
    "학번",
    "계약번호",
    "관리번호",
    "id",
    "number",
    "no",
    "code",
    "番号",
    "コード",
    "번호",
    "코드",
    "아이디",
];

/// Headings of the name that is shown in `To`.
pub(super) const NAME: &[&str] = &[
    "name",
    "fullname",
    "displayname",
    "membername",
    "customername",
    "username",
    "氏名",
    "お名前",
    "名前",
    "会員名",
    "会員氏名",
    "お客様名",
    "お客様氏名",
    "顧客名",
    "顧客氏名",
    "宛名",
    "姓名",
    "ご氏名",
    "이름",
    "성명",
    "성함",
    "회원명",
    "고객명",
    "회원이름",
    "고객이름",
    "회원성명",
];

/// Reports whether a value is a heading that is known here.
pub(in crate::intake) fn is_known(value: &str) -> bool {
    [ADDRESS, KEY, NAME].iter().any(|headings| headings.contains(&&*plain(value)))
}

/// Writes a heading without what people vary: width, case, blanks and marks.
pub(super) fn plain(heading: &str) -> String {
    heading
        .nfkc()
        .flat_map(char::to_lowercase)
        .filter(|c| c.is_alphanumeric() || *c == 'ー')
        .collect()
}
