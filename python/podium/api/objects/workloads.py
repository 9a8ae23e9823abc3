"""Controllers' objects: owners of pods, and templates to expand."""

from collections.abc import Sequence

import msgspec

from podium.api.objects.base import (
    Base,
    Condition,
    Int32,
    Int64,
    Labels,
    LabelSelector,
    Object,
    ObjectMeta,
)
from podium.api.objects.pod import PodTemplateSpec
from podium.api.objects.storage import PersistentVolumeClaim


class ReplicationControllerSpec(Base):
    """Its selector is a map, and its template may be missing."""

    replicas: Int32 | None = None
    selector: Labels | None = None
    template: PodTemplateSpec | None = None


class ReplicationController(Object, tag="ReplicationController"):
    """The old form of a ReplicaSet."""

    spec: ReplicationControllerSpec = msgspec.field(default_factory=ReplicationControllerSpec)


class ReplicaSetSpec(Base):
    """A number of equal pods."""

    replicas: Int32 | None = None
    selector: LabelSelector | None = None
    template: PodTemplateSpec = msgspec.field(default_factory=PodTemplateSpec)


class ReplicaSet(Object, tag="ReplicaSet"):
    """A number of equal pods."""

    spec: ReplicaSetSpec = msgspec.field(default_factory=ReplicaSetSpec)


class DeploymentSpec(Base):
    """A ReplicaSet in the making; a paused one makes none."""

    replicas: Int32 | None = None
    selector: LabelSelector | None = None
    template: PodTemplateSpec = msgspec.field(default_factory=PodTemplateSpec)
    paused: bool = False


class Deployment(Object, tag="Deployment"):
    """Makes a ReplicaSet, which makes pods."""

    spec: DeploymentSpec = msgspec.field(default_factory=DeploymentSpec)


class StatefulSetOrdinals(Base):
    """The number of the first pod."""

    start: Int32 = 0


class StatefulSetSpec(Base):
    """Numbered pods, each with claims of its own."""

    replicas: Int32 | None = None
    selector: LabelSelector | None = None
    template: PodTemplateSpec = msgspec.field(default_factory=PodTemplateSpec)
    volume_claim_templates: Sequence[PersistentVolumeClaim] = ()
    service_name: str = ""
    pod_management_policy: str = ""
    ordinals: StatefulSetOrdinals | None = None


class StatefulSet(Object, tag="StatefulSet"):
    """Numbered pods, each with claims of its own."""

    spec: StatefulSetSpec = msgspec.field(default_factory=StatefulSetSpec)


class DaemonSetSpec(Base):
    """A pod for every node that matches."""

    selector: LabelSelector | None = None
    template: PodTemplateSpec = msgspec.field(default_factory=PodTemplateSpec)


class DaemonSet(Object, tag="DaemonSet"):
    """A pod for every node that matches."""

    spec: DaemonSetSpec = msgspec.field(default_factory=DaemonSetSpec)


class JobSpec(Base):
    """Pods that run to their end."""

    parallelism: Int32 | None = None
    completions: Int32 | None = None
    completion_mode: str | None = None
    suspend: bool | None = None
    active_deadline_seconds: Int64 | None = None
    backoff_limit: Int32 | None = None
    manual_selector: bool | None = None
    selector: LabelSelector | None = None
    template: PodTemplateSpec = msgspec.field(default_factory=PodTemplateSpec)


class JobStatus(Base):
    """How far it is."""

    active: Int32 = 0
    succeeded: Int32 = 0
    failed: Int32 = 0
    completed_indexes: str = ""
    conditions: Sequence[Condition] = ()


class Job(Object, tag="Job"):
    """Pods that run to their end."""

    spec: JobSpec = msgspec.field(default_factory=JobSpec)
    status: JobStatus = msgspec.field(default_factory=JobStatus)


class JobTemplateSpec(Base):
    """What a CronJob makes Jobs from."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    spec: JobSpec = msgspec.field(default_factory=JobSpec)


class CronJobSpec(Base):
    """When a Job is made, and which."""

    schedule: str = ""
    time_zone: str | None = None
    suspend: bool | None = None
    job_template: JobTemplateSpec = msgspec.field(default_factory=JobTemplateSpec)


class CronJob(Object, tag="CronJob"):
    """Makes a Job now and then."""

    spec: CronJobSpec = msgspec.field(default_factory=CronJobSpec)
