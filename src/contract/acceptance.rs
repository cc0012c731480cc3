//! The numbered acceptance items of a plan.

use std::collections::BTreeSet;

use pulldown_cmark::{Event, HeadingLevel, Parser, Tag, TagEnd};

/// The numbers under a heading with the word `Acceptance`, as they are written: those are what agents are
/// shown, whatever a Markdown reader would make of them. None where the plan has no such list.
#[must_use]
pub fn items(plan: &str) -> BTreeSet<u32> {
    numbers(plan).into_iter().collect()
}

/// What is to be known of a plan of which reviewers answer no item, since it numbers none, or one of which
/// they answer several at once.
#[must_use]
pub fn notice(plan: &str) -> Option<String> {
    let numbers = numbers(plan);
    if numbers.is_empty() {
        let none = "the plan has no numbered acceptance items, so that no reviewer answers any: they are the \
                    numbered list below a heading with the word Acceptance";
        return Some(none.to_owned());
    }
    let mut once = BTreeSet::new();
    let again = numbers.into_iter().filter(|number| !once.insert(*number));
    let again: BTreeSet<u32> = again.collect();
    (!again.is_empty()).then(|| {
        let again: Vec<String> = again.iter().map(u32::to_string).collect();
        format!(
            "the plan has several acceptance items with the number {}: reviewers answer a number, and one \
             answer counts for all items that have it",
            again.join(", ")
        )
    })
}

/// The numbers in the order of their items. Lists within an item are part of it.
fn numbers(plan: &str) -> Vec<u32> {
    let mut found = Vec::new();
    let mut section: Option<HeadingLevel> = None;
    let mut heading: Option<(HeadingLevel, String)> = None;
    let mut depth = 0_usize;
    let mut numbered = false;
    for (event, range) in Parser::new(plan).into_offset_iter() {
        if let Event::Start(Tag::Heading { level, .. }) = event {
            heading = (depth == 0).then(|| (level, String::new()));
        } else if let Event::Text(text) | Event::Code(text) = event {
            if let Some((_, title)) = &mut heading {
                title.push_str(&text);
            }
        } else if let Event::End(TagEnd::Heading(_)) = event {
            if let Some((level, title)) = heading.take() {
                section = follows(section, level, &title);
            }
        } else if let Event::Start(Tag::List(first)) = event {
            if depth == 0 {
                numbered = first.is_some();
            }
            depth += 1;
        } else if let Event::Start(Tag::Item) = event {
            if depth == 1 && numbered && section.is_some() {
                found.extend(plan.get(range).and_then(written));
            }
            depth += 1;
        } else if let Event::Start(Tag::BlockQuote(_)) = event {
            depth += 1;
        } else if let Event::End(TagEnd::Item | TagEnd::List(_) | TagEnd::BlockQuote(_)) = event {
            depth = depth.saturating_sub(1);
        }
    }
    found
}

/// The number that an item begins with.
fn written(item: &str) -> Option<u32> {
    let item = item.trim_start();
    let end = item.find(|c: char| !c.is_ascii_digit())?;
    item[..end].parse().ok()
}

/// In which section one is after a heading: that of the acceptance items goes on below headings of a
/// lower rank.
fn follows(
    section: Option<HeadingLevel>,
    level: HeadingLevel,
    title: &str,
) -> Option<HeadingLevel> {
    let mut words = title.split(|c: char| !c.is_alphanumeric());
    let names_it = words.any(|word| word.eq_ignore_ascii_case("acceptance"));
    section
        .filter(|of| level > *of)
        .or_else(|| names_it.then_some(level))
}

#[cfg(test)]
mod tests {
    use super::{items, notice};

    fn found(plan: &str) -> Vec<u32> {
        items(plan).into_iter().collect()
    }

    #[test]
    fn the_numbers_under_the_heading_count() {
        let plan = "# A plan\n\n1. Do it.\n2. Test it.\n\n## Acceptance\n\nAll of:\n\n1. It is there.\n   1. in a file\n   2. of its own\n2. It is tested:\n\n   > 1. quoted\n\n```\n7. no item\n```\n\n4. `cargo test` passes.\n\n### Later\n\n5. It is fast.\n\n## Not now\n\n6. The rest.\n";
        assert_eq!(found(plan), [1, 2, 4, 5]);
    }

    #[test]
    fn a_list_elsewhere_is_none() {
        for none in [
            "",
            "1. Do it.\n",
            "## Acceptance\n\n- It is there.\n",
            "## Acceptance\n\n> 1. It is there.\n",
            "> ## Acceptance\n\n1. It is there.\n",
            "Acceptance\n\n1. It is there.\n",
        ] {
            assert!(found(none).is_empty(), "{none}");
        }
        for (heading, items) in [
            ("Acceptance:\n===\n\n3. one\n4. two\n", &[3, 4][..]),
            ("## 3. Acceptance criteria\n\n0. one\n1. two\n", &[0, 1]),
            ("### `acceptance`\n\n1) one\n", &[1]),
            (
                "## Acceptance\n\n### Acceptance tests\n\n1. one\n\n### Speed\n\n2. two\n\n## Rest\n\n3. three\n",
                &[1, 2],
            ),
        ] {
            assert_eq!(found(heading), items, "{heading}");
        }
    }

    /// An agent sees the plan as it is written: a refinement that drops an item leaves a gap, and a list
    /// may repeat one number.
    #[test]
    fn a_number_is_what_is_written() {
        for (list, items) in [
            ("1. one\n3. three\n", &[1, 3][..]),
            ("2. one\n\n   more\n\n9. two\n", &[2, 9]),
            ("  7) one\n  3) two\n", &[3, 7]),
            ("1. one\n1. two\n1. three\n", &[1]),
            ("007. one\n", &[7]),
            ("12.\n13. two\n", &[12, 13]),
            ("1. one\r\n4. two\r\n", &[1, 4]),
        ] {
            assert_eq!(found(&format!("# Acceptance\n\n{list}")), items, "{list}");
        }
    }

    /// Two lists below one heading melt together, and so do items of one number: that is told.
    #[test]
    fn numbers_that_stand_twice_are_told() {
        let of = |list: &str| notice(&format!("# Acceptance\n\n{list}"));
        for fine in [
            "1. one\n2. two\n",
            "1. one\n3. two\n   1. within\n   2. it\n",
        ] {
            assert_eq!(of(fine), None, "{fine}");
        }
        for (twice, numbers) in [
            ("1. one\n1. two\n1. three\n", "the number 1:"),
            (
                "1. one\n2. two\n\nAnd:\n\n1. fast\n2. small\n",
                "the number 1, 2:",
            ),
        ] {
            let told = of(twice).unwrap();
            assert!(told.contains(numbers), "{told}");
        }
        assert!(of("- none\n").unwrap().contains("no numbered"));
    }
}
