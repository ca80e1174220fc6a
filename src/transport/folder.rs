//! Writes each message as a file instead of sending it, for rehearsals.

use std::path::PathBuf;

use super::{Ended, Envelope, Steps};

/// The folder that messages are written to.
#[derive(Clone, Debug)]
pub struct FolderRoute {
    pub path: PathBuf,
}

/// An open folder.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Makes the folder if it is not there.
    pub async fn open(route: &FolderRoute) -> Result<Self, Ended> {
        let _ = route;
        todo!()
    }

    /// Remembers whom the next file is for.
    pub fn offer(&mut self, envelope: &Envelope) -> Result<(), Ended> {
        let _ = (envelope, &self.path);
        todo!()
    }

    /// Writes the message: in one piece, or not at all.
    pub async fn hand_over(
        &mut self,
        content: &[u8],
        steps: &dyn Steps,
        gate: &(dyn Fn() -> bool + Sync),
    ) -> Ended {
        let _ = (content, steps, gate());
        todo!()
    }
}
