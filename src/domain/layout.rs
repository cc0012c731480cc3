//! Where promoted files lie under the reports folder. The content tree leaves out exactly these.

use crate::domain::id::{JobId, LoopId};
use crate::domain::slot::SlotName;

/// The folder of the manifests; no slot may have this name.
pub const APPROVALS: &str = "approvals";

/// The largest promoted file in bytes: the content tree counts larger ones as content.
pub const MAX_BYTES: u64 = 1024 * 1024;

/// The name of a job's report in its slot's folder.
#[must_use]
pub fn report_name(job: JobId) -> String {
    format!("report-{job}.md")
}

/// The name of a job's sidecar in its slot's folder.
#[must_use]
pub fn sidecar_name(job: JobId) -> String {
    format!("report-{job}.identity.json")
}

/// The name of a run's plan in the planner's folder.
#[must_use]
pub fn plan_name(run: LoopId) -> String {
    format!("plan-{run}.md")
}

/// A plan's path relative to the control root.
#[must_use]
pub fn plan_path(reports: &str, run: LoopId) -> String {
    format!("{reports}/{}/{}", SlotName::planner(), plan_name(run))
}

/// The name of a run's manifest in the folder of the manifests.
#[must_use]
pub fn manifest_name(run: LoopId) -> String {
    format!("{run}.json")
}

/// The run that a file name in the folder of the manifests belongs to.
#[must_use]
pub fn manifest_run(name: &str) -> Option<LoopId> {
    LoopId::parse(name.strip_suffix(".json")?)
}

/// A report's path relative to the control root.
#[must_use]
pub fn report_path(reports: &str, slot: &SlotName, job: JobId) -> String {
    format!("{reports}/{slot}/{}", report_name(job))
}

/// A sidecar's path relative to the control root.
#[must_use]
pub fn sidecar_path(reports: &str, slot: &SlotName, job: JobId) -> String {
    format!("{reports}/{slot}/{}", sidecar_name(job))
}

/// A manifest's path relative to the control root.
#[must_use]
pub fn manifest_path(reports: &str, run: LoopId) -> String {
    format!("{reports}/{APPROVALS}/{}", manifest_name(run))
}
