"""SimKube traces: versions, deletions, lifetimes, and files that are none."""

from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest
from podium.errors import InputError
from podium.simulator.traces import load

DATA = Path(__file__).parents[4] / "shared" / "data" / "simkube"


def deployment(name: str, replicas: int) -> dict[str, Any]:
    meta = {"name": name, "namespace": "shop"}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": meta, "spec": {"replicas": replicas}}


def write(path: Path, events: list[tuple[int, list, list]], **fields: Any) -> str:
    listed = [{"ts": ts, "applied_objs": applied, "deleted_objs": deleted} for ts, applied, deleted in events]
    path.write_bytes(
        msgspec.msgpack.encode({"version": 2, "config": {}, "events": listed, "index": {}, **fields})
    )
    return f"sktrace:{path}"


def test_versions_and_deletions(tmp_path: Path) -> None:
    a1, a2, b = deployment("a", 1), deployment("a", 3), deployment("b", 1)
    trace = load(
        write(tmp_path / "t", [(100, [a1, b], []), (130, [a2], []), (150, [], [a2]), (160, [a1], [])])
    )
    times = [(e.identity[2], e.manifest["spec"]["replicas"], e.arrives, e.departs) for e in trace.entries]
    assert times == [("a", 1, 0.0, None), ("b", 1, 0.0, None), ("a", 3, 30.0, 50.0), ("a", 1, 60.0, None)]
    assert [(e.identity[2], e.arrives) for e in trace.queue()] == [("a", 60.0), ("b", 0.0)]


def test_an_object_that_only_left_is_no_entry(tmp_path: Path) -> None:
    assert load(write(tmp_path / "t", [(0, [], [deployment("a", 1)])])).entries == []


def test_lifetimes_are_kept(tmp_path: Path) -> None:
    lives = {("apps/v1.Deployment", "shop/a"): {123: [{"Finished": [10, 25]}, {"Running": 30}]}}
    trace = load(write(tmp_path / "t", [(0, [deployment("a", 2)], [])], pod_lifecycles=lives))
    assert trace.entries[0].runs == (15.0, None)


def test_a_generated_name_is_made_once_per_object(tmp_path: Path) -> None:
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "job-"}, "spec": {}}
    trace = load(write(tmp_path / "t", [(0, [pod, pod], [])]))
    assert [e.identity[2] for e in trace.entries] == ["job-00000", "job-00001"]


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "not an sktrace file"),
        (b"{not msgpack}", "not an sktrace file"),
        (msgspec.msgpack.encode({"version": 1, "events": []}), "version is 1, this loader reads version 2"),
        (msgspec.msgpack.encode({"version": 2}), "missing required field `events`"),
        (
            msgspec.msgpack.encode({"version": 2, "events": [{"ts": "x"}]}),
            "Expected `int`, got `str` - at `$.events[0].ts`",
        ),
        (b"\x91" * 100_000, "not an sktrace file"),
        (
            msgspec.msgpack.encode(
                {"version": 2, "events": [{"ts": 1, "applied_objs": [{}], "deleted_objs": []}]}
            ),
            "event 0: an object without kind and metadata",
        ),
    ],
)
def test_files_that_are_none(tmp_path: Path, raw: bytes, message: str) -> None:
    file = tmp_path / "t.sktrace"
    file.write_bytes(raw)
    with pytest.raises(InputError) as caught:
        load(f"sktrace:{file}")
    assert message in str(caught.value)
    assert str(caught.value).startswith(str(file))
    assert "\n" not in str(caught.value)


@pytest.mark.skipif(not DATA.is_dir(), reason="../shared/data is not here")
def test_the_three_real_files() -> None:
    scaling, cron, bare = (
        load(f"sktrace:{DATA}/{name}.sktrace") for name in ("dsb-scaling", "cronjob", "bare-pods")
    )
    assert Counter(e.identity[0] for e in scaling.queue()) == {"Deployment": 27}
    assert len(scaling.entries) == 46
    assert sum(e.manifest["spec"]["replicas"] for e in scaling.queue()) == 42
    assert [(e.identity, e.departs, e.runs) for e in cron.queue()] == [
        (("CronJob", "default", "hello-simkube"), 205.0, (30.0, 30.0, 30.0))
    ]
    assert [(e.arrives, e.runs) for e in bare.queue()] == [
        (0.0, (12.0,)),
        (42.0, (30.0,)),
        (102.0, (30.0,)),
        (162.0, (None,)),
    ]
