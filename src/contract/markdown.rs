//! Where things stand in a report: at its top level, or in a quote, a list, another block.
//!
//! Two readings must agree before a block counts: a line scan that sees every opening fence with
//! the tag, whatever stands around it, and `CommonMark`, which says what a Markdown reader sees.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};

use crate::domain::path::is_invisible;

/// The info string of the block that holds a review's verdict.
pub(super) const VERDICT_TAG: &str = "run-loop-verdict";
/// The info string of the block that holds objections to a plan.
pub(super) const CHALLENGE_TAG: &str = "run-loop-challenge";
/// The info string of the block that answers findings.
pub(super) const ANSWERS_TAG: &str = "run-loop-answers";
/// The info string of the block that rules on findings.
pub(super) const RULINGS_TAG: &str = "run-loop-rulings";

/// A report's text: without a byte order mark, every line end a line feed.
pub(super) struct Report {
    text: String,
}

impl Report {
    pub(super) fn new(text: &str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        Self {
            text: text.replace("\r\n", "\n").replace('\r', "\n"),
        }
    }
    pub(super) fn text(&self) -> &str {
        &self.text
    }
    pub(super) fn is_blank(&self) -> bool {
        is_blank(&self.text)
    }
    /// The content of the one block with this tag, if it stands where it counts; else what is wrong.
    pub(super) fn block(&self, tag: &str) -> Result<String, String> {
        let openings = openings(&self.text, tag);
        let opening = match openings.as_slice() {
            [] => {
                return Err(format!("the report has no fenced block tagged `{tag}`"));
            }
            [one] => one,
            more => {
                return Err(format!(
                    "the report has {} blocks tagged `{tag}`; exactly one counts, so \
                     neither quote the prompt's nor show an example",
                    more.len()
                ));
            }
        };
        if opening.info != tag {
            return Err(format!("the block's tag must be `{tag}` and nothing else"));
        }
        let mut tagged = code_blocks(&self.text);
        tagged.retain(|block| block.info.to_ascii_lowercase().contains(tag));
        let [block] = tagged.as_slice() else {
            return Err(format!(
                "the `{tag}` block stands inside another block, or another one is hidden \
                 in the report; it must stand alone at the top level"
            ));
        };
        let starts_line = self.text.get(..block.range.start).map_or(0, |before| {
            before.bytes().filter(|byte| *byte == b'\n').count()
        });
        if block.depth > 0 || starts_line != opening.line {
            return Err(format!(
                "the `{tag}` block stands in a quote or a list; it must stand at the top \
                 level"
            ));
        }
        let raw = self.text.get(block.range.clone()).unwrap_or_default();
        if !is_closed(raw, opening) {
            return Err(format!(
                "the `{tag}` block is torn: its closing fence is missing"
            ));
        }
        let after = self.text.get(block.range.end..).unwrap_or_default();
        if !after.trim().is_empty() {
            return Err(format!(
                "text follows the `{tag}` block; the report must end with it"
            ));
        }
        Ok(block.text.clone())
    }
    /// The lines of top-level paragraphs, one vector per paragraph.
    pub(super) fn paragraphs(&self) -> Vec<Vec<&str>> {
        let mut depth = 0_usize;
        let mut found = Vec::new();
        for (event, range) in Parser::new(&self.text).into_offset_iter() {
            if let Event::Start(tag) = &event {
                if depth == 0 && *tag == Tag::Paragraph {
                    let paragraph = self.text.get(range).unwrap_or_default();
                    found.push(paragraph.trim_end_matches('\n').split('\n').collect());
                }
                depth += 1;
            } else if let Event::End(_) = event {
                depth = depth.saturating_sub(1);
            }
        }
        found
    }
}

/// Whether a text shows nothing to its reader.
pub(super) fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || is_invisible(c))
}

/// A line that opens a block with the tag, in whatever surroundings.
struct Opening<'t> {
    line: usize,
    fence: char,
    length: usize,
    info: &'t str,
}

/// The bodies of all verdict blocks, in whatever surroundings, closed or torn; for claims only.
pub(super) fn verdict_bodies(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.split('\n').collect();
    let openings = openings(text, VERDICT_TAG);
    let ends = openings
        .iter()
        .skip(1)
        .map(|next| next.line)
        .chain([lines.len()]);
    openings
        .iter()
        .zip(ends)
        .map(|(opening, end)| {
            let inside = lines.get(opening.line + 1..end).unwrap_or_default();
            let bare = inside
                .iter()
                .map(|line| line.trim_start_matches([' ', '\t', '>']));
            let open = bare.take_while(|line| !closes(line, opening));
            open.fold(String::new(), |body, line| body + line + "\n")
        })
        .collect()
}

fn openings<'t>(text: &'t str, tag: &str) -> Vec<Opening<'t>> {
    let lines = text.split('\n').enumerate();
    lines
        .filter_map(|(line, content)| opening(line, content, tag))
        .collect()
}

fn opening<'t>(line: usize, content: &'t str, tag: &str) -> Option<Opening<'t>> {
    let bare = without_containers(content);
    let fence = bare.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let info = bare.trim_start_matches(fence);
    let length = bare.len() - info.len();
    // A back tick in the info string makes it inline code.
    let inline = fence == '`' && info.contains('`');
    let tagged = info.to_ascii_lowercase().contains(tag);
    (length >= 3 && tagged && !inline).then(|| Opening {
        line,
        fence,
        length,
        info: info.trim(),
    })
}

/// The line without indentation, quote signs and list markers.
fn without_containers(mut line: &str) -> &str {
    loop {
        let bare = line.trim_start().trim_start_matches('>');
        let digits = bare.trim_start_matches(|c: char| c.is_ascii_digit());
        let marker = if digits.len() < bare.len() {
            digits.strip_prefix(['.', ')'])
        } else {
            bare.strip_prefix(['-', '*', '+'])
        };
        let bare = marker
            .filter(|rest| rest.starts_with([' ', '\t']))
            .unwrap_or(bare);
        if bare.len() == line.len() {
            return line;
        }
        line = bare;
    }
}

fn closes(line: &str, opening: &Opening<'_>) -> bool {
    let line = line.trim_end();
    line.len() >= opening.length && line.chars().all(|c| c == opening.fence)
}

fn is_closed(raw: &str, opening: &Opening<'_>) -> bool {
    let raw = raw.trim_end();
    raw.rsplit_once('\n').is_some_and(|(_, last)| {
        let bare = last.trim_start_matches(' ');
        last.len() - bare.len() <= 3 && closes(bare, opening)
    })
}

struct CodeBlock {
    info: String,
    text: String,
    depth: usize,
    range: Range<usize>,
}

fn code_blocks(text: &str) -> Vec<CodeBlock> {
    let mut blocks: Vec<CodeBlock> = Vec::new();
    let (mut depth, mut inside) = (0_usize, false);
    for (event, range) in Parser::new(text).into_offset_iter() {
        if let Event::Start(tag) = event {
            if let Tag::CodeBlock(CodeBlockKind::Fenced(info)) = tag {
                let (info, text) = (info.trim().to_owned(), String::new());
                blocks.push(CodeBlock {
                    info,
                    text,
                    depth,
                    range,
                });
                inside = true;
            }
            depth += 1;
        } else if let Event::End(tag) = event {
            inside &= tag != TagEnd::CodeBlock;
            depth = depth.saturating_sub(1);
        } else if let (true, Event::Text(piece), Some(block)) = (inside, event, blocks.last_mut()) {
            block.text.push_str(&piece);
        }
    }
    blocks
}
