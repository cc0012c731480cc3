//! Every kind of hazard has a test, and every test is of a kind that is listed.

use std::collections::BTreeSet;
use std::process::Command;

/// One name for each line; a line that starts with `#` is a heading.
const KINDS: &str = include_str!("kinds.txt");

/// What may never be missing: the kinds of the issue and those that its brief argues for, each with a test
/// that shows it.
const ALWAYS: &[(&str, &str)] = &[
    ("racily clean edits", "clock::racily_clean_edit"),
    (
        "racily clean, marked",
        "clock::racily_clean_edit_that_git_marked",
    ),
    ("trustctime", "clock::trustctime_false"),
    ("checkStat", "clock::checkstat_minimal"),
    ("filters", "filters::clean_filter"),
    ("filters that run on", "filters::process_filter"),
    ("LFS", "filters::lfs_clean"),
    ("LFS that runs on", "filters::lfs_process"),
    ("LFS itself", "filters::lfs_itself"),
    (
        "required filters",
        "filters::required_filter_that_fails_is_refused",
    ),
    ("eol", "conversions::eol_attribute"),
    ("core.eol", "conversions::core_eol_crlf"),
    ("autocrlf", "conversions::autocrlf_true"),
    ("autocrlf=input", "conversions::autocrlf_input"),
    ("ident", "conversions::ident"),
    ("working-tree-encoding", "conversions::utf_16le_bom"),
    ("file mode", "settings::file_mode_false"),
    ("symlinks", "settings::symlinks_false"),
    ("ignore-case", "settings::ignore_case_true"),
    ("assumed, present", "flags::assume_unchanged_present"),
    ("assumed, absent", "flags::assume_unchanged_absent"),
    ("skipped, present", "flags::skip_worktree_present"),
    ("skipped, absent", "flags::skip_worktree_absent"),
    (
        "assumed, same stat data",
        "flags::assume_unchanged_same_size_and_time",
    ),
    (
        "skipped, same stat data",
        "flags::skip_worktree_same_size_and_time",
    ),
    (
        "skipped in a sparse checkout",
        "sparse::hidden_edit_of_the_same_size_and_time",
    ),
    ("showUntrackedFiles=no", "settings::show_untracked_files_no"),
    ("excludes in the tree", "excludes::gitignore"),
    (
        "excludes in folders",
        "excludes::gitignore_nested_and_negated",
    ),
    ("excludes of the repository", "excludes::info_exclude"),
    ("excludes by setting", "excludes::core_excludes_file"),
    (
        "excludes of the user",
        "excludes::excludes_of_the_users_home",
    ),
    ("force-added", "excludes::ignored_then_forced"),
    ("removed and ignored", "excludes::removed_and_ignored"),
    ("staged", "staged::staged_only"),
    ("unmerged", "staged::unmerged_with_markers"),
    ("intent-to-add", "staged::intent_to_add"),
    ("file to folder", "files::file_to_folder"),
    ("file to link", "files::file_to_link"),
    ("file to FIFO", "files::file_to_fifo_is_refused"),
    ("folder to file", "files::folder_to_file"),
    ("folder to link", "files::folder_to_link"),
    ("folder to FIFO", "files::folder_to_fifo"),
    ("link to file", "files::link_to_file"),
    ("link to folder", "files::link_to_folder"),
    ("link to FIFO", "files::link_to_fifo_is_refused"),
    ("FIFO to others", "files::fifo_to_file_folder_and_link"),
    (
        "submodule moved",
        "submodule::a_moved_submodule_is_in_the_tree",
    ),
    (
        "submodule dirty",
        "submodule::edits_that_git_was_told_to_overlook_are_seen_inside",
    ),
    (
        "submodule hidden",
        "submodule::the_submodules_own_settings_hide_no_file",
    ),
    ("submodule ignored", "submodule::ignore_all_hides_no_edit"),
    (
        "submodule uninitialised",
        "submodule::a_submodule_that_is_not_initialised",
    ),
    ("submodule sparse", "submodule::a_sparse_submodule"),
    ("nested with commits", "nested::with_commits_is_refused"),
    ("nested without", "nested::without_commits_is_refused"),
    ("sparse cone", "sparse::cone"),
    ("sparse without cone", "sparse::non_cone"),
    ("sparse index", "sparse::sparse_index"),
    ("split index", "formats::split_index"),
    ("index version 2", "formats::index_version_2"),
    ("index version 3", "formats::index_version_3"),
    ("index version 4", "formats::index_version_4"),
    ("SHA-256", "formats::sha256"),
    ("reftable", "formats::reftable"),
    ("shallow", "places::shallow_clone"),
    ("partial", "places::partial_clone"),
    ("partial and sparse", "places::partial_clone_that_is_sparse"),
    ("alternates", "places::alternates"),
    ("linked worktrees", "places::linked_worktree"),
    ("--separate-git-dir", "places::separate_git_dir"),
    ("submodule as source", "places::submodule_as_the_source"),
    (
        "bare with worktrees",
        "places::bare_repository_with_worktrees",
    ),
    ("odd names", "names::line_breaks_and_tabs"),
    ("names not UTF-8", "names::not_utf_8"),
    ("hostile names", "names::escapes_and_bidirectional_text"),
    ("names of git's own", "names::names_that_git_uses_itself"),
    ("unreadable", "unreadable::file_is_refused_and_named"),
    (
        "unreadable folders",
        "unreadable::folder_is_refused_and_named",
    ),
    (
        "unreadable and new",
        "unreadable::new_folder_is_refused_and_named",
    ),
    ("vanishing", "moving::file_that_vanishes_once"),
    ("growing", "moving::file_that_grows"),
    ("truncated", "moving::file_that_is_truncated"),
    (
        "never quiet",
        "moving::file_that_vanishes_each_time_is_refused",
    ),
    ("never the same", "moving::file_that_never_holds_still"),
    (
        "moving, the quick way",
        "moving::quick_file_that_changes_before_git_reads_it",
    ),
    (
        "moving, the quick way, later",
        "moving::quick_file_that_changes_after_git_read_it",
    ),
    (
        "killed while it reads",
        "moving::quick_file_that_vanishes_or_is_cut_short_each_time",
    ),
    ("complaints", "refuse::a_complaint_of_git_is_never_noise"),
    (
        "three tries",
        "refuse::a_source_that_does_not_hold_still_is_refused",
    ),
    ("collected", "collected::at_every_step_of_a_pin"),
    (
        "what the quick way takes",
        "both_ways::every_kind_of_change_is_covered",
    ),
    (
        "settings that are left to git",
        "both_ways::settings_that_are_not_covered",
    ),
    (
        "states that are left to git",
        "both_ways::states_that_are_not_covered",
    ),
    ("random rounds", "rounds::first_quarter_on_the_set_clock"),
    (
        "random rounds, free clock",
        "rounds::third_quarter_on_the_free_clock",
    ),
    (
        "random rounds that are captured quickly",
        "plain_rounds::first_half_of_the_plain_rounds",
    ),
    (
        "random sparse rounds",
        "sparse_rounds::sparse_checkouts_have_what_full_ones_have",
    ),
    (
        "replace refs and grafts",
        "hostile::replaced_objects_and_grafts_are_not_believed",
    ),
    (
        "hooks",
        "hostile::hooks_monitors_aliases_and_helpers_never_run",
    ),
];

fn tests(more: &[&str]) -> BTreeSet<String> {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--list", "--format", "terse"])
        .args(more)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .filter_map(|line| line.strip_suffix(": test"))
        .map(str::to_owned)
        .collect()
}

#[test]
fn every_kind_has_a_test_and_every_test_a_kind() {
    let kinds: Vec<String> = KINDS
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(str::to_owned)
        .collect();
    let known: BTreeSet<String> = kinds.iter().cloned().collect();
    assert_eq!(kinds.len(), known.len(), "a kind is listed twice");
    for (kind, test) in ALWAYS {
        assert!(known.contains(*test), "{kind}: {test} is listed no more");
    }
    let mut tests = tests(&[]);
    tests.retain(|name| !name.starts_with("named::"));
    let missing: Vec<_> = known.difference(&tests).collect();
    assert!(missing.is_empty(), "kinds without a test: {missing:?}");
    let unknown: Vec<_> = tests.difference(&known).collect();
    assert!(unknown.is_empty(), "tests of no listed kind: {unknown:?}");
}

#[test]
fn none_is_left_out() {
    assert_eq!(tests(&["--ignored"]), BTreeSet::new());
}
