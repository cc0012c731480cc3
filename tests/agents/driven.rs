//! What of a profile decides how its program is driven: by this a real run is told from one before a change.

use run_loop::domain::digest::Digest;
use run_loop::domain::profile::Profile;

/// Words for people aside.
pub(crate) fn digest(profile: &Profile) -> String {
    let told = Profile {
        title: String::new(),
        cannot: Vec::new(),
        ..profile.clone()
    };
    let text = serde_json::to_string(&told).unwrap();
    Digest::of(text.as_bytes()).as_str()[..16].to_owned()
}
