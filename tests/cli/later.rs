//! What the design names and this version does not have: exit 2, by name, with what works.

use crate::machine::Machine;

#[test]
fn commands_of_later_versions_end_2_and_name_what_helps() {
    let machine = Machine::new();
    for name in ["hook", "report"] {
        machine.refuses(&[name], 2, "RL0012", &format!("`{name}`"));
        machine.refuses(
            &[name, "install", "--what", "ever"],
            2,
            "RL0012",
            &format!("`{name}`"),
        );
    }
}
