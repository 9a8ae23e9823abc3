package main

import (
	"context"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
	"k8s.io/kubernetes/pkg/scheduler/util"
)

// preemptionTap sits between the preemption evaluator and DefaultPreemption. It remembers the victims of every dry run,
// makes the dry runs start at the first potential node, and settles what five criteria leave equal by snapshot order.
// Nothing is evicted here: the world does that.
type preemptionTap struct {
	preemption.Interface
	order      []string // node names in snapshot order
	candidates map[string]*extenderv1.Victims
}

// tapPreemption installs a tap in a profile; nil if the profile does not preempt.
func tapPreemption(profile framework.Framework) *preemptionTap {
	for _, plugin := range profile.EnqueueExtensions() {
		if dp, ok := plugin.(*defaultpreemption.DefaultPreemption); ok {
			tap := &preemptionTap{Interface: dp.Evaluator.Interface}
			dp.Evaluator.Interface = tap
			dp.Executor.PreemptPod = func(context.Context, preemption.Candidate, preemption.ExecutorPreemptor, *corev1.Pod, string) (bool, error) {
				return false, nil
			}
			return tap
		}
	}
	return nil
}

// reset forgets the last attempt.
func (t *preemptionTap) reset(order []string) {
	if t != nil {
		t.order, t.candidates = order, map[string]*extenderv1.Victims{}
	}
}

// GetOffsetAndNumCandidates replaces the random offset by 0. The number stays what the arguments say.
func (t *preemptionTap) GetOffsetAndNumCandidates(nodes int32) (int32, int32) {
	_, candidates := t.Interface.GetOffsetAndNumCandidates(nodes)
	return 0, candidates
}

// SelectVictimsOnNode notes the outcome of one dry run.
func (t *preemptionTap) SelectVictimsOnNode(ctx context.Context, state fwk.CycleState, preemptor *corev1.Pod, node fwk.NodeInfo,
	possible []*preemption.DomainVictim, pdbs []*policyv1.PodDisruptionBudget) ([]*corev1.Pod, int, *fwk.Status) {
	victims, violations, status := t.Interface.SelectVictimsOnNode(ctx, state, preemptor, node, possible, pdbs)
	if status.IsSuccess() && len(victims) > 0 {
		t.candidates[node.Node().Name] = &extenderv1.Victims{Pods: victims, NumPDBViolations: int64(violations)}
	}
	return victims, violations, status
}

// OrderedScoreFuncs gives upstream's criteria and, after them, the place in the snapshot.
func (t *preemptionTap) OrderedScoreFuncs(_ context.Context, candidates map[string]*extenderv1.Victims) []func(string) int64 {
	place := func(node string) int64 { return -int64(slices.Index(t.order, node)) }
	return append(criteria(candidates), place)
}

// criteria are the five of upstream's pickOneNodeForPreemption; a larger value is better.
func criteria(candidates map[string]*extenderv1.Victims) []func(string) int64 {
	return []func(string) int64{
		func(n string) int64 { return -candidates[n].NumPDBViolations },
		func(n string) int64 { return -int64(corev1helpers.PodPriority(candidates[n].Pods[0])) },
		func(n string) int64 {
			var sum int64
			for _, pod := range candidates[n].Pods {
				sum += int64(corev1helpers.PodPriority(pod)) + int64(math.MaxInt32+1)
			}
			return -sum
		},
		func(n string) int64 { return -int64(len(candidates[n].Pods)) },
		func(n string) int64 {
			start := util.GetEarliestPodStartTime(candidates[n])
			if start == nil {
				return math.MinInt64
			}
			return start.UnixNano()
		},
	}
}

// best returns the candidates that all criteria leave equal, in snapshot order.
func best(candidates map[string]*extenderv1.Victims, order []string) []string {
	var left []string
	for _, node := range order {
		if candidates[node] != nil {
			left = append(left, node)
		}
	}
	for _, value := range criteria(candidates) {
		top := int64(math.MinInt64)
		for _, node := range left {
			top = max(top, value(node))
		}
		left = slices.DeleteFunc(left, func(node string) bool { return value(node) != top })
	}
	return left
}
