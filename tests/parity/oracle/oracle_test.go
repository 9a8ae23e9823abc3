package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
)

func TestMain(m *testing.M) {
	if err := utilfeature.DefaultMutableFeatureGate.Set(pinnedGates); err != nil {
		panic(err)
	}
	metrics.Register()
	os.Exit(m.Run())
}

func testNode(name, zone string) *corev1.Node {
	resources := corev1.ResourceList{"cpu": resource.MustParse("4"), "memory": resource.MustParse("8Gi"), "pods": resource.MustParse("10")}
	labels := map[string]string{corev1.LabelHostname: name, corev1.LabelTopologyZone: zone}
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}, Status: corev1.NodeStatus{Allocatable: resources}}
}

func testPod(name, cpu string, priority int32) *corev1.Pod {
	requests := corev1.ResourceList{"cpu": resource.MustParse(cpu)}
	container := corev1.Container{Name: "c", Image: "i", Resources: corev1.ResourceRequirements{Requests: requests}}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"},
		Spec:       corev1.PodSpec{SchedulerName: "default-scheduler", Priority: &priority, Containers: []corev1.Container{container}},
	}
}

func testNodes() []*corev1.Node {
	return []*corev1.Node{testNode("n1", "z1"), testNode("n2", "z1"), testNode("n3", "z2")}
}

func play(t *testing.T, s *Scenario) *Answer {
	t.Helper()
	line, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	a := answer(line)
	if a.Error != "" {
		t.Fatal(a.Error)
	}
	return a
}

func steps(ops ...string) (out []Step) {
	for _, op := range ops {
		word, rest, _ := strings.Cut(op, " ")
		switch word {
		case "schedule":
			template, name, _ := strings.Cut(rest, " ")
			out = append(out, Step{Op: word, Template: template, Name: name})
		default:
			out = append(out, Step{Op: word, Key: rest})
		}
	}
	return out
}

// The tier-A answer for a pod must be what the scheduler does with it.
func TestTierAAgreesWithTheCycle(t *testing.T) {
	for _, pod := range []*corev1.Pod{testPod("p", "1", 0), testPod("p", "3", 100), testPod("p", "9", 0)} {
		bound := []*corev1.Pod{testPod("a", "2", 0), testPod("b", "3", 5), testPod("c", "1500m", 0)}
		for i, b := range bound {
			start := metav1.Unix(int64(i), 0)
			b.Spec.NodeName, b.Status.StartTime = fmt.Sprintf("n%d", i+1), &start
		}
		a := play(t, &Scenario{Tier: "A", Nodes: testNodes(), Pods: bound, Pending: []*corev1.Pod{pod}}).Pods[0]
		b := play(t, &Scenario{Tier: "B", Nodes: testNodes(), Pods: bound, Steps: []Step{{Op: "schedule", Pod: pod}}}).Steps[0]
		if a.Winner != b.Node || a.Message != b.Message || !reflect.DeepEqual(a.Preemption, b.Preemption) || len(a.Feasible) != b.Feasible {
			t.Errorf("pod of %v: tier A says %+v, the cycle %+v", pod.Spec.Containers[0].Resources.Requests, a, b)
		}
	}
}

func TestVictimsLeaveAtSettle(t *testing.T) {
	templates := map[string]*corev1.Pod{"low": testPod("", "3", 0), "high": testPod("", "3", 10)}
	ops := steps("schedule low a", "schedule low b", "schedule low c", "schedule high h", "retry default/h", "settle", "retry default/h")
	got := play(t, &Scenario{Tier: "B", Nodes: testNodes(), Templates: templates, Steps: ops}).Steps
	if got[3].Nominated == "" || len(got[3].Victims) != 1 || got[3].Victims[0] != "default/c" {
		t.Fatalf("the youngest pod should be the victim: %+v", got[3].Preemption)
	}
	if want := "preemption: not eligible due to a terminating pod on the nominated node."; !strings.Contains(got[4].Message, want) || got[4].Nominating != "keep" {
		t.Errorf("before the victim left: %q, want %q in it", got[4].Message, want)
	}
	if got[6].Node != got[3].Nominated {
		t.Errorf("after the victim left: %+v, want it on %s", got[6], got[3].Nominated)
	}
}

func TestTheRotationAdvances(t *testing.T) {
	scenario := &Scenario{Tier: "B", Templates: map[string]*corev1.Pod{"t": testPod("", "100m", 0)}}
	scenario.Configuration = json.RawMessage(`{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration","percentageOfNodesToScore":1}`)
	for i := range 120 {
		scenario.Nodes = append(scenario.Nodes, testNode(fmt.Sprintf("n%03d", i), "z"))
	}
	scenario.Steps = steps("schedule t a", "schedule t b")
	got := play(t, scenario).Steps
	if got[0].Feasible != 100 || got[0].Node != "n000" || got[1].Node != "n100" {
		t.Errorf("first %+v, second %+v: want n000, then n100 of 100 feasible", got[0], got[1])
	}
}

func TestAnswersAreReproducible(t *testing.T) {
	scenario := &Scenario{Tier: "B", Nodes: testNodes(), Templates: map[string]*corev1.Pod{"low": testPod("", "1", 0), "high": testPod("", "2", 10)}}
	for i := range 14 {
		scenario.Steps = append(scenario.Steps, steps(fmt.Sprintf("schedule low p%d", i))...)
	}
	scenario.Steps = append(scenario.Steps, steps("schedule high h", "schedule high i", "settle", "retry default/i", "retry default/h")...)
	one, _ := json.Marshal(play(t, scenario))
	for range 20 {
		if other, _ := json.Marshal(play(t, scenario)); !bytes.Equal(one, other) {
			t.Fatalf("two runs differ:\n%s\n%s", one, other)
		}
	}
}

func TestBadScenariosAreAnswered(t *testing.T) {
	for line, want := range map[string]string{
		`{"tier":"C"}`: "want A or B",
		`{"tier":"A","configuration":{"kind":"Pod","apiVersion":"v1"}}`: "configuration",
		`{"tier":"B","steps":[{"op":"dance"}]}`:                         "no such op",
		`{"tier":"A","nodes":3}`:                                        "scenario",
	} {
		if got := answer([]byte(line)); !strings.Contains(got.Error, want) {
			t.Errorf("%s: error %q, want %q in it", line, got.Error, want)
		}
	}
}
