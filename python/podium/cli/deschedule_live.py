"""``podium deschedule --kubeconfig``: the descheduler on a live cluster."""

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from podium.cli.output import say
from podium.errors import LostLease

if TYPE_CHECKING:
    from podium.cli.inputs import Settings
    from podium.cluster.kube.connection import Connection
    from podium.framework.config import SchedulerConfig
    from podium.live.descheduling.work import Work
    from podium.simulator.rebalance import Mode


def live(
    settings: "Settings", policy: str, mode: "Mode", url: str | None, output: str, flags: dict[str, Any]
) -> int:
    """Run the cycles, print what was done, and return the exit status."""
    from podium.live import logs

    logs.configure("text", 2)
    logging.getLogger("podium.descheduler").setLevel(logging.INFO)
    try:
        return asyncio.run(_live(settings, policy, mode, url, output, flags))
    except LostLease as error:
        say(f"podium: {error}")
        return 1
    except KeyboardInterrupt:
        return 0


async def _live(
    settings: "Settings", policy: str, mode: "Mode", url: str | None, output: str, flags: dict[str, Any]
) -> int:
    from podium.cli.deschedule import show
    from podium.cluster.kube.connect import connect
    from podium.live.descheduling.work import deschedule

    work, warnings = await work_of(
        connect(flags["kubeconfig"]),
        settings.config,
        policy,
        mode=mode,
        url=url,
        interval=flags["interval"],
        cycles=flags["cycles"],
        dry_run=flags["dry_run"],
        elect=flags["leader_elect"] and flags["interval"] is not None,
        qps=flags["kube_api_qps"],
        burst=flags["kube_api_burst"],
    )
    for warning in [*warnings, *settings.config.warnings]:
        say(f"warning: {warning}")
    endless = work.interval is not None and work.cycles is None
    done = await deschedule(work, (lambda turn: show([turn], output)) if endless else None)
    if not endless:
        show(done, output)
    return 0


async def work_of(
    connection: "Connection", config: "SchedulerConfig", policy: str, *, mode: "Mode", **rest: Any
) -> "tuple[Work, list[str]]":
    """Read a policy and return what to do with it, and what is to be said about it.

    Args:
        connection: the cluster; its PriorityClasses are read.
        config: of the scheduler that guarded mode asks.
        policy: the file.
        mode: ``compat`` or ``guarded``.
        rest: further attributes of ``Work``; ``url`` is the Prometheus server in place of the policy's.

    """
    from podium.api import BY_NAME, PriorityClass
    from podium.cli.deschedule import load, mismatch, prometheus_of
    from podium.cluster.kube.client import KubeClient
    from podium.cluster.kube.listing import list_kind
    from podium.descheduler.table import installed
    from podium.live.descheduling.work import Work
    from podium.live.load import LiveLoad
    from podium.simulator.whatif import live_shadow

    url = rest.pop("url", None)
    async with KubeClient(connection) as client:
        found = await list_kind(client, BY_NAME["scheduling.k8s.io/v1", "PriorityClass"])
    classes = {item.metadata.name: item.value for item in found if isinstance(item, PriorityClass)}
    table = installed()
    loaded = load(policy, classes, table)
    work = Work(
        connection=connection,
        loaded=loaded,
        table=table,
        planning=live_shadow(config, LiveLoad(connection, url)) if mode == "guarded" else None,
        prometheus=prometheus_of(loaded, url),
        **rest,
    )
    return work, [*loaded.warnings, *mismatch(loaded, config)]
