// Command oracle asks the real sigs.k8s.io/descheduler what it evicts.
//
// It reads scenarios, one JSON object a line, and writes an answer a line, in the order of the scenarios. A
// scenario is a cluster and a policy file; the answer holds every distinct outcome of one descheduling cycle over
// a number of runs, because the real one visits nodes and pods in random order.
//
// Evicted pods stay, terminating, as they do on a live API server. Budgets are not enforced: the fake API has no
// disruption controller.
package main
