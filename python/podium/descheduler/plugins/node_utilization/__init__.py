"""LowNodeUtilization and HighNodeUtilization: from busy nodes to idle ones, or off idle ones."""

from podium.descheduler.plugins.node_utilization.high import PLUGIN as HIGH
from podium.descheduler.plugins.node_utilization.low import PLUGIN as LOW

__all__ = ["HIGH", "LOW"]
