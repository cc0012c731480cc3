//! `templates:`: a folder of prompt templates, read from the base and never from the tree under
//! review.

use std::path::Path;

use crate::config::Config;
use crate::config::rules;
use crate::contract::prompt::own::{self, Fault};
use crate::domain::digest::Digest;
use crate::domain::failure::Failure;
use crate::domain::oid::Oid;
use crate::domain::run_spec::RunSpec;
use crate::domain::template::Template;
use crate::git::Git;
use crate::git::object;

/// Bytes of a template.
const SIZE_CAP: u64 = 64 << 10;

/// Reads the templates that the configuration names, at the base; none where it names no folder.
///
/// # Errors
/// `ConfigInvalid` where the folder is not there, or holds anything but text files of known names;
/// else when git fails.
pub(crate) fn read(
    config: &Config,
    git: &Git,
    git_dir: &Path,
    base: &Oid,
) -> Result<Vec<Template>, Failure> {
    let Some(folder) = &config.settings.templates else {
        return Ok(Vec::new());
    };
    rules::plain(config, &["templates"], folder)?;
    let entries = object::tree_entries(git, git_dir, base.as_str(), folder)?;
    if entries.is_empty() {
        let message = format!("there is no folder {folder} at the base {}", base.short());
        return Err(wrong(config, &message));
    }
    entries
        .into_iter()
        .map(|entry| -> Result<Template, Failure> {
            let odd = |what: &str| wrong(config, &format!("{} {what}", entry.path));
            let path = entry.path.as_str().unwrap_or_default();
            let name = path.strip_prefix(&format!("{folder}/")).unwrap_or_default();
            if !own::known().iter().any(|known| known.name == name) {
                return Err(odd("is no template"));
            }
            if !entry.is_file() {
                return Err(odd("is no regular file"));
            }
            if entry.size.is_none_or(|size| size > SIZE_CAP) {
                return Err(odd(&format!("has more than {SIZE_CAP} bytes")));
            }
            let bytes = object::read_blob(git, git_dir, &entry.oid)?;
            let text = String::from_utf8(bytes).map_err(|_| odd("is not UTF-8"))?;
            Ok(Template {
                name: name.to_owned(),
                sha256: Digest::of(text.as_bytes()),
                text,
            })
        })
        .collect()
}

/// Tries the prompts of a run that brings templates along.
///
/// # Errors
/// `ConfigInvalid` with the template and what is wrong with it.
pub(crate) fn try_out(config: &Config, run: &RunSpec) -> Result<(), Failure> {
    if run.templates.is_empty() {
        return Ok(());
    }
    own::try_out(run).map_err(|Fault { template, problem }| {
        let folder = config.settings.templates.as_deref().unwrap_or_default();
        wrong(config, &format!("{folder}/{template}: {problem}"))
    })
}

fn wrong(config: &Config, message: &str) -> Failure {
    let failure = config.invalid(&["templates"], &format!("`templates`: {message}"));
    failure.next(["run-loop", "schema", "templates"])
}
