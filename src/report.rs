//! What a batch looks like to somebody who was not there: one snapshot, many formats.
//!
//! Promise: the sums add up, an address is masked unless asked for, and nothing from outside can
//! command a terminal or a spreadsheet.
//! Absent on purpose: no ledger, no clock; everything printed is in the snapshot.

use crate::domain::state::words;

words! {
    /// How a report is written.
    Format {
        Text = "text",
        Line = "line",
        Md = "md",
        Csv = "csv",
        Json = "json",
        Html = "html",
        Xlsx = "xlsx",
    }
}

words! {
    /// Which rows a report lists.
    Listed {
        Failed = "failed",
        Unknown = "unknown",
        NotSent = "not-sent",
        LeftOut = "left-out",
        All = "all",
    }
}
