//! Why an agent program failed, in words that are the same for all programs.

use serde::{Deserialize, Serialize};

/// What kind of failure a program told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Trouble {
    /// No key, or one that the provider does not take.
    Auth,
    /// Too many requests for now.
    RateLimit,
    /// A quota, a budget or the money is used up.
    Quota,
    /// The provider has too much to do.
    Overloaded,
    /// The provider failed.
    Server,
    /// The provider could not be reached, or dropped the connection.
    Network,
    /// The model is not known, or not allowed.
    Model,
    /// The request was refused: too long, malformed, against a rule.
    Request,
    /// The program's own limit of turns or cost.
    Limit,
    /// Something the program needed was denied to it.
    Denied,
    /// It was interrupted.
    Aborted,
    /// Its command line or its setup is wrong.
    Usage,
    /// The session that it was to continue is not there, or stands in another folder.
    Session,
    /// It ended without saying that it was done.
    Unfinished,
    /// Anything else.
    Unknown,
}

impl Trouble {
    /// What a status of HTTP means.
    #[must_use]
    pub fn of_status(status: u64) -> Self {
        match status {
            401 | 403 => Self::Auth,
            402 => Self::Quota,
            404 => Self::Model,
            408 | 504 => Self::Network,
            429 => Self::RateLimit,
            503 | 529 => Self::Overloaded,
            400..=499 => Self::Request,
            500..=599 => Self::Server,
            0..=399 | 600.. => Self::Unknown,
        }
    }

    /// Whether the provider lets nothing be done for a while: nobody's failure, and to be asked
    /// again later.
    #[must_use]
    pub fn is_limit(self) -> bool {
        match self {
            Self::RateLimit | Self::Quota => true,
            Self::Auth
            | Self::Overloaded
            | Self::Server
            | Self::Network
            | Self::Model
            | Self::Request
            | Self::Limit
            | Self::Denied
            | Self::Aborted
            | Self::Usage
            | Self::Session
            | Self::Unfinished
            | Self::Unknown => false,
        }
    }

    /// Whether asking once more may help: what is wrong with a key, a model or a request stays so.
    #[must_use]
    pub fn may_pass(self) -> bool {
        match self {
            Self::RateLimit
            | Self::Overloaded
            | Self::Server
            | Self::Network
            | Self::Aborted
            | Self::Unfinished
            | Self::Unknown => true,
            Self::Auth
            | Self::Quota
            | Self::Model
            | Self::Request
            | Self::Limit
            | Self::Denied
            | Self::Usage
            | Self::Session => false,
        }
    }

    /// The same where it is one of a kind.
    #[must_use]
    pub fn named(self) -> Option<&'static str> {
        (self != Self::Unknown).then(|| self.said())
    }

    /// In a few words, for messages.
    #[must_use]
    pub fn said(self) -> &'static str {
        match self {
            Self::Auth => "authentication: no valid key or login",
            Self::RateLimit => "rate limit",
            Self::Quota => "quota or budget used up",
            Self::Overloaded => "provider overloaded",
            Self::Server => "provider error",
            Self::Network => "connection lost",
            Self::Model => "unknown model",
            Self::Request => "request refused",
            Self::Limit => "the program's own limit",
            Self::Denied => "permission denied",
            Self::Aborted => "interrupted",
            Self::Usage => "wrong command line or setup",
            Self::Session => "its session cannot be continued",
            Self::Unfinished => "ended without its end event",
            Self::Unknown => "failed",
        }
    }
}
