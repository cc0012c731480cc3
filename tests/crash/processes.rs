//! Processes of a run, found through `/proc` and without a word of the product.

use std::path::Path;

/// The variable by which everything is known that an agent started. Its value names the bench's folder.
pub const MARK: &str = "CRASH_SUITE_MARK";

/// Whether a process lives; a zombie does not.
pub fn lives(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit(')').next().unwrap_or_default().trim_start();
    !state.is_empty() && !state.starts_with(['Z', 'X'])
}

/// Every process that has to do with a bench: its folder stands in the environment, the command line or
/// the working directory, or a file of it is open. The engine's environment names it too, and so does the
/// mark that agents pass on; guards have files open there.
pub fn of(folder: &Path) -> Vec<String> {
    let own = std::process::id().to_string();
    let all = std::fs::read_dir("/proc").unwrap();
    let pids = all.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let pids = pids.filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()));
    pids.filter(|pid| *pid != own && is_of(pid, folder) && lives(pid))
        .map(|pid| format!("{pid} ({})", command_line(&pid)))
        .collect()
}

fn is_of(pid: &str, folder: &Path) -> bool {
    let process = Path::new("/proc").join(pid);
    let named = folder.to_str().unwrap().as_bytes();
    let says = |file: &str| {
        let bytes = std::fs::read(process.join(file)).unwrap_or_default();
        bytes.windows(named.len()).any(|window| window == named)
    };
    let leads = |link: &Path| std::fs::read_link(link).is_ok_and(|to| to.starts_with(folder));
    let opens = || {
        let open = std::fs::read_dir(process.join("fd"));
        open.is_ok_and(|mut open| open.any(|file| file.is_ok_and(|file| leads(&file.path()))))
    };
    says("environ") || says("cmdline") || leads(&process.join("cwd")) || opens()
}

fn command_line(pid: &str) -> String {
    let bytes = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&bytes).replace('\0', " ")
}
