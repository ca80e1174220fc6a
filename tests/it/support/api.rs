//! A mail company's API that does what a test tells it, on a thread of its own for each connection.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::Value;

/// One call as it came in.
#[derive(Clone, Debug, Default)]
pub(crate) struct Call {
    /// From 0, in the order in which calls came in.
    pub(crate) number: usize,
    pub(crate) first_line: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Call {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Returns a value of the body as text.
    pub(crate) fn field(&self, name: &str) -> String {
        let json: Value = serde_json::from_str(&self.body).expect("a body of JSON");
        match &json[name] {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }
    }
}

/// What the API does with a call.
#[derive(Clone, Debug)]
pub(crate) struct Says {
    /// The mail goes out, whatever is answered.
    pub(crate) takes: bool,
    pub(crate) then: Then,
}

#[derive(Clone, Debug)]
pub(crate) enum Then {
    /// Answers with status line and headers, and a body of the right length.
    Answers(String, String),
    /// Writes these bytes and closes.
    Writes(Vec<u8>),
    Closes,
    /// Says nothing until the other side goes away.
    Keeps,
}

impl Says {
    /// Takes the mail and says yes with an id.
    pub(crate) fn yes() -> Self {
        Self { takes: true, then: Then::Answers("200 OK".into(), r#"{"id":"m-1"}"#.into()) }
    }

    /// Answers with this status line (headers may follow it) and body, and takes nothing.
    pub(crate) fn answer(head: &str, body: &str) -> Self {
        Self { takes: false, then: Then::Answers(head.to_owned(), body.to_owned()) }
    }

    pub(crate) fn raw(bytes: &str) -> Self {
        Self { takes: false, then: Then::Writes(bytes.as_bytes().to_vec()) }
    }

    /// Takes the mail and closes without a word.
    pub(crate) fn takes_and_closes() -> Self {
        Self { takes: true, then: Then::Closes }
    }

    pub(crate) fn keeps_silent() -> Self {
        Self { takes: false, then: Then::Keeps }
    }

    pub(crate) fn but_takes(self) -> Self {
        Self { takes: true, ..self }
    }
}

type Script = dyn Fn(&Call) -> Says + Send + Sync;

/// A running API; it stops taking connections when it is dropped.
pub(crate) struct Api {
    addr: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    script: Box<Script>,
    calls: Mutex<Vec<Call>>,
    taken: Mutex<Vec<Call>>,
    connections: AtomicUsize,
    closed: AtomicUsize,
    is_over: AtomicBool,
}

impl Api {
    pub(crate) fn start(script: impl Fn(&Call) -> Says + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let addr = listener.local_addr().expect("an address");
        let shared = Arc::new(Shared {
            script: Box::new(script),
            calls: Mutex::default(),
            taken: Mutex::default(),
            connections: AtomicUsize::new(0),
            closed: AtomicUsize::new(0),
            is_over: AtomicBool::new(false),
        });
        let serving = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if serving.is_over.load(Ordering::Acquire) {
                    return;
                }
                let shared = Arc::clone(&serving);
                shared.connections.fetch_add(1, Ordering::AcqRel);
                thread::spawn(move || {
                    shared.serve(stream);
                    shared.closed.fetch_add(1, Ordering::AcqRel);
                });
            }
        });
        Self { addr, shared }
    }

    pub(crate) fn addr(&self) -> SocketAddr {
        self.addr
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/v1/send", self.addr)
    }

    pub(crate) fn calls(&self) -> Vec<Call> {
        self.shared.calls.lock().unwrap().clone()
    }

    /// Returns the calls whose mails went out.
    pub(crate) fn taken(&self) -> Vec<Call> {
        self.shared.taken.lock().unwrap().clone()
    }

    /// Returns how many connections it has closed.
    pub(crate) fn closed(&self) -> usize {
        self.shared.closed.load(Ordering::Acquire)
    }

    /// Returns how many connections were made.
    pub(crate) fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::Acquire)
    }
}

impl Drop for Api {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Release);
        // Wakes the thread that waits for a connection.
        let _ = TcpStream::connect(self.addr);
    }
}

impl Shared {
    fn serve(&self, stream: TcpStream) {
        let Ok(mut out) = stream.try_clone() else { return };
        let _ = out.set_nodelay(true);
        let mut reader = BufReader::new(stream);
        while let Some(call) = read(&mut reader) {
            let says = {
                let mut calls = self.calls.lock().unwrap();
                let call = Call { number: calls.len(), ..call };
                calls.push(call.clone());
                drop(calls);
                let says = (self.script)(&call);
                if says.takes {
                    self.taken.lock().unwrap().push(call);
                }
                says
            };
            match says.then {
                Then::Answers(head, body) => {
                    let answer =
                        format!("HTTP/1.1 {head}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
                    if out.write_all(answer.as_bytes()).is_err() {
                        return;
                    }
                }
                Then::Writes(bytes) => {
                    let _ = out.write_all(&bytes);
                    return;
                }
                Then::Closes => return,
                Then::Keeps => {
                    let _ = reader.read(&mut [0; 1]);
                    return;
                }
            }
        }
    }
}

fn read(reader: &mut BufReader<TcpStream>) -> Option<Call> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim_end().to_owned();
        if line.is_empty() {
            break;
        }
        lines.push(line);
    }
    let mut lines = lines.into_iter();
    let first_line = lines.next()?;
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| {
            let (name, value) = line.split_once(':')?;
            Some((name.to_lowercase(), value.trim().to_owned()))
        })
        .collect();
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let mut body = vec![0; length?.1.parse().ok()?];
    reader.read_exact(&mut body).ok()?;
    let body = String::from_utf8(body).ok()?;
    Some(Call { number: 0, first_line, headers, body })
}
