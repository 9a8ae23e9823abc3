use thiserror::Error;

/// Why an operation on the fair shares was refused. Nothing has changed when one is returned.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum DrfError {
    #[error("no tenant has the handle {0}: it was never added, or it has been removed")]
    UnknownTenant(u32),
    #[error("tenant {0:?} exists already: names are unique over the whole tree")]
    DuplicateName(String),
    #[error("tenant {0:?} has children: pods are charged to, and queue at, its leaves")]
    NotALeaf(String),
    #[error("tenant {0:?} cannot get children: it has usage or a waiting pod of its own")]
    LeafInUse(String),
    #[error("tenant {0:?} cannot be removed: it has {1}")]
    StillInUse(String, &'static str),
    #[error("tenant {0:?} cannot move below {1:?}: that is itself or one of its descendants")]
    Cycle(String, String),
    #[error("tenant {0:?} would be {1} levels deep: at most {MAX_DEPTH} are allowed", MAX_DEPTH = super::MAX_DEPTH)]
    TooDeep(String, usize),
    #[error("{what} has {got} amounts, but there are {want} resources")]
    Length {
        what: &'static str,
        got: usize,
        want: usize,
    },
    #[error("{what} of resource {resource} is {amount}: it must not be negative")]
    Negative {
        what: &'static str,
        resource: usize,
        amount: i64,
    },
    #[error(
        "charging {amount} of resource {resource} on top of {used} in use exceeds 2^63-1: shares are exact only below it"
    )]
    Overflow {
        resource: usize,
        used: i64,
        amount: i64,
    },
    #[error(
        "tenant {tenant:?} gives back {amount} of resource {resource} but uses {used}: refunds must mirror charges"
    )]
    Underflow {
        tenant: String,
        resource: usize,
        used: i64,
        amount: i64,
    },
    #[error("weight {0}/{1} is not finite: leave a weight unset for 1, or use a positive number")]
    InfiniteWeight(u64, u64),
    #[error("weight {0}/{1} needs more than 32 bits in lowest terms: use a simpler fraction")]
    WideWeight(u64, u64),
    #[error(
        "an unlimited guarantee cannot be honoured: give an amount, 0 for none, or leave it unset"
    )]
    UnlimitedGuarantee,
    #[error("tenant {0:?} has a waiting pod but no demand in this filling")]
    NoDemand(String),
}
