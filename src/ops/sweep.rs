//! Rows of workers that are proved dead, brought to where they belong.

use super::Ops;
use super::error::OpsError;
use crate::dispatch::sweep_gone;

impl Ops {
    /// Sweeps the workers whose process on this machine is proved gone; silent ones are left alone.
    ///
    /// A ledger that is open for reading only is left as it is.
    pub async fn sweep_gone(&self) -> Result<(), OpsError> {
        if self.reads_only {
            return Ok(());
        }
        sweep_gone(&self.ledger, &self.sweeper_settings(), &self.clock).await?;
        Ok(())
    }
}
