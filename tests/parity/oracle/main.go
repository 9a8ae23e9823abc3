package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
)

// pinnedGates are the only gates that differ from their defaults. Both change when something happens, not what is
// decided: preemption is carried out inside PostFilter, and no event broadcaster watches device taints.
const pinnedGates = "SchedulerAsyncPreemption=false,DRADeviceTaintRules=false"

func main() {
	silenceLogs()
	if err := utilfeature.DefaultMutableFeatureGate.Set(pinnedGates); err != nil {
		fatal(err)
	}
	metrics.Register()
	if err := serve(os.Stdin, os.Stdout); err != nil {
		fatal(err)
	}
}

// silenceLogs keeps klog off standard error unless -v asks for it.
func silenceLogs() {
	klog.InitFlags(nil)
	for name, value := range map[string]string{"logtostderr": "false", "stderrthreshold": "FATAL", "alsologtostderr": "false"} {
		if err := flag.Set(name, value); err != nil {
			fatal(err)
		}
	}
	flag.Parse()
	if flag.Lookup("v").Value.String() == "0" {
		klog.SetOutput(io.Discard)
	} else {
		klog.SetOutput(os.Stderr)
	}
}

func fatal(err error) {
	fmt.Fprintln(os.Stderr, "oracle:", err)
	os.Exit(2)
}

// serve answers line by line; each answer is flushed, so that a caller may wait for it.
func serve(in io.Reader, out io.Writer) error {
	reader := bufio.NewReaderSize(in, 1<<20)
	writer := bufio.NewWriterSize(out, 1<<20)
	encoder := json.NewEncoder(writer)
	encoder.SetEscapeHTML(false)
	for {
		line, err := reader.ReadBytes('\n')
		if len(line) > 1 {
			if err := encoder.Encode(answer(line)); err != nil {
				return err
			}
			if err := writer.Flush(); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// answer never panics: what goes wrong in one scenario is that scenario's answer.
func answer(line []byte) (result *Answer) {
	scenario, err := parseScenario(line)
	defer func() {
		if p := recover(); p != nil {
			result = &Answer{Error: fmt.Sprintf("panic: %v\n%s", p, debug.Stack())}
		}
		result.ID, result.Tier, result.Version = scenario.ID, scenario.Tier, kubernetesVersion
	}()
	switch {
	case err != nil:
	case scenario.Manifests != nil:
		result = scenario.Manifests.load(scenario.ID)
	case scenario.Tier == "A":
		result, err = answerTierA(scenario)
	default:
		result, err = answerTierB(scenario)
	}
	if err != nil {
		result = &Answer{Error: err.Error()}
	}
	return result
}
