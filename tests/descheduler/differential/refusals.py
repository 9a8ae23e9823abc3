"""Policies that are wrong somewhere: one change to a valid one, anywhere in it."""

import json
from collections.abc import Iterator
from typing import Any

import yaml
from podium.descheduler.loop import Descheduler
from podium.descheduler.policy.load import load_policy
from podium.descheduler.table import IN_TREE
from podium.errors import InputError

from tests.descheduler.differential.chance import Dice
from tests.descheduler.differential.nodes import CLASSES, surroundings
from tests.descheduler.differential.policies import policy

Path = tuple[str | int, ...]

VALUES: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    7,
    150,
    2.5,
    3_000_000_000,
    "",
    "text",
    "30s",
    [],
    ["x"],
    {},
    {"x": 1},
)


def _paths(value: Any, at: Path = ()) -> Iterator[Path]:
    if at:
        yield at
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _paths(item, (*at, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _paths(item, (*at, index))


def broken(seed: int) -> dict[str, Any]:
    """Return a policy with one thing replaced, left out, or added."""
    dice = Dice(f"broken {seed}")
    body: dict[str, Any] = json.loads(json.dumps(policy(dice, "p")))
    *way, last = dice.pick(list(_paths(body)))
    holder: Any = body
    for step in way:
        holder = holder[step]
    action = dice.randint(0, 9)
    if action < 6:
        holder[last] = dice.pick(VALUES)
    elif action < 8:
        del holder[last]
    elif isinstance(holder, dict):
        holder[dice.pick(("unknown", "Enabled", "name", "namespaces"))] = dice.pick(VALUES)
    else:
        holder.append(dice.pick(VALUES))
    return body


def text(seed: int) -> str:
    """Write a broken policy as YAML, every other one as JSON."""
    body = broken(seed)
    return json.dumps(_sorted(body)) if seed % 2 else yaml.safe_dump(body)


def request(seed: int) -> dict[str, Any]:
    objects = surroundings(Dice(1))
    return {"id": f"broken {seed}", "objects": objects, "policy": text(seed), "runs": 1}


def refusal(seed: int) -> str:
    """Return our refusal, empty if we accept."""
    try:
        loaded = load_policy(text(seed), "policy.yaml", IN_TREE, CLASSES)
        Descheduler(loaded, IN_TREE, None)  # type: ignore[arg-type]  # nothing is evicted
    except InputError as error:
        return str(error)
    return ""


def _sorted(value: Any) -> Any:
    """Sort keys, as YAML comes out sorted on its way through Go."""
    if isinstance(value, dict):
        return {key: _sorted(item) for key, item in sorted(value.items())}
    return [_sorted(item) for item in value] if isinstance(value, list) else value
