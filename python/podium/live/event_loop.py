"""The event loop of ``podium run``."""

import asyncio
import sys
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def run_loop(main: Coroutine[Any, Any, T]) -> T:
    """Run until done, on uvloop where there is one.

    asyncio keeps 256 KiB for every TLS connection; beside an API server there are more than a hundred.
    """
    if sys.platform == "win32":
        return asyncio.run(main)
    import uvloop

    return uvloop.run(main)
