//! Sidecars and manifests: what is read is canonical, to the byte.

use run_loop::promote::{Manifest, Sidecar, canonical};

use super::Target;

pub const SIDECAR: Target = Target {
    name: "sidecar",
    seeds: sidecars,
    words: &["\"verdict\": \"PASS\"", "\"by\": \"reviewer\"", "\"round\": 1", "null", "{}", "[]"],
    run: sidecar,
};

pub const MANIFEST: Target = Target {
    name: "manifest",
    seeds: manifests,
    words: &["\"files\": []", "\"policy\": {}", "\"panel\": []", "\"sha256\": ", "null", "../"],
    run: manifest,
};

/// From `cases/`, where whole ones lie; here the smallest that has the right outline.
fn sidecars() -> Vec<Vec<u8>> {
    vec![b"{\n  \"schema\": \"run-loop/sidecar/1\"\n}\n".to_vec(), b"{}".to_vec()]
}

fn manifests() -> Vec<Vec<u8>> {
    vec![b"{\n  \"schema\": \"run-loop/manifest/1\"\n}\n".to_vec(), b"{}".to_vec()]
}

fn sidecar(input: &[u8]) {
    if let Ok(read) = canonical::from_bytes::<Sidecar>(input) {
        assert_eq!(canonical::to_bytes(&read).expect("bytes"), input);
    }
}

fn manifest(input: &[u8]) {
    if let Ok(read) = canonical::from_bytes::<Manifest>(input) {
        assert_eq!(canonical::to_bytes(&read).expect("bytes"), input);
    }
}
