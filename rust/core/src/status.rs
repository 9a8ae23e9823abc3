//! What a plugin answers, by consequence.

use std::borrow::Cow;

/// kube-scheduler's status codes, in its numeric order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Code {
    #[default]
    Success = 0,
    /// Unexpected: the cycle is aborted, no plugin is blamed, the pod backs off.
    Error = 1,
    /// Rejected; evicting pods may help.
    Unschedulable = 2,
    /// Rejected; no eviction on this node can help.
    UnschedulableAndUnresolvable = 3,
    Wait = 4,
    Skip = 5,
    Pending = 6,
}

impl Code {
    pub fn is_rejected(self) -> bool {
        matches!(
            self,
            Code::Unschedulable | Code::UnschedulableAndUnresolvable | Code::Pending
        )
    }

    pub fn name(self) -> &'static str {
        match self {
            Code::Success => "Success",
            Code::Error => "Error",
            Code::Unschedulable => "Unschedulable",
            Code::UnschedulableAndUnresolvable => "UnschedulableAndUnresolvable",
            Code::Wait => "Wait",
            Code::Skip => "Skip",
            Code::Pending => "Pending",
        }
    }
}

pub type Reason = Cow<'static, str>;

/// A code with the reasons that a person reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    pub code: Code,
    pub reasons: Vec<Reason>,
}

impl Status {
    pub fn new(code: Code, reason: impl Into<Reason>) -> Self {
        Status {
            code,
            reasons: vec![reason.into()],
        }
    }

    pub fn unschedulable(reason: impl Into<Reason>) -> Self {
        Status::new(Code::Unschedulable, reason)
    }

    pub fn unresolvable(reason: impl Into<Reason>) -> Self {
        Status::new(Code::UnschedulableAndUnresolvable, reason)
    }

    pub fn error(reason: impl Into<Reason>) -> Self {
        Status::new(Code::Error, reason)
    }

    pub fn message(&self) -> String {
        self.reasons.join(", ")
    }
}
