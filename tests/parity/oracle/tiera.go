package main

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// answerTierA judges every pending pod alone. Nothing is placed, so one world serves them all.
func answerTierA(s *Scenario) (*Answer, error) {
	w, err := newWorld(s)
	if err != nil {
		return nil, err
	}
	defer w.close()
	if err := w.refresh(); err != nil {
		return nil, err
	}
	answer := &Answer{Snapshot: w.nodeOrder(), Pods: []*Judgement{}}
	for _, pod := range s.Pending {
		answer.Pods = append(answer.Pods, w.judge(pod))
	}
	return answer, nil
}

// judge runs one pod through every plugin, then through the cycle itself.
func (w *world) judge(pod *corev1.Pod) *Judgement {
	j := &Judgement{Pod: pod.Namespace + "/" + pod.Name, Feasible: []string{}}
	profile, skip := w.admit(pod, &j.Result, &j.Message)
	if skip {
		return j
	}
	nodes, err := w.snapshot.NodeInfos().List()
	if err != nil {
		return j.fail(err)
	}
	(&cells{world: w, profile: profile, pod: pod, nodes: nodes}).fill(j)

	state := framework.NewCycleState()
	passing, err := w.filter(profile, state, pod, nodes, j)
	// The scheduler tries the pod's own nominated node first and, if that passes, looks no further.
	atOnce := sets.New(j.Feasible...).Has(pod.Status.NominatedNodeName)
	if err != nil && !atOnce {
		return j.fail(err)
	}
	if len(passing) == 0 {
		return w.explain(profile, pod, j)
	}
	j.Result = feasible
	err = w.score(profile, state, pod, passing, j)
	switch {
	case atOnce:
		j.Winner = pod.Status.NominatedNodeName
	case len(passing) == 1: // nor does it score a single node
		j.Winner = j.Feasible[0]
	case err != nil:
		return j.fail(err)
	}
	return j
}

func (j *Judgement) fail(err error) *Judgement {
	j.Result, j.Error, j.Preemption = failed, err.Error(), &Preemption{Nominating: "clear"}
	return j
}

// admit says whether the scheduler would attempt the pod, and with which profile.
func (w *world) admit(pod *corev1.Pod, result, message *string) (framework.Framework, bool) {
	profile, ok := w.sched.Profiles[pod.Spec.SchedulerName]
	if !ok {
		*result = foreign
		return nil, true
	}
	for _, plugin := range profile.PreEnqueuePlugins() {
		if status := plugin.PreEnqueue(w.ctx, pod); !status.IsSuccess() {
			*result, *message = gated, status.Message()
			return nil, true
		}
	}
	if pod.DeletionTimestamp != nil {
		*result = deleting
		*message = fmt.Sprintf("skip schedule deleting pod: %s/%s", pod.Namespace, pod.Name)
		return nil, true
	}
	return profile, false
}

// filter finds the feasible nodes in snapshot order and every other node's status, with nominated pods counted. Unlike
// the scheduler it neither samples nor rotates, and it goes on after a node's error to report them all.
func (w *world) filter(profile framework.Framework, state fwk.CycleState, pod *corev1.Pod, nodes []fwk.NodeInfo, j *Judgement) ([]fwk.NodeInfo, error) {
	result, status, _ := profile.RunPreFilterPlugins(w.ctx, state, pod)
	if !status.IsSuccess() {
		if !status.IsRejected() {
			return nil, status.AsError()
		}
		j.PreFilterResult = statusOf(status)
		return nil, nil
	}
	var passing []fwk.NodeInfo
	var firstErr error
	j.Status = map[string]*Status{}
	for _, node := range nodes {
		name := node.Node().Name
		if !result.AllNodes() && !result.NodeNames.Has(name) {
			continue
		}
		status := profile.RunFilterPluginsWithNominatedPods(w.ctx, state, pod, node)
		if status.IsSuccess() {
			passing = append(passing, node)
			j.Feasible = append(j.Feasible, name)
			continue
		}
		j.Status[name] = statusOf(status)
		if !status.IsRejected() {
			firstErr = errors.Join(firstErr, status.AsError())
		}
	}
	if !result.AllNodes() {
		j.PreFilterResult = &Status{Code: fwk.Success.String(), Nodes: sortedNames(result.NodeNames)}
	}
	return passing, firstErr
}

// explain runs the scheduler's own cycle for its text, then PostFilter.
func (w *world) explain(profile framework.Framework, pod *corev1.Pod, j *Judgement) *Judgement {
	info, err := framework.NewPodInfo(pod)
	if err != nil {
		return j.fail(err)
	}
	state := framework.NewCycleState()
	result, err := w.sched.SchedulePod(w.ctx, profile, state, &framework.QueuedPodInfo{PodInfo: info})
	if err == nil {
		return j.fail(fmt.Errorf("the scheduler places the pod on %s, the filters reject every node", result.SuggestedHost))
	}
	outcome := w.fail(profile, state, pod, err)
	j.Result, j.Message, j.Error, j.Preemption = outcome.Result, outcome.Message, outcome.Error, outcome.Preemption
	return j
}

// score fills scores and winner.
func (w *world) score(profile framework.Framework, state fwk.CycleState, pod *corev1.Pod, nodes []fwk.NodeInfo, j *Judgement) error {
	if profile.HasScorePlugins() { // else the scheduler skips PreScore too
		if status := profile.RunPreScorePlugins(w.ctx, state, pod, nodes); !status.IsSuccess() {
			return status.AsError()
		}
	}
	scores, status := profile.RunScorePlugins(w.ctx, state, pod, nodes)
	if !status.IsSuccess() {
		return status.AsError()
	}
	weights := map[string]int64{}
	for _, plugin := range profile.ListPlugins().Score.Enabled {
		weights[plugin.Name] = int64(plugin.Weight)
	}
	j.Scores = map[string]*NodeScore{}
	for _, node := range scores {
		entry := &NodeScore{Total: node.TotalScore, Plugins: map[string]PluginScore{}}
		for i, plugin := range node.Scores {
			normalized := plugin.Score / weights[plugin.Name]
			entry.Plugins[plugin.Name] = PluginScore{node.RawScores[i].Score, normalized, plugin.Score}
		}
		j.Scores[node.Name] = entry
	}
	j.Winner = framework.NewSortedScoredNodes(scores).Pop().Name
	return nil
}

// nodeOrder is the snapshot's node list.
func (w *world) nodeOrder() []string {
	nodes, err := w.snapshot.NodeInfos().List()
	if err != nil {
		return nil
	}
	names := make([]string, len(nodes))
	for i, node := range nodes {
		names[i] = node.Node().Name
	}
	return names
}
