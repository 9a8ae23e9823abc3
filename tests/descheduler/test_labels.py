"""The label index answers as a look at every pod does."""

import pytest
from podium.api import LabelSelector, LabelSelectorRequirement
from podium.api.matching import selects
from podium.descheduler.labels import Labelled
from podium.descheduler.shapes import Shapes
from podium.testing import make_pod


def labelled(name, namespace, **labels):
    made = make_pod(name, namespace)
    for key, value in labels.items():
        made = made.label(key, value)
    return made.build()


PODS = [
    labelled(f"p{i}", ("a", "b")[i % 2], app=f"x{i % 3}", **({"tier": "web"} if i % 4 == 0 else {}))
    for i in range(24)
]


def needs(operator, key="app", values=()):
    return LabelSelector(
        match_expressions=[LabelSelectorRequirement(key=key, operator=operator, values=values)]
    )


@pytest.mark.parametrize(
    "selector",
    [
        None,
        LabelSelector(),
        LabelSelector(match_labels={"app": "x1"}),
        LabelSelector(match_labels={"app": "x1", "tier": "web"}),
        LabelSelector(match_labels={"app": "nobody"}),
        needs("In", values=["x2"]),
        needs("In", values=["x0", "x2"]),
        needs("NotIn", values=["x0"]),
        needs("Exists", key="tier"),
        needs("DoesNotExist", key="tier"),
    ],
)
@pytest.mark.parametrize("namespace", ["a", "b", "c"])
def test_selected(selector, namespace):
    expected = [
        pod for pod in PODS if pod.metadata.namespace == namespace and selects(selector, pod.metadata.labels)
    ]
    shapes = Shapes()
    index = Labelled([(PODS, [shapes.of(pod) for pod in PODS])])
    assert index.selected(namespace, selector) == expected
