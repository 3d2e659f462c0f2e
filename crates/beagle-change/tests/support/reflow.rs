//! Lays out C anew: the same tokens with other white space, other lines and other comments.

/// A way to lay out code.
#[derive(Clone, Copy, Debug)]
pub enum Style {
    /// Each token on a line of its own.
    Tall,
    /// As few lines as the preprocessor allows.
    Wide,
    /// Lines broken here and there, and comments in between.
    Chatty,
}

impl Style {
    pub const ALL: [Style; 3] = [Style::Tall, Style::Wide, Style::Chatty];
}

/// Lays out a text anew. Directives keep their lines, without their comments.
pub fn reflow(text: &str, style: Style) -> String {
    let tokens = tokens(text);
    let stringifying = stringifying_macros(&tokens);
    let mut out = String::new();
    // The parentheses that are open in the arguments of a macro that turns them into a string.
    let mut depth = 0;
    for (i, token) in tokens.iter().enumerate() {
        let next = tokens.get(i + 1);
        out += &token.text;
        if token.is_directive || next.is_some_and(|next| next.is_directive) {
            out += "\n";
            continue;
        }
        match &token.text[..] {
            "(" if depth > 0 => depth += 1,
            "(" if i > 0 && stringifying.contains(&tokens[i - 1].text) => depth = 1,
            ")" if depth > 0 => depth -= 1,
            _ => {}
        }
        // There it matters whether there is space, but not how much.
        let glued = next.is_some_and(|next| !next.spaced);
        if depth > 0 && glued {
            continue;
        }
        out += match style {
            Style::Tall => "\n",
            Style::Wide => " ",
            Style::Chatty => match i % 7 {
                0 => "\n\t",
                3 => " /* a remark; } */ ",
                5 if depth == 0 => " // so { much for that\n",
                _ => " ",
            },
        };
    }
    out += "\n";
    out
}

/// A token, or a directive of the preprocessor with all its lines.
struct Token {
    text: String,
    is_directive: bool,
    /// Whether there is space before it.
    spaced: bool,
}

/// The macros that turn an argument into a string, as far as the text shows.
fn stringifying_macros(tokens: &[Token]) -> Vec<String> {
    let mut names = vec!["assert".to_owned()];
    for token in tokens.iter().filter(|token| token.is_directive) {
        let Some(rest) = token.text[1..].trim_start().strip_prefix("define") else {
            continue;
        };
        let end = rest.trim_start().find(|c: char| !is_word(c));
        let (name, body) = rest.trim_start().split_at(end.unwrap_or(0));
        if body.contains('#') || names.iter().any(|known| body.contains(&known[..])) {
            names.push(name.to_owned());
        }
    }
    names
}

fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = text;
    let mut at_line_start = true;
    let mut spaced = false;
    while let Some(first) = rest.chars().next() {
        let len = if first.is_whitespace() {
            at_line_start |= first == '\n';
            spaced = true;
            first.len_utf8()
        } else if let Some(len) = comment(rest) {
            spaced = true;
            len
        } else {
            let is_directive = first == '#' && at_line_start;
            let len = match is_directive {
                true => directive(rest),
                false => token(rest),
            };
            let text = match is_directive {
                true => without_comments(&rest[..len]),
                false => rest[..len].to_owned(),
            };
            tokens.push(Token {
                text,
                is_directive,
                spaced,
            });
            at_line_start = false;
            spaced = false;
            len
        };
        rest = &rest[len..];
    }
    tokens
}

fn comment(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    let inner = text.strip_prefix("/*")?;
    Some(inner.find("*/").map_or(text.len(), |at| at + 4))
}

/// The length of a directive, over lines that are continued and comments that span lines.
fn directive(text: &str) -> usize {
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        at += match comment(rest) {
            Some(len) => len,
            None if rest.starts_with("\\\n") => 2,
            None if rest.starts_with('\n') => return at,
            None if rest.starts_with(['"', '\'']) => quoted(rest),
            None => rest.chars().next().map_or(1, char::len_utf8),
        };
    }
    at
}

fn without_comments(directive: &str) -> String {
    let mut out = String::new();
    let mut at = 0;
    while at < directive.len() {
        let rest = &directive[at..];
        let len = match comment(rest) {
            Some(len) => {
                out += " ";
                at += len;
                continue;
            }
            None if rest.starts_with(['"', '\'']) => quoted(rest),
            None => rest.chars().next().map_or(1, char::len_utf8),
        };
        out += &rest[..len];
        at += len;
    }
    out
}

/// The length of a string or character with its quotes.
fn quoted(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 1;
    while at < bytes.len() && bytes[at] != bytes[0] && bytes[at] != b'\n' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(bytes.len())
}

fn token(text: &str) -> usize {
    const LONG: &[&str] = &[
        "...", "<<=", ">>=", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||",
        "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "##",
    ];
    let first = text.chars().next().unwrap_or(' ');
    let number = first.is_ascii_digit()
        || (first == '.' && text[1..].starts_with(|c: char| c.is_ascii_digit()));
    if number {
        return number_len(text);
    }
    if is_word(first) {
        let len = text.find(|c: char| !is_word(c)).unwrap_or(text.len());
        // A prefix belongs to its string.
        let prefixed =
            matches!(&text[..len], "L" | "u" | "U" | "u8") && text[len..].starts_with(['"', '\'']);
        return if prefixed {
            len + quoted(&text[len..])
        } else {
            len
        };
    }
    if matches!(first, '"' | '\'') {
        return quoted(text);
    }
    let long = LONG.iter().find(|long| text.starts_with(**long));
    long.map_or(first.len_utf8(), |long| long.len())
}

/// The length of a number with its suffix; signs belong to it after an exponent.
fn number_len(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 1;
    while at < bytes.len() {
        let sign = matches!(bytes[at], b'+' | b'-')
            && matches!(bytes[at - 1], b'e' | b'E' | b'p' | b'P')
            && !(text.starts_with("0x") && matches!(bytes[at - 1], b'e' | b'E'));
        if !sign && !is_word(bytes[at] as char) && bytes[at] != b'.' {
            break;
        }
        at += 1;
    }
    at
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}
