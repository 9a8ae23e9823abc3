package main

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
)

// recordingClient is the API client of a world. The only call that a scheduling cycle makes through it is the status
// patch that takes the nomination from lower-priority pods; it is recorded, and the world applies it. Every other call
// would be a change upstream that this program has to learn about: it panics on the nil interface, and the answer says so.
type recordingClient struct {
	kubernetes.Interface
	patched []string
}

func newRecordingClient() *recordingClient { return &recordingClient{} }

func (c *recordingClient) CoreV1() typedcorev1.CoreV1Interface { return recordingCore{client: c} }

// takePatched returns the keys of the pods whose status was patched since the last call.
func (c *recordingClient) takePatched() []string {
	patched := c.patched
	c.patched = nil
	return patched
}

type recordingCore struct {
	typedcorev1.CoreV1Interface
	client *recordingClient
}

func (r recordingCore) Pods(namespace string) typedcorev1.PodInterface {
	return recordingPods{client: r.client, namespace: namespace}
}

type recordingPods struct {
	typedcorev1.PodInterface
	client    *recordingClient
	namespace string
}

func (r recordingPods) Patch(_ context.Context, name string, _ types.PatchType, _ []byte, _ metav1.PatchOptions, _ ...string) (*corev1.Pod, error) {
	r.client.patched = append(r.client.patched, r.namespace+"/"+name)
	return &corev1.Pod{}, nil
}

// silentRecorder drops events: answers carry their text.
type silentRecorder struct{}

func newSilentRecorder(string) events.EventRecorderLogger { return silentRecorder{} }

func (silentRecorder) Eventf(runtime.Object, runtime.Object, string, string, string, string, ...any) {
}

func (r silentRecorder) WithLogger(klog.Logger) events.EventRecorderLogger { return r }
