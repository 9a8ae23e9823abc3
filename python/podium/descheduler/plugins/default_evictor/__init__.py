"""DefaultEvictor: which pods may be evicted at all. Always enabled; it evicts nothing itself."""

from podium.descheduler.plugins.default_evictor.args import Args
from podium.descheduler.plugins.default_evictor.plugin import NAME, PLUGIN, DefaultEvictor

__all__ = ["NAME", "PLUGIN", "Args", "DefaultEvictor"]
