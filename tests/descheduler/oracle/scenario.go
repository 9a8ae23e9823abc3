package main

import (
	"encoding/json"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"
)

// scenario is one line of input.
type scenario struct {
	ID      string            `json:"id"`
	Objects []json.RawMessage `json:"objects"`
	Policy  string            `json:"policy"`
	// Runs is the number of repetitions, each from the same cluster.
	Runs int `json:"runs"`
	// Settle is how long to wait after an eviction, in microseconds, so that the informers see it.
	Settle int `json:"settle"`
	// Prometheus is the "data" of the server's answer to any query; empty: there is no client.
	Prometheus json.RawMessage `json:"prometheus"`
}

func (s scenario) settle() time.Duration { return time.Duration(s.Settle) * time.Microsecond }

// world is the cluster of a scenario.
type world struct {
	objects     []runtime.Object
	nodeMetrics []*metricsv1beta1.NodeMetrics
	podMetrics  []*metricsv1beta1.PodMetrics
}

func decodeWorld(objects []json.RawMessage) (*world, error) {
	result := &world{}
	for number, text := range objects {
		if err := result.add(text); err != nil {
			return nil, fmt.Errorf("object %d: %w", number, err)
		}
	}
	return result, nil
}

func (w *world) add(text json.RawMessage) error {
	var meta struct {
		Kind string `json:"kind"`
	}
	if err := json.Unmarshal(text, &meta); err != nil {
		return err
	}
	switch meta.Kind {
	case "NodeMetrics":
		item := &metricsv1beta1.NodeMetrics{}
		w.nodeMetrics = append(w.nodeMetrics, item)
		return json.Unmarshal(text, item)
	case "PodMetrics":
		item := &metricsv1beta1.PodMetrics{}
		w.podMetrics = append(w.podMetrics, item)
		return json.Unmarshal(text, item)
	}
	item, _, err := scheme.Codecs.UniversalDeserializer().Decode(text, nil, nil)
	if err == nil {
		w.objects = append(w.objects, item)
	}
	return err
}

// copies returns objects that a run may change.
func (w *world) copies() []runtime.Object {
	result := make([]runtime.Object, 0, len(w.objects))
	for _, item := range w.objects {
		result = append(result, item.DeepCopyObject())
	}
	return result
}
