"""Metadata, labels and label selectors."""

from collections.abc import Callable, Mapping

from podium.api.objects.base import LabelSelector, Object, ObjectMeta
from podium.api.validation.fields import Errors
from podium.api.validation.names import Problems, dns_label, label_key, label_value

_ANNOTATION_BYTES = 256 * 1024

_IN = "must be specified when `operator` is 'In' or 'NotIn'"
_EXISTS = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"


def object_meta(errors: Errors, item: Object, name: Callable[[str], Problems], *, namespaced: bool) -> None:
    """Check an object's metadata; ``name`` is the check of its kind's names."""
    meta = item.metadata
    if meta.generate_name:
        prefix = meta.generate_name
        # What will follow the dash is valid, so a trailing one is.
        masked = f"{prefix[:-2]}a" if len(prefix) > 1 and prefix.endswith("-") else prefix
        errors.invalids("metadata.generateName", prefix, name(masked))
    if not meta.name:
        errors.required("metadata.name", "name or generateName is required")
    elif meta.name != meta.generate_name:
        errors.invalids("metadata.name", meta.name, name(meta.name))
    if namespaced:
        errors.invalids("metadata.namespace", meta.namespace, dns_label(meta.namespace))
    elif meta.namespace:
        errors.forbidden("metadata.namespace", "not allowed on this type")
    errors.not_negative("metadata.generation", meta.generation)
    labels(errors, meta.labels, "metadata.labels")
    annotations(errors, meta.annotations, "metadata.annotations")
    _owners(errors, meta)


def labels(errors: Errors, values: Mapping[str, str], path: str) -> None:
    """Check a map of labels."""
    for key, value in values.items():
        errors.invalids(path, key, label_key(key))
        errors.invalids(path, value, label_value(value))


def annotations(errors: Errors, values: Mapping[str, str], path: str) -> None:
    """Check a map of annotations: keys, and the size of all together."""
    size = 0
    for key, value in values.items():
        errors.invalids(path, key, label_key(key.lower()))
        size += len(key) + len(value)
    if size > _ANNOTATION_BYTES:
        errors.append(f"{path}: Too long: may not be more than {_ANNOTATION_BYTES} bytes")


def _owners(errors: Errors, meta: ObjectMeta) -> None:
    path, controller = "metadata.ownerReferences", ""
    for index, owner in enumerate(meta.owner_references):
        parts = {
            "apiVersion": owner.api_version,
            "kind": owner.kind,
            "name": owner.name,
            "uid": owner.uid,
        }
        for field, value in parts.items():
            if not value:
                errors.required(f"{path}[{index}].{field}", "must not be empty")
        if not owner.controller:
            continue
        name = f"{owner.kind}/{owner.name}"
        if controller:
            errors.invalid(
                path,
                meta.owner_references,
                'Only one reference can have Controller set to true. Found "true" in references for '
                f"{controller} and {name}",
            )
        controller = controller or name


def selector(errors: Errors, value: LabelSelector | None, path: str) -> None:
    """Check a label selector."""
    if value is None:
        return
    if value.match_labels:
        labels(errors, value.match_labels, f"{path}.matchLabels")
    for index, item in enumerate(value.match_expressions):
        at = f"{path}.matchExpressions[{index}]"
        if item.operator in ("In", "NotIn"):
            if not item.values:
                errors.required(f"{at}.values", _IN)
        elif item.operator in ("Exists", "DoesNotExist"):
            if item.values:
                errors.forbidden(f"{at}.values", _EXISTS)
        else:
            errors.invalid(f"{at}.operator", item.operator, "not a valid selector operator")
        errors.invalids(f"{at}.key", item.key, label_key(item.key))
        for number, text in enumerate(item.values):
            errors.invalids(f"{at}.values[{number}]", text, label_value(text))


def is_empty(value: LabelSelector) -> bool:
    """Tell whether a selector selects everything."""
    return not value.match_labels and not value.match_expressions
