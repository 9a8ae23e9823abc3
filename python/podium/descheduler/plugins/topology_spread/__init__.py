"""RemovePodsViolatingTopologySpreadConstraint: pods of domains that have too many of them."""

from podium.descheduler.plugins.topology_spread.plugin import NAME, PLUGIN, Args, TopologySpread

__all__ = ["NAME", "PLUGIN", "Args", "TopologySpread"]
