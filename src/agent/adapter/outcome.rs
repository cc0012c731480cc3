//! Whether a program succeeded, from its exit and from what it told.

use crate::agent::adapter::account::Account;
use crate::agent::adapter::words::shown;
use crate::agent::redact::Secrets;
use crate::domain::job::Ended;
use crate::domain::profile::Profile;
use crate::domain::trouble::Trouble;

/// What a shell says of a program that SIGTERM ended, as we end those whose budget is spent.
const TERMINATED: i32 = 143;

/// How the job ended. Success needs an exit with 0, the program's own word that it is done, and
/// no error that it gave up on; a program that we ended has not succeeded whatever it says, and where
/// its provider refused it until then, that is why. No secret stands in what is told of it.
#[must_use]
pub fn ended(
    profile: &Profile,
    exited: Ended,
    account: &Account,
    stderr: &str,
    secrets: &Secrets,
) -> Ended {
    // It says that all is well, and in its last words that it is not.
    let words = profile.acp.gives_up_with.as_deref();
    let gave_up = words.and_then(|words| account.ends_with_piece(words));
    let code = match exited {
        Ended::Exited { code: 0 } if account.is_done() && gave_up.is_none() => {
            return Ended::Exited { code: 0 };
        }
        Ended::Exited { code } => code,
        Ended::TimedOut => return out_of_time(profile, account, stderr, secrets),
        other @ (Ended::Signalled { .. }
        | Ended::Stopped
        | Ended::NotStarted { .. }
        | Ended::Lost
        | Ended::Interrupted
        | Ended::Failed { .. }) => return other,
    };
    let told = account.error();
    let words = told.map(|told| &*told.message).or(gave_up);
    let words = words.unwrap_or_default().to_owned();
    let words = if words.trim().is_empty() {
        last_line(stderr).to_owned()
    } else {
        words
    };
    let trouble = said(profile, &words)
        .or_else(|| told.and_then(|told| told.trouble))
        .or_else(|| {
            let mut exits = profile.exits.iter();
            exits.find(|exit| exit.code == code).map(|exit| exit.means)
        })
        .or_else(|| said(profile, stderr))
        .unwrap_or(if code == 0 {
            Trouble::Unfinished
        } else {
            Trouble::Unknown
        });
    Ended::Failed {
        code,
        trouble,
        message: shown(&words, secrets),
    }
}

/// How a program ended whose budget was spent. Some try again for many minutes what their provider
/// refuses: a key that is none would be none with more time as well, and a limit is nobody's failure.
fn out_of_time(profile: &Profile, account: &Account, stderr: &str, secrets: &Secrets) -> Ended {
    let told = account.was_at().and_then(|told| {
        let trouble = said(profile, &told.message).or(told.trouble)?;
        Some((trouble, told.message.as_str()))
    });
    // Some say it to people alone. When they said it is not known, so only where nothing else was said.
    let to_people = || {
        let mut lines = stderr.lines().rev();
        lines.find_map(|line| Some((said(profile, line)?, line)))
    };
    let told = told.or_else(|| (!account.was_answered()).then(to_people)?);
    let told = told.filter(|(trouble, _)| trouble.is_limit() || *trouble == Trouble::Auth);
    let Some((trouble, words)) = told else {
        return Ended::TimedOut;
    };
    Ended::Failed {
        code: TERMINATED,
        trouble,
        message: format!(
            "{}, and so it was until its budget was spent",
            shown(words, secrets)
        ),
    }
}

/// What the profile knows of such a message.
fn said(profile: &Profile, message: &str) -> Option<Trouble> {
    let message = message.to_lowercase();
    let mut errors = profile.errors.iter();
    errors
        .find(|said| message.contains(&said.text.to_lowercase()))
        .map(|said| said.means)
}

fn last_line(text: &str) -> &str {
    text.lines()
        .rfind(|line| !line.trim().is_empty())
        .unwrap_or_default()
}
