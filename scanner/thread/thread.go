// Package thread says which goroutines the system's scheduler may let wait.
//
// A scan has one goroutine that owns the socket, and others that make records
// of what came, compress them and write them. What waits in the socket is soon
// lost, what waits in memory is not. With all at one priority the first has to
// wait, a millisecond and more at a time, behind the others, while another
// processor has nothing to do.
package thread

// lower is how much nicer than the process a thread is: as much as nice(1) makes
// a program. It then has a tenth of the weight, so that it is served late, but
// never not at all.
const lower = 10

// nicest is the largest niceness there is.
const nicest = 19
