"""Python's cycle collector, paused where it can find nothing."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """Keep the cycle collector from running in the block.

    For work that makes many objects which stay, or which reference counts free: passes over them cost time
    and collect nothing. Where the collector is off anyway it stays off.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def spare_what_is_there() -> None:
    """Let the collector never look again at what exists now: inputs that stay until the process ends."""
    gc.freeze()
