"""Events: once each, alike ones counted, and only the newest word of what nobody has heard yet."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
from podium.cluster.kube.recorder import Recorder
from podium.cluster.port import Emit
from podium.testing import make_pod


class Server:
    """Takes down what is written."""

    def __init__(self) -> None:
        self.written: list[Any] = []
        self.names: set[str] = set()

    async def post(self, _path: str, body: Any) -> bytes:
        self.written.append(msgspec.to_builtins(body))
        self.names.add(body.metadata.name)
        return b"{}"

    async def patch(self, path: str, body: Any) -> bytes:
        assert path.rpartition("/")[2] in self.names, "a patch of what is not there"
        self.written.append(msgspec.to_builtins(body))
        return b"{}"


POD = make_pod("web").uid("u").build()


def failed(note: str) -> Emit:
    return Emit(POD, "Warning", "FailedScheduling", "Scheduling", note)


def write(*waves: list[Emit]) -> list[Any]:
    """Record waves of events, each written before the next comes; returns what the server got."""
    server = Server()

    async def run() -> None:
        recorder = Recorder(server, lambda: 0, lambda _text: None)  # type: ignore[arg-type]
        writing = asyncio.create_task(recorder.run())
        for wave in waves:
            for event in wave:
                recorder.record(event)
            await recorder.flush(20)
        writing.cancel()

    asyncio.run(run())
    return server.written


def test_only_the_newest_word_is_written():
    assert [event["note"] for event in write([failed("a"), failed("b"), failed("c")])] == ["c"]


def test_what_was_written_stays_beside_what_is_new():
    assert [event["note"] for event in write([failed("a")], [failed("b")])] == ["a", "b"]


def test_the_same_word_again_is_a_series():
    first, second = write([failed("a")], [failed("a")])
    assert first["note"] == "a"
    assert second["series"]["count"] == 2


def test_a_series_that_began_before_it_was_written_is_written_whole():
    (event,) = write([failed("a"), failed("a"), failed("a")])
    assert event["note"] == "a"
    assert event["series"]["count"] == 3


def test_the_end_of_a_series_is_written_where_it_says_more():
    said = [[failed("a")]] * 2, [[failed("b")]] * 4
    others = [[failed(note)] for note in "cdefgh"]
    ends = [event["series"]["count"] for event in write(*said[0], *said[1], *others) if "note" not in event]
    assert ends == [2, 2, 4], "both begin, and b counted on"


def test_a_series_ends_in_nothing_where_the_word_was_never_heard():
    assert [event["note"] for event in write([failed("a"), failed("a"), failed("b")], [failed("a")])] == [
        "b",
        "a",
    ]


def test_a_newer_note_waits_for_its_time_and_the_newest_is_written():
    server = Server()

    async def run() -> None:
        recorder = Recorder(server, lambda: 0, lambda _text: None)  # type: ignore[arg-type]
        writing = asyncio.create_task(recorder.run())
        recorder.record(failed("a"))
        await recorder.flush(20)
        for note in "bcd":
            recorder.record(failed(note))
            await asyncio.sleep(0.01)
        assert [event["note"] for event in server.written] == ["a"]
        assert recorder.unwritten == 1
        recorder.forget("u")
        assert recorder.unwritten == 1, "what was said last of a pod that is gone is not lost"
        while recorder.unwritten:
            await asyncio.sleep(0.01)
        recorder.record(failed("e"))
        await recorder.flush(20)
        recorder.forget("u")
        assert not recorder._said
        writing.cancel()

    asyncio.run(run())
    assert [event["note"] for event in server.written] == ["a", "d", "e"]


def test_what_is_remembered_of_a_pod_is_bounded_and_ends_with_it():
    server = Server()

    async def run() -> None:
        recorder = Recorder(server, lambda: 0, lambda _text: None)  # type: ignore[arg-type]
        writing = asyncio.create_task(recorder.run())
        for number in range(100):
            for _ in range(2):
                recorder.record(failed(f"{number} nodes"))
                await recorder.flush(20)
        assert len(recorder._series) < 10
        recorder.forget("u")
        assert not recorder._series
        assert not recorder._keys
        recorder.record(failed("99 nodes"))
        await recorder.flush(20)
        writing.cancel()

    asyncio.run(run())
    assert server.written[-1]["note"] == "99 nodes", "whoever is new is told of anew"


def test_what_happens_once_is_always_written():
    bound = [Emit(POD, "Normal", "Scheduled", "Binding", note) for note in ("x", "y")]
    assert [event["note"] for event in write(bound)] == ["x", "y"]
