//! Under which paths the same folder can be reached.
//!
//! A bind mount gives a folder one more path, and who may read there reads what was hidden under the
//! first. What another kind of file system shows of the same files (an overlay its lower folder)
//! is not told from other files here.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, StatxFlags, statx};

/// What is mounted where, as this process sees it.
#[derive(Debug)]
pub(super) struct Mounts(Vec<Mount>);

/// A line of `mountinfo` (proc(5)).
#[derive(Debug)]
struct Mount {
    id: u64,
    /// Major and minor number of the file system.
    device: Vec<u8>,
    /// The folder of that file system that is mounted.
    root: PathBuf,
    place: PathBuf,
}

impl Mounts {
    /// What is mounted now.
    ///
    /// # Errors
    /// When `/proc` does not tell.
    pub(super) fn read() -> io::Result<Self> {
        Self::parse(&fs_err::read("/proc/self/mountinfo")?)
    }

    fn parse(text: &[u8]) -> io::Result<Self> {
        let lines = text.split(|byte| *byte == b'\n');
        let mounts = lines.filter(|line| !line.is_empty()).map(|line| {
            Mount::parse(line).ok_or_else(|| {
                let line = String::from_utf8_lossy(line);
                io::Error::other(format!("/proc/self/mountinfo holds an odd line: {line}"))
            })
        });
        mounts.collect::<io::Result<_>>().map(Self)
    }

    /// All paths of a folder, and those of parts of it that are mounted elsewhere. The first is the path
    /// itself, which must have no links in it; what is not there yet is looked at from above.
    ///
    /// # Errors
    /// When the system does not tell in which mount it lies.
    pub(super) fn names(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        let there = path.ancestors().find(|path| path.exists());
        let id = mount_of(there.unwrap_or_else(|| Path::new("/")))?;
        let others = self.other_names(path, id);
        let others = others.into_iter().filter_map(|(other, of)| {
            // Where something else was mounted over it meanwhile, nobody gets there.
            let same = identity(&of).is_none_or(|of| identity(&other) == Some(of));
            same.then_some(other)
        });
        let mut names = vec![path.to_owned()];
        names.extend(others);
        Ok(names)
    }

    /// Other paths, and of each what it is another path of: the folder itself or one below.
    fn other_names(&self, path: &Path, mount: u64) -> Vec<(PathBuf, PathBuf)> {
        let Some(own) = self.0.iter().find(|own| own.id == mount) else {
            return Vec::new();
        };
        let Ok(below) = path.strip_prefix(&own.place) else {
            return Vec::new();
        };
        let within = own.root.join(below);
        let others = self
            .0
            .iter()
            .filter(|other| other.id != own.id && other.device == own.device);
        let named = others.filter_map(|other| {
            if let Ok(rest) = within.strip_prefix(&other.root) {
                Some((joined(&other.place, rest), path.to_owned()))
            } else {
                let rest = other.root.strip_prefix(&within).ok()?;
                Some((other.place.clone(), joined(path, rest)))
            }
        });
        named.collect()
    }
}

impl Mount {
    fn parse(line: &[u8]) -> Option<Self> {
        let mut fields = line.split(|byte| *byte == b' ');
        let id = str::from_utf8(fields.next()?).ok()?.parse().ok()?;
        let device = fields.nth(1)?.to_owned();
        Some(Self {
            id,
            device,
            root: unescaped(fields.next()?),
            place: unescaped(fields.next()?),
        })
    }
}

/// Without the slash at the end that joining nothing leaves.
fn joined(folder: &Path, rest: &Path) -> PathBuf {
    folder.join(rest).components().collect()
}

/// Spaces, tabs, newlines and backslashes stand there in octal.
fn unescaped(mut field: &[u8]) -> PathBuf {
    let mut path = Vec::with_capacity(field.len());
    while let [byte, rest @ ..] = field {
        if let [
            b'\\',
            high @ b'0'..=b'3',
            middle @ b'0'..=b'7',
            low @ b'0'..=b'7',
            after @ ..,
        ] = field
        {
            path.push((high - b'0') << 6 | (middle - b'0') << 3 | (low - b'0'));
            field = after;
        } else {
            path.push(*byte);
            field = rest;
        }
    }
    OsString::from_vec(path).into()
}

fn mount_of(path: &Path) -> io::Result<u64> {
    let found = statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::MNT_ID)?;
    Ok(found.stx_mnt_id)
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    let found = fs_err::symlink_metadata(path).ok()?;
    Some((found.dev(), found.ino()))
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::Mounts;

    const TABLE: &str = r"1 0 8:1 / / rw - ext4 /dev/sda1 rw
2 1 0:5 / /proc rw shared:7 - proc proc rw
3 1 8:1 /home/ann/tmp /tmp rw master:1 - ext4 /dev/sda1 rw
4 1 8:2 /data/home /home rw - ext4 /dev/sdb1 rw
5 1 8:2 / /mnt/the\040disk rw - ext4 /dev/sdb1 rw
6 1 8:2 /data/home/ann/.cache/x/jobs /srv/jobs rw - ext4 /dev/sdb1 rw
";

    fn others(path: &str, mount: u64) -> Vec<(PathBuf, PathBuf)> {
        let mounts = Mounts::parse(TABLE.as_bytes()).unwrap();
        mounts.other_names(Path::new(path), mount)
    }

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(PathBuf, PathBuf)> {
        let owned = |path: &str| PathBuf::from(path);
        pairs.iter().map(|(a, b)| (owned(a), owned(b))).collect()
    }

    #[test]
    fn a_folder_has_a_path_in_each_mount_of_its_file_system() {
        assert_eq!(
            others("/home/ann/.cache/x", 4),
            pairs(&[
                ("/mnt/the disk/data/home/ann/.cache/x", "/home/ann/.cache/x"),
                ("/srv/jobs", "/home/ann/.cache/x/jobs"),
            ])
        );
        // In the first file system, below what /home hides now.
        assert_eq!(
            others("/home/ann/tmp/x", 1),
            pairs(&[("/tmp/x", "/home/ann/tmp/x")])
        );
        assert_eq!(others("/tmp/x", 3), pairs(&[("/home/ann/tmp/x", "/tmp/x")]));
        assert_eq!(others("/var/cache", 1), []);
        assert_eq!(others("/proc/1", 2), []);
    }

    #[test]
    fn what_is_no_table_is_refused() {
        for odd in ["1 0 8:1 /", "x 0 8:1 / / rw"] {
            assert!(Mounts::parse(odd.as_bytes()).is_err(), "{odd}");
        }
    }

    /// The kernel's own table, with a file system that everybody has mounted once.
    #[test]
    fn this_systems_table_is_read() {
        let mounts = Mounts::read().unwrap();
        assert!(!mounts.0.is_empty());
        let names = mounts.names(Path::new("/proc/self")).unwrap();
        assert_eq!(names[0], Path::new("/proc/self"));
    }
}
