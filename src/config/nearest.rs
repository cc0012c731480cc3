//! Suggestions for mistyped names.

/// The name nearest to `word`, if it is near enough to be a typo of it.
#[must_use]
pub fn nearest<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let allowed = (word.chars().count() / 3).clamp(1, 3);
    ranked(word, names)
        .filter(|(distance, _)| *distance <= allowed)
        .map(|(_, name)| name)
}

fn ranked<'a>(word: &str, names: impl IntoIterator<Item = &'a str>) -> Option<(usize, &'a str)> {
    let word = folded(word);
    names
        .into_iter()
        .map(|name| (distance(&word, &folded(name)), name))
        .min_by_key(|(distance, _)| *distance)
}

/// Case and the two ways to join words do not make names different.
fn folded(name: &str) -> Vec<char> {
    name.to_lowercase().replace('_', "-").chars().collect()
}

/// Edits between two words: insert, delete, replace, swap of neighbours.
fn distance(left: &[char], right: &[char]) -> usize {
    let mut rows: Vec<Vec<usize>> = vec![(0..=right.len()).collect()];
    for (i, l) in left.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, r) in right.iter().enumerate() {
            let mut best = (rows[i][j] + usize::from(l != r))
                .min(rows[i][j + 1] + 1)
                .min(row[j] + 1);
            if i > 0 && j > 0 && *l == right[j - 1] && left[i - 1] == *r {
                best = best.min(rows[i - 1][j - 1] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[left.len()][right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typo_finds_its_name_and_a_stranger_does_not() {
        let names = ["gate", "status", "max-rounds"];
        assert_eq!(nearest("gaet", names), Some("gate"));
        assert_eq!(nearest("max_round", names), Some("max-rounds"));
        assert_eq!(nearest("banana", names), None);
    }
}
