package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler"
	internalcache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

// peer is a real scheduler whose cache is filled by hand.
type peer struct {
	ctx      context.Context
	logger   klog.Logger
	sched    *scheduler.Scheduler
	snapshot *internalcache.Snapshot
	onNodes  map[string]*corev1.Pod // bound or assumed, by namespace/name
	nodes    map[string]*corev1.Node
	mu       sync.Mutex // victims are deleted in parallel
	victims  []string
}

func newPeer(ctx context.Context, w *Workload, percentage int32) (*peer, error) {
	listed, err := w.listed()
	if err != nil {
		return nil, err
	}
	p := &peer{ctx: ctx, logger: klog.FromContext(ctx), snapshot: internalcache.NewEmptySnapshot(),
		onNodes: map[string]*corev1.Pod{}, nodes: map[string]*corev1.Node{}}
	client := fake.NewClientset(listed...)
	client.PrependReactor("delete", "pods", p.evicted)
	client.PrependReactor("patch", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, &corev1.Pod{}, nil
	})
	factory := informers.NewSharedInformerFactory(client, 0)
	p.sched, err = scheduler.New(ctx, client, factory, nil, func(string) events.EventRecorderLogger { return silent{} },
		scheduler.WithNodeInfoSnapshot(p.snapshot), scheduler.WithPercentageOfNodesToScore(&percentage))
	if err != nil {
		return nil, err
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	// Preemption looks its own pod up; informers hear of no other.
	pending := factory.Core().V1().Pods().Informer().GetIndexer()
	for _, pod := range w.Pods {
		if err := pending.Add(pod); err != nil {
			return nil, err
		}
	}
	for _, node := range w.Nodes {
		p.setNode(node)
	}
	for _, pod := range w.Bound {
		if err := p.addPod(pod); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// evicted notes a victim; the API server would tell the scheduler that it is gone.
func (p *peer) evicted(action clienttesting.Action) (bool, runtime.Object, error) {
	deletion := action.(clienttesting.DeleteAction)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.victims = append(p.victims, deletion.GetNamespace()+"/"+deletion.GetName())
	return true, nil, nil
}

func (p *peer) setNode(node *corev1.Node) {
	if old, known := p.nodes[node.Name]; known {
		p.sched.Cache.UpdateNode(p.logger, old, node)
	} else {
		p.sched.Cache.AddNode(p.logger, node)
	}
	p.nodes[node.Name] = node
}

func key(pod *corev1.Pod) string { return pod.Namespace + "/" + pod.Name }

func (p *peer) addPod(pod *corev1.Pod) error {
	p.onNodes[key(pod)] = pod
	return p.sched.Cache.AddPod(p.logger, pod)
}

func (p *peer) removePod(name string) error {
	pod, known := p.onNodes[name]
	if !known {
		return nil
	}
	delete(p.onNodes, name)
	return p.sched.Cache.RemovePod(p.logger, pod)
}

// result is one line of JSON, named as in `podium bench -o json`.
type result struct {
	Scheduled     int                `json:"scheduled"`
	Failed        int                `json:"failed"`
	Seconds       float64            `json:"seconds"`
	PodsPerSecond float64            `json:"pods_per_second"`
	Latency       map[string]float64 `json:"latency_us"`
}

func (p *peer) run(w *Workload) (*result, error) {
	times := make([]time.Duration, 0, len(w.Pods))
	steps := w.Steps
	start := time.Now()
	failed := 0
	for _, pod := range w.Pods {
		for len(steps) > 0 && steps[0].After <= len(times) {
			if err := p.apply(steps[0]); err != nil {
				return nil, err
			}
			steps = steps[1:]
		}
		began := time.Now()
		placed, err := p.place(pod)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key(pod), err)
		}
		if placed {
			times = append(times, time.Since(began))
		} else {
			failed++
		}
	}
	took := time.Since(start).Seconds()
	return &result{
		Scheduled: len(times), Failed: failed, Seconds: took, PodsPerSecond: float64(len(times)) / took,
		Latency: map[string]float64{"p50": percentile(times, 50), "p99": percentile(times, 99)},
	}, nil
}

func (p *peer) apply(s Step) error {
	switch {
	case s.Node != nil && s.Change != "delete":
		p.setNode(s.Node)
		return nil
	case s.Node != nil:
		delete(p.nodes, s.Node.Name)
		return p.sched.Cache.RemoveNode(p.logger, s.Node)
	case s.Change == "delete":
		return p.removePod(key(s.Pod))
	default:
		return p.addPod(s.Pod)
	}
}

// place runs the cycle of one pod, and after a preemption its second one, on the node it was nominated to.
func (p *peer) place(pod *corev1.Pod) (bool, error) {
	node, err := p.cycle(pod)
	if err != nil || node == "" {
		return false, err
	}
	if len(p.victims) > 0 {
		for _, victim := range p.victims {
			if err := p.removePod(victim); err != nil {
				return false, err
			}
		}
		p.victims = p.victims[:0]
		pod.Status.NominatedNodeName = node
		if node, err = p.cycle(pod); err != nil || node == "" {
			return false, err
		}
	}
	assumed := *pod
	assumed.Spec.NodeName = node
	p.onNodes[key(pod)] = &assumed
	return true, p.sched.Cache.AssumePod(p.logger, &assumed)
}

// cycle returns the node that takes the pod, or the one it is nominated to with victims noted; "" if there is none.
func (p *peer) cycle(pod *corev1.Pod) (string, error) {
	if err := p.sched.Cache.UpdateSnapshot(p.logger, p.snapshot); err != nil {
		return "", err
	}
	profile := p.sched.Profiles[pod.Spec.SchedulerName]
	info, err := framework.NewPodInfo(pod)
	if err != nil {
		return "", err
	}
	queued := &framework.QueuedPodInfo{PodInfo: info, PodSignature: profile.SignPod(p.ctx, pod)}
	state := framework.NewCycleState()
	placed, err := p.sched.SchedulePod(p.ctx, profile, state, queued)
	var fit *framework.FitError
	if !errors.As(err, &fit) {
		return placed.SuggestedHost, err
	}
	found, _ := profile.RunPostFilterPlugins(p.ctx, state, pod, fit.Diagnosis.NodeToStatus)
	if found == nil || found.NominatingInfo == nil {
		return "", nil
	}
	return found.NominatedNodeName, nil
}
