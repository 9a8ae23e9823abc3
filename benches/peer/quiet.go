package main

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
)

// silent drops events, which a real scheduler sends from another thread.
type silent struct{}

func (silent) Eventf(runtime.Object, runtime.Object, string, string, string, string, ...any) {}

func (s silent) WithLogger(klog.Logger) events.EventRecorderLogger { return s }

// percentile returns the time in microseconds that so many per cent of the cycles did not exceed; 0 without any.
func percentile(times []time.Duration, of int) float64 {
	if len(times) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(times))
	return float64(sorted[(len(sorted)-1)*of/100].Nanoseconds()) / 1000
}
