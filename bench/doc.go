// Package bench compares the cost of a scan with the cost of the system calls that the
// scan can't avoid.
//
// The measurements are tests, which need Linux. A workload is a Config, and Run measures
// the workload once: Run starts simulated servers in one process and the client in
// another, and returns what the client spent (Result). The client is either the scanner,
// or a bare loop over the same system calls that neither decodes nor writes anything.
// TestBars compares workloads, and runs them in turn, several times. Otherwise other
// programs on the machine might slow only one of them.
//
// README.md in this directory explains how to run the benchmarks and lists the
// results.
package bench
