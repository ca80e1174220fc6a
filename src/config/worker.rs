//! `[worker]`: when a worker is alive.

use std::time::Duration;

use super::reading::Reading;
use super::section::Section;
use crate::domain::span::Span;

/// How a worker shows that it is alive, and when it is taken for lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Worker {
    pub heartbeat: Duration,
    pub lost_after: Duration,
}

const HEARTBEAT: Span = Span(Duration::from_secs(5));
const LOST_AFTER: Span = Span(Duration::from_mins(1));

impl Worker {
    pub(super) fn read(mut section: Section<'_>, reading: &mut Reading<'_>) -> Self {
        let heartbeat = section.take_or(reading, "heartbeat", HEARTBEAT);
        let lost_after = section.take_or(reading, "lost_after", LOST_AFTER);
        let least = Span(heartbeat.value.0.saturating_mul(3));
        if lost_after.value < least {
            let what = format!(
                "`worker.lost_after` = {} is less than three heartbeats ({} x 3 = {least}): a worker \
                 that is only slow would be taken for lost",
                lost_after.value, heartbeat.value
            );
            reading.problem(&lost_after.origin, what);
        }
        section.finish(reading);
        Self { heartbeat: heartbeat.value.0, lost_after: lost_after.value.0 }
    }
}
