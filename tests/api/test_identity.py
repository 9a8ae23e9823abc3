from podium.api import PersistentVolume, identity
from podium.api.objects.storage import ObjectReference, PersistentVolumeSpec, VolumePhase


def test_a_bound_volume_knows_its_claim_by_the_derived_uid():
    spec = PersistentVolumeSpec(claim_ref=ObjectReference(namespace="data", name="c"))
    bound = PersistentVolume(spec=spec, status=VolumePhase(phase="Bound"))
    identity.complete_claim(bound)
    assert bound.spec.claim_ref.uid == identity.derived_uid("PersistentVolumeClaim", "data", "c")


def test_a_promised_volume_is_left_alone():
    promised = PersistentVolume(spec=PersistentVolumeSpec(claim_ref=ObjectReference(name="c")))
    identity.complete_claim(promised)
    assert not promised.spec.claim_ref.uid
