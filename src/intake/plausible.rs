//! How much a decoded text looks like names, addresses and headings in Japanese or Korean.
//!
//! Frequency of characters, not grammar: a list of people has no grammar.

use encoding_rs::{EUC_JP, EUC_KR, Encoding};

/// The kanji most seen in names, places and headings of lists.
const KANJI: &str = "一二三四五六七八九十百千万上下中大小本日月火水木金土人名前氏様会員番号注文顧客電話住所郵便県市区町村東京都道府北南西阪\
田山川村井藤佐伊加高橋髙渡辺邊林清斎斉松石岡島崎﨑木野原谷池坂酒森阿部安西長谷川近遠内宮本吉永岩青新福浜濱平竹菊今久保\
子美恵由香真理奈優愛花彩結菜春夏秋冬直樹健太郎次雄一正和幸彦男夫明義弘浩隆誠豊茂勇進学英俊哲也介輔翔大輝拓海蓮悠斗陽葵\
株式社商店部課長先生御中方配送先商品数量金額合計年時分登録更新備考担当状態有無性別男女生齢文字内容件円初期沢澤竜龍丸関\
梅桜杉柳荒黒白赤水古小河口野口戸神桑栗星望光照達信行孝博敏秀樹智則仁志和広廣津船越塚堀尾沼増辻須武片矢";

/// The Hangul syllables most seen in names, places and headings of lists.
const HANGUL: &str = "김이박최정강조윤장임한오서신권황안송류유홍전고문양손배백허남심노하곽성차주우구나민진지엄채원천방공현함변염여추도소석선설마길연위표명기반라왕금옥육인맹제모탁국어은편용\
수영호준민재현우진석철동상승태훈경희숙미순자정은혜연지윤서하예나라빈솔아인주선화란별보람슬기찬솜율온결봄\
회원번호름성함메일주소전화휴대폰고객이문자상품수량금액합계가입날짜등급비고담당구매배송받는사람시도군읍면동리로길아파트층호\
서울부산대구인천광주대전울산세종경기강원충북남전라제주특별광역청회사부과장님안녕하세요감합니다의를을에와는";

/// Returns how plausible a text is, from 0 to 1, or `None` if it holds nothing to judge by.
///
/// The mean over its characters beyond US-ASCII.
pub(super) fn plausibility(text: &str, encoding: &'static Encoding) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0_u32);
    let mut before = '\n';
    for c in text.chars() {
        if !c.is_ascii() {
            sum += weight(c, before, encoding);
            count += 1;
        }
        before = c;
    }
    (count > 0).then(|| sum / f64::from(count))
}

fn weight(c: char, before: char, encoding: &'static Encoding) -> f64 {
    match c {
        'ぁ'..='ゖ' | 'ァ'..='ヺ' | 'ー' | '々' => kana(encoding),
        '｡'..='ﾟ' => half_width(c, before),
        '가'..='힣' if HANGUL.contains(c) => 1.0,
        '가'..='힣' if in_table(c, EUC_KR, 0xb0..=0xc8) => 0.35,
        // Whole blocks of syllables that exist on paper only.
        '가'..='힣' => 0.05,
        // A Korean list may hold Chinese characters, but hardly any.
        '一'..='鿿' | '豈'..='﫿' if encoding == EUC_KR => 0.1,
        '一'..='鿿' | '豈'..='﫿' if KANJI.contains(c) => 1.0,
        '一'..='鿿' if in_table(c, EUC_JP, 0xb0..=0xcf) => 0.4,
        '一'..='鿿' | '豈'..='﫿' => 0.1,
        '　' | '、' | '。' | '・' | '「' | '」' | '（' | '）' | '～' | '〜' | '－' | '，'
        | '．' | '：' => 0.8,
        '０'..='９' | 'Ａ'..='Ｚ' | 'ａ'..='ｚ' | '①'..='⑳' | '㈱' | '№' => 0.7,
        _ => 0.05,
    }
}

/// Kana exist in Korean character sets, but not in Korean lists.
fn kana(encoding: &'static Encoding) -> f64 {
    if encoding == EUC_KR { 0.1 } else { 1.0 }
}

/// Half-width kana are either a list of readings, which keeps the rules of kana, or the bytes of
/// another character set, which break them soon.
fn half_width(c: char, before: char) -> f64 {
    let after_kana = matches!(before, 'ｦ'..='ﾟ');
    let keeps = match c {
        'ﾞ' => matches!(before, 'ｳ' | 'ｶ'..='ﾄ' | 'ﾊ'..='ﾎ'),
        'ﾟ' => matches!(before, 'ﾊ'..='ﾎ'),
        'ｧ'..='ｯ' | 'ｰ' => after_kana,
        // Nobody's name holds these.
        '｡'..='･' | 'ｦ' => false,
        _ => true,
    };
    if keeps { 0.75 } else { 0.0 }
}

/// Reports whether the character set holds `c` in rows that begin with one of `lead`.
fn in_table(c: char, encoding: &'static Encoding, lead: std::ops::RangeInclusive<u8>) -> bool {
    let mut buffer = [0; 4];
    let text: &str = c.encode_utf8(&mut buffer);
    let (bytes, _, unmapped) = encoding.encode(text);
    let second_high = bytes.get(1).is_some_and(|byte| *byte >= 0xa1);
    !unmapped && second_high && bytes.first().is_some_and(|byte| lead.contains(byte))
}
