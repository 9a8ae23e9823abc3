import asyncio
import functools

import pytest
from podium.framework.results import PreFlight
from podium.framework.status import Code, Status

from tests.framework.runner.conftest import make_plugin

LOG = []


@pytest.fixture(autouse=True)
def _forget():
    LOG.clear()


def answer(name, point, value):
    def method(self, *args):
        LOG.append((name, point))
        if isinstance(value, Exception):
            raise value
        return value

    return method


def reserving(name, reserve=None, unreserve=None):
    return make_plugin(
        name, reserve=answer(name, "reserve", reserve), unreserve=answer(name, "unreserve", unreserve)
    )


def permitting(name, value):
    return make_plugin(name, permit=answer(name, "permit", value))


def test_reserve_stops_at_the_first_failure_and_unreserve_undoes_all_in_reverse(bench, state, pod):
    runner = bench.runner(reserving("A"), reserving("B", Status.unschedulable("no")), reserving("C"))
    assert runner.reserve(state, pod, "n") == Status(Code.UNSCHEDULABLE, ("no",), "B")
    assert runner.unreserve(state, pod, "n") == ()
    assert LOG == [
        ("A", "reserve"),
        ("B", "reserve"),
        ("C", "unreserve"),
        ("B", "unreserve"),
        ("A", "unreserve"),
    ]


def test_a_plugin_may_only_unreserve(bench, state, pod):
    runner = bench.runner(make_plugin("A", unreserve=answer("A", "unreserve", None)))
    assert runner.reserve(state, pod, "n").is_success
    runner.unreserve(state, pod, "n")
    assert LOG == [("A", "unreserve")]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (RuntimeError("boom"), 'running Reserve plugin "A": RuntimeError: boom'),
        (Status.wait(1), 'running Reserve plugin "A": returned Wait, which is not supported here'),
        (Status.error("bad"), 'running Reserve plugin "A": bad'),
    ],
)
def test_reserve_errors(bench, state, pod, value, message):
    status = bench.runner(reserving("A", value)).reserve(state, pod, "n")
    assert (status.code, status.message) == (Code.ERROR, message)


def test_unreserve_goes_on_when_one_raises(bench, state, pod):
    runner = bench.runner(reserving("A"), reserving("B", unreserve=KeyError("x")), reserving("C"))
    (failure,) = runner.unreserve(state, pod, "n")
    assert failure.message == "running Unreserve plugin \"B\": KeyError: 'x'"
    assert [name for name, _ in LOG] == ["C", "B", "A"]
    assert ("Unreserve", "B", "Error") in bench.seen


def test_permit_waits_after_all_have_spoken(bench, state, pod):
    runner = bench.runner(
        permitting("A", Status.wait(60, "for friends")),
        permitting("B", None),
        permitting("C", Status.wait(0)),
    )
    outcome = runner.permit(state, pod, "n")
    assert outcome.status.code is Code.WAIT
    assert outcome.status.reasons == ("one or more plugins asked to wait and no plugin rejected pod",)
    assert outcome.waits == {"A": 60.0, "C": 0.0}
    assert len(LOG) == 3


def test_permit_rejection_wins_over_waiting(bench, state, pod):
    runner = bench.runner(
        permitting("A", Status.wait(60)),
        permitting("B", Status.unschedulable("no")),
        permitting("C", None),
    )
    outcome = runner.permit(state, pod, "n")
    assert outcome.status == Status(Code.UNSCHEDULABLE, ("no",), "B")
    assert outcome.waits == {}
    assert [name for name, _ in LOG] == ["A", "B"]


def test_permit_success(bench, state, pod):
    assert bench.runner(permitting("A", None)).permit(state, pod, "n").status.is_success


def test_permit_may_wait_longer_than_upstream_unless_limited(bench, state, pod):
    assert bench.runner(permitting("A", Status.wait(3600))).permit(state, pod, "n").waits == {"A": 3600}
    limited = bench.runner(permitting("A", Status.wait(3600)), max_permit_wait=900)
    assert limited.permit(state, pod, "n").waits == {"A": 900}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (Status(Code.WAIT), "returned Wait with timeout None, use Status.wait(seconds)"),
        (Status.wait(-1), "returned Wait with timeout -1, use Status.wait(seconds)"),
        (Status.wait(float("nan")), "returned Wait with timeout nan, use Status.wait(seconds)"),
        (Status.skip(), "returned Skip, which is not supported here"),
        (ValueError("boom"), "ValueError: boom"),
    ],
)
def test_permit_errors(bench, state, pod, value, message):
    outcome = bench.runner(permitting("A", value)).permit(state, pod, "n")
    assert outcome.status.code is Code.ERROR
    assert outcome.status.message == f'running Permit plugin "A": {message}'
    assert outcome.status.plugin == "A"


def binding(name, flight=None, **methods):
    own = {"pre_bind": answer(name, "pre_bind", None), **methods}
    if flight is not None:
        own["pre_bind_pre_flight"] = answer(name, "flight", flight)
    return make_plugin(name, **own)


def test_pre_flight_finds_who_has_work(bench, state, pod):
    runner = bench.runner(binding("A", Status.skip()), binding("B"), binding("C", PreFlight()))
    assert runner.pre_flight(state, pod, "n").is_success
    assert state.skip_pre_bind == {"A"}
    assert runner.pre_bind_groups(state) == [["B"], ["C"]]


def test_pre_flight_of_all_skips(bench, state, pod):
    runner = bench.runner(binding("A", Status.skip()), binding("B", PreFlight(Status.skip())))
    assert runner.pre_flight(state, pod, "n").code is Code.SKIP
    assert runner.pre_bind_groups(state) == []


PARALLEL = PreFlight(allow_parallel=True)
IDLE_PARALLEL = PreFlight(Status.skip(), allow_parallel=True)


@pytest.mark.parametrize(
    ("flights", "groups"),
    [
        ([PARALLEL, PARALLEL], [["P0", "P1"]]),
        ([PARALLEL, None, PARALLEL], [["P0"], ["P1"], ["P2"]]),
        ([PARALLEL, IDLE_PARALLEL, PARALLEL], [["P0", "P2"]]),
        ([PARALLEL, Status.skip(), PARALLEL], [["P0"], ["P2"]]),
        ([IDLE_PARALLEL], []),
    ],
)
def test_pre_bind_groups(bench, state, pod, flights, groups):
    runner = bench.runner(*[binding(f"P{at}", flight) for at, flight in enumerate(flights)])
    runner.pre_flight(state, pod, "n")
    assert runner.pre_bind_groups(state) == groups


@pytest.mark.parametrize(
    ("flight", "message"),
    [
        (ValueError("boom"), 'running PreBindPreFlight "A": ValueError: boom'),
        (
            Status.unschedulable("no"),
            'PreBindPreFlight A returned "Unschedulable", which is unsupported. It is supposed to return '
            "Success, "
            "Skip, or Error status",
        ),
    ],
)
def test_pre_flight_errors(bench, state, pod, flight, message):
    status = bench.runner(binding("A", flight)).pre_flight(state, pod, "n")
    assert (status.code, status.message) == (Code.ERROR, message)


def resolve(runner, point, state, pod):
    started = runner.start(point, "A", state, pod, "n")
    return started if isinstance(started, Status) else asyncio.run(started)


def as_async(value):
    async def method(self, state, pod, node_name):
        LOG.append(("A", node_name))
        await asyncio.sleep(0)
        if isinstance(value, Exception):
            raise value
        return value

    return method


@pytest.mark.parametrize("wrap", [functools.partial(answer, "A", "x"), as_async], ids=["sync", "async"])
@pytest.mark.parametrize(
    ("point", "value", "code", "message"),
    [
        ("preBind", None, Code.SUCCESS, ""),
        ("preBind", Status.pending("later"), Code.PENDING, "later"),
        (
            "preBind",
            Status.skip(),
            Code.ERROR,
            'running PreBind plugin "A": returned Skip, which is not supported here',
        ),
        ("preBind", OSError("down"), Code.ERROR, 'running PreBind plugin "A": OSError: down'),
        ("bind", Status.skip(), Code.SKIP, ""),
        ("bind", None, Code.SUCCESS, ""),
        ("bind", Status.unschedulable("no"), Code.UNSCHEDULABLE, "no"),
        ("bind", 3, Code.ERROR, 'running Bind plugin "A": returned int, expected a Status or None'),
        ("postBind", None, Code.SUCCESS, ""),
        ("postBind", OSError("down"), Code.ERROR, 'running PostBind plugin "A": OSError: down'),
    ],
)
def test_binding_calls_sync_and_async(bench, state, pod, wrap, point, value, code, message):
    method = {"preBind": "pre_bind", "bind": "bind", "postBind": "post_bind"}[point]
    runner = bench.runner(make_plugin("A", **{method: wrap(value)}))
    assert runner.is_async(point, "A") == (wrap is as_async)
    assert runner.names(point) == ["A"]
    status = resolve(runner, point, state, pod)
    assert (status.code, status.message) == (code, message)
    assert status.is_success or status.plugin == "A"
    assert len(LOG) == 1
    assert len(bench.seen) == 1
