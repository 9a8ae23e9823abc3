"""What happens around the queue: applies_to, PreEnqueue, and the order of the queue."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from podium.api import Pod
from podium.errors import PluginError
from podium.framework.plugin import QueuedPod
from podium.framework.runner.calls import Calls, explain, log
from podium.framework.runner.members import Member, Members
from podium.framework.status import SUCCESS, Code, Status


def concerned_plugins(plugins: Mapping[str, Any], pod: Pod) -> frozenset[str]:
    """Return the plugins that a pod concerns; one that cannot say is asked about every pod."""
    return frozenset(name for name, plugin in plugins.items() if _applies(name, plugin, pod))


def _applies(name: str, plugin: Any, pod: Pod) -> bool:
    ask = getattr(plugin, "applies_to", None)
    if ask is None:
        return True
    try:
        return bool(ask(pod))
    except Exception as error:  # noqa: BLE001 (a plugin that cannot tell is called, and may then fail for one pod)
        log.error("plugin %s failed at applies_to", name, exc_info=error)
        return True


def run_pre_enqueue(
    calls: Calls, members: Members, pod: Pod, concerned: frozenset[str] | None, gated_by: str
) -> Status:
    """Ask the plugins in order, ``gated_by`` before the others; return the first that is no success."""
    asked: Sequence[Member] = members.by_point["preEnqueue"]
    if concerned is not None:
        asked = members.of_concerned(concerned)["preEnqueue"]
    if gated_by:
        asked = sorted(asked, key=lambda member: member.name != gated_by)
    for member in asked:
        status = calls.status("PreEnqueue", member.name, member.call, pod)
        if status is SUCCESS or status.is_success:
            continue
        if status.is_rejected:
            return status
        failure = PluginError(f'running PreEnqueue plugin "{member.name}": {explain(status)}')
        return Status(Code.ERROR, cause=failure, plugin=member.name)
    return SUCCESS


def less_function(members: Members) -> Callable[[QueuedPod, QueuedPod], bool] | None:
    """Return the order of the queueSort plugin, None if that is native."""
    sorters = members.by_point["queueSort"]
    if not sorters:
        return None
    name, order = sorters[0].name, sorters[0].plugin.less

    def less(a: QueuedPod, b: QueuedPod) -> bool:
        try:
            answer = order(a, b)
        except Exception as error:
            raise PluginError(f'plugin "{name}": less raised {type(error).__name__}: {error}') from error
        if not isinstance(answer, bool):
            raise PluginError(f'plugin "{name}": less returned {type(answer).__name__}, expected bool')
        return answer

    return less
