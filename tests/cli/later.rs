//! What the design names and this version does not have: exit 2, by name, with what works.

use crate::machine::Machine;

#[test]
fn commands_of_later_versions_end_2_and_name_what_helps() {
    let machine = Machine::new();
    for name in ["init", "events", "hook", "report"] {
        machine.refuses(&[name], 2, "RL0012", &format!("`{name}`"));
        machine.refuses(
            &[name, "install", "--what", "ever"],
            2,
            "RL0012",
            &format!("`{name}`"),
        );
    }
}

#[test]
fn options_of_later_versions_end_2_and_are_left_out_of_the_next_command() {
    let machine = Machine::new();
    let without = "run-loop --base main --review-only";
    for option in [&["--max-cost", "3.50"][..], &["--max-wall", "60"]] {
        let args = [&["--base", "main", "--review-only"], option].concat();
        let name = option[0].split('=').next().unwrap();
        assert_eq!(machine.refuses(&args, 2, "RL0012", name), without);
    }
    machine.refuses(
        &["add a parser", "--creator", "a", "--max-wall", "60"],
        2,
        "RL0012",
        "--max-wall",
    );
}
