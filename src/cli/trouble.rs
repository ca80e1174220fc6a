//! How trouble in `ops` ends a command, and how a missing count is asked for.

use super::error::{CliError, ExitCode};
use super::shell::Shell;
use crate::ops::error::{OpsError, Trouble};

impl From<OpsError> for CliError {
    fn from(err: OpsError) -> Self {
        let code = match err.trouble {
            Trouble::Failed => ExitCode::Failed,
            Trouble::Usage => ExitCode::Usage,
            Trouble::Missing => ExitCode::NotFound,
            Trouble::Refused => ExitCode::Refused,
            Trouble::Unconfirmed { .. } | Trouble::Unsure(_) => ExitCode::NeedsConfirmation,
            Trouble::Away => ExitCode::Unreachable,
        };
        let mut worded = Self::new(code, err.message);
        // What the message says already is not said again as its own cause.
        match err.source.as_deref() {
            Some(source) if source.to_string() == worded.message => {
                if let Some(inner) = source.source() {
                    worded = worded.because(inner);
                }
            }
            Some(source) => worded = worded.because(source),
            None => {}
        }
        worded.hint = err.hint;
        worded
    }
}

/// Runs `act` with the count that was given; if it asks for one, asks the person and runs it again.
///
/// Without a terminal the missing count is the error, and `flag` is named.
pub async fn confirming<T>(
    shell: &mut Shell,
    given: Option<u64>,
    flag: &str,
    mut act: impl AsyncFnMut(Option<u64>) -> Result<T, OpsError>,
) -> Result<T, CliError> {
    match act(given).await {
        Err(err) if given.is_none() => {
            let Trouble::Unconfirmed { found } = err.trouble else { return Err(err.into()) };
            let flag = flag.replace("COUNT", &found.to_string());
            let typed = shell.confirmed(None, &err.message, &flag)?;
            Ok(act(Some(typed)).await?)
        }
        done => Ok(done?),
    }
}
