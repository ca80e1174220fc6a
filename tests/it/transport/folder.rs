//! A rehearsal: files instead of mail.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use ittsu::domain::smtp::Event;
use ittsu::transport::{Connection, Ended, FolderRoute, NoSteps, Route};

use super::{MESSAGE, envelope, said, send, send_this};

async fn open(path: &Path) -> Result<Connection, Ended> {
    Connection::open(&Route::Folder(FolderRoute { path: path.to_owned() })).await
}

fn files(path: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> = fs::read_dir(path).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    files
}

#[tokio::test]
async fn a_message_becomes_a_private_file() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("out/rehearsal");
    let mut connection = open(&folder).await.unwrap();
    let ended = send(&mut connection, "taro@example.test").await;
    assert_eq!(said(&ended), "file: accepted, row, counted, keep");
    let written = files(&folder);
    assert_eq!(written.len(), 1);
    assert_eq!(fs::read(&written[0]).unwrap(), MESSAGE);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&written[0]), mode(&folder)), (0o600, 0o700));
    let name = written[0].file_name().unwrap().to_string_lossy();
    assert!(name.starts_with("taro@example.test-"), "{name}");
    assert_eq!(written[0].extension().unwrap(), "eml");
}

#[tokio::test]
async fn the_same_message_again_takes_the_place_of_its_file() {
    let place = tempfile::tempdir().unwrap();
    let mut connection = open(place.path()).await.unwrap();
    for _ in 0..3 {
        send(&mut connection, "taro@example.test").await;
    }
    send(&mut connection, "hanako@example.test").await;
    let other = b"Message-ID: <2@example.com>\r\n\r\nother\r\n";
    send_this(&mut connection, &envelope("taro@example.test"), other, &NoSteps).await;
    assert_eq!(files(place.path()).len(), 3);
}

#[tokio::test]
async fn a_shut_gate_leaves_no_message() {
    let place = tempfile::tempdir().unwrap();
    let mut connection = open(place.path()).await.unwrap();
    connection.offer(&envelope("taro@example.test"), MESSAGE, &NoSteps).await.unwrap();
    let ended = connection.hand_over(MESSAGE, &NoSteps, &|| false).await;
    assert_eq!(ended.event, Event::Fenced);
    let left = files(place.path());
    assert!(left.iter().all(|file| file.extension().is_none_or(|end| end != "eml")), "{left:?}");
}

#[tokio::test]
async fn a_folder_that_cannot_be_written_is_our_own_fault() {
    let place = tempfile::tempdir().unwrap();
    let blocked = place.path().join("file");
    fs::write(&blocked, "not a folder").unwrap();
    let ended = open(&blocked.join("below")).await.unwrap_err();
    assert_eq!(said(&ended), "file: not_sent, batch, pause local, close");
    let mut connection = open(&place.path().join("gone")).await.unwrap();
    fs::remove_dir(place.path().join("gone")).unwrap();
    let ended = send(&mut connection, "taro@example.test").await;
    assert_eq!(said(&ended), "file: not_sent, batch, pause local, close");
}
