"""What is written of pods that wait, and how often."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from podium.api import ObjectMeta, Pod, PodSpec
from podium.cluster.kube.writer import StatusWriter
from podium.cluster.port import PatchStatus

_LONG = 60.0


class Server:
    """Takes patches."""

    def __init__(self) -> None:
        self.patches: list[dict[str, Any]] = []

    async def patch(self, path: str, body: dict[str, Any], content_type: str) -> bytes:
        self.patches.append(body)
        return b""

    @property
    def texts(self) -> list[str]:
        return [patch["status"]["conditions"][0]["message"] for patch in self.patches]


def _play(
    story: Callable[[StatusWriter, Callable[[PatchStatus], None]], Awaitable[None]], rest: float
) -> Server:
    """Run a story with a writer; ``say`` does what the backend does with a word."""
    server = Server()
    pod = Pod(metadata=ObjectMeta(name="p", namespace="a", uid="1"), spec=PodSpec())

    async def main() -> None:
        client: Any = server
        writer = StatusWriter(client, lambda uid: pod, lambda text: None, rest)
        tasks: list[asyncio.Task[None]] = []

        def say(action: PatchStatus) -> None:
            if writer.put(action):
                tasks.append(asyncio.create_task(writer.run(action.uid)))

        await story(writer, say)
        writer.hurry()
        await asyncio.gather(*tasks)
        assert writer.unwritten == 0

    asyncio.run(main())
    return server


async def _turn() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


def _word(text: str, reason: str = "Unschedulable", nominated: str | None = None) -> PatchStatus:
    return PatchStatus("1", reason, text, nominated)


def test_texts_that_change_all_the_time_are_written_now_and_then():
    async def story(writer: StatusWriter, say: Callable[[PatchStatus], None]) -> None:
        for number in range(5):
            say(_word(f"0/{number} nodes"))
            await _turn()

    # The first at once, the last before the end, none of those between.
    assert _play(story, _LONG).texts == ["0/0 nodes", "0/4 nodes"]


def test_a_text_is_written_when_the_rest_is_over():
    async def story(writer: StatusWriter, say: Callable[[PatchStatus], None]) -> None:
        say(_word("first"))
        await _turn()
        say(_word("second"))
        while writer.unwritten:
            await asyncio.sleep(0.005)

    assert _play(story, 0.02).texts == ["first", "second"]


def test_a_new_reason_and_a_nomination_do_not_wait():
    async def story(writer: StatusWriter, say: Callable[[PatchStatus], None]) -> None:
        say(_word("gates", "SchedulingGated"))
        await _turn()
        say(_word("0/1 nodes"))
        await _turn()
        say(_word("0/2 nodes"))
        await _turn()
        say(_word("0/3 nodes", nominated="n"))
        await _turn()
        assert writer.unwritten == 0

    server = _play(story, _LONG)
    assert server.texts == ["gates", "0/1 nodes", "0/3 nodes"]
    assert server.patches[-1]["status"]["nominatedNodeName"] == "n"


def test_a_nomination_that_waits_is_not_lost_to_a_newer_text():
    async def story(writer: StatusWriter, say: Callable[[PatchStatus], None]) -> None:
        writer.put(_word("one", nominated="n"))
        say(_word("two"))

    server = _play(story, _LONG)
    assert server.texts == ["two"]
    assert server.patches[0]["status"]["nominatedNodeName"] == "n"


def test_nothing_is_said_any_more_of_a_pod_that_has_been_given_a_node_or_is_gone():
    for end in (StatusWriter.drop, StatusWriter.forget):

        async def story(
            writer: StatusWriter,
            say: Callable[[PatchStatus], None],
            end: Callable[[StatusWriter, str], None] = end,
        ) -> None:
            say(_word("first"))
            await _turn()
            say(_word("second"))
            await _turn()
            end(writer, "1")

        assert _play(story, _LONG).texts == ["first"]
