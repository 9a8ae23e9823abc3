"""The one exception tree of Podium."""


class PodiumError(Exception):
    """Base of every error that Podium raises on purpose."""


class InputError(PodiumError):
    """Input that cannot be used: says which file, document and field, and what to do (exit status 2)."""


class ConfigError(InputError):
    """A configuration that is refused; the message starts with the path of the field."""


class PluginError(PodiumError):
    """A plugin broke its contract; the message names the plugin and the extension point."""


class CoreError(PodiumError):
    """The core refused an object or met an inconsistency; the engine is still usable unless poisoned."""


class ClusterError(PodiumError):
    """A live cluster cannot be read or written: says which server, which request, and what it answered."""


class ApiError(ClusterError):
    """The API server refused a request.

    Attributes:
        status: the HTTP status.
        reason: the machine-readable reason of the answer, such as ``Conflict``; may be empty.
        retry_after: seconds after which the server wants to be asked again, None if it did not say.

    """

    def __init__(self, status: int, reason: str, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason
        self.retry_after = retry_after


class Unreachable(ClusterError):  # noqa: N818 (says what the server is)
    """No answer came: the request may or may not have been carried out."""


class LostLease(ClusterError):  # noqa: N818 (says what happened)
    """The lease could not be renewed in time: another process may lead now."""


class ExtenderError(PodiumError):
    """An HTTP extender cannot be reached, or answers what cannot be used."""
