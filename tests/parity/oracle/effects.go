package main

import (
	"encoding/json"
	"fmt"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// place assumes and reserves a pod on its node, then lets it start: bound, running, started now. Volumes stay assumed
// to the end of the sequence; no controller binds them.
func (q *sequence) place(profile framework.Framework, state fwk.CycleState, pod *corev1.Pod, node string) error {
	assumed := pod.DeepCopy()
	assumed.Spec.NodeName = node
	if err := q.sched.Cache.AssumePod(q.logger, assumed); err != nil {
		return err
	}
	q.sched.SchedulingQueue.DeleteNominatedPodIfExists(assumed)
	if status := profile.RunReservePluginsReserve(q.ctx, state, assumed, node); !status.IsSuccess() {
		return fmt.Errorf("reserve: %w", status.AsError())
	}
	bound := assumed.DeepCopy()
	bound.Status.Phase = corev1.PodRunning
	bound.Status.StartTime = q.now()
	return q.set("pods", bound)
}

// nominate carries out a preemption: victims start to terminate, lower-priority pods lose their nomination to the node,
// and the pod gets (or loses) its own.
func (q *sequence) nominate(info *framework.PodInfo, p *Preemption) error {
	for _, key := range p.Victims {
		if err := q.evict(key); err != nil {
			return err
		}
	}
	for _, key := range q.client.takePatched() {
		if err := q.setNomination(key, ""); err != nil {
			return err
		}
	}
	if p.Nominating == "keep" {
		return nil
	}
	nominating := &fwk.NominatingInfo{NominatedNodeName: p.Nominated, NominatingMode: fwk.ModeOverride}
	q.sched.SchedulingQueue.AddNominatedPod(q.logger, info, nominating)
	return q.setNomination(info.Pod.Namespace+"/"+info.Pod.Name, p.Nominated)
}

// evict marks a victim as the API server and upstream's executor do; a "settle" step removes it.
func (q *sequence) evict(key string) error {
	pod := q.pod(key)
	if pod == nil || pod.DeletionTimestamp != nil {
		return nil
	}
	victim := pod.DeepCopy()
	victim.DeletionTimestamp = q.now()
	victim.Status.Conditions = append(victim.Status.Conditions, corev1.PodCondition{
		Type:   corev1.DisruptionTarget,
		Status: corev1.ConditionTrue,
		Reason: corev1.PodReasonPreemptionByScheduler,
	})
	q.leaving = append(q.leaving, key)
	return q.set("pods", victim)
}

func (q *sequence) setNomination(key, node string) error {
	pod := q.pod(key)
	if pod == nil || pod.Status.NominatedNodeName == node {
		return nil
	}
	changed := pod.DeepCopy()
	changed.Status.NominatedNodeName = node
	return q.set("pods", changed)
}

// patchPod applies a JSON merge patch to a pod as it is now; nothing happens if it is gone.
func (q *sequence) patchPod(step *Step) error {
	pod := q.pod(step.Key)
	if pod == nil {
		return nil
	}
	before, err := json.Marshal(pod)
	if err != nil {
		return err
	}
	after, err := jsonpatch.MergePatch(before, step.Patch)
	if err != nil {
		return fmt.Errorf("patch of %s: %w", step.Key, err)
	}
	changed := &corev1.Pod{}
	if err := json.Unmarshal(after, changed); err != nil {
		return fmt.Errorf("patch of %s: %w", step.Key, err)
	}
	defaultPod(changed)
	return q.set("pods", changed)
}
