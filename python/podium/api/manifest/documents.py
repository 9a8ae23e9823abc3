"""Inputs to documents: files, folders, standard input; YAML or JSON, also gzipped."""

import gzip
import json
import re
import sys
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from podium.api.manifest import yaml_reader
from podium.errors import InputError

STDIN = "-"
SUFFIXES = (".yaml", ".yml", ".json", ".yaml.gz", ".yml.gz", ".json.gz")
"""What is read of a folder; a file named on its own may have any name."""

_GZIP = b"\x1f\x8b"
_SEPARATOR = re.compile(r"^---(?=\s|$)|^\.\.\.\s*$", re.MULTILINE)
_BLANK = re.compile(r"\s*(#.*|%.*)?\Z")


class Document(NamedTuple):
    """One object, or what stands where an object should."""

    source: str
    """"file:document", with ``.items[n]`` for a member of a list; documents count from 1."""
    body: Any
    """The object as plain data, or as the bytes of its JSON (``msgspec.Raw``)."""
    kind: str = ""
    """Kind and apiVersion that a member of a typed list inherits."""
    api_version: str = ""


class Unreadable(NamedTuple):
    """A document that could not be parsed."""

    source: str
    message: str


def expand(paths: Iterable[str]) -> list[str]:
    """Return the files behind paths: folders give their manifests, sorted by name, without subfolders.

    Raises InputError for a path that is not there and a folder without a manifest.
    """
    files: list[str] = []
    for path in paths:
        folder = Path(path)
        if path == STDIN or not folder.is_dir():
            files.append(path)
            continue
        found = sorted(entry for entry in _entries(folder) if entry.name.endswith(SUFFIXES))
        if not found:
            raise InputError(f"{path}: no {', '.join(SUFFIXES[:3])} file in this folder")
        files += map(str, found)
    return files


def _entries(folder: Path) -> list[Path]:
    try:
        return [entry for entry in folder.iterdir() if entry.is_file()]
    except OSError as error:
        raise InputError(f"{folder}: {error.strerror or error}") from None


def read_bytes(path: str) -> bytes:
    """Return the content of a file or of standard input, unpacked; raises InputError."""
    try:
        data = sys.stdin.buffer.read() if path == STDIN else Path(path).read_bytes()
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    if data.startswith(_GZIP):
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise InputError(f"{path}: damaged gzip data: {error}") from None
    return data


def parse(data: bytes, name: str) -> list[Document | Unreadable]:
    """Return the documents of an input.

    Raises InputError, starting with the input's name, if not one document can be read.
    """
    documents = list(_parse(data, name))
    if documents and all(isinstance(document, Unreadable) for document in documents):
        first = documents[0]
        raise InputError(f"{first.source}: {first.message}" if isinstance(first, Unreadable) else name)
    return documents


def _parse(data: bytes, name: str) -> Iterator[Document | Unreadable]:
    data = data.removeprefix(b"\xef\xbb\xbf")
    if data.lstrip()[:1] in (b"{", b"["):
        try:
            yield from _json(data, name)
        except (msgspec.DecodeError, RecursionError) as error:
            if name.endswith((".json", ".json.gz")) or isinstance(error, RecursionError):
                yield Unreadable(f"{name}:1", f"not JSON: {_reason(error)}")
                return
        else:
            return
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise InputError(f"{name}: not text in UTF-8 (byte {error.start})") from None
    yield from _yaml(text, name)


def _reason(error: Exception) -> str:
    return "nested too deeply" if isinstance(error, RecursionError) else str(error)


class _List(msgspec.Struct):
    """A list of objects, read without building them."""

    items: list[msgspec.Raw]
    kind: str = ""
    apiVersion: str = ""  # noqa: N815 - the wire name, read without renaming


_LIST = msgspec.json.Decoder(_List)
_ANY = msgspec.json.Decoder(msgspec.Raw)


def _is_list(kind: object) -> bool:
    return isinstance(kind, str) and kind.endswith("List")


def _list(data: bytes) -> _List | None:
    """Return a list of objects, ``None`` for another JSON value; raises DecodeError if it is none."""
    try:
        return _LIST.decode(data)
    except msgspec.ValidationError:
        # Said at the first field that does not fit, so the rest has not been looked at yet.
        _ANY.decode(data)
        return None


def _json(data: bytes, name: str) -> Iterator[Document]:
    source = f"{name}:1"
    try:
        listed = _list(data)
    except msgspec.DecodeError:
        yield from _json_stream(data, name)
        return
    if listed is None:
        yield Document(source, msgspec.Raw(data))
    elif _is_list(listed.kind):
        yield from _members(source, listed.kind, listed.apiVersion, listed.items)
    else:
        yield Document(source, msgspec.Raw(data))


def _json_stream(data: bytes, name: str) -> Iterator[Document]:
    """Read several JSON documents one after the other."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise msgspec.DecodeError(f"not text in UTF-8 (byte {error.start})") from None
    decoder, position, bodies = json.JSONDecoder(), 0, []
    blank = re.compile(r"\s*")
    while (position := blank.match(text, position).end()) < len(text):  # type: ignore[union-attr]  # \s* always matches
        try:
            body, position = decoder.raw_decode(text, position)
        except json.JSONDecodeError as error:
            raise msgspec.DecodeError(f"line {error.lineno}: {error.msg}") from None
        bodies.append(body)
    for number, body in enumerate(bodies, 1):
        yield from _flatten(f"{name}:{number}", body)


def _chunks(text: str) -> Iterator[tuple[int, str]]:
    """Split at document separators, so that one broken document leaves the others readable."""
    start = 0
    for match in [*_SEPARATOR.finditer(text), None]:
        end = len(text) if match is None else match.start()
        chunk = text[start:end]
        if any(not _BLANK.match(line) for line in chunk.splitlines()):
            yield text.count("\n", 0, start), chunk
        start = end if match is None else match.end()


def _yaml(text: str, name: str) -> Iterator[Document | Unreadable]:
    number = 0
    for line, chunk in _chunks(text):
        number += 1
        source = f"{name}:{number}"
        try:
            bodies = list(yaml_reader.read(chunk, first_line=line))
        except InputError as error:
            yield Unreadable(source, str(error))
            continue
        for body in bodies:
            yield from _flatten(source, body)


def _flatten(source: str, body: Any) -> Iterator[Document]:
    if isinstance(body, dict) and _is_list(body.get("kind")) and isinstance(body.get("items"), list):
        yield from _members(source, body["kind"], body.get("apiVersion"), body["items"])
    else:
        yield Document(source, body)


def _members(source: str, kind: str, api_version: object, items: Sequence[Any]) -> Iterator[Document]:
    inherited = kind.removesuffix("List")
    version = api_version if inherited and isinstance(api_version, str) else ""
    for index, item in enumerate(items):
        yield Document(f"{source}.items[{index}]", item, inherited, version)
