//! What a report says, in three languages.
//!
//! Sums, codes and a server's own words are never translated; documents that programs read
//! (`json`, `csv`, `xlsx`) keep their English names.

use super::summary::{basis, batch_state_name, doubt, state_name};
use crate::config::Language;
use crate::config::catalogue::{catalogue, fill};
use crate::domain::batch::BatchState;
use crate::domain::state::{Cause, How, State};

catalogue! {
    /// Words and sentences of a report.
    pub(super) Phrase {
        Line: "[{time}] {title}: {sent} of {total} sent ({pct} %), {failed} failed, {unknown} unknown, {left} left.", "[{time}] {title}: {total}件中 {sent}件 送信済み ({pct}%)、失敗 {failed}件、結果不明 {unknown}件、残り {left}件。", "[{time}] {title}: 전체 {total}건 중 {sent}건 발송 완료 ({pct}%), 실패 {failed}건, 결과 불명 {unknown}건, 남음 {left}건.";
        LineEta: " {rate}/min, done about {eta}.", "{rate}通/分、完了見込み {eta}頃。", " {rate}통/분, 완료 예상 {eta}경.";
        LineMore: " {what}.", "{what}。", " {what}입니다.";
        LineBecause: " {why}.", "理由: {why}。", " 사유: {why}.";
        Kind: "Kind {kind}. {state}", "メール種別 {kind}: {state}", "메일 유형 {kind}: {state}";
        Starts: ", starts {time}", "、開始予定 {time}", ", 시작 예정 {time}";
        Started: ", started {time}", "、開始 {time}", ", 시작 {time}";
        By: " by {who}", " ({who} さん)", " ({who} 님)";
        End: ".", "。", " ";
        Because: " Because: {why}.", "理由: {why}。", "사유: {why}.";
        AsOf: "as of {time} ({zone})", "{time} 時点 ({zone})", "{time} 기준 ({zone})";
        AddsUp: "adds up", "合計一致", "합계 일치";
        NoSum: "does NOT add up: {state} is {kept} by the counters and {rows} by the rows", "合計が一致しません: {state} は集計では {kept}件、宛先では {rows}件です", "합계가 맞지 않습니다: {state} 집계 {kept}건, 수신자 {rows}건";
        Total: "Total", "合計", "합계";
        Unknown: "Unknown", "結果不明", "결과 불명";
        InDoubt: "unknown: {n}", "結果不明: {n}", "결과 불명: {n}";
        Assumed: "assumed: {n}", "みなし: {n}", "간주: {n}";
        MayHaveArrived: "may have arrived all the same: {n}", "届いた可能性あり: {n}", "도착했을 수 있음: {n}";
        Speed: "Speed", "送信速度", "발송 속도";
        Rate: "{rate}/min", "{rate}通/分", "{rate}통/분";
        RateEta: "{rate}/min, done about {eta}", "{rate}通/分、完了見込み {eta}頃", "{rate}통/분, 완료 예상 {eta}경";
        LongestWait: "Longest wait", "最長待ち", "최장 대기";
        Attempts: "Attempts", "試行回数", "시도 횟수";
        LeftOut: "Left out", "対象外", "제외됨";
        MaybeTwice: "May have got two", "二重の可能性", "중복 가능성";
        WhatWentWrong: "What did not go well", "失敗と結果不明の内訳", "실패 및 결과 불명 내역";
        ByDomain: "By domain", "ドメイン別", "도메인별";
        Others: "others ({n})", "その他 ({n})", "기타 ({n})";
        State: "State", "状態", "상태";
        Rows: "Rows", "件数", "건수";
        Besides: "Besides", "その他の数", "그 밖의 수";
        Code: "Code", "コード", "코드";
        Words: "Words", "応答", "응답";
        Number: "Number", "番号", "번호";
        Address: "Address", "アドレス", "주소";
        Source: "Source", "元データ", "원본";
        SourceLine: "Line", "行", "행";
        LeftOutBecause: "Left out because", "対象外の理由", "제외 사유";
        Value: "Value", "値", "값";
        PageTitle: "Mail report", "配信の進捗報告", "발송 현황 보고";
        SentMeans: "Sent means the next server took the mail, not that it was read or even delivered.", "「送信済み」は次のサーバーが受理したという意味で、到達や開封を示すものではありません。", "\"발송 완료\"는 다음 서버가 접수했다는 뜻이며, 도착이나 열람을 뜻하지 않습니다.";
        AgeSeconds: "{n} s", "{n}秒", "{n}초";
        AgeMinutes: "{n} min", "{n}分", "{n}분";
        AgeHours: "{n} h", "{n}時間", "{n}시간";
        AgeDays: "{n} days", "{n}日", "{n}일";
    }
}

impl Phrase {
    /// Returns the phrase with its placeholders filled.
    pub(super) fn with(self, language: Language, values: &[(&str, &str)]) -> String {
        fill(self.text(language), values)
    }
}

/// Returns a span of time in its largest unit that says enough.
pub(super) fn age(span: std::time::Duration, language: Language) -> String {
    let seconds = span.as_secs();
    let (phrase, n) = match seconds {
        0..120 => (Phrase::AgeSeconds, seconds),
        120..7_200 => (Phrase::AgeMinutes, seconds / 60),
        7_200..172_800 => (Phrase::AgeHours, seconds / 3_600),
        _ => (Phrase::AgeDays, seconds / 86_400),
    };
    phrase.with(language, &[("n", &n.to_string())])
}

/// Returns what people call a state.
pub(super) const fn state_in(state: State, language: Language) -> &'static str {
    match (language, state) {
        (Language::En, _) => state_name(state),
        (Language::Ja, State::Ready) => "送信待ち",
        (Language::Ja, State::Sending) => "送信中",
        (Language::Ja, State::Sent) => "送信済み",
        (Language::Ja, State::Failed) => "失敗",
        (Language::Ko, State::Ready) => "발송 대기",
        (Language::Ko, State::Sending) => "발송 중",
        (Language::Ko, State::Sent) => "발송 완료",
        (Language::Ko, State::Failed) => "실패",
    }
}

/// Returns what people call the state of a batch.
pub(super) const fn batch_state_in(state: BatchState, language: Language) -> &'static str {
    match (language, state) {
        (Language::En, _) => batch_state_name(state),
        (Language::Ja, BatchState::Draft) => "下書き",
        (Language::Ja, BatchState::Scheduled) => "予約済み",
        (Language::Ja, BatchState::Running) => "配信中",
        (Language::Ja, BatchState::Paused) => "一時停止",
        (Language::Ja, BatchState::Cancelled) => "中止",
        (Language::Ja, BatchState::Done) => "完了",
        (Language::Ko, BatchState::Draft) => "초안",
        (Language::Ko, BatchState::Scheduled) => "예약됨",
        (Language::Ko, BatchState::Running) => "진행 중",
        (Language::Ko, BatchState::Paused) => "일시 정지",
        (Language::Ko, BatchState::Cancelled) => "중단",
        (Language::Ko, BatchState::Done) => "종료",
    }
}

/// Returns what people call the reason of a final state.
pub(super) const fn basis_in(how: How, language: Language) -> &'static str {
    match (language, how) {
        (Language::En, _) => basis(how),
        (Language::Ja, How::Accepted) => "受理",
        (Language::Ja, How::Assumed) => "みなし",
        (Language::Ja, How::Operator) => "手動",
        (Language::Ja, How::Evidence) => "記録確認",
        (Language::Ja, How::Imported) => "移行",
        (Language::Ja, How::Refused) => "拒否",
        (Language::Ja, How::Unbuildable) => "作成不可",
        (Language::Ja, How::Suppressed) => "送信除外",
        (Language::Ja, How::Expired) => "期限切れ",
        (Language::Ja, How::Cancelled) => "中止",
        (Language::Ko, How::Accepted) => "접수",
        (Language::Ko, How::Assumed) => "간주",
        (Language::Ko, How::Operator) => "수동",
        (Language::Ko, How::Evidence) => "기록 확인",
        (Language::Ko, How::Imported) => "이관",
        (Language::Ko, How::Refused) => "거부",
        (Language::Ko, How::Unbuildable) => "작성 불가",
        (Language::Ko, How::Suppressed) => "발송 제외",
        (Language::Ko, How::Expired) => "기한 초과",
        (Language::Ko, How::Cancelled) => "중단",
    }
}

/// Returns what people call the reason why nobody knows.
pub(super) const fn doubt_in(cause: Cause, language: Language) -> &'static str {
    match (language, cause) {
        (Language::En, _) => doubt(cause),
        (Language::Ja, Cause::NoAnswer) => "応答なし",
        (Language::Ja, Cause::Crash) => "送信側の停止",
        (Language::Ja, Cause::ServerError) => "サーバーエラー",
        (Language::Ko, Cause::NoAnswer) => "응답 없음",
        (Language::Ko, Cause::Crash) => "발송 측 중단",
        (Language::Ko, Cause::ServerError) => "서버 오류",
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn placeholders(text: &str) -> BTreeSet<&str> {
        text.split('{').skip(1).filter_map(|part| part.split_once('}')).map(|(n, _)| n).collect()
    }

    #[test]
    fn no_phrase_stays_english_and_none_loses_a_placeholder() {
        for phrase in Phrase::ALL {
            let english = phrase.text(Language::En);
            for language in [Language::Ja, Language::Ko] {
                let here = phrase.text(language);
                assert_ne!(here, english, "{phrase:?}");
                assert_eq!(placeholders(here), placeholders(english), "{phrase:?}");
            }
        }
    }

    #[test]
    fn no_state_or_reason_stays_english() {
        for language in [Language::Ja, Language::Ko] {
            let ascii = |text: &str| assert!(!text.is_ascii(), "{text}");
            for &state in State::ALL {
                ascii(state_in(state, language));
            }
            for &state in BatchState::ALL {
                ascii(batch_state_in(state, language));
            }
            for &how in How::ALL {
                ascii(basis_in(how, language));
            }
            for &cause in Cause::ALL {
                ascii(doubt_in(cause, language));
            }
        }
    }
}
