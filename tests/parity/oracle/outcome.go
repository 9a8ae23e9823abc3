package main

import (
	"errors"

	corev1 "k8s.io/api/core/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// fail turns the error of a cycle into an answer, running PostFilter where the scheduler would.
func (w *world) fail(profile framework.Framework, state fwk.CycleState, pod *corev1.Pod, err error) *StepAnswer {
	answer := &StepAnswer{Pod: pod.Namespace + "/" + pod.Name, Result: unschedulable}
	fit, unfit := err.(*framework.FitError)
	switch {
	case errors.Is(err, scheduler.ErrNoNodesAvailable):
		answer.Message = err.Error()
		answer.Preemption = &Preemption{Nominating: "clear"}
	case !unfit:
		answer.Result, answer.Error = failed, err.Error()
		answer.Preemption = &Preemption{Nominating: "clear"}
	default:
		answer.Evaluated = fit.Diagnosis.NodeToStatus.Len()
		answer.Preemption = &Preemption{Nominating: "clear"}
		if profile.HasPostFilterPlugins() {
			answer.Preemption = w.postFilter(profile, state, pod, fit)
		}
		answer.Message = fit.Error()
	}
	return answer
}

// postFilter runs PostFilter, completes the text of the failure and reads the dry runs off the tap.
func (w *world) postFilter(profile framework.Framework, state fwk.CycleState, pod *corev1.Pod, fit *framework.FitError) *Preemption {
	tap := w.taps[profile.ProfileName()]
	tap.reset(w.nodeOrder())
	w.client.takePatched()
	result, status := profile.RunPostFilterPlugins(w.ctx, state, pod, fit.Diagnosis.NodeToStatus)
	fit.Diagnosis.PostFilterMsg = status.Message()

	p := &Preemption{Nominating: "keep"}
	if result != nil && result.Mode() == fwk.ModeOverride {
		p.Nominated = result.NominatedNodeName
		p.Nominating = "set"
		if p.Nominated == "" {
			p.Nominating = "clear"
		}
	}
	if tap == nil || len(tap.candidates) == 0 {
		return p
	}
	p.Candidates = map[string]*Candidate{}
	for node, victims := range tap.candidates {
		p.Candidates[node] = candidateOf(victims)
	}
	if p.Nominated != "" {
		p.Victims = p.Candidates[p.Nominated].Victims
		p.Best = best(tap.candidates, tap.order)
	}
	return p
}

func candidateOf(victims *extenderv1.Victims) *Candidate {
	c := &Candidate{PDBViolations: victims.NumPDBViolations}
	for _, pod := range victims.Pods {
		c.Victims = append(c.Victims, pod.Namespace+"/"+pod.Name)
	}
	return c
}
