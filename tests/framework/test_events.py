import pytest
from podium.framework.events import (
    DEFAULT_RESOURCES,
    POD_RESOURCES,
    Action,
    ClusterEvent,
    EventRegistration,
    Hint,
    Resource,
    registrations,
)


@pytest.mark.parametrize(
    ("event", "label"),
    [
        (ClusterEvent(Resource.NODE, Action.ADD), "NodeAdd"),
        (ClusterEvent(Resource.NODE, Action.UPDATE_NODE_LABEL), "NodeUpdateNodeLabel"),
        (ClusterEvent(Resource.ASSIGNED_POD, Action.DELETE), "AssignedPodDelete"),
        (ClusterEvent(Resource.CSI_NODE, Action.UPDATE), "storage.k8s.io/CSINodeUpdate"),
        (ClusterEvent(Resource.WILDCARD, Action.ALL), "*All"),
        (ClusterEvent(Resource.NODE, Action.ADD | Action.UPDATE_NODE_LABEL), "Node"),
        (ClusterEvent(Resource.WILDCARD, Action.ALL, "UnschedulableTimeout"), "UnschedulableTimeout"),
    ],
)
def test_labels_are_upstreams(event, label):
    assert event.label == label


def event(resource, action):
    return ClusterEvent(resource, action)


@pytest.mark.parametrize(
    ("registered", "incoming", "matches"),
    [
        (event(Resource.NODE, Action.ADD), event(Resource.NODE, Action.ADD), True),
        (event(Resource.NODE, Action.ADD), event(Resource.NODE, Action.DELETE), False),
        (event(Resource.NODE, Action.UPDATE), event(Resource.NODE, Action.UPDATE_NODE_TAINT), True),
        (event(Resource.NODE, Action.UPDATE_NODE_TAINT), event(Resource.NODE, Action.UPDATE), False),
        (
            event(Resource.NODE, Action.ADD | Action.UPDATE_NODE_TAINT),
            event(Resource.NODE, Action.UPDATE_NODE_TAINT),
            True,
        ),
        (event(Resource.POD, Action.DELETE), event(Resource.ASSIGNED_POD, Action.DELETE), True),
        (event(Resource.ASSIGNED_POD, Action.DELETE), event(Resource.TARGET_POD, Action.DELETE), False),
        (event(Resource.WILDCARD, Action.ALL), event(Resource.NODE, Action.ADD), True),
        (event(Resource.WILDCARD, Action.ALL), event(Resource.WILDCARD, Action.ALL), True),
        (event(Resource.NODE, Action.ALL), event(Resource.WILDCARD, Action.ALL), False),
        (event(Resource.WILDCARD, Action.ADD), event(Resource.NODE, Action.ADD), True),
    ],
)
def test_a_registration_matches_what_is_as_specific_or_more(registered, incoming, matches):
    assert registered.matches(incoming) == matches


def test_update_is_every_update_and_all_is_everything():
    updates = Action(0)
    for action in Action:
        if action.name.startswith("UPDATE_"):
            updates |= action
    assert updates == Action.UPDATE
    assert Action.ADD | Action.DELETE | Action.UPDATE == Action.ALL


def test_saying_nothing_registers_for_everything():
    registered = registrations(None)
    assert [item.event for item in registered] == [
        ClusterEvent(resource, Action.ALL) for resource in DEFAULT_RESOURCES
    ]
    assert all(item.hint is None for item in registered)
    assert registrations(()) == ()


def test_pod_events_are_split():
    def hint(pod, old, new):
        return Hint.SKIP

    registered = registrations([EventRegistration(ClusterEvent(Resource.POD, Action.DELETE), hint)])
    assert registered == tuple(
        EventRegistration(ClusterEvent(resource, Action.DELETE), hint) for resource in POD_RESOURCES
    )
