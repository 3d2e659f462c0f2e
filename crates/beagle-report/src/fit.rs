//! Making text fit: lists that end in a count, long lines cut to what matters.

use std::fmt::Write;

/// `1 change`, `2 changes`.
pub(crate) fn count(number: usize, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {what}{plural}")
}

/// As many of the names as fit into so many columns, but at least one, and how many more
/// there are.
pub(crate) fn listed(names: &[String], room: usize) -> String {
    let all = names.join(", ");
    if all.chars().count() <= room {
        return all;
    }
    let mut text = String::new();
    let mut width = 0;
    for (index, name) in names.iter().enumerate() {
        let left = names.len() - index;
        let rest = format!(", … {left} more");
        let separator = if index == 0 { "" } else { ", " };
        let after = width + separator.len() + name.chars().count();
        if index > 0 && after + rest.chars().count() > room {
            text.push_str(&rest);
            break;
        }
        let _ = write!(text, "{separator}{name}");
        width = after;
    }
    text
}

/// The part of a line that is shown if it is too long: its beginning, or from shortly before
/// the point where it differs from its counterpart.
pub(crate) fn window(text: &str, other: Option<&str>, room: usize) -> String {
    let chars: Vec<char> = text.chars().collect();
    if chars.len() <= room {
        return text.to_owned();
    }
    let common = other.map_or(0, |other| {
        let pairs = chars.iter().zip(other.chars());
        pairs.take_while(|(a, b)| **a == *b).count()
    });
    // A third of the room is for what stands before the difference.
    let start = if common < room * 2 / 3 {
        0
    } else {
        common - room / 3
    };
    let start = start.min(chars.len().saturating_sub(room - 1));
    let mut out = String::new();
    let mut left = room;
    if start > 0 {
        out.push('…');
        left -= 1;
    }
    let rest = &chars[start..];
    if rest.len() <= left {
        out.extend(rest);
    } else {
        out.extend(&rest[..left - 1]);
        out.push('…');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &str) -> Vec<String> {
        names.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn lists_end_in_a_count_when_there_is_no_room() {
        assert_eq!(listed(&names("a b c"), 7), "a, b, c");
        assert_eq!(listed(&names("aaaa bbbb cccc"), 15), "aaaa, … 2 more");
        assert_eq!(listed(&names("aaaa bbbb cccc"), 16), "aaaa, bbbb, cccc");
        assert_eq!(listed(&names("aaaaaaaa b"), 3), "aaaaaaaa, … 1 more");
        assert_eq!(listed(&[], 3), "");
    }

    #[test]
    fn long_lines_show_where_they_differ() {
        assert_eq!(window("short", None, 9), "short");
        assert_eq!(window("0123456789", None, 9), "01234567…");
        let old = format!("{}1{}", "x".repeat(50), "y".repeat(50));
        let new = format!("{}2{}", "x".repeat(50), "y".repeat(50));
        assert_eq!(window(&new, Some(&old), 12), "…xxxx2yyyyy…");
        assert_eq!(window(&"é".repeat(20), None, 4), "ééé…");
        let (old, new) = ("x".repeat(50) + "1", "x".repeat(50) + "2");
        assert_eq!(window(&new, Some(&old), 12), "…xxxxxxxxxx2");
    }
}
