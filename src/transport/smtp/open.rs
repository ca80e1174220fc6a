//! From a name to a connection that can take messages.
use super::{Session, SmtpRoute, Stream};
use crate::transport::Ended;

/// Opens a connection: resolves, connects, greets, secures and logs in.
pub async fn open(route: &SmtpRoute) -> Result<Session<Stream>, Ended> {
    let _ = route;
    todo!()
}
