//! A transport of the configuration, as connections and workers use it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue, USER_AGENT};
use secrecy::ExposeSecret as _;

use super::Ops;
use super::error::OpsError;
use super::kind::signer;
use crate::clock::Clock;
use crate::compose::RequestBody;
use crate::config::http::Header;
use crate::config::transport::Tls as Configured;
use crate::config::{Http, Smtp, Transport};
use crate::dispatch::settings::{Grouping, RouteSettings, Serve, Settings, Until};
use crate::domain::breaker::Limits;
use crate::transport::http::{Accepted, Deadlines as CallDeadlines, Idempotency, Reading};
use crate::transport::smtp::{Credentials, Deadlines, Resolver, Tls, Trust};
use crate::transport::{FolderRoute, HttpRoute, Route, SmtpRoute};

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
            Transport::Http(http) => http.deadlines.body + http.deadlines.answer,
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
                request: None,
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

    /// Returns what a mail API of that name is sent; none where the message itself is handed over.
    pub fn request_body(&self, name: &str) -> Result<Option<RequestBody>, OpsError> {
        match self.settings.transports.get(name) {
            Some(transport) => request_body(name, transport),
            None => Ok(None),
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
        Transport::Http(http) => {
            let longest = http.deadlines.body + http.deadlines.answer;
            (Route::Http(Arc::new(http_route(name, http)?)), longest)
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
        request: request_body(name, transport)?.map(Arc::new),
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

fn request_body(name: &str, transport: &Transport) -> Result<Option<RequestBody>, OpsError> {
    let Transport::Http(http) = transport else { return Ok(None) };
    let read = if http.sends_json() {
        RequestBody::json(&http.body)
    } else {
        RequestBody::other(&http.body)
    };
    let wrong = |why| OpsError::usage(format!("`{name}.body` cannot be used: {why}"));
    read.map(Some).map_err(wrong)
}

fn http_route(name: &str, http: &Http) -> Result<HttpRoute, OpsError> {
    let wrong = |what: &str| OpsError::usage(format!("`{name}.{what}` cannot be used"));
    let mut headers = vec![
        (CONTENT_TYPE, HeaderValue::from_static("application/json")),
        (ACCEPT, HeaderValue::from_static("application/json")),
        (USER_AGENT, HeaderValue::from_static(concat!("ittsu/", env!("CARGO_PKG_VERSION")))),
    ];
    for (header, value) in &http.headers {
        let key = HeaderName::from_bytes(header.as_bytes()).map_err(|_err| wrong("headers"))?;
        headers.retain(|(known, _)| *known != key);
        headers.push((key, header_value(name, header, value)?));
    }
    let idempotency = match &http.idempotency {
        None => None,
        Some((header, window)) => Some(Idempotency {
            header: HeaderName::from_bytes(header.as_bytes())
                .map_err(|_err| wrong("idempotency_header"))?,
            window: *window,
        }),
    };
    let accepted = http.accepted.as_ref();
    Ok(HttpRoute {
        method: http.method.parse().map_err(|_err| wrong("method"))?,
        url: http.url.parse().map_err(|_err| wrong("url"))?,
        allow_plaintext: http.allow_plaintext,
        trust: http.ca.as_ref().map_or_else(Trust::default, Trust::file),
        resolver: Resolver::default(),
        headers,
        deadlines: CallDeadlines {
            connect: http.deadlines.connect,
            body: http.deadlines.body,
            answer: http.deadlines.answer,
        },
        reading: Reading {
            id: http.id.clone(),
            accepted: accepted.map(|accepted| Accepted {
                pointer: accepted.pointer.clone(),
                is: accepted.is.clone(),
            }),
            not_accepted: http.not_accepted.clone(),
        },
        idempotency,
        clock: Clock::System,
    })
}

fn header_value(name: &str, header: &str, value: &Header) -> Result<HeaderValue, OpsError> {
    let (text, is_secret) = match value {
        Header::Plain(text) => (text.clone(), false),
        Header::Secret { prefix, secret } => {
            let secret = secret.reveal().map_err(|err| {
                let what = format!("the header `{header}` of [{name}] cannot be fetched");
                OpsError::usage(what).because(err)
            })?;
            (format!("{prefix}{}", secret.expose_secret()), true)
        }
    };
    let mut value = HeaderValue::from_str(&text).map_err(|_err| {
        OpsError::usage(format!("the header `{header}` of [{name}] holds what no header may hold"))
    })?;
    value.set_sensitive(is_secret);
    Ok(value)
}

/// Returns the machine's name if it can stand in EHLO.
fn machine_name() -> String {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.');
    if name.is_empty() || !name.chars().all(fits) { "localhost".to_owned() } else { name }
}
