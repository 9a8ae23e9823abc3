package main

import (
	"encoding/json"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/node/install"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	_ "k8s.io/kubernetes/pkg/apis/scheduling/install"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"
)

// Manifests are raw objects, as a user applies them.
type Manifests struct {
	// Cluster objects exist already; a Pod among them is stored as it is. Pending pods are created: admitted, validated.
	Cluster []json.RawMessage `json:"cluster"`
	Pending []json.RawMessage `json:"pending"`
}

// loading is manifests on their way to a tier-A scenario.
type loading struct {
	*admission
	scenario *Scenario
	rejected []Rejection
}

// load decodes, defaults and admits. Classes count wherever they stand; other objects keep their order.
func (m *Manifests) load(id string) *Answer {
	l := &loading{admission: newAdmission(), scenario: &Scenario{ID: id, Tier: "A"}}
	objs := append(l.decode(m.Cluster), l.decode(m.Pending)...)
	for _, o := range objs {
		pod, isPod := o.(*corev1.Pod)
		switch {
		case !isPod:
			l.scenario.add(o)
		case pod.Spec.NodeName != "":
			l.bound(pod)
		default:
			l.pending(pod)
		}
	}
	return &Answer{Scenario: l.scenario, Rejected: l.rejected}
}

func (l *loading) decode(raws []json.RawMessage) (objs []metav1.Object) {
	for _, raw := range raws {
		o, err := decodeObject(raw)
		if err != nil {
			l.reject(nameIn(raw), err)
			continue
		}
		switch class := o.(type) {
		case *schedulingv1.PriorityClass:
			l.priorities[class.Name] = class
		case *nodev1.RuntimeClass:
			l.runtimes[class.Name] = class
		}
		if o.GetNamespace() == "" && namespaced(o) {
			o.SetNamespace(metav1.NamespaceDefault)
		}
		if pod, ok := o.(*corev1.Pod); ok && pod.UID == "" {
			pod.UID = podUID(pod)
		}
		objs = append(objs, o)
	}
	return objs
}

func (l *loading) bound(pod *corev1.Pod) {
	if err := l.setPriority(pod); err != nil {
		l.reject("Pod "+pod.Namespace+"/"+pod.Name, err)
		return
	}
	l.scenario.Pods = append(l.scenario.Pods, pod)
}

func (l *loading) pending(pod *corev1.Pod) {
	stored, err := l.create(pod)
	if err != nil {
		l.reject("Pod "+pod.Namespace+"/"+pod.Name, err)
		return
	}
	l.scenario.Pending = append(l.scenario.Pending, stored)
}

func (l *loading) reject(object string, err error) {
	l.rejected = append(l.rejected, Rejection{Object: object, Message: err.Error()})
}

// nameIn finds "Kind namespace/name" in a manifest that does not decode.
func nameIn(raw json.RawMessage) string {
	var o struct {
		Kind     string                           `json:"kind"`
		Metadata struct{ Namespace, Name string } `json:"metadata"`
	}
	if json.Unmarshal(raw, &o) != nil {
		return "?"
	}
	if o.Metadata.Namespace == "" {
		o.Metadata.Namespace = metav1.NamespaceDefault
	}
	return o.Kind + " " + o.Metadata.Namespace + "/" + o.Metadata.Name
}

func namespaced(o metav1.Object) bool {
	switch o.(type) {
	case *corev1.Node, *corev1.Namespace, *corev1.PersistentVolume, *schedulingv1.PriorityClass, *nodev1.RuntimeClass,
		*storagev1.StorageClass, *storagev1.CSINode, *storagev1.CSIDriver, *storagev1.VolumeAttachment:
		return false
	}
	return true
}

// add appends to the list of the object's kind; kinds that scheduling does not read are dropped.
func (s *Scenario) add(o metav1.Object) {
	switch o := o.(type) {
	case *corev1.Node:
		s.Nodes = append(s.Nodes, o)
	case *corev1.Namespace:
		s.Namespaces = append(s.Namespaces, o)
	case *corev1.Service:
		s.Services = append(s.Services, o)
	case *corev1.ReplicationController:
		s.ReplicationControllers = append(s.ReplicationControllers, o)
	case *appsv1.ReplicaSet:
		s.ReplicaSets = append(s.ReplicaSets, o)
	case *appsv1.StatefulSet:
		s.StatefulSets = append(s.StatefulSets, o)
	case *corev1.PersistentVolume:
		s.PersistentVolumes = append(s.PersistentVolumes, o)
	case *corev1.PersistentVolumeClaim:
		s.PersistentVolumeClaims = append(s.PersistentVolumeClaims, o)
	case *storagev1.StorageClass:
		s.StorageClasses = append(s.StorageClasses, o)
	case *storagev1.CSINode:
		s.CSINodes = append(s.CSINodes, o)
	case *storagev1.CSIDriver:
		s.CSIDrivers = append(s.CSIDrivers, o)
	case *storagev1.CSIStorageCapacity:
		s.CSIStorageCapacities = append(s.CSIStorageCapacities, o)
	case *storagev1.VolumeAttachment:
		s.VolumeAttachments = append(s.VolumeAttachments, o)
	case *policyv1.PodDisruptionBudget:
		s.PodDisruptionBudgets = append(s.PodDisruptionBudgets, o)
	case *schedulingv1.PriorityClass:
		s.PriorityClasses = append(s.PriorityClasses, o)
	}
}
