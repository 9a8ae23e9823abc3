package main

import (
	"fmt"
	"strings"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// grace is how long an evicted pod would go on; no run is that long.
const grace = 30 * time.Second

// recorder is the eviction subresource: the pod stays and gets a deletion timestamp.
type recorder struct {
	client *fake.Clientset
	settle time.Duration

	lock      sync.Mutex
	evictions []eviction
}

func (r *recorder) react(action clienttesting.Action) (bool, runtime.Object, error) {
	create, ok := action.(clienttesting.CreateActionImpl)
	if !ok || action.GetSubresource() != "eviction" {
		return false, nil, nil
	}
	asked, ok := create.Object.(*policyv1.Eviction)
	if !ok {
		return true, nil, fmt.Errorf("unexpected %T", create.Object)
	}
	pods := v1.SchemeGroupVersion.WithResource("pods")
	found, err := r.client.Tracker().Get(pods, asked.Namespace, asked.Name)
	if err != nil {
		return true, nil, err
	}
	pod, ok := found.(*v1.Pod)
	if !ok {
		return true, nil, fmt.Errorf("unexpected %T", found)
	}
	pod = pod.DeepCopy()
	if pod.DeletionTimestamp == nil {
		ends := metav1.NewTime(time.Now().Add(grace))
		pod.DeletionTimestamp = &ends
	}
	if err := r.client.Tracker().Update(pods, pod, asked.Namespace); err != nil {
		return true, nil, err
	}
	r.note(pod, asked)
	time.Sleep(r.settle)
	return true, asked, nil
}

// note reads who asked from the annotation "triggered by PROFILE/PLUGIN: REASON".
func (r *recorder) note(pod *v1.Pod, asked *policyv1.Eviction) {
	by := strings.TrimPrefix(asked.Annotations["reason"], "triggered by ")
	profile, rest, _ := strings.Cut(by, "/")
	plugin, _, _ := strings.Cut(rest, ":")
	r.lock.Lock()
	defer r.lock.Unlock()
	r.evictions = append(r.evictions, eviction{
		Pod:     pod.Namespace + "/" + pod.Name,
		Node:    pod.Spec.NodeName,
		Plugin:  plugin,
		Profile: profile,
	})
}
