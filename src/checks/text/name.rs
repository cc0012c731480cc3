//! Names that promise text: a NUL in such a file hides it from people and tools.

/// Extensions of text, in lower case.
const EXTENSIONS: &[&str] = &[
    "adoc", "bash", "bat", "c", "cc", "cfg", "clj", "cmake", "conf", "cpp", "cs", "css", "cts",
    "cxx", "dart", "diff", "ejs", "elm", "env", "erb", "erl", "ex", "exs", "fish", "fs", "go",
    "gradle", "graphql", "groovy", "h", "hbs", "hcl", "hh", "hpp", "hrl", "hs", "htm", "html",
    "ini", "java", "jl", "js", "json", "jsonl", "jsx", "kt", "kts", "less", "lisp", "lock", "lua",
    "m", "md", "mjs", "mk", "ml", "mli", "mm", "mts", "nim", "nix", "patch", "php", "pl", "pm",
    "proto", "ps1", "py", "pyi", "r", "rb", "rs", "rst", "sass", "scala", "scss", "sh", "sql",
    "svelte", "svg", "swift", "tcl", "tf", "toml", "ts", "tsx", "txt", "vue", "xml", "yaml", "yml",
    "zig", "zsh",
];
/// Whole names of text, in lower case.
const NAMES: &[&str] = &[
    "dockerfile",
    "gemfile",
    "jenkinsfile",
    "justfile",
    "license",
    "makefile",
    "readme",
];

/// Whether a path's name promises text.
pub(crate) fn is_text(path: &[u8]) -> bool {
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
    let Ok(name) = std::str::from_utf8(name) else {
        return false;
    };
    let name = name.to_ascii_lowercase();
    let extension = name.rsplit_once('.').map(|(_, extension)| extension);
    NAMES.contains(&name.as_str())
        || extension.is_some_and(|extension| EXTENSIONS.contains(&extension))
}
