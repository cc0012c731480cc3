//! Attacks on the report's path: nothing but a plain file of the job's own is read.

use std::os::unix::fs::PermissionsExt as _;

use run_loop::domain::job::Ended;
use tokio_util::sync::CancellationToken;

use crate::job::World;
use crate::support::agents::{Point, within};

/// Runs a script that does something to `$RUN_LOOP_JOB_REPORT`; why it is unusable.
async fn unusable(script: &str) -> String {
    let world = World::script(script).report_is_a_file();
    std::fs::write(world.root().join("foreign"), "VERDICT: PASS\n").unwrap();
    let done = world.dispatch().await;
    assert_eq!(
        done.ended,
        Ended::Exited { code: 0 },
        "{}",
        done.stderr_tail
    );
    assert_eq!(done.report, None);
    assert_eq!(
        std::fs::read(world.root().join("foreign")).unwrap(),
        b"VERDICT: PASS\n"
    );
    done.unusable.unwrap()
}

#[tokio::test]
async fn a_symbolic_link_is_not_followed() {
    for target in ["../foreign", "/etc/hostname", "/no/such/file", "report.md"] {
        let reason = unusable(&format!("ln -s {target} \"$RUN_LOOP_JOB_REPORT\"")).await;
        assert_eq!(reason, "the report file is a symbolic link", "{target}");
    }
}

/// Reading must not wait for a writer that never comes.
#[tokio::test]
async fn a_fifo_does_not_hang_us() {
    let reason = unusable("mkfifo \"$RUN_LOOP_JOB_REPORT\"").await;
    assert_eq!(reason, "the report file is a FIFO");
}

#[tokio::test]
async fn a_hard_link_to_a_foreign_file_is_refused() {
    let reason = unusable("ln ../foreign \"$RUN_LOOP_JOB_REPORT\"").await;
    assert_eq!(reason, "the report file has another name too (a hard link)");
}

#[tokio::test]
async fn a_folder_is_refused() {
    let reason = unusable("mkdir \"$RUN_LOOP_JOB_REPORT\"").await;
    assert_eq!(reason, "the report file is a folder");
}

#[tokio::test]
async fn a_huge_file_is_refused_without_being_read() {
    let reason = unusable("truncate -s 100G \"$RUN_LOOP_JOB_REPORT\"").await;
    assert_eq!(reason, "the report file is larger than 1048576 bytes");
}

#[tokio::test]
async fn the_largest_report_is_read() {
    let world = World::script("head -c 1048576 /dev/zero > \"$RUN_LOOP_JOB_REPORT\"");
    let done = world.report_is_a_file().dispatch().await;
    assert_eq!(done.report.unwrap().as_came().len(), 1_048_576);
}

/// A job folder that was replaced by a link is not followed: the report is looked for in the
/// folder that was made, whatever stands at its path.
#[tokio::test]
async fn a_replaced_job_folder_is_not_followed() {
    let world = World::script(
        "job=$(dirname \"$RUN_LOOP_JOB_REPORT\"); cp -r \"$job\" \"$job.copy\"; \
         echo forged > \"$job.copy/report.md\"; mv \"$job\" \"$job.aside\"; ln -s \"$job.copy\" \"$job\"",
    )
    .report_is_a_file();
    let folder = world.job_folder();
    let done = world.dispatch_in(&folder, CancellationToken::new()).await;
    assert_eq!(
        done.ended,
        Ended::Exited { code: 0 },
        "{}",
        done.stderr_tail
    );
    assert_eq!((done.report, done.unusable), (None, None));
}

#[tokio::test]
async fn a_report_that_is_not_ours_to_read_is_told() {
    let world =
        World::script("echo x > \"$RUN_LOOP_JOB_REPORT\"; chmod 000 \"$RUN_LOOP_JOB_REPORT\"")
            .report_is_a_file();
    let probe = world.root().join("probe");
    std::fs::write(&probe, "").unwrap();
    std::fs::set_permissions(&probe, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::read(&probe).is_ok() {
        // This user may read everything; there is nothing to show.
        return;
    }
    let done = world.dispatch().await;
    assert!(done.unusable.unwrap().contains("cannot be opened"));
}

/// A captured output that somebody else wrote to is no report, neither the honest nor the other.
#[tokio::test]
async fn a_changed_capture_is_no_report() {
    let world = World::script("echo honest; echo > up; read -r _ < go");
    let [up, go] = ["up", "go"].map(|name| Point::new(&world.tree(), name));
    let folder = world.job_folder();
    let capture = folder.stdout();
    let tampering = tokio::task::spawn_blocking(move || {
        up.reached();
        // Written before it, the honest bytes would land on the forged ones.
        let captured = capture.clone();
        within("the report to be captured", move || {
            while std::fs::read(&captured).unwrap() != b"honest\n" {
                std::thread::yield_now();
            }
        });
        std::fs::write(capture, "forged\n").unwrap();
        go.release();
    });
    let done = world.dispatch_in(&folder, CancellationToken::new());
    let (done, tampered) = tokio::join!(done, tampering);
    tampered.unwrap();
    assert_eq!(done.report, None);
    assert!(done.unusable.unwrap().contains("changed"));
}
