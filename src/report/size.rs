//! Bytes, for people.

/// Bytes with a unit and one decimal: `1.5 GiB`.
#[must_use]
pub fn size(bytes: u64) -> String {
    let units = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    units
        .into_iter()
        .find(|(unit, _)| bytes >= *unit)
        .map_or_else(
            || format!("{bytes} B"),
            |(unit, name)| format!("{}.{} {name}", bytes / unit, bytes % unit * 10 / unit),
        )
}
