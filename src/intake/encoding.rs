//! Which character set a text is in: by its marks, its validity and its plausibility.
//!
//! Never a guess in silence: where two readings are about as good, the caller gets both.

#[cfg(test)]
mod lists;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{EUC_JP, EUC_KR, Encoding, SHIFT_JIS, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

use super::plausible::plausibility;

/// The character set a source was read in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Charset {
    /// As people know it: `Shift_JIS (CP932)`.
    pub label: String,
    /// As JSON and `--encoding` name it: `Shift_JIS`.
    pub name: String,
    pub found: Found,
}

/// How the character set was found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Found {
    /// `--encoding` said so.
    Given,
    /// The file begins with a byte order mark.
    Mark,
    /// It is valid as it is.
    Valid,
    /// Only one reading makes sense; show the sample rows.
    Detected,
}

/// A character set the source may be in, with its first telling rows read that way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub label: String,
    /// What `--encoding` takes.
    pub name: String,
    pub samples: Vec<String>,
}

/// The first bytes of a source, and lines that tell something about it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Evidence<'a> {
    pub(super) head: &'a [u8],
    /// Whole lines that hold bytes beyond US-ASCII.
    pub(super) telling: &'a [Vec<u8>],
    /// Everything that was seen is valid UTF-8.
    pub(super) utf8: bool,
    pub(super) language: Option<Language>,
}

/// A hint from outside the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Language {
    Japanese,
    Korean,
}

/// What the evidence says.
#[derive(Debug)]
pub(super) enum Verdict {
    Sure(&'static Encoding, Found),
    Unsure(Vec<Candidate>),
}

/// A reading below this is nonsense.
const PLAUSIBLE: f64 = 0.45;

/// A reading must be better than every other by so much, where a second opinion agrees.
const AHEAD: f64 = 0.1;

/// By so much where it does not: it takes half-width kana for Korean, but knows Chinese.
const FAR_AHEAD: f64 = 0.3;

/// A single character beyond US-ASCII must lead by so much more, many by nothing.
const DOUBT: f64 = 0.6;

/// What a hint is worth.
const HINT: f64 = 0.15;

/// A real file may hold a few damaged lines.
const DAMAGED: f64 = 0.02;

/// Decides which character set the source is in.
pub(super) fn detect(evidence: &Evidence<'_>) -> Verdict {
    if let Some((encoding, _)) = Encoding::for_bom(evidence.head) {
        return Verdict::Sure(encoding, Found::Mark);
    }
    if let Some(encoding) = without_mark_16(evidence.head) {
        return Verdict::Sure(encoding, Found::Detected);
    }
    if evidence.utf8 || evidence.telling.is_empty() {
        return Verdict::Sure(UTF_8, Found::Valid);
    }
    let mut readings: Vec<Reading> =
        [SHIFT_JIS, EUC_KR, EUC_JP].map(|encoding| Reading::of(encoding, evidence)).into();
    readings.sort_by(|a, b| b.score.total_cmp(&a.score));
    let second_opinion = second_opinion(evidence);
    if let [best, second, ..] = readings.as_slice()
        && best.score >= PLAUSIBLE
        && best.damaged <= DAMAGED
    {
        let ahead = if best.encoding == second_opinion { AHEAD } else { FAR_AHEAD };
        let characters =
            evidence.telling.iter().flatten().filter(|byte| !byte.is_ascii()).count() / 2;
        if best.score - second.score >= ahead + DOUBT * share(1, characters) {
            return Verdict::Sure(best.encoding, Found::Detected);
        }
    }
    for other in [second_opinion, WINDOWS_1252] {
        if readings.iter().all(|reading| reading.encoding != other) {
            readings.push(Reading::of(other, evidence));
        }
    }
    readings.retain(|reading| reading.damaged < 0.5);
    Verdict::Unsure(readings.iter().map(|reading| reading.candidate(evidence)).collect())
}

/// The telling lines read in one character set.
struct Reading {
    encoding: &'static Encoding,
    /// The share of lines that cannot be read.
    damaged: f64,
    score: f64,
}

impl Reading {
    fn of(encoding: &'static Encoding, evidence: &Evidence<'_>) -> Self {
        let (mut damaged, mut text) = (0, String::new());
        for line in evidence.telling {
            match encoding.decode_without_bom_handling_and_without_replacement(line) {
                Some(line) => {
                    text.push_str(&line);
                    text.push('\n');
                }
                None => damaged += 1,
            }
        }
        let damaged = share(damaged, evidence.telling.len());
        let hint = match evidence.language {
            Some(Language::Japanese) if encoding == SHIFT_JIS || encoding == EUC_JP => HINT,
            Some(Language::Korean) if encoding == EUC_KR => HINT,
            _ => 0.0,
        };
        let score = plausibility(&text, encoding).unwrap_or_default() + hint - 2.0 * damaged;
        Self { encoding, damaged, score }
    }

    fn candidate(&self, evidence: &Evidence<'_>) -> Candidate {
        let read = |line: &Vec<u8>| self.encoding.decode_without_bom_handling(line).0.into_owned();
        Candidate {
            label: label(self.encoding),
            name: self.encoding.name().to_owned(),
            samples: evidence.telling.iter().take(5).map(read).collect(),
        }
    }
}

/// Asks a detector made for web pages, which knows many more character sets.
fn second_opinion(evidence: &Evidence<'_>) -> &'static Encoding {
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    for line in evidence.telling {
        detector.feed(line, false);
        detector.feed(b"\n", false);
    }
    let country = evidence.language.map(|language| match language {
        Language::Japanese => b"jp".as_slice(),
        Language::Korean => b"kr",
    });
    detector.guess(country, Utf8Detection::Deny)
}

fn share(part: usize, whole: usize) -> f64 {
    let number = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    number(part) / number(whole.max(1))
}

/// Recognises UTF-16 without a mark by the zero bytes of its commas and line ends.
fn without_mark_16(head: &[u8]) -> Option<&'static Encoding> {
    let head = head.get(..head.len().min(4096)).unwrap_or_default();
    let zeros =
        |parity: usize| head.iter().skip(parity).step_by(2).filter(|byte| **byte == 0).count();
    let (even, odd) = (zeros(0), zeros(1));
    if head.len() < 4 || even.max(odd) * 20 < head.len() {
        return None;
    }
    // Characters such as 一 (U+4E00) have their zero on the other side.
    if odd > 4 * even {
        Some(UTF_16LE)
    } else if even > 4 * odd {
        Some(UTF_16BE)
    } else {
        None
    }
}

/// Returns the hint that the country of the addresses gives, if most of them agree.
pub(super) fn country(bytes: &[u8]) -> Option<Language> {
    let (mut jp, mut kr, mut other) = (0_u32, 0_u32, 0_u32);
    let mut rest = bytes;
    while let Some(at) = memchr::memchr(b'@', rest) {
        rest = rest.get(at + 1..).unwrap_or_default();
        let in_domain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.');
        let length = rest.iter().take_while(|byte| in_domain(byte)).count();
        let domain = rest.get(..length).unwrap_or_default().to_ascii_lowercase();
        match domain.rsplit(|byte| *byte == b'.').next().unwrap_or_default() {
            b"jp" => jp += 1,
            b"kr" => kr += 1,
            country if country.len() == 2 => other += 1,
            _ => {}
        }
    }
    if jp > 2 * (kr + other) {
        Some(Language::Japanese)
    } else if kr > 2 * (jp + other) {
        Some(Language::Korean)
    } else {
        None
    }
}

/// Returns the hint that a configured language gives.
pub(super) fn configured(language: &str) -> Option<Language> {
    match language.split(['-', '_']).next().unwrap_or_default() {
        "ja" => Some(Language::Japanese),
        "ko" => Some(Language::Korean),
        _ => None,
    }
}

/// Finds the character set that `--encoding` names.
pub(super) fn named(name: &str) -> Option<&'static Encoding> {
    let lower = name.trim().to_ascii_lowercase();
    match &*lower {
        "cp932" | "windows-932" | "sjis-win" | "shiftjis" => Some(SHIFT_JIS),
        "cp949" | "uhc" | "ms949" | "euckr" => Some(EUC_KR),
        "eucjp" | "euc-jp-ms" | "cp51932" => Some(EUC_JP),
        "utf-8-sig" => Some(UTF_8),
        "utf16" | "utf-16" => Some(UTF_16LE),
        other => Encoding::for_label_no_replacement(other.as_bytes()),
    }
}

/// Names a character set as people know it.
pub(super) fn label(encoding: &'static Encoding) -> String {
    let name = encoding.name();
    match name {
        "Shift_JIS" => format!("{name} (CP932)"),
        "EUC-KR" => format!("{name} (CP949)"),
        _ => name.to_owned(),
    }
}

impl Charset {
    pub(super) fn new(encoding: &'static Encoding, found: Found) -> Self {
        Self { label: label(encoding), name: encoding.name().to_owned(), found }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn lines(text: &str, encoding: &'static Encoding) -> Vec<Vec<u8>> {
        text.lines().map(|line| encoding.encode(line).0.into_owned()).collect()
    }

    fn verdict(lines: &[Vec<u8>], language: Option<Language>) -> Verdict {
        let head = lines.join(b"\n".as_slice());
        let utf8 = std::str::from_utf8(&head).is_ok();
        let telling: Vec<Vec<u8>> = lines.iter().filter(|line| !line.is_ascii()).cloned().collect();
        detect(&Evidence { head: &head, telling: &telling, utf8, language })
    }

    fn sure(text: &str, encoding: &'static Encoding, language: Option<Language>) {
        match verdict(&lines(text, encoding), language) {
            Verdict::Sure(found, _) => assert_eq!(found, encoding, "{text}"),
            Verdict::Unsure(candidates) => panic!("{} unsure: {candidates:?}", encoding.name()),
        }
    }

    const JAPANESE: &str =
        "会員番号,氏名,メールアドレス\n1,髙橋 一郎,a@example.jp\n2,山﨑 花子,b@example.jp";
    const KOREAN: &str = "회원번호,이름,이메일\n1,김철수,a@example.kr\n2,박영희,b@example.kr";

    #[rstest]
    #[case::japanese_in_cp932(JAPANESE, SHIFT_JIS)]
    #[case::korean_in_cp949(KOREAN, EUC_KR)]
    #[case::names_alone_in_cp932("佐藤 健\n鈴木 一郎\n田中 美咲", SHIFT_JIS)]
    #[case::names_alone_in_euc_jp("佐藤 健\n鈴木 一郎\n田中 美咲\nｻﾄｳ ｹﾝ\nすずき さくら", EUC_JP)]
    #[case::names_alone_in_cp949("김철수\n이영희\n박지훈\n최민서", EUC_KR)]
    #[case::rare_syllables_in_cp949("김똠방\n이영희\n설뷁호\n박지훈", EUC_KR)]
    #[case::full_width_kana("タナカ タロウ\nスズキ ハナコ", SHIFT_JIS)]
    #[case::hiragana("たなか たろう\nすずき はなこ", EUC_JP)]
    fn a_list_is_read_in_the_character_set_it_was_written_in(
        #[case] text: &str,
        #[case] encoding: &'static Encoding,
    ) {
        sure(text, encoding, None);
        let own = if encoding == EUC_KR { Language::Korean } else { Language::Japanese };
        sure(text, encoding, Some(own));
    }

    /// Twenty readings as banks and schools export them; chardetng takes them for Korean.
    const READINGS: &str = "ﾔﾏﾀﾞ ﾀﾛｳ\nｽｽﾞｷ ｲﾁﾛｳ\nｻﾄｳ ﾊﾅｺ\nﾀｶﾊｼ ｼﾞﾛｳ\nﾀﾅｶ ﾐｻｷ\nｲﾄｳ ｹﾝ\nﾜﾀﾅﾍﾞ ﾕｳｺ\nﾅｶﾑﾗ ｼｮｳﾀ\nｺﾊﾞﾔｼ ｱｲ\nｶﾄｳ ﾀﾞｲｽｹ";

    #[test]
    fn half_width_kana_are_no_korean() {
        sure(READINGS, SHIFT_JIS, Some(Language::Japanese));
        match verdict(&lines(READINGS, SHIFT_JIS), None) {
            Verdict::Sure(found, _) => assert_eq!(found, SHIFT_JIS),
            Verdict::Unsure(candidates) => assert!(candidates[0].samples[0].contains("ﾔﾏﾀﾞ")),
        }
    }

    #[test]
    fn two_bytes_alone_are_asked_about() {
        let Verdict::Unsure(candidates) = verdict(&[b"a,\xb1\xb2".to_vec()], None) else {
            panic!("nobody can know");
        };
        let names: Vec<_> = candidates.iter().map(|candidate| candidate.name.as_str()).collect();
        for name in ["Shift_JIS", "EUC-KR", "EUC-JP", "windows-1252"] {
            assert!(names.contains(&name), "{names:?}");
        }
        assert!(candidates.iter().all(|candidate| candidate.samples.len() == 1));
    }

    #[test]
    fn chinese_text_is_asked_about_and_offered_as_chinese() {
        let text = "王小明,wang@example.cn\n李晓红,li@example.cn\n张伟,zhang@example.cn\n刘洋,liu@example.cn";
        let Verdict::Unsure(candidates) = verdict(&lines(text, encoding_rs::GBK), None) else {
            panic!("Chinese is not among the three");
        };
        assert!(
            candidates.iter().any(|candidate| candidate.samples[0].starts_with("王小明")),
            "{candidates:?}"
        );
    }

    #[test]
    fn western_european_text_is_not_taken_for_japanese() {
        let text =
            "José García,jose@example.es\nFrançois Lefèvre,f@example.fr\nJürgen Groß,j@example.de";
        assert!(matches!(verdict(&lines(text, WINDOWS_1252), None), Verdict::Unsure(_)));
    }

    #[test]
    fn one_damaged_line_in_a_hundred_does_not_change_the_reading() {
        let mut lines = lines(&JAPANESE.repeat(40), SHIFT_JIS);
        lines.push(b"\x82\x20\xff\x81".to_vec());
        assert!(matches!(verdict(&lines, None), Verdict::Sure(found, _) if found == SHIFT_JIS));
    }

    #[test]
    fn marks_and_valid_utf_8_decide_at_once() {
        for (bytes, encoding, how) in [
            (b"\xef\xbb\xbfa".as_slice(), UTF_8, Found::Mark),
            (b"\xff\xfea\0", UTF_16LE, Found::Mark),
            (b"\xfe\xff\0a", UTF_16BE, Found::Mark),
            (b"a\0,\0b\0\n\0", UTF_16LE, Found::Detected),
            (b"\0a\0,\0b\0\n", UTF_16BE, Found::Detected),
            ("髙橋".as_bytes(), UTF_8, Found::Valid),
            (b"plain", UTF_8, Found::Valid),
        ] {
            match verdict(&[bytes.to_vec()], None) {
                Verdict::Sure(found, why) => assert_eq!((found, why), (encoding, how)),
                Verdict::Unsure(_) => panic!("{bytes:?}"),
            }
        }
    }

    #[test]
    fn the_commonest_country_of_the_addresses_is_a_hint() {
        assert_eq!(country(b"a@x.co.jp,b@y.ne.jp,c@gmail.com"), Some(Language::Japanese));
        assert_eq!(country(b"a@x.co.kr\nb@gmail.com"), Some(Language::Korean));
        assert_eq!(country(b"a@x.co.kr\nb@x.jp"), None);
        assert_eq!(country(b"a@gmail.com @"), None);
    }

    #[test]
    fn people_name_character_sets_in_many_ways() {
        for (name, encoding) in [
            ("cp932", SHIFT_JIS),
            ("SJIS", SHIFT_JIS),
            ("Windows-31J", SHIFT_JIS),
            ("shift_jis", SHIFT_JIS),
            ("CP949", EUC_KR),
            ("euc-kr", EUC_KR),
            ("windows-949", EUC_KR),
            ("EUC-JP", EUC_JP),
            ("utf8", UTF_8),
            ("UTF-16", UTF_16LE),
            ("latin1", WINDOWS_1252),
        ] {
            assert_eq!(named(name), Some(encoding), "{name}");
        }
        assert_eq!(named("klingon"), None);
        assert_eq!(Charset::new(SHIFT_JIS, Found::Given).label, "Shift_JIS (CP932)");
        assert_eq!(Charset::new(EUC_KR, Found::Given).label, "EUC-KR (CP949)");
    }
}
