//! `config show` and `config trust`.

use crate::machine::Machine;

#[test]
fn every_value_is_shown_with_layer_file_and_line() {
    let machine = Machine::new()
        .at_base("run-loop.yaml", "version: 1\nreview:\n  max-rounds: 7\n")
        .user_file("version: 1\nroles: {creator: ann}\n");
    let shown = machine.run(&["config", "show", "--origin", "--base", "main"]);
    assert_eq!(shown.code, 0, "{shown:?}");
    let base = machine.repo.git(&["rev-parse", "main"]);
    let line = |key: &str| {
        let mut words = shown
            .stdout
            .lines()
            .find(|line| line.starts_with(key))
            .unwrap()
            .split_whitespace()
            .skip(1);
        (
            words.next().unwrap().to_owned(),
            words.collect::<Vec<_>>().join(" "),
        )
    };
    assert_eq!(
        line("review.max-rounds"),
        (
            "7".into(),
            format!("repository run-loop.yaml at {}:3", &base[..12])
        )
    );
    let user = machine.home().join("config/run-loop/config.yaml");
    assert_eq!(
        line("roles.creator"),
        ("\"ann\"".into(), format!("user {}:2", user.display()))
    );
    assert_eq!(
        line("review.fail-on"),
        ("\"medium\"".into(), "default".into())
    );

    let json = machine.run(&["config", "show", "--base", "main", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    let row = json["values"]
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["key"] == "review.max-rounds")
        .unwrap();
    assert_eq!(row["origin"]["line"], 3);
    assert_eq!(row["origin"]["layer"], "repository");
}

#[test]
fn outside_of_a_repository_the_users_own_file_is_shown() {
    let machine = Machine::new().user_file("version: 1\nlimits: {job-timeout: 9}\n");
    let outside = machine.repo.beside("outside");
    std::fs::create_dir(&outside).unwrap();
    let shown = machine.run_in(&outside, &["config", "show", "--origin"]);
    assert_eq!(shown.code, 0, "{shown:?}");
    assert!(shown.stdout.contains("config.yaml:2"), "{}", shown.stdout);
}

/// Trust is of exact bytes, for one repository, and holds in all its working trees.
#[test]
fn trust_is_recorded_for_this_user_alone() {
    let machine = Machine::new();
    machine.refuses(&["config", "trust"], 2, "RL0009", "nothing to trust");
    machine.repo.write("run-loop.yaml", "version: 2\n");
    machine.refuses(
        &["config", "trust"],
        2,
        "RL0009",
        "`version` is the number 2",
    );
    machine.repo.write("run-loop.yaml", "version: 1\n");
    assert_eq!(machine.run(&["config", "trust"]).code, 0);
    let list = machine.home().join("config/run-loop/trusted.json");
    let first = std::fs::read_to_string(&list).unwrap();
    assert_eq!(
        machine.run(&["config", "trust"]).code,
        0,
        "a second time changes nothing"
    );
    assert_eq!(std::fs::read_to_string(&list).unwrap(), first);
    assert_eq!(
        machine.repo.git(&["status", "--porcelain"]),
        "?? run-loop.yaml"
    );
    std::fs::write(&list, "{").unwrap();
    machine.refuses(&["config", "trust"], 2, "RL0009", "trusted.json");
}
