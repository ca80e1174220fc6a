//! Lists of invented people, by the hundred: a wrong reading must never look sure.

use encoding_rs::{EUC_JP, EUC_KR, Encoding, SHIFT_JIS};
use fastrand::Rng;
use rstest::rstest;

use super::{Evidence, Language, Verdict, detect};

/// Family and given names.
type Names = (&'static [&'static str], &'static [&'static str]);

const KANJI: Names = (
    &[
        "佐藤",
        "鈴木",
        "高橋",
        "田中",
        "渡辺",
        "伊藤",
        "山本",
        "中村",
        "小林",
        "加藤",
        "吉田",
        "山田",
        "佐々木",
        "松本",
        "井上",
        "木村",
        "林",
        "清水",
        "斎藤",
        "阿部",
        "池田",
        "橋本",
        "石川",
        "前田",
        "藤田",
        "小川",
        "岡田",
        "後藤",
        "長谷川",
        "村上",
        "綿貫",
        "勅使河原",
        "薗部",
    ],
    &[
        "一郎",
        "花子",
        "太郎",
        "美咲",
        "健",
        "翔太",
        "陽菜",
        "さくら",
        "大輔",
        "恵子",
        "直樹",
        "由美子",
        "悠斗",
        "凛",
        "誠",
        "智子",
        "拓也",
        "彩",
        "剛",
        "真理",
        "雄一",
        "紗耶香",
        "亮",
        "瑞穂",
        "喜久雄",
    ],
);
const KANA: Names = (
    &[
        "ｻﾄｳ",
        "ｽｽﾞｷ",
        "ﾀｶﾊｼ",
        "ﾀﾅｶ",
        "ﾜﾀﾅﾍﾞ",
        "ｲﾄｳ",
        "ﾔﾏﾓﾄ",
        "ﾅｶﾑﾗ",
        "ｺﾊﾞﾔｼ",
        "ｶﾄｳ",
        "ﾖｼﾀﾞ",
        "ﾔﾏﾀﾞ",
        "ｻｻｷ",
        "ﾏﾂﾓﾄ",
        "ｲﾉｳｴ",
        "ｷﾑﾗ",
        "ﾊﾔｼ",
        "ｼﾐｽﾞ",
        "ｻｲﾄｳ",
        "ｱﾍﾞ",
    ],
    &[
        "ｲﾁﾛｳ",
        "ﾊﾅｺ",
        "ﾀﾛｳ",
        "ﾐｻｷ",
        "ｹﾝ",
        "ｼｮｳﾀ",
        "ﾋﾅ",
        "ｻｸﾗ",
        "ﾀﾞｲｽｹ",
        "ｹｲｺ",
        "ﾅｵｷ",
        "ﾕﾐｺ",
        "ﾕｳﾄ",
        "ﾘﾝ",
        "ﾏｺﾄ",
        "ﾄﾓｺ",
    ],
);
const HANGUL: Names = (
    &[
        "김", "이", "박", "최", "정", "강", "조", "윤", "장", "임", "한", "오", "서", "신", "권",
        "황", "안", "송", "류", "홍", "남궁", "선우", "제갈",
    ],
    &[
        "철수", "영희", "지훈", "민서", "서연", "도윤", "하은", "준호", "수빈", "예진", "현우",
        "지민", "유진", "동현", "은주", "성호", "혜진", "재석", "나래", "한별", "슬기", "빛나",
        "꽃님",
    ],
);

/// Counts how often the reading was right, was asked about, and was wrong.
fn judge(
    names: Names,
    encoding: &'static Encoding,
    people: usize,
    language: Option<Language>,
) -> (u32, u32, u32) {
    let mut random = Rng::with_seed(20_261_130);
    let (mut right, mut asked, mut wrong) = (0, 0, 0);
    for _ in 0..100 {
        let mut pick = |from: &[&'static str]| from[random.usize(..from.len())];
        let telling: Vec<Vec<u8>> = (0..people)
            .map(|number| {
                let (family, given) = (pick(names.0), pick(names.1));
                let line = format!("{number},{family} {given},user{number}@example.com");
                encoding.encode(&line).0.into_owned()
            })
            .collect();
        let head = telling.join(b"\n".as_slice());
        match detect(&Evidence { head: &head, telling: &telling, utf8: false, language }) {
            Verdict::Sure(found, _) if found == encoding => right += 1,
            Verdict::Sure(..) => wrong += 1,
            Verdict::Unsure(_) => asked += 1,
        }
    }
    (right, asked, wrong)
}

#[rstest]
#[case::kanji_in_cp932(KANJI, SHIFT_JIS, Language::Japanese)]
#[case::kanji_in_euc_jp(KANJI, EUC_JP, Language::Japanese)]
#[case::half_width_kana_in_cp932(KANA, SHIFT_JIS, Language::Japanese)]
#[case::hangul_in_cp949(HANGUL, EUC_KR, Language::Korean)]
fn a_list_is_read_rightly_or_asked_about(
    #[case] names: Names,
    #[case] encoding: &'static Encoding,
    #[case] own: Language,
    #[values(2, 5, 20)] people: usize,
) {
    let other = if own == Language::Korean { Language::Japanese } else { Language::Korean };
    for (language, at_least) in [(None, 95), (Some(own), 95), (Some(other), 30)] {
        let (right, asked, wrong) = judge(names, encoding, people, language);
        assert_eq!(wrong, 0, "{people} people, hint {language:?}: {right} right, {asked} asked");
        assert!(right >= at_least, "{people} people, hint {language:?}: only {right} of 100");
    }
}
