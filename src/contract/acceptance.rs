//! The numbered acceptance items of a plan.

use std::collections::BTreeSet;

use pulldown_cmark::{Event, HeadingLevel, Parser, Tag, TagEnd};

/// The numbers under a heading with the word `Acceptance`, as a Markdown reader shows them, ascending; none where
/// the plan has no such list. Lists within an item are part of it.
#[must_use]
pub fn items(plan: &str) -> BTreeSet<u32> {
    let mut found = BTreeSet::new();
    let mut section: Option<HeadingLevel> = None;
    let mut heading: Option<(HeadingLevel, String)> = None;
    let mut depth = 0_usize;
    let mut next = None;
    for event in Parser::new(plan) {
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
                next = first;
            }
            depth += 1;
        } else if let Event::Start(Tag::Item) = event {
            if let (1, Some(number)) = (depth, next) {
                found.extend(section.and_then(|_| u32::try_from(number).ok()));
                next = Some(number + 1);
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

/// What is to be known of a plan of which reviewers answer no item, since it numbers none.
#[must_use]
pub fn notice(plan: &str) -> Option<&'static str> {
    items(plan).is_empty().then_some(
        "the plan has no numbered acceptance items, so that no reviewer answers any: they are the numbered \
         list below a heading with the word Acceptance",
    )
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
    use super::items;

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
            ("Acceptance:\n===\n\n3. one\n3. two\n", &[3, 4][..]),
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
}
