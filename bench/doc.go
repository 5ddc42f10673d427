// Package bench measures the whole scanner against the system calls that it
// cannot avoid.
//
// A workload is a [Config], and [Run] measures it once: it starts simulated
// servers in a process of their own, the client in another, and returns what
// that one spent ([Result]). The client is the scanner, or a bare loop over the
// same system calls that neither decodes nor writes: the ceiling. [Rounds]
// alternates several clients, so that a ratio of two of them is taken from one
// and the same time of a machine that others use too.
//
// Both processes are the program itself, started again: a program or a test
// that calls Run calls [Child] before everything else. It needs Linux.
//
// README.md beside this file explains how to run it and lists the results.
package bench
