"""JSON that is nested deeper than a decoder goes: custom resources may be, since nobody looks into them."""

import re
from typing import Final

#: Nothing that scheduling reads is nested this deep.
DEEPEST: Final = 200

_TOKEN: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}]', re.DOTALL)


def shallow(body: bytes, deepest: int = DEEPEST) -> bytes:
    """Return JSON with null in place of every value that is nested deeper than that."""
    parts, depth, kept = [], 0, 0
    for token in _TOKEN.finditer(body):
        mark = token[0]
        if mark in {b"{", b"["}:
            depth += 1
            if depth == deepest + 1:
                parts += [body[kept : token.start()], b"null"]
        elif mark in {b"}", b"]"}:
            if depth == deepest + 1:
                kept = token.end()
            depth -= 1
    return b"".join([*parts, body[kept:]])
