package main

import (
	"context"
	"fmt"
	"math/rand"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
)

// upstreamChoice makes SelectCandidate use upstream's own criteria.
type upstreamChoice struct{ preemption.Interface }

func (upstreamChoice) CandidatesToVictimsMap(candidates []preemption.Candidate) map[string]*extenderv1.Victims {
	victims := map[string]*extenderv1.Victims{}
	for _, c := range candidates {
		victims[c.Name()] = c.Victims()
	}
	return victims
}

func (upstreamChoice) OrderedScoreFuncs(context.Context, map[string]*extenderv1.Victims) []func(string) int64 {
	return nil
}

type testCandidate struct {
	name    string
	victims *extenderv1.Victims
}

func (c *testCandidate) Name() string                 { return c.name }
func (c *testCandidate) Victims() *extenderv1.Victims { return c.victims }
func (c *testCandidate) NumPodGroupDisruptions() int  { return 0 }

// Upstream picks at random among the best; the set it picks from must be the one that best computes.
func TestBestIsWhatUpstreamPicksFrom(t *testing.T) {
	rnd := rand.New(rand.NewSource(1))
	several := 0
	for round := range 400 {
		candidates, order := randomCandidates(rnd)
		victims := upstreamChoice{}.CandidatesToVictimsMap(candidates)
		want := best(victims, order)
		if len(want) > 1 {
			several++
		}
		seen := map[string]bool{}
		evaluator := &preemption.Evaluator{Interface: upstreamChoice{}}
		for range 60 {
			seen[evaluator.SelectCandidate(t.Context(), candidates).Name()] = true
		}
		for name := range seen {
			if !slices.Contains(want, name) {
				t.Fatalf("round %d: upstream picked %s, best is %v", round, name, want)
			}
		}
		if len(seen) != len(want) {
			t.Fatalf("round %d: upstream picked among %v, best is %v", round, seen, want)
		}
		tap := &preemptionTap{Interface: upstreamChoice{}, order: order}
		if got := (&preemption.Evaluator{Interface: tap}).SelectCandidate(t.Context(), candidates).Name(); got != want[0] {
			t.Fatalf("round %d: with the tap %s is picked, the first of the best is %s", round, got, want[0])
		}
	}
	if several < 20 {
		t.Fatalf("only %d rounds had a tie", several)
	}
}

func randomCandidates(rnd *rand.Rand) ([]preemption.Candidate, []string) {
	var candidates []preemption.Candidate
	var order []string
	for i := range 2 + rnd.Intn(4) {
		name := fmt.Sprintf("n%d", i)
		var pods []*corev1.Pod
		for range 1 + rnd.Intn(2) {
			priority := int32(rnd.Intn(2))
			start := metav1.NewTime(time.Unix(int64(rnd.Intn(2)), 0))
			pods = append(pods, &corev1.Pod{Spec: corev1.PodSpec{Priority: &priority}, Status: corev1.PodStatus{StartTime: &start}})
		}
		slices.SortFunc(pods, func(a, b *corev1.Pod) int { return int(*b.Spec.Priority - *a.Spec.Priority) })
		victims := &extenderv1.Victims{Pods: pods, NumPDBViolations: int64(rnd.Intn(2))}
		candidates = append(candidates, &testCandidate{name: name, victims: victims})
		order = append(order, name)
	}
	rnd.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	return candidates, order
}
