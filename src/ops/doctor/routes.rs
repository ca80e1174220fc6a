//! Every route, up to the point where a mail could be offered.

use std::error::Error as _;

use super::{DoctorBody, State};
use crate::domain::outcome::Phase;
use crate::domain::text::visible;
use crate::ops::Ops;
use crate::transport::{Connection, Ended};

impl Ops {
    pub(super) async fn look_at_routes(&self, body: &mut DoctorBody) {
        for name in self.settings.transports.keys() {
            let route = match self.route(name) {
                Ok(route) => route,
                Err(err) => {
                    let because = err.source().map(|cause| format!(": {cause}"));
                    let says = format!("{err}{}", because.unwrap_or_default());
                    body.add(name, State::Stop, says, err.hint);
                    continue;
                }
            };
            match Connection::open(&route.route).await {
                Ok(connection) => {
                    connection.close().await;
                    let rate = route.rate.map(|rate| format!(", at most {rate}"));
                    let says = format!(
                        "reached; connections: {}{}",
                        route.connections,
                        rate.unwrap_or_default()
                    );
                    body.ok(name, says);
                }
                Err(ended) => {
                    let says = format!("{} at {}", visible(&ended.event.to_string()), ended.phase);
                    body.stop(name, says, advice(name, &ended));
                }
            }
            match self.ledger.endpoint(name).await {
                Ok(endpoint) if self.now() < endpoint.closed_until => {
                    let says = format!("workers keep away from it: {}", visible(&endpoint.why));
                    body.look(name, says, "they try it again by themselves");
                }
                _ => {}
            }
        }
    }
}

fn advice(name: &str, ended: &Ended) -> String {
    match ended.phase {
        Phase::Resolve | Phase::Connect if name.starts_with("http.") => {
            format!("check `url` and the network of [{name}]")
        }
        Phase::Resolve => format!("check `host` in [{name}]"),
        Phase::Connect => format!("check `host`, `port` and the network of [{name}]"),
        Phase::Greeting => "ask who runs the server why it does not serve this machine".to_owned(),
        Phase::Tls | Phase::StartTls => {
            format!("check `tls`, `ca` and the certificate's name of [{name}]")
        }
        Phase::Auth => format!("check `user` and `password` of [{name}]"),
        _ => format!("check [{name}]"),
    }
}
