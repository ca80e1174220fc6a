//! A proxy in front of a database that loses an answer, or delivers a request too late.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinSet;

/// What happens to the next request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Fault {
    /// The server gets it and answers; the client hears nothing but the end of the connection.
    LoseAnswer = 1,
    /// The client's connection ends; the server gets the request when the test says so.
    DeliverLate = 2,
    /// As `LoseAnswer`, but it waits for a commit.
    LoseCommit = 3,
}

/// A proxy; every connection ends when it is dropped.
pub(crate) struct Proxy {
    /// The server's URL, through the proxy.
    pub(crate) url: String,
    shared: Arc<Shared>,
    #[expect(dead_code, reason = "its tasks end when it is dropped")]
    tasks: JoinSet<()>,
}

#[derive(Default)]
struct Shared {
    next: AtomicU8,
    spared: AtomicU32,
    struck: Notify,
    deliver: Notify,
    delivered: Notify,
}

impl Proxy {
    /// Stands in front of the server that `url` names.
    pub(crate) async fn before(url: &str) -> Self {
        let at = url.find("127.0.0.1:").expect("a server on this machine");
        let (head, rest) = url.split_at(at);
        let (address, path) = rest.split_once('/').expect("a database");
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let own = listener.local_addr().expect("an address");
        let shared = Arc::<Shared>::default();
        let mut tasks = JoinSet::new();
        tasks.spawn(listen(listener, address.to_owned(), Arc::clone(&shared)));
        Self { url: format!("{head}{own}/{path}"), shared, tasks }
    }

    /// Lets the next request meet `fault`.
    pub(crate) fn next(&self, fault: Fault) {
        self.after(0, fault);
    }

    /// Lets the request after the next `spared` ones meet `fault`.
    pub(crate) fn after(&self, spared: u32, fault: Fault) {
        self.shared.spared.store(spared, Ordering::SeqCst);
        self.shared.next.store(fault as u8, Ordering::SeqCst);
    }

    /// Waits until the fault has struck.
    pub(crate) async fn struck(&self) {
        self.shared.struck.notified().await;
    }

    /// Delivers the request that was held back and waits until the server has answered it.
    pub(crate) async fn deliver(&self) {
        self.shared.deliver.notify_one();
        self.shared.delivered.notified().await;
    }
}

impl Shared {
    /// Returns what this request meets.
    fn strike(&self, request: &[u8]) -> u8 {
        let spare = |left: u32| left.checked_sub(1);
        match self.next.load(Ordering::SeqCst) {
            0 => return 0,
            3 if !request.windows(6).any(|word| word == b"COMMIT") => return 0,
            _ => {}
        }
        match self.spared.fetch_update(Ordering::SeqCst, Ordering::SeqCst, spare) {
            Ok(_) => 0,
            Err(_) => self.next.swap(0, Ordering::SeqCst),
        }
    }
}

async fn listen(listener: TcpListener, server: String, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    while let Ok((client, _)) = listener.accept().await {
        let (server, shared) = (server.clone(), Arc::clone(&shared));
        connections.spawn(async move {
            // Whatever ends a connection ends it for both sides.
            let _ = pass(client, &server, &shared).await;
        });
    }
}

async fn pass(mut client: TcpStream, server: &str, shared: &Shared) -> std::io::Result<()> {
    let mut server = TcpStream::connect(server).await?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let (mut up, mut down) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    loop {
        tokio::select! {
            read = client.read(&mut up) => {
                let request = &up[..read?];
                if request.is_empty() {
                    return Ok(());
                }
                match shared.strike(request) {
                    1 | 3 => {
                        server.write_all(request).await?;
                        let _ = server.read(&mut down).await?;
                        shared.struck.notify_one();
                        return Ok(());
                    }
                    2 => {
                        drop(client);
                        shared.struck.notify_one();
                        shared.deliver.notified().await;
                        server.write_all(request).await?;
                        let _ = server.read(&mut down).await?;
                        shared.delivered.notify_one();
                        return Ok(());
                    }
                    _ => server.write_all(request).await?,
                }
            }
            read = server.read(&mut down) => {
                let answer = &down[..read?];
                if answer.is_empty() {
                    return Ok(());
                }
                client.write_all(answer).await?;
            }
        }
    }
}
