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
