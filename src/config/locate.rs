//! Which file is the configuration.

use std::path::{Path, PathBuf};

use super::{ConfigError, Request};

/// Returns the file that `--config` or `ITTSU_CONFIG` names, else the first that is there.
pub fn find(request: &Request) -> Result<Option<PathBuf>, ConfigError> {
    let named =
        request.file.clone().or_else(|| variable(request, "ITTSU_CONFIG").map(PathBuf::from));
    if let Some(named) = named {
        let file = request.here.join(&named);
        return if file.is_file() { Ok(Some(file)) } else { Err(ConfigError::NoFile(file)) };
    }
    Ok(places(request).into_iter().find(|file| file.is_file()))
}

/// Returns the places that are looked at, in order.
pub fn places(request: &Request) -> Vec<PathBuf> {
    let user = variable(request, "XDG_CONFIG_HOME")
        .map(PathBuf::from)
        .or_else(|| variable(request, "HOME").map(|home| Path::new(home).join(".config")));
    let mut places = vec![request.here.join("ittsu.toml")];
    places.extend(user.map(|folder| folder.join("ittsu").join("config.toml")));
    places.push(PathBuf::from("/etc/ittsu/config.toml"));
    places
}

fn variable<'a>(request: &'a Request, name: &str) -> Option<&'a str> {
    request.variables.get(name).map(String::as_str).filter(|value| !value.is_empty())
}
