package main

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// virtualEpoch is the time of step 0; step i happens i seconds later. It is after every start time that the generator
// writes, so pods placed by the sequence are the youngest.
var virtualEpoch = time.Date(2030, time.January, 1, 0, 0, 0, 0, time.UTC)

// sequence plays the steps of tier B on one world.
type sequence struct {
	*world
	scenario *Scenario
	step     int
	// leaving are the victims that a "settle" step removes, in the order of their preemption.
	leaving []string
}

func answerTierB(s *Scenario) (*Answer, error) {
	w, err := newWorld(s)
	if err != nil {
		return nil, err
	}
	defer w.close()
	q := &sequence{world: w, scenario: s}
	answer := &Answer{Steps: []*StepAnswer{}}
	for i := range s.Steps {
		q.step = i
		result, err := q.play(&s.Steps[i])
		if err != nil {
			return nil, fmt.Errorf("step %d: %w", i, err)
		}
		answer.Steps = append(answer.Steps, result)
	}
	return answer, nil
}

// play carries out a step. Steps that place no pod, and those whose object is gone, have no answer.
func (q *sequence) play(step *Step) (*StepAnswer, error) {
	switch step.Op {
	case "schedule":
		pod, err := q.scenario.podOf(step)
		if err != nil {
			return nil, err
		}
		if err := q.set("pods", pod); err != nil {
			return nil, err
		}
		return q.schedule(pod)
	case "retry":
		if pod := q.pod(step.Key); pod != nil && pod.Spec.NodeName == "" {
			return q.schedule(pod)
		}
		return nil, nil
	case "settle":
		leaving := q.leaving
		q.leaving = nil
		for _, key := range leaving {
			if err := q.remove("pods", key); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}
	return nil, q.change(step)
}

// change applies a step that is not about scheduling.
func (q *sequence) change(step *Step) error {
	switch step.Op {
	case "addPod":
		return q.set("pods", step.Pod)
	case "patchPod":
		return q.patchPod(step)
	case "deletePod":
		return q.remove("pods", step.Key)
	case "addNode", "updateNode":
		return q.set("nodes", step.Node)
	case "deleteNode":
		return q.remove("nodes", step.Key)
	case "set":
		object, err := storageObject(step)
		if err != nil {
			return err
		}
		return q.set(step.Kind, object)
	case "delete":
		if _, err := newStorageObject(step.Kind); err != nil {
			return err
		}
		return q.remove(step.Kind, step.Key)
	}
	return fmt.Errorf("no such op %q", step.Op)
}

// schedule runs one scheduling cycle for a pod that the informers know, and brings about its result.
func (q *sequence) schedule(pod *corev1.Pod) (*StepAnswer, error) {
	answer := &StepAnswer{Pod: pod.Namespace + "/" + pod.Name}
	profile, skip := q.admit(pod, &answer.Result, &answer.Message)
	if skip {
		return answer, nil
	}
	if err := q.refresh(); err != nil {
		return nil, err
	}
	info, err := framework.NewPodInfo(pod)
	if err != nil {
		return nil, err
	}
	state := framework.NewCycleState()
	result, err := q.sched.SchedulePod(q.ctx, profile, state, &framework.QueuedPodInfo{PodInfo: info})
	if err != nil {
		answer = q.fail(profile, state, pod, err)
		return answer, q.nominate(info, answer.Preemption)
	}
	answer.Result, answer.Node = scheduled, result.SuggestedHost
	answer.Evaluated, answer.Feasible = result.EvaluatedNodes, result.FeasibleNodes
	return answer, q.place(profile, state, pod, result.SuggestedHost)
}

// now is the virtual time of the step.
func (q *sequence) now() *metav1.Time {
	t := metav1.NewTime(virtualEpoch.Add(time.Duration(q.step) * time.Second))
	return &t
}
