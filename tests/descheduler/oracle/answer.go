package main

import (
	"encoding/json"
	"os"
	"sort"
)

// eviction is one pod that was evicted.
type eviction struct {
	Pod     string `json:"pod"`
	Node    string `json:"node"`
	Plugin  string `json:"plugin"`
	Profile string `json:"profile"`
}

// outcome is what one or more runs did. Evictions are in the order of the first of these runs; outcomes that differ
// in nothing but order are one.
type outcome struct {
	Runs      int        `json:"runs"`
	Evictions []eviction `json:"evictions"`
	// Errors are those of plugins in the cycle; the process goes on.
	Errors []string `json:"errors"`
}

// answer is one line of output.
type answer struct {
	ID       string    `json:"id"`
	Outcomes []outcome `json:"outcomes,omitempty"`
	// Refused is the text with which the policy, or the start, was refused.
	Refused string `json:"refused,omitempty"`
	// Error means that the scenario itself is of no use.
	Error string `json:"error,omitempty"`
}

func respond(line []byte, faults *faults) answer {
	var asked scenario
	if err := json.Unmarshal(line, &asked); err != nil {
		return answer{Error: err.Error()}
	}
	result := answer{ID: asked.ID}
	cluster, err := decodeWorld(asked.Objects)
	if err != nil {
		result.Error = err.Error()
		return result
	}
	path, err := writePolicy(asked.Policy)
	if err != nil {
		result.Error = err.Error()
		return result
	}
	defer os.RemoveAll(path.folder)
	found := map[string]*outcome{}
	for range max(asked.Runs, 1) {
		one, refused := run(asked, cluster, path.file, faults)
		if refused != nil {
			result.Refused = path.anonymous(refused.Error())
			return result
		}
		key := one.key()
		if found[key] == nil {
			found[key] = one
		}
		found[key].Runs++
	}
	for _, one := range found {
		result.Outcomes = append(result.Outcomes, *one)
	}
	sort.Slice(result.Outcomes, func(a, b int) bool { return result.Outcomes[a].Runs > result.Outcomes[b].Runs })
	return result
}

// key is equal for equal outcomes.
func (o *outcome) key() string {
	sorted := append([]eviction{}, o.Evictions...)
	sort.Slice(sorted, func(a, b int) bool {
		x, y := sorted[a], sorted[b]
		return x.Pod+"|"+x.Plugin+"|"+x.Profile < y.Pod+"|"+y.Plugin+"|"+y.Profile
	})
	text, err := json.Marshal(outcome{Evictions: sorted, Errors: o.Errors})
	if err != nil {
		panic(err) // strings and numbers only
	}
	return string(text)
}
