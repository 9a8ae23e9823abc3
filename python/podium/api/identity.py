"""Names and uids that nobody gave: derived, so that the same input always means the same objects."""

import uuid
from collections.abc import Iterator

from podium.api.kinds import kind_of
from podium.api.objects.base import Object, ObjectMeta, OwnerReference
from podium.api.objects.storage import PersistentVolume

DEFAULT_NAMESPACE = "default"

_UIDS = uuid.uuid5(uuid.NAMESPACE_URL, "https://podium.dev/objects")
_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
"""The API server's letters for generated names: no vowels, nothing easily confused."""
SUFFIX_LENGTH = 5
_SUFFIXES = len(_ALPHABET) ** SUFFIX_LENGTH
_STEP = 5_324_281
"""No multiple of three, so that stepping by it meets each of the 3^15 suffixes once."""


def derived_uid(kind: str, namespace: str, name: str) -> str:
    """Return the uid of an object that has none, from what identifies it."""
    return str(uuid.uuid5(_UIDS, f"{kind}/{namespace}/{name}"))


def encode(number: int, length: int) -> str:
    """Write a number in the letters of generated names."""
    letters = []
    for _ in range(length):
        number, rest = divmod(number, len(_ALPHABET))
        letters.append(_ALPHABET[rest])
    return "".join(letters)


def digest(text: str | bytes) -> int:
    """Return the 32-bit FNV-1a hash, as the controllers use for templates."""
    value = 0x811C9DC5
    for byte in text if isinstance(text, bytes) else text.encode():
        value = ((value ^ byte) * 0x01000193) & 0xFFFFFFFF
    return value


def template_hash(content: bytes) -> str:
    """Return a short name for a template's content, in the letters of generated names."""
    letters = str(digest(content))
    return "".join(_ALPHABET[ord(letter) % len(_ALPHABET)] for letter in letters)


def suffixes(seed: str) -> Iterator[str]:
    """Yield suffixes for generated names, all different, the same for the same seed."""
    start = digest(seed)
    for index in range(_SUFFIXES):
        yield encode((start + index * _STEP) % _SUFFIXES, SUFFIX_LENGTH)


def owner_reference(owner: Object, api_version: str) -> OwnerReference:
    """Return the reference that a controller leaves on what it makes."""
    return OwnerReference(
        api_version=api_version,
        kind=kind_of(type(owner)),
        name=owner.metadata.name,
        uid=owner.metadata.uid,
        controller=True,
        block_owner_deletion=True,
    )


def complete(meta: ObjectMeta, kind: str, *, namespaced: bool) -> None:
    """Set namespace, generated name and uid where they are missing, in place.

    A namespace on what has none is dropped, as the API server does.
    """
    meta.namespace = (meta.namespace or DEFAULT_NAMESPACE) if namespaced else ""
    if not meta.name and meta.generate_name:
        meta.name = meta.generate_name + next(suffixes(f"{kind}/{meta.namespace}/{meta.generate_name}"))
    if not meta.uid:
        meta.uid = derived_uid(kind, meta.namespace, meta.name)


def complete_claim(volume: PersistentVolume) -> None:
    """Set the uid by which a bound volume knows its claim where it is missing, in place.

    Without it the volume would be one that is only promised to the claim.
    """
    claim = volume.spec.claim_ref
    if claim is not None and not claim.uid and volume.status.phase == "Bound":
        claim.uid = derived_uid("PersistentVolumeClaim", claim.namespace or DEFAULT_NAMESPACE, claim.name)
