//! A way to a server that a test can cut, freeze and open again.

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// What happens to the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Open,
    /// Nothing passes, nothing is closed: a partition.
    Frozen,
    /// Every connection is cut and new ones are cut at once.
    Cut,
    /// What the client says passes; the server's next words are lost and the connection is cut.
    LosesTheAnswer,
}

/// A proxy in front of a server; it ends when it is dropped.
#[derive(Debug)]
pub(crate) struct Proxy {
    pub(crate) addr: SocketAddr,
    way: Arc<watch::Sender<Way>>,
    _task: JoinSet<()>,
}

impl Proxy {
    /// Listens on a free port and passes everything on to `server`.
    pub(crate) async fn before(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let addr = listener.local_addr().expect("an address");
        let way = Arc::new(watch::Sender::new(Way::Open));
        let mut task = JoinSet::new();
        task.spawn(serve(listener, server, Arc::clone(&way)));
        Self { addr, way, _task: task }
    }

    pub(crate) fn set(&self, way: Way) {
        self.way.send_replace(way);
    }

    /// Returns what the way is now; losing one answer cuts it.
    pub(crate) fn way(&self) -> Way {
        *self.way.borrow()
    }
}

async fn serve(listener: TcpListener, server: SocketAddr, way: Arc<watch::Sender<Way>>) {
    let mut connections = JoinSet::new();
    loop {
        let Ok((client, _)) = listener.accept().await else { continue };
        let way = Arc::clone(&way);
        connections.spawn(async move {
            let watching = way.subscribe();
            if *watching.borrow() == Way::Cut {
                return;
            }
            let Ok(server) = TcpStream::connect(server).await else { return };
            pass(client, server, way).await;
        });
    }
}

async fn pass(mut client: TcpStream, mut server: TcpStream, way: Arc<watch::Sender<Way>>) {
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    let mut changes = way.subscribe();
    let (mut up, mut down) = (vec![0; 65536], vec![0; 65536]);
    loop {
        let now = *changes.borrow_and_update();
        match now {
            Way::Cut => return,
            Way::Frozen => {
                let _ = changes.changed().await;
                continue;
            }
            Way::Open | Way::LosesTheAnswer => {}
        }
        let passed = tokio::select! {
            _ = changes.changed() => continue,
            read = client.read(&mut up) => match read {
                Ok(0) | Err(_) => return,
                Ok(n) => server.write_all(&up[..n]).await,
            },
            read = server.read(&mut down) => match read {
                Ok(0) | Err(_) => return,
                Ok(_) if now == Way::LosesTheAnswer => {
                    way.send_replace(Way::Open);
                    return;
                }
                Ok(n) => client.write_all(&down[..n]).await,
            },
        };
        if passed.is_err() {
            return;
        }
    }
}
