"""Loading ``-f`` inputs: one cluster of all files, folders and standard input."""

from collections.abc import Iterable, Mapping
from typing import Any

from podium.api.manifest.decode import Decoded, Foreign, decode, describe
from podium.api.manifest.documents import Document, Unreadable, expand, parse, read_bytes
from podium.api.manifest.pipeline import Entry, Mode, Options, Pipeline
from podium.api.manifest.result import Loaded, Manifest, Note
from podium.collector import collector_paused
from podium.errors import InputError

__all__ = [
    "Document",
    "Loaded",
    "Manifest",
    "Mode",
    "Note",
    "Options",
    "Unreadable",
    "load",
    "load_documents",
    "load_objects",
    "read",
]

DEFAULT_OPTIONS = Options()


def load(paths: Iterable[str], options: Options = DEFAULT_OPTIONS) -> Manifest:
    """Load files, folders and standard input (``-``); YAML or JSON, also gzipped.

    Raises InputError, one line that starts with the file, for a path that cannot be read and a file in
    which not one document parses. Whatever else is wrong is in ``rejected`` of the result.
    """
    return load_documents(read(paths), options)


def read(paths: Iterable[str]) -> list[Document | Unreadable]:
    """Return the documents of files, folders and standard input; raises InputError as ``load`` does."""
    documents: list[Document | Unreadable] = []
    with collector_paused():
        for path in expand(paths):
            documents += parse(read_bytes(path), path)
    return documents


def load_objects(
    objects: Iterable[Mapping[str, Any]], source: str, options: Options = DEFAULT_OPTIONS
) -> Manifest:
    """Load objects that are plain data already, such as those of a trace; ``source`` names it."""
    documents = [Document(f"{source}:{number}", body) for number, body in enumerate(objects, 1)]
    return load_documents(documents, options)


def load_documents(
    documents: Iterable[Document | Unreadable], options: Options = DEFAULT_OPTIONS
) -> Manifest:
    """Load documents from any sources as one cluster."""
    with collector_paused():
        return _load(documents, options)


def _load(documents: Iterable[Document | Unreadable], options: Options) -> Manifest:
    entries: list[Entry] = []
    refused: list[Note] = []
    ignored: dict[str, int] = {}
    for document in documents:
        if isinstance(document, Unreadable):
            refused.append(Note("", document.source, document.message))
            continue
        try:
            match decode(document):
                case Foreign(kind):
                    ignored[kind] = ignored.get(kind, 0) + 1
                case Decoded(kind=row, item=item):
                    entries.append(Entry(row, item, document.source))
        except InputError as error:
            refused.append(Note(describe(document), document.source, str(error)))
    manifest = Pipeline(options).run(entries, ignored)
    rejected = [*refused, *manifest.rejected]
    return Manifest(manifest.objects, rejected, manifest.warnings, manifest.ignored)
