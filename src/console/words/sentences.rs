//! Whole sentences with their placeholders: English, Japanese, Korean.
//!
//! English puts the count after a colon, so that one form serves one and many; Korean puts a fixed
//! counter between a placeholder and its particle.

use crate::config::catalogue::catalogue;

catalogue! {
    /// A sentence.
    pub Sentence {
        Unknown: "In doubt since the sender stopped: {n}. Nobody knows whether they went out.", "送信中に停止したため、{n}件は送られたかどうか分かりません。", "발송 중에 중단되어 {n}건은 발송 여부를 알 수 없습니다.";
        PausedItself: "Paused by itself: {why}. No recipient was failed for it.", "自動停止しました: {why}。この理由で失敗にした宛先はありません。", "자동 정지했습니다: {why}. 이 사유로 실패 처리된 수신자는 없습니다.";
        NoWorker: "Waiting: {n}, and nobody is sending. Start a worker: {command}", "{n}件が送信待ちですが、送信プロセスが動いていません。起動: {command}", "{n}건이 대기 중이지만 발송 프로세스가 없습니다. 시작: {command}";
        NothingAccepted: "Waiting: {n}, and nothing was accepted for a while.", "{n}件が送信待ちですが、しばらく受理がありません。", "{n}건이 대기 중이지만 한동안 접수가 없습니다.";
        LongWait: "Waiting: {n}, the longest for {age}.", "{n}件が送信待ち、最長 {age}。", "{n}건이 대기 중, 최장 {age}.";
        WrongSum: "Counters differ from the rows: run ittsu doctor.", "集計が宛先と一致しません: ittsu doctor を実行してください。", "집계가 수신자와 다릅니다: ittsu doctor 명령을 실행하세요.";
        StartMissed: "It was to start at {time} and did not.", "{time} に開始する予定でしたが、始まっていません。", "{time}에 시작할 예정이었으나 시작되지 않았습니다.";
        Rejected: "Rejected jobs wait: {command}", "取込不可のジョブがあります: {command}", "처리 불가 요청이 있습니다: {command}";
        AndMore: "and {n} more", "ほか {n}件", "외 {n}건";

        Seconds: "{n} s", "{n}秒", "{n}초";
        Minutes: "{n} min", "{n}分", "{n}분";
        Hours: "{n} h", "{n}時間", "{n}시간";
        Days: "{n} days", "{n}日", "{n}일";
        AsOf: "as of {time}", "{time} 時点", "{time} 기준";
        About: "{time} ({from}-{to})", "{time}頃 ({from}-{to})", "{time}경 ({from}-{to})";
        Rate: "{n}/min", "{n}通/分", "{n}통/분";
        WaitingFor: "Waiting: {why}", "待機中: {why}", "대기 중: {why}";
        NoProgressFor: "no progress for {age}", "{age} 進行なし", "{age}간 진행 없음";
        PausedBy: "Paused by {who}: {why}", "{who} さんが一時停止: {why}", "{who} 님이 일시 정지: {why}";
        StartedBy: "started {time} by {who}", "{time} 開始、{who} さん", "{time} 시작, {who} 님";
        StartsAt: "starts {time}", "{time} 開始予定", "{time} 시작 예정";
        Shown: "{n} of {all}", "{all}件中 {n}件", "전체 {all}건 중 {n}건";

        Away: "The ledger is not reachable since {time}: {why}. Trying again (try {n}). The numbers below are old. Mail may well be going on.", "{time} から台帳に接続できません: {why}。再試行中({n}回目)。下の数字は古いものです。送信は続いている可能性があります。", "{time}부터 대장에 접속할 수 없습니다: {why}. 다시 시도 중({n}회째). 아래 숫자는 오래된 것입니다. 발송은 계속되고 있을 수 있습니다.";
        NeverSeen: "The ledger could not be asked: {why}. The numbers are not known.", "台帳を確認できません: {why}。件数は不明です。", "대장을 조회할 수 없습니다: {why}. 건수를 알 수 없습니다.";
        OldNumbers: "old numbers, {age}", "表示が古い {age}", "오래된 정보 {age}";
        OffWhileAway: "Not now: the ledger is not reachable.", "台帳に接続できないため、今は操作できません。", "대장에 접속할 수 없어 지금은 조치할 수 없습니다.";
        OffReadOnly: "This console only looks (--read-only).", "閲覧のみで開いています (--read-only)。", "읽기 전용으로 열려 있습니다 (--read-only).";
        OffNobody: "Nobody is named for the journal: open with --operator NAME.", "操作者名がありません: --operator NAME を付けて開いてください。", "조치자 이름이 없습니다: --operator NAME 옵션으로 여세요.";
        FrozenAt: "The screen stands still since {time}; mail goes on. f goes on with the screen.", "{time} で画面を固定しています。送信は続いています。f で解除します。", "{time}에 화면을 고정했습니다. 발송은 계속됩니다. f 키로 해제합니다.";
        TooSmall: "{n} waiting, {unknown} unknown. The window is {size}; best from 80x24. q quits.", "残り {n}件、結果不明 {unknown}件。画面 {size}。80x24 以上にしてください。q で終了。", "남음 {n}건, 결과 불명 {unknown}건. 화면 {size}. 80x24 이상 권장. q 키로 나가기.";
        InputMethod: "An input method is on: letters are read as keys.", "日本語入力がオンです。文字をキーとして読み替えます。", "한글 입력 상태입니다. 글자를 키로 읽습니다.";
        InputMethodKana: "Switch the input method off, or use arrows and F-keys.", "日本語入力をオフにするか、矢印キーとFキーを使ってください。", "한글 입력을 끄거나 화살표와 F 키를 사용하세요.";
        PastedNothing: "Pasted text never runs commands; it was left alone.", "貼り付けた文字では操作しません。無視しました。", "붙여넣은 글자로는 조치하지 않습니다. 무시했습니다.";
        QuitAgain: "Press ctrl-c again to leave. Sending goes on without the console.", "もう一度 ctrl-c で終了します。終了しても送信は続きます。", "ctrl-c 키를 한 번 더 누르면 나갑니다. 나가도 발송은 계속됩니다.";
        QuitAsk: "Leave the console? Sending goes on without it.", "終了しますか。終了しても送信は続きます。", "나가시겠습니까? 나가도 발송은 계속됩니다.";
        QuitDemo: "Leave the demo? Its worker and mail server end with it.", "デモを終了しますか。デモの送信プロセスとメールサーバーも終わります。", "데모를 나가시겠습니까? 데모의 발송 프로세스와 메일 서버도 끝납니다.";

        NoBatches: "No batches yet. c begins a new send.", "配信はまだありません。c で新規配信を始めます。", "아직 발송 작업이 없습니다. c 키로 새 발송을 시작합니다.";
        NoMatch: "Nothing matches \"{what}\". Esc clears the filter.", "「{what}」に一致するものはありません。Esc で絞り込みを解除します。", "\"{what}\"에 맞는 것이 없습니다. Esc 키로 필터를 지웁니다.";
        NoUnknown: "No unknown outcomes. Last look {time}. Rows are listed here once their worker is gone.", "結果不明はありません。最終確認 {time}。送信プロセスが失われた宛先がここに並びます。", "결과 불명이 없습니다. 마지막 확인 {time}. 발송 프로세스가 사라진 수신자가 여기에 표시됩니다.";
        NoByRule: "Nothing was decided by rule.", "規則で処理されたものはありません。", "규칙으로 처리된 것이 없습니다.";
        NoJournal: "The journal is empty: nothing was started, paused or marked yet.", "操作履歴はありません。開始・一時停止・確定はまだ行われていません。", "조치 이력이 없습니다. 아직 시작, 정지, 확정한 것이 없습니다.";
        NoErrors: "Nothing failed and nothing is in doubt.", "失敗も結果不明もありません。", "실패도 결과 불명도 없습니다.";
        NoRows: "No rows here.", "該当する宛先はありません。", "해당 수신자가 없습니다.";
        NoRoutes: "No route is configured.", "送信経路の設定がありません。", "설정된 발송 경로가 없습니다.";
        SortedOut: "Unknown: {all}. Not sent for certain: {not_sent}, accepted: {accepted}, nobody can know: {nobody}.", "結果不明 {all}件: 未送信(確実) {not_sent}件、受理済み {accepted}件、判定不能 {nobody}件。", "결과 불명 {all}건: 미발송(확실) {not_sent}건, 접수됨 {accepted}건, 판단 불가 {nobody}건.";
        MeansNotSent: "the body never left us: sending again cannot double", "本文は送出前: 再送しても二重になりません", "본문이 나가기 전: 다시 발송해도 중복되지 않음";
        MeansAccepted: "the server said yes, we lost the note: mark sent", "サーバーは受理、記録だけ失われた: 送信済みにする", "서버는 접수, 기록만 유실: 발송 완료로 처리";
        MeansNobody: "the body may have left, no answer was seen: you decide", "本文は出た可能性あり、応答なし: 人が判断", "본문이 나갔을 수 있으나 응답 없음: 담당자가 판단";
        AnswerUntil: "An answer may still come until {time}.", "{time} まで応答が届く可能性があります。", "{time}까지 응답이 올 수 있습니다.";

        Resend: "They go out again. Possible doubles: {n}.", "もう一度送ります。{n}名に二重に届く可能性があります。", "다시 발송합니다. {n}명에게 두 번 갈 수 있습니다.";
        ResendSafe: "They go out again. Possible doubles: 0, the mail never left.", "もう一度送ります。本文は送出前のため、二重にはなりません。", "다시 발송합니다. 본문이 나가기 전이므로 중복되지 않습니다.";
        ResendFailed: "They go out again; the server had refused them.", "もう一度送ります。前回はサーバーが拒否しました。", "다시 발송합니다. 지난번에는 서버가 거부했습니다.";
        MarkFailed: "They count as failed. Some may already have it.", "失敗として数えます。すでに届いている人がいるかもしれません。", "실패로 집계합니다. 이미 받은 사람이 있을 수 있습니다.";
        MarkSent: "They count as sent by hand. If they did not go out, nobody will send them.", "手動で送信済みとして数えます。送られていなかった場合も、再送されません。", "수동으로 발송 완료로 집계합니다. 나가지 않았더라도 다시 발송되지 않습니다.";
        TypeCount: "Type the number of recipients to go on:", "続けるには件数を入力してください:", "계속하려면 건수를 입력하세요:";
        NotYet: "not yet", "未入力", "아직";
        Matches: "Enter goes on", "Enter で実行", "Enter 키로 실행";
        ChooseReason: "Reason for the journal: a digit, or type it, then Enter", "理由(操作履歴に残ります): 数字を選ぶか入力して Enter", "사유(조치 이력에 남음): 숫자를 고르거나 입력 후 Enter";
        ReasonNeeded: "A reason is needed.", "理由が必要です。", "사유가 필요합니다.";
        EscBack: "Esc: back, nothing happens", "Esc: 戻る(何も起きません)", "Esc: 뒤로(아무 일도 없음)";
        SafeButton: "[ Back ]", "[ 戻る ]", "[ 뒤로 ]";
        Choose: "arrows choose, Enter does it", "矢印で選び Enter で実行", "화살표로 고르고 Enter 키로 실행";

        AskResume: "Go on with {batch}?", "{batch} を再開しますか。", "{batch} 발송을 재개하시겠습니까?";
        ResumeMeans: "Mail goes out again: {n} waiting.", "送信が再開されます: 残り {n}件。", "발송이 다시 시작됩니다: 남음 {n}건.";
        AskStart: "Start {batch}? This cannot be taken back once a mail has left.", "{batch} の配信を開始しますか。送信後は取り消せません。", "{batch} 발송을 시작하시겠습니까? 메일이 나간 뒤에는 되돌릴 수 없습니다.";
        StartMeans: "The first mail leaves ten seconds after you confirm; until then Esc takes it back.", "確定の10秒後に最初のメールが出ます。それまでは Esc で取り消せます。", "확정 10초 후 첫 메일이 나갑니다. 그때까지 Esc 키로 취소할 수 있습니다.";
        StartAtMeans: "It starts at {time}. Pausing it before then takes it back.", "{time} に開始します。それまでに一時停止すれば取り消せます。", "{time}에 시작합니다. 그 전에 일시 정지하면 취소됩니다.";
        TakeBack: "{batch} starts in {s} s. Esc takes it back: nothing has left yet.", "{batch}: {s}秒後に開始します。Esc で取り消せます(まだ1通も出ていません)。", "{batch}: {s}초 후 시작합니다. Esc로 취소할 수 있습니다(아직 한 통도 나가지 않았습니다).";
        AskCancel: "Cancel {batch} for good? It cannot be resumed.", "{batch} を中止しますか。再開はできません。", "{batch} 발송을 중단하시겠습니까? 재개할 수 없습니다.";
        CancelMeans: "Waiting rows become failed: {n}. Those on the wire finish.", "送信待ち {n}件は失敗になります。送信中のものは最後まで送ります。", "대기 {n}건은 실패가 됩니다. 발송 중인 것은 끝까지 보냅니다.";
        AskDiscard: "Discard the draft {batch}?", "下書き {batch} を破棄しますか。", "초안 {batch} 작업을 삭제하시겠습니까?";
        DiscardMeans: "Its rows are deleted and its name is free again: {n}.", "{n}件を削除し、名前を再び使えるようにします。", "{n}건을 삭제하고 이름을 다시 쓸 수 있게 합니다.";
        AskSettle: "{what}: {n} of {batch}", "{what}: {batch} の {n}件", "{what}: {batch} {n}건";
        AskUndo: "Take entry {n} back?", "履歴 {n} の操作を元に戻しますか。", "이력 {n}번 조치를 되돌리시겠습니까?";
        UndoMeans: "Rows that have not moved since stand as before.", "その後動いていない宛先が元の状態に戻ります。", "그 뒤로 바뀌지 않은 수신자가 이전 상태로 돌아갑니다.";
        AskWorker: "Start a worker on this machine?", "このマシンで送信プロセスを起動しますか。", "이 컴퓨터에서 발송 프로세스를 시작하시겠습니까?";
        WorkerMeans: "It runs by itself and goes on after the console is closed.", "単独で動き、コンソールを閉じても続きます。", "독립적으로 실행되며 콘솔을 닫아도 계속됩니다.";
        AskStopWorker: "Ask worker {n} to stop?", "送信プロセス {n} を停止しますか。", "발송 프로세스 {n}번을 중지하시겠습니까?";
        StopWorkerMeans: "It finishes what is on the wire and gives the rest back.", "送信中のものを終え、残りを戻してから止まります。", "발송 중인 것을 마치고 나머지는 돌려준 뒤 멈춥니다.";
        AskRead: "Read in {n} people as {batch}?", "{n}名を {batch} として取り込みますか。", "{n}명을 {batch} 작업으로 가져오시겠습니까?";
        ReadMeans: "A draft is made. Nothing is sent before you start it.", "下書きを作ります。開始するまで何も送りません。", "초안을 만듭니다. 시작하기 전에는 아무것도 보내지 않습니다.";
        TestMeans: "One real mail, never counted.", "実際に1通送ります(集計しません)。", "실제로 한 통 보냅니다(집계하지 않음).";

        Done: "Done: {what}, {n}.", "完了: {what}、{n}件。", "완료: {what}, {n}건.";
        Changed: "Changed: {done}. Left alone: {left} ({why}).", "{done}件を変更しました。{left}件はそのままです ({why})。", "{done}건을 변경했습니다. {left}건은 그대로 두었습니다 ({why}).";
        CanUndo: "z takes it back (entry {n}).", "z で元に戻せます(履歴 {n})。", "z 키로 되돌립니다(이력 {n}).";
        NothingToDo: "Nothing to do: {what}.", "対象はありません: {what}。", "대상이 없습니다: {what}.";
        NothingToUndo: "Nothing of yours can be taken back here.", "元に戻せる操作はありません。", "되돌릴 조치가 없습니다.";
        PausedNow: "Paused: {batch}. Mails on the wire finish.", "{batch} を一時停止しました。送信中のものは最後まで送ります。", "{batch} 발송을 일시 정지했습니다. 발송 중인 것은 끝까지 보냅니다.";
        Saved: "Written: {file}", "保存しました: {file}", "저장했습니다: {file}";
        Copied: "Copied.", "コピーしました。", "복사했습니다.";
        WorkerStarted: "A worker was started (process {n}).", "送信プロセスを起動しました(プロセス {n})。", "발송 프로세스를 시작했습니다(프로세스 {n}).";
        TestSent: "Test mail to {to}: {outcome} {reply}", "テスト送信 {to}: {outcome} {reply}", "테스트 발송 {to}: {outcome} {reply}";
        Failure: "Not done: {why}", "実行できません: {why}", "실행하지 못했습니다: {why}";
        NotPaused: "{batch} is not running; there is nothing to pause.", "{batch} は配信中ではないため、一時停止できません。", "{batch} 작업은 진행 중이 아니어서 일시 정지할 수 없습니다.";
        NotStartable: "{batch} is no draft: there is nothing to start.", "{batch} は下書きではないため、開始できません。", "{batch} 작업은 초안이 아니어서 시작할 수 없습니다.";
        NotResumable: "{batch} is not paused.", "{batch} は一時停止していません。", "{batch} 작업은 일시 정지 상태가 아닙니다.";
        NotFinal: "{batch} has nothing left to cancel.", "{batch} に中止できる残りはありません。", "{batch} 작업에는 중단할 것이 남아 있지 않습니다.";
        NoProof: "Mark sent needs a selection of rows.", "先に宛先を選んでください。", "먼저 수신자를 선택하세요.";
        OtherOperator: "{who}: {what} {batch} {why}", "{who} さん: {what} {batch} {why}", "{who} 님: {what} {batch} {why}";

        SentMeans: "Sent means the next server took the mail, not that it was read or even delivered.", "「送信済み」は次のサーバーが受理したという意味で、到達や開封を示すものではありません。", "\"발송 완료\"는 다음 서버가 접수했다는 뜻이며, 도착이나 열람을 뜻하지 않습니다.";
        FindHint: "Type an address, a number or a Message-ID, then Enter. It looks in all batches.", "アドレス・番号・Message-ID を入力して Enter。全配信から探します。", "주소, 번호, Message-ID를 입력하고 Enter. 모든 발송 작업에서 찾습니다.";
        FilterHint: "state:failed  domain:naver.com  code:550  unknown  or a number; Enter", "state:failed  domain:naver.com  code:550  unknown または番号; Enter", "state:failed  domain:naver.com  code:550  unknown 또는 번호; Enter";
        FilterWords: "words of name, title, kind or state; Enter", "識別名・配信名・種別・状態の文字; Enter", "식별명, 발송명, 유형, 상태의 글자; Enter";
        ReportHint: "Space picks batches, Enter shows the report.", "Space で配信を選び、Enter で報告を表示します。", "Space 키로 고르고 Enter 키로 보고서를 봅니다.";
        NewHint: "Tab goes from field to field, arrows choose. Nothing is sent before you start.", "Tab で項目を移り、矢印で選びます。開始するまで何も送りません。", "Tab 키로 항목을 옮기고 화살표로 고릅니다. 시작하기 전에는 아무것도 보내지 않습니다.";
        NewNoKind: "The configuration has no kind of mail. ittsu init writes one.", "設定にメール種別がありません。ittsu init で作成します。", "설정에 메일 유형이 없습니다. ittsu init 명령으로 만듭니다.";
        NewReady: "{n} people can get this mail. F6 starts it, t sends a test mail to you.", "{n}名に送れます。F6 で開始、t でテスト送信。", "{n}명에게 보낼 수 있습니다. F6 시작, t 테스트 발송.";

        HintWait: "Demo: three batches are being sent. Soon a worker dies on purpose.", "デモ: 3件の配信が進んでいます。まもなく送信プロセスをわざと止めます。", "데모: 발송 작업 3개가 진행 중입니다. 곧 발송 프로세스를 일부러 죽입니다.";
        HintUnknown: "The worker died and left rows nobody can decide. Press u to see them.", "送信プロセスが止まり、結果不明の宛先が残りました。u で見ます。", "발송 프로세스가 죽어 결과 불명인 수신자가 남았습니다. u 키로 봅니다.";
        HintSettle: "Read what is known at the side, then settle one row: F7 send again, F8 failed, F9 sent.", "横の「分かっていること」を読み、1件を確定します: F7 再送、F8 失敗、F9 送信済み。", "옆의 확인된 내용을 읽고 한 건을 확정합니다: F7 재발송, F8 실패, F9 발송 완료.";
        HintReport: "Settled and journalled. Now press 4 for a report, pick a batch, Enter, and save it with F2.", "確定して履歴に残しました。4 で進捗報告を開き、配信を選んで Enter、F2 で保存します。", "확정하고 이력에 남겼습니다. 4 키로 현황 보고를 열고 골라서 Enter, F2 키로 저장합니다.";
        HintEnd: "That was the tour. Look around, or q leaves. ? shows the keys of each screen.", "案内は以上です。自由に見てください。q で終了、? で各画面のキーを表示します。", "안내는 여기까지입니다. 둘러보거나 q 키로 나가세요. ? 키로 화면별 키를 봅니다.";
    }
}
