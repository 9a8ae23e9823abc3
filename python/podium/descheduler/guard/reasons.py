"""Why guarded mode leaves a pod alone."""

from typing import Final

from podium.descheduler.ports import EvictionRefusedError

NO_DESTINATION: Final = "no destination"
HOT: Final = "destination hot"
NO_GAIN: Final = "no improvement"
RECENT: Final = "recently moved"
GANG: Final = "gang"
UNKNOWN_LOAD: Final = "no fresh metrics"
FULL: Final = "limit"


class NotBetterError(EvictionRefusedError):
    """A candidate that does not pass; ``why`` is one of this module's reasons."""


class PlanFullError(NotBetterError):
    """The plan takes nothing more from whoever asks."""

    ends_plan = True

    def __init__(self, message: str) -> None:
        super().__init__(message, FULL)
