// Package bench measures the whole scanner against the system calls that it cannot
// avoid.
//
// The measurements are tests, which need Linux. A workload is a Config, and Run measures
// the workload once: Run starts simulated servers in one process and the client in
// another, and returns what the client spent (Result). The client is either the scanner,
// or a bare loop over the same system calls that neither decodes nor writes anything.
// TestBars alternates several clients, so that the two sides of a ratio are measured at
// about the same time, on a machine that others use too.
//
// README.md in this directory explains how to run the benchmarks and lists the
// results.
package bench
