"""Job and CronJob: pods that run to their end."""

from collections.abc import Iterator

import msgspec

from podium.api.identity import derived_uid, digest
from podium.api.objects.base import Object
from podium.api.objects.workloads import CronJob, Job
from podium.api.workloads.owned import Surroundings
from podium.api.workloads.template import made_by, names, pod

COMPLETION_INDEX = "batch.kubernetes.io/job-completion-index"
_FINISHED = ("Complete", "Failed", "SuccessCriteriaMet", "FailureTarget")


def job(item: Job, around: Surroundings) -> Iterator[Object]:
    """Yield the pods that a Job runs at once, if it has none, is not suspended and not finished."""
    if around.owned.by(item) or item.spec.suspend or _finished(item):
        return
    labels, template = _labels(item), item.spec.template
    if item.spec.completion_mode != "Indexed":
        for name, _ in zip(names(item), range(_wanted(item)), strict=False):
            yield pod(item, name, template, around, labels)
        return
    prefix = item.metadata.name + "-"
    for name, index in zip(names(item), _indexes(item), strict=False):
        own = f"{prefix}{index}-"
        mark = {COMPLETION_INDEX: str(index)}
        made = pod(item, own + name.removeprefix(prefix), template, around, {**labels, **mark})
        made.metadata.generate_name = own
        made.metadata.annotations = {**made.metadata.annotations, **mark}
        yield made


def _finished(item: Job) -> bool:
    conditions = item.status.conditions
    return any(condition.type in _FINISHED and condition.status == "True" for condition in conditions)


def _wanted(item: Job) -> int:
    """Return how many pods run at once: the parallelism, but no more than are left to complete."""
    parallelism = 1 if item.spec.parallelism is None else item.spec.parallelism
    if item.spec.completions is None:
        return 0 if item.status.succeeded else parallelism
    return max(0, min(parallelism, item.spec.completions - item.status.succeeded))


def _indexes(item: Job) -> list[int]:
    done = _completed(item.status.completed_indexes)
    parallelism = 1 if item.spec.parallelism is None else item.spec.parallelism
    left = (index for index in range(item.spec.completions or 0) if index not in done)
    return [index for index, _ in zip(left, range(parallelism), strict=False)]


def _completed(text: str) -> set[int]:
    """Read "0,2-5" as the Job's status writes it."""
    done: set[int] = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        if first.isdigit() and (not last or last.isdigit()):
            done.update(range(int(first), int(last or first) + 1))
    return done


def _labels(item: Job) -> dict[str, str]:
    """Return the labels that tie a pod to its Job; with a manual selector only the template's count."""
    if item.spec.manual_selector:
        return {}
    uid, name = item.metadata.uid, item.metadata.name
    return {
        "batch.kubernetes.io/controller-uid": uid,
        "controller-uid": uid,
        "batch.kubernetes.io/job-name": name,
        "job-name": name,
    }


def cron_job(item: CronJob, around: Surroundings) -> Iterator[Object]:
    """Yield the next Job of a CronJob, if asked for; a suspended one has no next."""
    if not around.cron_jobs or item.spec.suspend:
        return
    # Upstream appends the minute it is due; without a clock the number is derived.
    number = digest(item.metadata.uid) % 100_000_000
    template = item.spec.job_template
    metadata = made_by(item, f"{item.metadata.name}-{number:08}", template.metadata, {})
    metadata.uid = derived_uid("Job", metadata.namespace, metadata.name)
    made = Job(metadata=metadata, spec=msgspec.structs.replace(template.spec))
    yield made
