//! `docs/architecture.md` holds the table of modules; an import that breaks it fails here.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Module, and the modules it may use, from the table's first and last columns.
fn table() -> BTreeMap<String, BTreeSet<String>> {
    let text = std::fs::read_to_string("docs/architecture.md").unwrap();
    text.lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| {
            let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
            let uses = cells
                .last()
                .unwrap()
                .split('`')
                .skip(1)
                .step_by(2)
                .map(str::to_owned);
            (cells[0].trim_matches('`').to_owned(), uses.collect())
        })
        .collect()
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The module that a source file belongs to: the first name under `src/`.
fn module_of(path: &Path) -> String {
    let first = path
        .strip_prefix("src")
        .unwrap()
        .components()
        .next()
        .unwrap();
    let name = first.as_os_str().to_str().unwrap();
    name.trim_end_matches(".rs").to_owned()
}

#[test]
fn every_import_is_in_the_table() {
    let table = table();
    let mut files = Vec::new();
    sources(Path::new("src"), &mut files);
    let mut broken = Vec::new();
    let mut modules = BTreeSet::new();
    for file in files {
        let module = module_of(&file);
        if module == "lib" || module == "main" {
            continue;
        }
        let allowed = table.get(&module).unwrap_or_else(|| {
            unreachable!("docs/architecture.md has no row for module `{module}`")
        });
        modules.insert(module.clone());
        let text = std::fs::read_to_string(&file).unwrap();
        for (number, line) in text.lines().enumerate() {
            let code = line.split("//").next().unwrap();
            for part in code.split("crate::").skip(1) {
                let used: String = part
                    .chars()
                    .take_while(|c| c.is_ascii_lowercase() || *c == '_')
                    .collect();
                let is_module = table.contains_key(&used);
                if is_module && used != module && !allowed.contains(&used) {
                    broken.push(format!(
                        "{}:{}: {module} uses {used}",
                        file.display(),
                        number + 1
                    ));
                }
            }
        }
    }
    assert!(
        broken.is_empty(),
        "imports that the table does not allow:\n{}",
        broken.join("\n")
    );
    let rows: BTreeSet<String> = table.keys().cloned().collect();
    assert_eq!(
        rows, modules,
        "a row without a module, or a module without a row"
    );
}

#[test]
fn the_core_is_pure() {
    let table = table();
    assert!(table["domain"].is_empty(), "the vocabulary uses nothing");
    assert_eq!(table["engine"], BTreeSet::from(["domain".to_owned()]));
    let mut files = Vec::new();
    for folder in ["src/domain", "src/engine"] {
        sources(Path::new(folder), &mut files);
    }
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        for word in [
            "std::fs",
            "fs_err",
            "std::process",
            "tokio",
            "std::env",
            "rusqlite",
            "async fn",
        ] {
            assert!(!text.contains(word), "{} contains {word}", file.display());
        }
    }
}
