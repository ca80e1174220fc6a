//! A transport of the configuration, as connections and workers use it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use secrecy::ExposeSecret as _;

use super::Ops;
use super::error::OpsError;
use super::kind::signer;
use crate::config::transport::Tls as Configured;
use crate::config::{Smtp, Transport};
use crate::dispatch::settings::{Grouping, RouteSettings, Serve, Settings, Until};
use crate::domain::breaker::Limits;
use crate::transport::smtp::{Credentials, Deadlines, Resolver, Tls, Trust};
use crate::transport::{FolderRoute, Route, SmtpRoute};

/// A file is written by this machine alone: nothing of it can come late.
const FOLDER: Duration = Duration::from_mins(1);

impl Ops {
    /// Returns what a worker is told; secrets are fetched now, so that a missing one is named now.
    pub fn worker_settings(&self, serve: Serve, until: Until) -> Result<Settings, OpsError> {
        let mut routes = BTreeMap::new();
        for (name, transport) in &self.settings.transports {
            routes.insert(name.clone(), route_settings(name, transport)?);
        }
        let mut dkim = BTreeMap::new();
        for (name, kind) in &self.settings.kinds {
            dkim.extend(signer(kind)?.map(|key| (name.clone(), Arc::new(key))));
        }
        Ok(Settings {
            state_dir: self.state_dir.clone(),
            heartbeat: self.settings.worker.heartbeat,
            lost_after: self.settings.worker.lost_after,
            serve,
            until,
            routes,
            only_to: self.settings.only_to.clone(),
            zone: self.settings.timezone.clone(),
            dkim,
            limits: Limits::default(),
            grouping: Grouping::Together,
            seed: fastrand::u64(..),
        })
    }

    /// Returns what a sweep needs to know: no route, only how long an answer may take.
    pub(super) fn sweeper_settings(&self) -> Settings {
        let longest = |transport: &Transport| match transport {
            Transport::Smtp(smtp) => {
                let deadlines = smtp.deadlines;
                deadlines.data + deadlines.body + deadlines.answer
            }
            Transport::Folder(_) => FOLDER,
        };
        let routes = self.settings.transports.iter().map(|(name, transport)| {
            let route = Route::Folder(FolderRoute { path: PathBuf::new() });
            let longest = longest(transport);
            let settings = RouteSettings {
                route,
                connections: 0,
                messages_per_connection: 0,
                rate: None,
                longest,
            };
            (name.clone(), settings)
        });
        Settings {
            state_dir: self.state_dir.clone(),
            heartbeat: self.settings.worker.heartbeat,
            lost_after: self.settings.worker.lost_after,
            serve: Serve::Everything,
            until: Until::NothingDue,
            routes: routes.collect(),
            only_to: Vec::new(),
            zone: self.settings.timezone.clone(),
            dkim: BTreeMap::new(),
            limits: Limits::default(),
            grouping: Grouping::Together,
            seed: fastrand::u64(..),
        }
    }

    /// Returns one transport of the configuration.
    pub fn route(&self, name: &str) -> Result<RouteSettings, OpsError> {
        match self.settings.transports.get(name) {
            Some(transport) => route_settings(name, transport),
            None => Err(OpsError::usage(format!("the configuration has no [{name}]"))),
        }
    }
}

/// Returns a transport as workers use it.
pub fn route_settings(name: &str, transport: &Transport) -> Result<RouteSettings, OpsError> {
    let shared = transport.shared();
    let (route, longest) = match transport {
        Transport::Smtp(smtp) => {
            let route = smtp_route(name, smtp)?;
            let Deadlines { data, body, answer, .. } = route.deadlines;
            (Route::Smtp(route), data + body + answer)
        }
        Transport::Folder(folder) => {
            (Route::Folder(FolderRoute { path: folder.path.clone() }), FOLDER)
        }
    };
    Ok(RouteSettings {
        route,
        connections: shared.connections as usize,
        messages_per_connection: shared.messages_per_connection,
        rate: shared.rate,
        longest,
    })
}

fn smtp_route(name: &str, smtp: &Smtp) -> Result<SmtpRoute, OpsError> {
    let credentials = match &smtp.login {
        None => None,
        Some((user, secret)) => {
            let password = secret.reveal().map_err(|err| {
                OpsError::usage(format!("the password of [{name}] cannot be fetched")).because(err)
            })?;
            // The transport keeps its own copy, under its own lock and key.
            let password = password.expose_secret().to_owned().into();
            Some(Credentials { user: user.clone(), password })
        }
    };
    let deadlines = smtp.deadlines;
    Ok(SmtpRoute {
        host: smtp.host.clone(),
        port: smtp.port,
        tls: match smtp.tls {
            Configured::Implicit => Tls::Implicit,
            Configured::StartTls => Tls::StartTls,
            Configured::None => Tls::None,
        },
        allow_plaintext: smtp.allow_plaintext,
        trust: smtp.ca.as_ref().map_or_else(Trust::default, Trust::file),
        credentials,
        ehlo_name: smtp.ehlo_name.clone().unwrap_or_else(machine_name),
        deadlines: Deadlines {
            connect: deadlines.connect,
            greeting: deadlines.greeting,
            command: deadlines.command,
            data: deadlines.data,
            body: deadlines.body,
            answer: deadlines.answer,
        },
        resolver: Resolver::default(),
    })
}

/// Returns the machine's name if it can stand in EHLO.
fn machine_name() -> String {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.');
    if name.is_empty() || !name.chars().all(fits) { "localhost".to_owned() } else { name }
}
