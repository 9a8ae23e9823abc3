"""Names of manifests."""


def namespace(manifest: dict) -> str:
    return manifest["metadata"].get("namespace") or "default"


def key(manifest: dict) -> str:
    return f"{namespace(manifest)}/{manifest['metadata']['name']}"


def controllers(manifest: dict) -> list[dict]:
    return [r for r in manifest["metadata"].get("ownerReferences") or [] if r.get("controller")]
