package main

import (
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
)

// kubernetesVersion is whose decisions these are; go.mod pins the same.
const kubernetesVersion = "v1.37.2"

// Answer is one line of output.
type Answer struct {
	ID      string `json:"id"`
	Version string `json:"version"`
	Tier    string `json:"tier,omitempty"`
	// Error is set when the scenario itself could not be played.
	Error    string        `json:"error,omitempty"`
	Snapshot []string      `json:"snapshot,omitzero"`
	Pods     []*Judgement  `json:"pods,omitzero"`
	Steps    []*StepAnswer `json:"steps,omitzero"`
	// Scenario and Rejected are what becomes of manifests.
	Scenario *Scenario   `json:"scenario,omitempty"`
	Rejected []Rejection `json:"rejected,omitempty"`
}

// Rejection says why an object is not in the scenario.
type Rejection struct {
	Object  string `json:"object"`
	Message string `json:"message"`
}

// Status is a plugin's verdict.
type Status struct {
	Plugin  string   `json:"plugin,omitempty"`
	Code    string   `json:"code"`
	Reasons []string `json:"reasons,omitempty"`
	// Nodes is a PreFilter's node set; nil means every node.
	Nodes *[]string `json:"nodes,omitempty"`
}

// Judgement is what tier A says of one pending pod.
type Judgement struct {
	Pod    string `json:"pod"`
	Result string `json:"result"`
	// Error is the text of an aborted cycle.
	Error string `json:"error,omitempty"`
	// PreFilter is each plugin's own verdict unless that is plain success, PreFilterResult what the framework makes of
	// them all where that is a rejection or a set of nodes.
	PreFilter       map[string]*Status `json:"preFilter,omitempty"`
	PreFilterResult *Status            `json:"preFilterResult,omitempty"`
	// Evaluated are the Filter plugins that were asked, Filter their rejections by node and plugin.
	Evaluated []string                     `json:"evaluated,omitempty"`
	Filter    map[string]map[string]Status `json:"filter,omitempty"`
	// Status is the verdict on a rejected node: the first failing plugin, nominated pods counted.
	Status   map[string]*Status    `json:"status,omitempty"`
	Feasible []string              `json:"feasible"`
	Scores   map[string]*NodeScore `json:"scores,omitempty"`
	Winner   string                `json:"winner,omitempty"`
	Message  string                `json:"message,omitempty"`
	*Preemption
}

// NodeScore is a feasible node's total and what each score plugin gave it.
type NodeScore struct {
	Total   int64                  `json:"total"`
	Plugins map[string]PluginScore `json:"plugins"`
}

// PluginScore is a plugin's score of a node: raw, normalised, and times its weight.
type PluginScore [3]int64

// Preemption is the outcome of PostFilter.
type Preemption struct {
	// Nominating is "set", "clear" or "keep": what becomes of the pod's nomination.
	Nominating string                `json:"nominating"`
	Nominated  string                `json:"nominated,omitempty"`
	Victims    []string              `json:"victims,omitempty"`
	Candidates map[string]*Candidate `json:"candidates,omitempty"`
	// Best are the candidates that are equal on all criteria; Nominated is the first of them in snapshot order.
	Best []string `json:"best,omitempty"`
}

// Candidate is a node that preemption would free.
type Candidate struct {
	Victims       []string `json:"victims"`
	PDBViolations int64    `json:"pdbViolations"`
}

// StepAnswer is what tier B says of one "schedule" or "retry" step.
type StepAnswer struct {
	Pod       string `json:"pod"`
	Result    string `json:"result"`
	Node      string `json:"node,omitempty"`
	Evaluated int    `json:"evaluated"`
	Feasible  int    `json:"feasible"`
	Message   string `json:"message,omitempty"`
	Error     string `json:"error,omitempty"`
	*Preemption
}

// Results of a pod.
const (
	feasible      = "feasible"      // tier A: at least one node passes
	scheduled     = "scheduled"     // tier B: placed
	unschedulable = "unschedulable" // no node passes
	failed        = "error"         // the cycle was aborted
	gated         = "gated"         // a PreEnqueue plugin holds it
	foreign       = "foreign"       // no profile has its schedulerName
	deleting      = "deleting"      // it is being deleted, the scheduler skips it
)

func statusOf(s *fwk.Status) *Status {
	if s == nil {
		return &Status{Code: fwk.Success.String()}
	}
	return &Status{Plugin: s.Plugin(), Code: s.Code().String(), Reasons: s.Reasons()}
}

func sortedNames(set sets.Set[string]) *[]string {
	names := sets.List(set)
	return &names
}
