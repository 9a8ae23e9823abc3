"""Binds pods, each once: an answer that was lost is found out, never guessed.

::

    POST binding ──201──> bound
        │ no answer, 500, 503, 504: it may have been carried out
        ├──> the watch shows the pod on our node ──> bound
        ├──> the watch shows that it is gone ──> failed
        └──> the same binding again: the server binds a pod only once, so this cannot harm
        │ 409
        └──> read the pod: on our node ──> bound; on another ──> taken; on none ──> failed
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

import msgspec

from podium.api import BY_TYPE, Pod
from podium.cluster.kube.client import KubeClient, path_of
from podium.cluster.kube.pace import Backoff
from podium.errors import ApiError, ClusterError

_PODS: Final = BY_TYPE[Pod]
_CONFLICT, _NOT_FOUND, _TOO_MANY, _BROKEN = 409, 404, 429, 500

#: Times that one binding is sent while the server answers that it is broken. While no answer comes at all
#: there is no such limit: what became of the binding is unknown.
_TRIES: Final = 5


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a binding ended.

    Attributes:
        result: ``bound``, ``taken`` (it is on another node) or ``failed``.
        message: why it failed.
        pod: as the server has it, where it was read.

    """

    result: Literal["bound", "taken", "failed"]
    message: str = ""
    pod: Pod | None = None


class _Name(msgspec.Struct):
    name: str
    namespace: str
    uid: str


class _Target(msgspec.Struct):
    name: str
    kind: str = "Node"


class _Binding(msgspec.Struct, rename="camel"):
    metadata: _Name
    target: _Target
    api_version: str = "v1"
    kind: str = "Binding"


_encode = msgspec.json.Encoder().encode
_decode_pod = msgspec.json.Decoder(Pod).decode


class Binder:
    """Sends bindings.

    Args:
        client: sends them.
        seen: returns a pod as the watch last showed it, None if it is gone.

    """

    def __init__(self, client: KubeClient, seen: Callable[[str], Pod | None]) -> None:
        self._client = client
        self._seen = seen

    async def bind(self, pod: Pod, node: str) -> Outcome:
        """Bind a pod; returns when it is known what became of it."""
        meta = pod.metadata
        path = path_of(_PODS, meta.namespace, meta.name, below="binding")
        body = _encode(_Binding(_Name(meta.name, meta.namespace, meta.uid), _Target(node)))
        backoff = Backoff(0.1, 2.0)
        refusals = 0
        while True:
            try:
                await self._client.post(path, body)
            except ApiError as error:
                if error.status == _CONFLICT:
                    return await self._conflict(pod, node, str(error))
                if error.status < _BROKEN and error.status != _TOO_MANY:
                    return Outcome("failed", str(error))
                refusals += 1
                if refusals >= _TRIES:
                    return await self._conflict(pod, node, str(error))
            except ClusterError:
                pass
            else:
                return Outcome("bound")
            await backoff.wait()
            known = self._known(meta.uid, node)
            if known is not None:
                return known

    def _known(self, uid: str, node: str) -> Outcome | None:
        """Return what the watch says of the pod, None if it says that it is pending."""
        pod = self._seen(uid)
        if pod is None:
            return Outcome("failed", "the pod is gone")
        if not pod.spec.node_name:
            return None
        return Outcome("bound" if pod.spec.node_name == node else "taken")

    async def _conflict(self, pod: Pod, node: str, message: str) -> Outcome:
        """Read the pod to learn what a refusal means."""
        meta = pod.metadata
        backoff = Backoff(0.1, 2.0)
        while True:
            try:
                now = _decode_pod(await self._client.get(path_of(_PODS, meta.namespace, meta.name)))
            except ApiError as error:
                if error.status == _NOT_FOUND:
                    return Outcome("failed", message)
            except ClusterError:
                pass
            else:
                if now.metadata.uid != meta.uid or not now.spec.node_name:
                    return Outcome("failed", message)
                return Outcome("bound" if now.spec.node_name == node else "taken", pod=now)
            await backoff.wait()
            known = self._known(meta.uid, node)
            if known is not None:
                return known
