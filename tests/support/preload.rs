//! Pieces of C that stand before the system's own functions in a program that a test starts: for what a
//! program asks the system alone.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds such a piece in a folder; its path is what `LD_PRELOAD` is set to.
pub fn built(folder: &Path, name: &str, source: &str) -> PathBuf {
    let (text, library) = (
        folder.join(format!("{name}.c")),
        folder.join(format!("{name}.so")),
    );
    std::fs::write(&text, source).unwrap();
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC", "-O1", "-o"])
        .args([&library, &text])
        .arg("-ldl");
    let output = cc.output();
    let output =
        output.unwrap_or_else(|error| panic!("a C compiler is needed, as for the build: {error}"));
    assert!(output.status.success(), "{output:?}");
    library
}

/// A monotonic clock that a test sets forward: the seconds in a file are added to the system's.
pub struct Clock {
    library: PathBuf,
    seconds: PathBuf,
}

const CLOCK: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
static volatile long long *ahead;
__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("TEST_CLOCK");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file >= 0) {
        void *page = mmap(0, sizeof *ahead, PROT_READ, MAP_SHARED, file, 0);
        if (page != MAP_FAILED) ahead = page;
    }
}
int clock_gettime(clockid_t clock, struct timespec *now) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int failed = real(clock, now);
    if (!failed && clock == CLOCK_MONOTONIC && ahead) now->tv_sec += *ahead;
    return failed;
}
"#;

impl Clock {
    pub fn new(folder: &Path) -> Self {
        let seconds = folder.join("ahead");
        std::fs::write(&seconds, [0; 8]).unwrap();
        Self {
            library: built(folder, "clock", CLOCK),
            seconds,
        }
    }
    /// This program goes by it, and what it starts does not.
    pub fn of(&self, command: &mut Command) {
        command
            .env("LD_PRELOAD", &self.library)
            .env("TEST_CLOCK", &self.seconds);
    }
    /// So many seconds are over since the program began, besides those of the system.
    pub fn ahead(&self, seconds: i64) {
        use std::os::unix::fs::FileExt as _;
        let file = std::fs::File::options().write(true).open(&self.seconds);
        file.unwrap().write_at(&seconds.to_ne_bytes(), 0).unwrap();
    }
}
