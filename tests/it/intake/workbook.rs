//! Workbooks: what a cell shows is what a mail says.

use ittsu::intake::{IntakeError, Options, Source};
use rust_xlsxwriter::{ExcelDateTime, Format, Formula, Workbook};

use super::{file, read, read_file};

fn workbook() -> Vec<u8> {
    let mut book = Workbook::new();
    book.add_worksheet().set_name("表紙").unwrap();
    let sheet = book.add_worksheet();
    sheet.set_name("会員").unwrap();
    let (day, moment) = (
        Format::new().set_num_format("yyyy-mm-dd"),
        Format::new().set_num_format("yyyy-mm-dd hh:mm"),
    );
    for (column, heading) in
        ["会員番号", "氏名", "メール", "金額", "日付", "時刻", "有効"].into_iter().enumerate()
    {
        sheet.write(1, u16::try_from(column).unwrap(), heading).unwrap();
    }
    sheet.write(2, 0, 100_234).unwrap();
    sheet.write(2, 1, "髙橋 一郎").unwrap();
    sheet.write(2, 2, "a@example.jp").unwrap();
    sheet.write(2, 3, 0.1 + 0.2).unwrap();
    sheet.write_with_format(2, 4, ExcelDateTime::from_ymd(2026, 11, 30).unwrap(), &day).unwrap();
    let at = ExcelDateTime::from_ymd(2026, 11, 30).unwrap().and_hms(14, 5, 0).unwrap();
    sheet.write_with_format(2, 5, at, &moment).unwrap();
    sheet.write(2, 6, true).unwrap();
    // Row 4 is empty; in row 5 the cells after the address are not there at all.
    sheet.write(4, 0, "X-9").unwrap();
    sheet.write(4, 2, "b@example.jp").unwrap();
    sheet.write(5, 0, 3).unwrap();
    sheet.write(5, 1, Formula::new("=NA()").set_result("#N/A")).unwrap();
    sheet.write(5, 2, "c@example.jp").unwrap();
    book.save_to_buffer().unwrap()
}

#[tokio::test]
async fn cells_are_read_as_people_see_them() {
    let options = Options { sheet: Some("会員".to_owned()), ..Options::default() };
    let found = read_file("会員.xlsx", workbook(), &options).await.unwrap();
    assert_eq!(found.head.sheet.as_deref(), Some("会員"));
    assert_eq!(found.head.charset, None);
    assert_eq!(
        found.told(),
        [
            "3 100234 <a@example.jp> 髙橋 一郎",
            "5 X-9 <b@example.jp> -",
            "6 : a cell holds the error #N/A (\"\")",
        ]
    );
    assert_eq!(
        found.people()[0].fields,
        r#"{"name":"髙橋 一郎","会員番号":"100234","氏名":"髙橋 一郎","メール":"a@example.jp","金額":"0.3","日付":"2026-11-30","時刻":"2026-11-30 14:05","有効":"TRUE"}"#
    );
    assert!(found.people()[1].fields.ends_with(r#""金額":"","日付":"","時刻":"","有効":""}"#));
}

#[tokio::test]
async fn the_first_sheet_is_read_unless_another_is_named() {
    let err = read_file("m.xlsx", workbook(), &Options::default()).await.unwrap_err();
    assert_eq!(err.to_string(), "m.xlsx, sheet 表紙, is empty");
    let options = Options { sheet: Some("名簿".to_owned()), ..Options::default() };
    let err = read_file("m.xlsx", workbook(), &options).await.unwrap_err();
    assert_eq!(err.to_string(), "m.xlsx has no sheet `名簿`; it has 表紙, 会員");
}

#[tokio::test]
async fn a_workbook_is_known_by_its_contents_too() {
    let (_folder, path) = file("export.dat", workbook());
    let options = Options { sheet: Some("会員".to_owned()), ..Options::default() };
    assert_eq!(read(Source::File(path), &options).await.unwrap().people().len(), 2);
}

#[tokio::test]
async fn a_text_with_the_ending_of_a_workbook_is_no_workbook() {
    let err = read_file("m.xlsx", "id,mail\n", &Options::default()).await.unwrap_err();
    assert!(matches!(err, IntakeError::Workbook { .. }), "{err}");
}
