package main

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
)

// world is one scenario's cluster: a real scheduler and the informers that feed it.
type world struct {
	ctx       context.Context
	cancel    context.CancelFunc
	logger    klog.Logger
	sched     *scheduler.Scheduler
	snapshot  *internalcache.Snapshot
	informers map[string]*syncInformer
	versions  versions
	client    *recordingClient
	taps      map[string]*preemptionTap
}

// kinds are the types that scheduling reads through informers, by the name used here.
var kinds = map[string]runtime.Object{
	"pods":                   &corev1.Pod{},
	"nodes":                  &corev1.Node{},
	"namespaces":             &corev1.Namespace{},
	"services":               &corev1.Service{},
	"replicationControllers": &corev1.ReplicationController{},
	"replicaSets":            &appsv1.ReplicaSet{},
	"statefulSets":           &appsv1.StatefulSet{},
	"persistentVolumes":      &corev1.PersistentVolume{},
	"persistentVolumeClaims": &corev1.PersistentVolumeClaim{},
	"storageClasses":         &storagev1.StorageClass{},
	"csiNodes":               &storagev1.CSINode{},
	"csiDrivers":             &storagev1.CSIDriver{},
	"csiStorageCapacities":   &storagev1.CSIStorageCapacity{},
	"volumeAttachments":      &storagev1.VolumeAttachment{},
	"podDisruptionBudgets":   &policyv1.PodDisruptionBudget{},
	"resourceClaims":         &resourcev1.ResourceClaim{},
	"resourceSlices":         &resourcev1.ResourceSlice{},
	"deviceClasses":          &resourcev1.DeviceClass{},
}

// newWorld builds the scheduler of a scenario and fills it: what plugins look up first, then nodes, then pods.
func newWorld(s *Scenario) (*world, error) {
	cfg, err := loadConfiguration(s.Configuration)
	if err != nil {
		return nil, err
	}
	w := &world{informers: map[string]*syncInformer{}, client: newRecordingClient(), taps: map[string]*preemptionTap{}}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	w.logger = klog.FromContext(w.ctx)
	if err := w.build(cfg); err != nil {
		w.cancel()
		return nil, err
	}
	if err := w.fill(s); err != nil {
		w.cancel()
		return nil, err
	}
	return w, nil
}

func (w *world) build(cfg *config.KubeSchedulerConfiguration) error {
	factory := informers.NewSharedInformerFactory(w.client, 0)
	for name, kind := range kinds {
		informer := newSyncInformer()
		w.informers[name] = informer
		factory.InformerFor(kind, informer.produce)
	}
	w.snapshot = internalcache.NewEmptySnapshot()
	var err error
	w.sched, err = scheduler.New(w.ctx, w.client, factory, nil, newSilentRecorder,
		scheduler.WithComponentConfigVersion(cfg.APIVersion),
		scheduler.WithProfiles(cfg.Profiles...),
		scheduler.WithPercentageOfNodesToScore(cfg.PercentageOfNodesToScore),
		scheduler.WithNodeInfoSnapshot(w.snapshot),
		scheduler.WithParallelism(1))
	if err != nil {
		return fmt.Errorf("scheduler: %w", err)
	}
	for name, profile := range w.sched.Profiles {
		w.taps[name] = tapPreemption(profile)
	}
	return nil
}

func (w *world) fill(s *Scenario) error {
	err := setAll(w, "namespaces", s.Namespaces)
	err = first(err, setAll(w, "services", s.Services))
	err = first(err, setAll(w, "replicationControllers", s.ReplicationControllers))
	err = first(err, setAll(w, "replicaSets", s.ReplicaSets))
	err = first(err, setAll(w, "statefulSets", s.StatefulSets))
	err = first(err, setAll(w, "storageClasses", s.StorageClasses))
	err = first(err, setAll(w, "persistentVolumes", s.PersistentVolumes))
	err = first(err, setAll(w, "persistentVolumeClaims", s.PersistentVolumeClaims))
	err = first(err, setAll(w, "csiDrivers", s.CSIDrivers))
	err = first(err, setAll(w, "csiNodes", s.CSINodes))
	err = first(err, setAll(w, "csiStorageCapacities", s.CSIStorageCapacities))
	err = first(err, setAll(w, "volumeAttachments", s.VolumeAttachments))
	err = first(err, setAll(w, "podDisruptionBudgets", s.PodDisruptionBudgets))
	err = first(err, setAll(w, "nodes", s.Nodes))
	err = first(err, setAll(w, "pods", s.Pods))
	return first(err, setAll(w, "pods", unbound(s.Pending)))
}

// unbound are the pending pods as the API server has them. One that names its node never gets to a scheduler; it may be
// judged all the same (the NodeName plugin sees no other), but it does not run there.
func unbound(pending []*corev1.Pod) (pods []*corev1.Pod) {
	for _, pod := range pending {
		if pod.Spec.NodeName != "" {
			pod = pod.DeepCopy()
			pod.Spec.NodeName = ""
		}
		pods = append(pods, pod)
	}
	return pods
}

// set puts an object into its informer. Pods that have ended leave instead: upstream's pod informer does not see them.
func (w *world) set(kind string, obj metav1.Object) error {
	if pod, ok := obj.(*corev1.Pod); ok && ended(pod) {
		key, err := keyOf(pod)
		if err != nil {
			return err
		}
		return w.remove(kind, key)
	}
	w.versions.stamp(obj)
	return w.informers[kind].set(obj)
}

func (w *world) remove(kind, key string) error {
	_, err := w.informers[kind].remove(key)
	return err
}

func (w *world) pod(key string) *corev1.Pod {
	obj, found, err := w.informers["pods"].store.GetByKey(key)
	if err != nil || !found {
		return nil
	}
	return obj.(*corev1.Pod)
}

// refresh brings the snapshot up to date, as every scheduling cycle does first.
func (w *world) refresh() error { return w.sched.Cache.UpdateSnapshot(w.logger, w.snapshot) }

func (w *world) close() { w.cancel() }

func setAll[T metav1.Object](w *world, kind string, objs []T) error {
	for _, o := range objs {
		if err := w.set(kind, o); err != nil {
			return fmt.Errorf("%s %s/%s: %w", kind, o.GetNamespace(), o.GetName(), err)
		}
	}
	return nil
}

func first(err, next error) error {
	if err != nil {
		return err
	}
	return next
}

func ended(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}
