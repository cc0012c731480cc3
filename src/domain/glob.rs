//! Globs over repository paths, for exclusions, policies and lists of files.
//!
//! Matching is by bytes and always of the whole path: `*.lock` is a file at the root, and
//! `**/*.lock` one at any depth. A pattern that could be read in two ways is refused, since a
//! glob that hides less or more than its author meant is worse than none.

use std::fmt;

/// A pattern over whole repository paths.
///
/// `*` stands for any characters within one component, `?` for one character, `**` as a whole
/// component for any number of components (at the end: at least one), and `\` takes the special
/// meaning from the character after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob {
    text: String,
    components: Vec<Component>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Component {
    AnyDepth,
    Name(Vec<Token>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token {
    Byte(u8),
    One,
    Any,
}

/// Why a text is no glob; fits after "glob `…` ".
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum GlobError {
    /// It is empty.
    #[error("is empty")]
    Empty,
    /// It starts or ends with a slash, or has two in a row.
    #[error("has an empty component: write it relative to the root, and a folder as `folder/**`")]
    EmptyComponent,
    /// A component is `.` or `..`.
    #[error("has a component `.` or `..`, which no repository path has")]
    Dots,
    /// `**` stands beside other characters.
    #[error("has `**` beside other characters: write `**/*.rs` for any depth")]
    PartOfComponent,
    /// A character that other glob languages read as special.
    #[error("uses `{0}`, which is not supported: put `\\` before it to mean the character")]
    Unsupported(char),
    /// It ends in a lone backslash.
    #[error("ends in a lone `\\`")]
    LoneBackslash,
}

impl Glob {
    /// Reads a pattern.
    ///
    /// # Errors
    /// When the text could be meant in another way than it would be matched.
    pub fn parse(text: &str) -> Result<Self, GlobError> {
        if text.is_empty() {
            return Err(GlobError::Empty);
        }
        if text.starts_with('!') {
            return Err(GlobError::Unsupported('!'));
        }
        let mut components = text
            .split('/')
            .map(component)
            .collect::<Result<Vec<_>, _>>()?;
        if components.last() == Some(&Component::AnyDepth) {
            components.push(Component::Name(vec![Token::Any]));
        }
        Ok(Self {
            text: text.to_owned(),
            components,
        })
    }
    /// The pattern as written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }
    /// Whether the whole path matches.
    #[must_use]
    pub fn matches(&self, path: &[u8]) -> bool {
        let names: Vec<&[u8]> = path.split(|byte| *byte == b'/').collect();
        // Going back to the last `**` alone is enough: what an earlier one could take, the
        // later one can take too.
        let (mut at, mut name, mut back) = (0, 0, None);
        while name < names.len() {
            match self.components.get(at) {
                Some(Component::AnyDepth) => {
                    back = Some((at, name));
                    at += 1;
                }
                Some(Component::Name(tokens)) if name_matches(tokens, names[name]) => {
                    at += 1;
                    name += 1;
                }
                Some(Component::Name(_)) | None => {
                    let Some((star, taken)) = back else {
                        return false;
                    };
                    back = Some((star, taken + 1));
                    at = star + 1;
                    name = taken + 1;
                }
            }
        }
        at == self.components.len()
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn component(text: &str) -> Result<Component, GlobError> {
    match text {
        "" => return Err(GlobError::EmptyComponent),
        "." | ".." => return Err(GlobError::Dots),
        "**" => return Ok(Component::AnyDepth),
        _ => {}
    }
    let mut tokens = Vec::new();
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let token = match byte {
            b'\\' => Token::Byte(bytes.next().ok_or(GlobError::LoneBackslash)?),
            b'*' if tokens.last() == Some(&Token::Any) => return Err(GlobError::PartOfComponent),
            b'*' => Token::Any,
            b'?' => Token::One,
            b'[' | b']' | b'{' | b'}' => return Err(GlobError::Unsupported(char::from(byte))),
            _ => Token::Byte(byte),
        };
        tokens.push(token);
    }
    Ok(Component::Name(tokens))
}

fn name_matches(tokens: &[Token], name: &[u8]) -> bool {
    let (mut at, mut byte, mut back) = (0, 0, None);
    while byte < name.len() {
        match tokens.get(at) {
            Some(Token::Any) => {
                back = Some((at, byte));
                at += 1;
            }
            Some(Token::One) => {
                at += 1;
                byte += character(&name[byte..]);
            }
            Some(Token::Byte(wanted)) if *wanted == name[byte] => {
                at += 1;
                byte += 1;
            }
            Some(Token::Byte(_)) | None => {
                let Some((star, taken)) = back else {
                    return false;
                };
                let next = taken + character(&name[taken..]);
                back = Some((star, next));
                at = star + 1;
                byte = next;
            }
        }
    }
    tokens[at..].iter().all(|token| *token == Token::Any)
}

/// The length of the first character; of a byte that starts none, 1.
fn character(bytes: &[u8]) -> usize {
    (1..=bytes.len().min(4))
        .find(|length| std::str::from_utf8(&bytes[..*length]).is_ok())
        .unwrap_or(1)
}

#[cfg(test)]
mod tests;
