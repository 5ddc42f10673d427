// Package thread lowers the priority of goroutines that can wait, and measures the processor
// time of threads.
//
// In a scan one goroutine reads the socket; others make, compress and write records.
// Datagrams that wait in the socket are soon lost; records that wait in memory are not.
// With equal priorities, the goroutine that reads the socket has to wait for the others,
// for a millisecond and more at a time, even while another processor is idle.
package thread

// lower is added to the niceness of the thread; nice(1) adds the same by default. The
// scheduler then gives the thread a tenth of the weight of the other threads.
const lower = 10

const nicest = 19
