//! `run-loop cleanup`.

use clap::Args;

use crate::cli::args::FormatArgs;

/// Remove what dead runs left.
#[derive(Debug, Clone, Args)]
#[command(after_help = HELP)]
pub struct CleanupArgs {
    /// Show what would be removed and what would be kept; change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Also remove what runs of repositories left that are not there any more; of one on a disk that is not
    /// mounted nobody can tell that it is not gone
    #[arg(long)]
    pub gone: bool,
    /// Put away the record of this run, which is damaged: it is moved, whole, and nothing names it any more; do
    /// nothing else
    #[arg(long, value_name = "RUN", conflicts_with_all = ["gone", "store_budget"])]
    pub damaged: Option<String>,
    /// How much review stores may take, such as 500MiB; the least recently used go first
    #[arg(long, value_name = "SIZE", default_value = "2GiB", value_parser = size)]
    pub store_budget: u64,
    /// How output is written.
    #[command(flatten)]
    pub output: FormatArgs,
}

const HELP: &str = "\
A run is dead when its locks are free and the process that drove it was one of this machine and is \
gone. What is not known is kept, and said. Journals stay: the gate reads them. It also goes on to doubt what \
was approved before a damaged record was last written, wherever that was put; a new review is newer.";

/// Bytes, with a unit or without.
fn size(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit: u64 = match &text[digits.len()..] {
        "" | "B" => 1,
        "KB" => 1000,
        "KiB" => 1 << 10,
        "MB" => 1_000_000,
        "MiB" => 1 << 20,
        "GB" => 1_000_000_000,
        "GiB" => 1 << 30,
        unit => return Err(format!("{unit:?} is no unit; write 500MB or 5GiB")),
    };
    digits
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(unit))
        .ok_or_else(|| "write a whole number and a unit, such as 500MB or 5GiB".to_owned())
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_are_whole_numbers_with_a_known_unit() {
        assert_eq!(size("0"), Ok(0));
        assert_eq!(size("12B"), Ok(12));
        assert_eq!(size("500MB"), Ok(500_000_000));
        assert_eq!(size("5GiB"), Ok(5 << 30));
        for wrong in ["", "GiB", "-1", "1.5GB", "5gb", "5 GB", "99999999999GiB"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }
}
