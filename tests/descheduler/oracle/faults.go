package main

import (
	"fmt"
	"sync"

	"github.com/go-logr/logr"
)

// faults collects, by profile, the errors that the descheduler only logs. Profiles that run at the same time must
// have different names.
type faults struct {
	lock      sync.Mutex
	byProfile map[string][]string
}

func newFaults() *faults { return &faults{byProfile: map[string][]string{}} }

// take returns and forgets what was logged about a profile.
func (f *faults) take(profile string) []string {
	f.lock.Lock()
	defer f.lock.Unlock()
	found := f.byProfile[profile]
	delete(f.byProfile, profile)
	return found
}

// Init implements logr.LogSink.
func (f *faults) Init(logr.RuntimeInfo) {}

// Enabled implements logr.LogSink: only errors are of interest.
func (f *faults) Enabled(int) bool { return false }

// Info implements logr.LogSink.
func (f *faults) Info(int, string, ...any) {}

// Error implements logr.LogSink.
func (f *faults) Error(err error, _ string, pairs ...any) {
	for at := 0; at+1 < len(pairs); at += 2 {
		if pairs[at] == "profile" && err != nil {
			profile := fmt.Sprint(pairs[at+1])
			f.lock.Lock()
			f.byProfile[profile] = append(f.byProfile[profile], err.Error())
			f.lock.Unlock()
		}
	}
}

// WithValues implements logr.LogSink.
func (f *faults) WithValues(...any) logr.LogSink { return f }

// WithName implements logr.LogSink.
func (f *faults) WithName(string) logr.LogSink { return f }
