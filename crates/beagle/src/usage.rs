//! Errors in the command line, in the form that all errors of Beagle have.

use clap::error::ErrorKind;

use crate::failure::Failure;

/// What clap says in several paragraphs as a cause and a hint; `None` if it is no error but the
/// help that was asked for.
pub fn failure(error: &clap::Error) -> Option<Failure> {
    let is_help = matches!(
        error.kind(),
        ErrorKind::DisplayHelp
            | ErrorKind::DisplayVersion
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    );
    if is_help {
        return None;
    }
    let text = error.render().to_string();
    let mut paragraphs = text.trim().split("\n\n").map(one_line);
    let cause = paragraphs.next().unwrap_or_default();
    let cause = cause.strip_prefix("error: ").unwrap_or(&cause);
    let (mut tip, mut usage) = (None, None);
    for paragraph in paragraphs {
        if let Some(text) = paragraph.strip_prefix("tip: ") {
            tip = Some(text.to_owned());
        } else if paragraph.starts_with("Usage: ") {
            usage = Some(paragraph);
        }
    }
    let hint = tip.or(usage).map_or(String::new(), |hint| hint + "; ");
    Some(Failure::usage(cause, hint + "--help says more"))
}

fn one_line(paragraph: &str) -> String {
    let lines: Vec<_> = paragraph.lines().map(str::trim).collect();
    lines.join(" ")
}
