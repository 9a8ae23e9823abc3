package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Workload is what `python -m benches.workload` writes: see podium.simulator.workloads.
type Workload struct {
	Nodes   []*corev1.Node
	Bound   []*corev1.Pod
	Pods    []*corev1.Pod
	Objects []Object
	Steps   []Step
}

// Object is one of another kind.
type Object struct {
	Kind   string
	Object json.RawMessage
}

// Step is a change from outside once so many of the pods are bound: add, update or delete of a node or a pod.
type Step struct {
	After  int
	Change string
	Node   *corev1.Node
	Pod    *corev1.Pod
}

func load(file string) (*Workload, error) {
	source := io.Reader(os.Stdin)
	if file != "-" {
		opened, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		defer opened.Close()
		source = opened
	}
	var workload Workload
	if err := json.NewDecoder(source).Decode(&workload); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return &workload, nil
}

// listed are the objects that plugins look up through informers.
func (w *Workload) listed() ([]runtime.Object, error) {
	var found []runtime.Object
	for _, o := range w.Objects {
		var object runtime.Object
		switch o.Kind {
		case "ReplicaSet":
			object = &appsv1.ReplicaSet{}
		case "StatefulSet":
			object = &appsv1.StatefulSet{}
		case "Service":
			object = &corev1.Service{}
		case "Namespace":
			object = &corev1.Namespace{}
		default:
			return nil, fmt.Errorf("workload: objects of kind %q are not read here", o.Kind)
		}
		if err := json.Unmarshal(o.Object, object); err != nil {
			return nil, fmt.Errorf("workload: %s: %w", o.Kind, err)
		}
		found = append(found, object)
	}
	return found, nil
}
