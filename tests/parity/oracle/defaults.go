package main

import (
	"fmt"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	k8sappsv1 "k8s.io/kubernetes/pkg/apis/apps/v1"
	k8scorev1 "k8s.io/kubernetes/pkg/apis/core/v1"
	k8sstoragev1 "k8s.io/kubernetes/pkg/apis/storage/v1"
)

// applyDefaults runs the API server's object defaulting. On what the generator writes it changes nothing that
// scheduling reads (a test holds that); it is here so that a hand-written scenario means what its manifest means.
func (s *Scenario) applyDefaults() {
	each(s.Nodes, k8scorev1.SetObjectDefaults_Node)
	each(s.Pods, defaultPod)
	each(s.Pending, defaultPod)
	each(s.Namespaces, k8scorev1.SetObjectDefaults_Namespace)
	each(s.Services, k8scorev1.SetObjectDefaults_Service)
	each(s.ReplicationControllers, k8scorev1.SetObjectDefaults_ReplicationController)
	each(s.ReplicaSets, func(o *appsv1.ReplicaSet) { k8sappsv1.SetObjectDefaults_ReplicaSet(o) })
	each(s.StatefulSets, func(o *appsv1.StatefulSet) { k8sappsv1.SetObjectDefaults_StatefulSet(o) })
	each(s.PersistentVolumes, k8scorev1.SetObjectDefaults_PersistentVolume)
	each(s.PersistentVolumeClaims, k8scorev1.SetObjectDefaults_PersistentVolumeClaim)
	each(s.StorageClasses, k8sstoragev1.SetObjectDefaults_StorageClass)
	each(s.CSIDrivers, k8sstoragev1.SetObjectDefaults_CSIDriver)
	for _, template := range s.Templates {
		defaultPod(template)
	}
	for i := range s.Steps {
		if pod := s.Steps[i].Pod; pod != nil {
			defaultPod(pod)
		}
		if node := s.Steps[i].Node; node != nil {
			k8scorev1.SetObjectDefaults_Node(node)
		}
	}
}

func each[T any](objs []*T, f func(*T)) {
	for _, o := range objs {
		f(o)
	}
}

func defaultPod(pod *corev1.Pod) {
	if pod.Namespace == "" {
		pod.Namespace = metav1.NamespaceDefault
	}
	if pod.UID == "" {
		pod.UID = podUID(pod)
	}
	k8scorev1.SetObjectDefaults_Pod(pod)
}

// podUID is the UID of a pod that has none: the same in every run.
func podUID(pod *corev1.Pod) types.UID {
	return types.UID(fmt.Sprintf("uid-%s-%s", pod.Namespace, pod.Name))
}

// versions hands out resource versions. Upstream compares them (an assumed volume is only replaced by a newer one, an
// update with an equal version is ignored), so every object that enters an informer gets a larger one.
type versions struct{ last int64 }

func (v *versions) stamp(o metav1.Object) {
	v.last++
	o.SetResourceVersion(strconv.FormatInt(v.last, 10))
}
