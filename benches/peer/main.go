// Command peer measures kube-scheduler's own scheduling cycle on a workload that Podium wrote down: snapshot update,
// filter, score, pick, assume, and preemption where nothing fits. There is no API server, no queue and no informer in
// the way, so this is the best that the peer can do.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
)

// gates are the only ones that differ from their defaults: victims are deleted inside PostFilter, where the program
// learns who they are.
const gates = "SchedulerAsyncPreemption=false"

func main() {
	file := flag.String("workload", "-", "file with the workload as JSON, - for standard input")
	percentage := flag.Int("percentage", 0, "percentageOfNodesToScore: 0 is the adaptive sample, 100 all nodes")
	limit := flag.Int("limit", 0, "measure only so many of the pods, 0 all")
	flag.Parse()
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	if err := measure(*file, int32(*percentage), *limit); err != nil {
		fmt.Fprintln(os.Stderr, "peer:", err)
		os.Exit(2)
	}
}

func measure(file string, percentage int32, limit int) error {
	if err := utilfeature.DefaultMutableFeatureGate.Set(gates); err != nil {
		return err
	}
	metrics.Register()
	workload, err := load(file)
	if err != nil {
		return err
	}
	if limit > 0 && limit < len(workload.Pods) {
		workload.Pods = workload.Pods[:limit]
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	peer, err := newPeer(ctx, workload, percentage)
	if err != nil {
		return err
	}
	result, err := peer.run(workload)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(result)
}
