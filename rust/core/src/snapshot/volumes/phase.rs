/// `status.phase` of a claim or a volume.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Not set, or none of the others.
    #[default]
    Unset,
    Pending,
    Available,
    Bound,
    Released,
    Failed,
    Lost,
}

impl Phase {
    pub(super) fn new(text: &str) -> Self {
        match text {
            "Pending" => Phase::Pending,
            "Available" => Phase::Available,
            "Bound" => Phase::Bound,
            "Released" => Phase::Released,
            "Failed" => Phase::Failed,
            "Lost" => Phase::Lost,
            _ => Phase::Unset,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Phase::Unset => "",
            Phase::Pending => "Pending",
            Phase::Available => "Available",
            Phase::Bound => "Bound",
            Phase::Released => "Released",
            Phase::Failed => "Failed",
            Phase::Lost => "Lost",
        }
    }
}

/// What becomes of a volume whose claim is gone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Reclaim {
    /// Also what the API server fills in.
    #[default]
    Retain,
    Delete,
    Recycle,
}

impl Reclaim {
    pub(super) fn new(text: &str) -> Self {
        match text {
            "Delete" => Reclaim::Delete,
            "Recycle" => Reclaim::Recycle,
            _ => Reclaim::Retain,
        }
    }
}
