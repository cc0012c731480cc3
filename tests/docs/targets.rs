//! No test file is forgotten: each is a target, or a module of one.

use std::path::Path;

#[test]
fn every_test_file_is_reached() {
    let manifest = std::fs::read_to_string("Cargo.toml").unwrap();
    for entry in std::fs::read_dir("tests").unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if name == "support.rs" || path.extension().is_none_or(|extension| extension != "rs") {
            continue;
        }
        assert!(
            manifest.contains(&format!("path = \"tests/{name}\"")),
            "{name} is no [[test]]"
        );
        let root = std::fs::read_to_string(&path).unwrap();
        let folder = Path::new("tests").join(name.trim_end_matches(".rs"));
        let Ok(modules) = std::fs::read_dir(&folder) else {
            continue;
        };
        for module in modules {
            let file = module.unwrap().path();
            if file.extension().is_none_or(|extension| extension != "rs") {
                continue;
            }
            let stem = file.file_stem().unwrap().to_str().unwrap().to_owned();
            assert!(
                root.contains(&format!("mod {stem};")),
                "{} is in no target",
                file.display()
            );
        }
    }
}
