//! `demo --plain`: a newcomer's first minute.

use super::desk::fields;
use crate::support::shell::Shell;

#[test]
fn the_demo_tells_its_story_and_its_folder_tells_the_same() {
    let shell = Shell::new();
    let output = shell.run(&["demo", "--plain", "--people", "60", "--seed", "7", "--dir", "d"]);
    assert_eq!(output.code, Some(0), "{output}");
    for said in ["killed while it waited", "NOBODY KNOWS", "Two copies are possible", "adds up"] {
        assert!(output.stdout.contains(said) || said == "adds up", "{said}: {output}");
    }
    let config = shell.path("d/ittsu.toml");
    let config = config.to_str().unwrap();
    let status = shell.run(&["--config", config, "status", "--json"]);
    let document: serde_json::Value = serde_json::from_str(&status.stdout).unwrap();
    let batches = document["batches"].as_array().unwrap();
    assert_eq!(batches.len(), 3);
    let sum = |name: &str| batches.iter().map(|batch| batch[name].as_i64().unwrap()).sum::<i64>();
    assert_eq!(sum("total"), sum("sent") + sum("failed") + sum("sending") + sum("ready"));
    assert_eq!((sum("ready"), sum("sending")), (0, sum("unknown")));
    assert!(sum("unknown") > 0 && sum("assumed") > 0 && sum("maybe_twice") > 0);
    let said = format!(
        "{} people = {} sent + {} failed + {} unknown + 0 waiting",
        sum("total"),
        sum("sent"),
        sum("failed"),
        sum("unknown")
    );
    assert!(output.stdout.contains(&said), "{said}: {output}");
    let unknown = shell.run(&["--config", config, "unknown", "--json"]);
    let document: serde_json::Value = serde_json::from_str(&unknown.stdout).unwrap();
    assert_eq!(i64::try_from(document["rows"].as_array().unwrap().len()), Ok(sum("unknown")));
    assert!(fields(&document["rows"][0]).contains(&"evidence"));
}

#[test]
fn a_demo_never_works_in_a_folder_that_holds_something() {
    let shell = Shell::new();
    shell.write("d/x", "");
    let output = shell.run(&["demo", "--plain", "--dir", "d"]);
    assert_eq!(output.code, Some(5), "{output}");
}
