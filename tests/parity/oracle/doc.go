// Command oracle answers scheduling scenarios with kube-scheduler's own code. It reads one scenario per line of JSON
// on standard input and writes one answer per line on standard output; ../README.md is the schema of both.
//
// A scenario is played on a world: a real scheduler built by scheduler.New on informers that deliver synchronously
// and list in insertion order. There is no API server and no goroutine whose timing could matter, so an answer is a
// function of its scenario. What upstream leaves to chance is pinned: parallelism 1, preemption dry runs start at the
// first node, and equal preemption candidates go to the first node of the snapshot.
package main
