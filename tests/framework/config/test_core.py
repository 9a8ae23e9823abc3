"""The core takes what a configuration hands over."""

import pytest
from podium._core import Engine

ARGS = """
profiles:
- schedulerName: packer
  percentageOfNodesToScore: 30
  pluginConfig:
  - {name: DefaultPreemption, args: {minCandidateNodesAbsolute: 7}}
  - {name: InterPodAffinity, args: {hardPodAffinityWeight: 50, ignorePreferredTermsOfExistingPods: true}}
  - name: NodeAffinity
    args:
      addedAffinity:
        requiredDuringSchedulingIgnoredDuringExecution:
          nodeSelectorTerms: [{matchExpressions: [{key: pool, operator: In, values: [a]}]}]
        preferredDuringSchedulingIgnoredDuringExecution:
        - {weight: 3, preference: {matchFields: [{key: metadata.name, operator: In, values: [n1]}]}}
  - {name: NodeResourcesBalancedAllocation, args: {resources: [{name: cpu}, {name: example.com/gpu}]}}
  - name: NodeResourcesFit
    args:
      ignoredResources: [example.com/a]
      ignoredResourceGroups: [example.org]
      scoringStrategy:
        type: RequestedToCapacityRatio
        resources: [{name: cpu, weight: 2}]
        requestedToCapacityRatio: {shape: [{utilization: 0, score: 0}, {utilization: 100, score: 10}]}
  - name: PodTopologySpread
    args:
      defaultingType: List
      defaultConstraints: [{maxSkew: 2, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway, minDomains: 2}]
  - {name: VolumeBinding, args: {bindTimeoutSeconds: 5, shape: [{utilization: 0, score: 1}]}}
"""


@pytest.mark.parametrize(
    "text", ["", ARGS, "profiles: [{plugins: {multiPoint: {disabled: [{name: NodeAffinity}]}}}]"]
)
def test_the_core_takes_every_profile(read, text):
    engine = Engine()
    for profile in read(text).profiles:
        engine.add_profile(profile.native_json())
