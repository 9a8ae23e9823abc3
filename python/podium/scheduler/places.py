"""Numbers for things in a given order, such that a new one between two others seldom moves any."""

from bisect import bisect_right
from typing import Any, Final

#: Things in one block; a fuller one is divided.
_MOST: Final = 256
#: Numbers of blocks, and of slots in a block.
_SPACE: Final = 1 << 32
#: What is left free behind the last one.
_STEP: Final = 1 << 20


class _Block:
    __slots__ = ("handles", "keys", "number", "slots")

    def __init__(self, number: int) -> None:
        self.number = number
        self.keys: list[Any] = []
        self.handles: list[int] = []
        self.slots: list[int] = []


class Places:
    """Things by their keys (which need only ``<``), equal ones as they came; a place is below 2**64.

    A place is the number of a block and a slot in it. Where there is no number left between two slots the
    slots of the block are spread anew, and where none is left between two blocks, all blocks are.
    """

    def __init__(self) -> None:
        self._blocks: list[_Block] = []
        self._block_of: dict[int, _Block] = {}
        self._moved: dict[int, int] = {}

    def take_moved(self) -> dict[int, int]:
        """Return the places that are new since the last call, by handle."""
        moved, self._moved = self._moved, {}
        return moved

    def insert(self, handle: int, key: Any) -> None:
        """Add a thing that is not there."""
        block = self._block_for(key)
        at = bisect_right(block.keys, key)
        slot = _between(block.slots, at)
        block.keys.insert(at, key)
        block.handles.insert(at, handle)
        self._block_of[handle] = block
        if slot is None:
            block.slots.insert(at, 0)
            self._spread(block)
        else:
            block.slots.insert(at, slot)
            self._moved[handle] = block.number * _SPACE + slot
        if len(block.keys) > _MOST:
            self._divide(block)

    def remove(self, handle: int) -> None:
        """Take out a thing that is there."""
        block = self._block_of.pop(handle)
        at = block.handles.index(handle)
        del block.keys[at], block.handles[at], block.slots[at]
        self._moved.pop(handle, None)
        if not block.keys:
            self._blocks.remove(block)

    def _block_for(self, key: Any) -> _Block:
        """Return the first block that ends with something greater, else the last one."""
        blocks = self._blocks
        if not blocks:
            blocks.append(_Block(_STEP))
            return blocks[0]
        low, high = 0, len(blocks) - 1
        while low < high:
            middle = (low + high) // 2
            if key < blocks[middle].keys[-1]:
                high = middle
            else:
                low = middle + 1
        return blocks[low]

    def _spread(self, block: _Block) -> None:
        step = _SPACE // (len(block.keys) + 1)
        block.slots = [step * (at + 1) for at in range(len(block.keys))]
        base = block.number * _SPACE
        self._moved.update(zip(block.handles, (base + slot for slot in block.slots), strict=True))

    def _divide(self, block: _Block) -> None:
        """Move the second half to a block of its own."""
        at, half = self._blocks.index(block) + 1, len(block.keys) // 2
        number = _between([each.number for each in self._blocks], at)
        second = _Block(0 if number is None else number)
        second.keys, second.handles = block.keys[half:], block.handles[half:]
        del block.keys[half:], block.handles[half:], block.slots[half:]
        self._blocks.insert(at, second)
        self._block_of.update(dict.fromkeys(second.handles, second))
        if number is not None:
            self._spread(second)
            return
        step = _SPACE // (len(self._blocks) + 1)
        for index, each in enumerate(self._blocks):
            each.number = step * (index + 1)
            self._spread(each)


def _between(numbers: list[int], at: int) -> int | None:
    """Return a number for a new thing at a position among ascending ones, None if there is none free."""
    before = numbers[at - 1] if at else 0
    if at == len(numbers):
        return before + _STEP if before + _STEP < _SPACE else None
    middle = (before + numbers[at]) // 2
    return middle if before < middle else None
