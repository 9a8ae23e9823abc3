"""Decoded objects to a manifest: duplicates, defaults, admission, validation, expansion.

Everything but pods goes first, because pods are admitted by classes and ranges, and workloads expand over
nodes; then pods and workloads in input order. A refused object is noted and the rest goes on.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

import msgspec

from podium.api import quirks
from podium.api.admission import Admission, label_keys
from podium.api.defaults import set_defaults
from podium.api.features import DEFAULT_GATES, FeatureGates
from podium.api.gated import close
from podium.api.identity import complete, complete_claim
from podium.api.kinds import BY_TYPE, Kind
from podium.api.manifest.result import Loaded, Manifest, Note
from podium.api.objects.base import Object, ObjectMeta
from podium.api.objects.groups import PodGroup
from podium.api.objects.node import Node
from podium.api.objects.pod import Pod, PodSpec
from podium.api.objects.policy import Namespace, PriorityClass
from podium.api.objects.storage import PersistentVolume, PersistentVolumeClaim
from podium.api.sharing import Sharing
from podium.api.validation import refusal
from podium.api.workloads import EXPANDED, Owned, Surroundings, expand
from podium.errors import InputError

Mode = Literal["auto", "create", "persisted", "off"]


class Options(NamedTuple):
    """How objects are judged."""

    validate: Mode = "auto"
    """``create`` refuses what the API server would, ``persisted`` warns, ``off`` loads what parses; ``auto``
    is ``persisted`` for objects with a resourceVersion and ``create`` for the others."""
    cron_jobs: bool = False
    """Whether each CronJob makes its next Job."""
    gates: FeatureGates = DEFAULT_GATES


class Entry(NamedTuple):
    """A decoded object and where it is from."""

    kind: Kind
    item: Object
    source: str


def label(item: Object) -> str:
    """Return "Pod ns/name"."""
    meta, kind = item.metadata, BY_TYPE[type(item)]
    path = f"{meta.namespace}/{meta.name}" if meta.namespace else meta.name
    return f"{kind.name} {path}".strip()


class Pipeline:
    """Builds one manifest."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self._rejected: list[Note] = []
        self._warnings: list[Note] = []
        # Input position to what came of it: the object itself, then what its controller makes.
        self._places: dict[int, list[Loaded]] = {}
        # Object, by its address, to the fingerprint of what the input says: defaults change the object.
        self._contents: dict[int, int] = {}
        self._seen: dict[tuple[type[Object], str, str], int] = {}
        self._admission = Admission.over(())
        self._sharing = Sharing()

    def run(self, entries: Sequence[Entry], ignored: Mapping[str, int]) -> Manifest:
        """Run all steps."""
        entries = [entry for entry in entries if self._identify(entry)]
        # Classes and ranges admit pods, claims and groups; so these come last.
        for place, entry in enumerate(entries):
            if not isinstance(entry.item, _ADMITTED):
                self._accept(place, entry)
        self._admission = Admission.over(self._items())
        for place, entry in enumerate(entries):
            if isinstance(entry.item, _ADMITTED):
                self._accept(place, entry)
        self._expand(entries)
        self._add_namespaces()
        return self._result(ignored)

    def _identify(self, entry: Entry) -> bool:
        """Complete the identity and take a fingerprint; refuses halves of characters in JSON escapes."""
        try:
            complete(entry.item.metadata, entry.kind.name, namespaced=entry.kind.namespaced)
            if isinstance(entry.item, PersistentVolume):
                complete_claim(entry.item)
            self._contents[id(entry.item)] = hash(msgspec.json.encode(entry.item))
        except UnicodeEncodeError:
            self._rejected.append(Note(entry.kind.name, entry.source, "a text that is not valid Unicode"))
            return False
        return True

    def _accept(self, place: int, entry: Entry) -> None:
        item, key = entry.item, _key(entry.item)
        content = self._contents[id(item)]
        first = self._seen.get(key)
        if first is not None:
            if first != content:
                self._reject(item, entry.source, _exists(item))
            return
        try:
            set_defaults(item)
            self.judge(item, entry.source)
        except InputError as error:
            self._reject(item, entry.source, str(error))
            return
        if isinstance(item, Pod) and item.spec.node_name:
            self._sharing.share(item)
        self._seen[key] = content
        self._keep(place, Loaded(item, entry.source))

    def _reject(self, item: Object, source: str, message: str) -> None:
        self._rejected.append(Note(label(item), source, message))

    def _keep(self, place: int, loaded: Loaded) -> None:
        self._places.setdefault(place, []).append(loaded)
        for message in quirks.of(loaded.item):
            self._warnings.append(Note(label(loaded.item), loaded.source, message, quirk=True))

    def judge(self, item: Object, source: str) -> None:
        """Admit and validate a defaulted object; raises InputError if it is refused and that counts."""
        persisted = bool(item.metadata.resource_version)
        mode = self.options.validate
        if mode == "auto":
            mode = "persisted" if persisted else "create"
        problems = self._problems(item, persisted=persisted, valid=mode != "off")
        for problem in problems:
            if mode == "create":
                raise InputError(problem)
            self._warnings.append(Note(label(item), source, problem))
        close(item, self.options.gates)

    def _problems(self, item: Object, *, persisted: bool, valid: bool) -> Iterator[str]:
        """Yield what the API server would say, in its order; what is stored has been admitted."""
        if not persisted:
            yield from _caught(self._mutate, item)
        if valid:
            problem = refusal(item, self.options.gates)
            if problem:
                yield problem
        if valid and not persisted:
            yield from _caught(self._judge_admission, item)

    def _mutate(self, item: Object) -> None:
        if isinstance(item, Pod):
            self._admission.mutate_pod(item)
        elif isinstance(item, PersistentVolumeClaim):
            self._admission.mutate_claim(item)
        elif isinstance(item, PodGroup):
            self._admission.mutate_group(item)

    def _judge_admission(self, item: Object) -> None:
        if isinstance(item, Pod):
            self._admission.judge_pod(item)
        elif isinstance(item, PersistentVolumeClaim):
            self._admission.judge_claim(item)
        elif isinstance(item, PriorityClass):
            self._admission.judge_class(item, self._items())

    def _items(self) -> Iterator[Object]:
        for loaded in self._places.values():
            yield from (entry.item for entry in loaded)

    def _expand(self, entries: Sequence[Entry]) -> None:
        nodes = [item for item in self._items() if isinstance(item, Node)]
        # Refused pods count too: they are the ones their controller has.
        owned = Owned(entry.item for entry in entries)
        for place in sorted(self._places):
            for loaded in [*self._places[place]]:
                if type(loaded.item) in EXPANDED:
                    self._expand_one(place, loaded, owned, nodes)

    def _expand_one(self, place: int, loaded: Loaded, owned: Owned, nodes: Sequence[Node]) -> None:
        admitted = Admitted(self, loaded.source)
        around = Surroundings(owned, nodes, admitted, self.options.cron_jobs)
        try:
            for item in expand(loaded.item, around):
                made = Loaded(item, loaded.source, derived=True)
                if self._make(place, made) and type(item) in EXPANDED:
                    self._expand_one(place, made, owned, nodes)
        except InputError as error:
            self._reject(loaded.item, loaded.source, str(error))

    def _make(self, place: int, made: Loaded) -> bool:
        """Keep what a controller made, unless something of that name is there."""
        item, key = made.item, _key(made.item)
        if key in self._seen:
            if not isinstance(item, PersistentVolumeClaim):
                self._reject(item, made.source, _exists(item))
            return False
        if not isinstance(item, Pod):
            set_defaults(item)
            self.judge(item, made.source)
        self._seen[key] = 0
        self._keep(place, made)
        return True

    def _add_namespaces(self) -> None:
        """Add the namespaces of objects that the input leaves out: a cluster has them, labelled."""
        used = {item.metadata.namespace for item in self._items()}
        for name in sorted(used - {""}):
            item = Namespace(metadata=ObjectMeta(name=name))
            if _key(item) not in self._seen:
                complete(item.metadata, "Namespace", namespaced=False)
                set_defaults(item)
                self._keep(_BEFORE_INPUT, Loaded(item, "", derived=True))

    def _result(self, ignored: Mapping[str, int]) -> Manifest:
        objects: dict[type[Object], list[Loaded]] = {}
        for place in sorted(self._places):
            for loaded in self._places[place]:
                objects.setdefault(type(loaded.item), []).append(loaded)
        return Manifest(objects, self._rejected, self._warnings, ignored)


_BEFORE_INPUT = -1
"""The place of what no input asks for."""

_ADMITTED = (Pod, PersistentVolumeClaim, PodGroup)


def _key(item: Object) -> tuple[type[Object], str, str]:
    return type(item), item.metadata.namespace, item.metadata.name


def _exists(item: Object) -> str:
    return f'{BY_TYPE[type(item)].resource} "{item.metadata.name}" already exists'


def _caught(step: Callable[[Object], None], item: Object) -> Iterator[str]:
    try:
        step(item)
    except InputError as error:
        yield str(error)


class Admitted:
    """Admits the pods of one workload, once per spec and labels that its selectors take over."""

    def __init__(self, pipeline: Pipeline, source: str) -> None:
        self._pipeline = pipeline
        self._source = source
        self._specs: dict[tuple[int, tuple[str | None, ...]], PodSpec] = {}
        # Keeps the templates alive, whose ids are keys.
        self._templates: list[PodSpec] = []

    def __call__(self, metadata: ObjectMeta, template: PodSpec) -> PodSpec:
        """Return the completed spec; raises InputError."""
        values = tuple(metadata.labels.get(key) for key in label_keys(template))
        key = (id(template), values)
        found = self._specs.get(key)
        if found is None:
            found = self._specs[key] = self._complete(metadata, template)
            self._templates.append(template)
        return found

    def _complete(self, metadata: ObjectMeta, template: PodSpec) -> PodSpec:
        spec = msgspec.json.decode(msgspec.json.encode(template), type=PodSpec)
        # A pod is refused before it has its name: the API server then speaks of its prefix.
        prefix = msgspec.structs.replace(metadata, name=metadata.generate_name)
        made = Pod(metadata=prefix, spec=spec)
        set_defaults(made)
        self._pipeline.judge(made, self._source)
        return made.spec
