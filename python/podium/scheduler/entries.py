"""What the scheduler keeps of all pods that it knows, by uid and by the core's handle."""

from collections.abc import Iterable, Sequence

from podium.api import Pod
from podium.scheduler.entry import Entry

#: Where no pod is.
_NOBODY = Entry(Pod(), -1)


class Entries:
    """The pods there are. The core gives its handles out anew, so they are places in a list."""

    def __init__(self) -> None:
        self.by_uid: dict[str, Entry] = {}
        self._by_handle: list[Entry] = []

    def add(self, entries: Sequence[Entry]) -> None:
        """Take in pods that are new."""
        if not entries:
            return
        self.by_uid.update(zip([entry.pod.metadata.uid for entry in entries], entries, strict=True))
        handles, places = [entry.handle for entry in entries], self._by_handle
        places += [_NOBODY] * (max(handles) + 1 - len(places))
        for handle, entry in zip(handles, entries, strict=True):
            places[handle] = entry

    def remove(self, entry: Entry) -> None:
        """Forget a pod."""
        del self.by_uid[entry.pod.metadata.uid]
        self._by_handle[entry.handle] = _NOBODY

    def by_handle(self, handle: int) -> Entry:
        """Return the pod behind a handle of the core."""
        return self._by_handle[handle]

    def by_handles(self, handles: Iterable[int]) -> list[Entry]:
        """Return the pods behind handles, in order."""
        return list(map(self._by_handle.__getitem__, handles))
