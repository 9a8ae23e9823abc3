package main

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/core"
	k8sschedulingv1 "k8s.io/kubernetes/pkg/apis/scheduling/v1"
	"k8s.io/kubernetes/pkg/registry/core/pod"
)

// admission is what the API server does to a new pod before it stores it: the Priority and RuntimeClass plugins, the
// pod strategy (which drops disabled fields and fills in pod-level requests) and validation.
type admission struct {
	priorities map[string]*schedulingv1.PriorityClass
	runtimes   map[string]*nodev1.RuntimeClass
}

func newAdmission() *admission {
	a := &admission{priorities: map[string]*schedulingv1.PriorityClass{}, runtimes: map[string]*nodev1.RuntimeClass{}}
	for _, class := range k8sschedulingv1.SystemPriorityClasses() {
		a.priorities[class.Name] = class
	}
	return a
}

// create returns the pod as the API server would store it; its error is the API server's refusal.
func (a *admission) create(in *corev1.Pod) (*corev1.Pod, error) {
	out := in.DeepCopy()
	if err := a.setPriority(out); err != nil {
		return nil, err
	}
	a.setOverhead(out)
	internal := &core.Pod{}
	if err := legacyscheme.Scheme.Convert(out, internal, nil); err != nil {
		return nil, err
	}
	pod.Strategy.PrepareForCreate(context.Background(), internal)
	if errs := pod.Strategy.Validate(context.Background(), internal); len(errs) > 0 {
		return nil, errs.ToAggregate()
	}
	stored := &corev1.Pod{}
	if err := legacyscheme.Scheme.Convert(internal, stored, nil); err != nil {
		return nil, err
	}
	stored.Status = in.Status
	return stored, nil
}

func (a *admission) setPriority(p *corev1.Pod) error {
	name := p.Spec.PriorityClassName
	if p.Spec.Priority != nil {
		return nil
	}
	class := a.priorities[name]
	if name == "" {
		for _, c := range a.priorities {
			if c.GlobalDefault && (class == nil || c.Value < class.Value) {
				class = c
			}
		}
		if class == nil {
			zero := int32(0)
			p.Spec.Priority = &zero
			return nil
		}
		p.Spec.PriorityClassName = class.Name
	}
	if class == nil {
		return fmt.Errorf("no PriorityClass with name %s was found", name)
	}
	value := class.Value
	p.Spec.Priority = &value
	if p.Spec.PreemptionPolicy == nil {
		p.Spec.PreemptionPolicy = class.PreemptionPolicy
	}
	return nil
}

func (a *admission) setOverhead(p *corev1.Pod) {
	if p.Spec.RuntimeClassName == nil || p.Spec.Overhead != nil {
		return
	}
	if class := a.runtimes[*p.Spec.RuntimeClassName]; class != nil && class.Overhead != nil {
		p.Spec.Overhead = class.Overhead.PodFixed
	}
}

// decodeObject reads one manifest of any served kind and applies its defaults.
func decodeObject(raw json.RawMessage) (metav1.Object, error) {
	obj, gvk, err := legacyscheme.Codecs.UniversalDeserializer().Decode(raw, nil, nil)
	if err != nil {
		return nil, err
	}
	legacyscheme.Scheme.Default(obj)
	o, ok := obj.(metav1.Object)
	if !ok {
		return nil, fmt.Errorf("%s is not an object", gvk)
	}
	return o, nil
}
