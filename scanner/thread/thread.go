// Package thread lowers the priority of goroutines that can wait.
//
// In a scan one goroutine owns the socket; others make records, compress them and
// write them. Datagrams that wait in the socket are soon lost; records that wait in
// memory are not. With equal priorities the goroutine that owns the socket has to
// wait for the others, for a millisecond and more at a time, even while another
// processor is idle.
package thread

// lower is added to the niceness of the thread, as nice(1) does by default. The thread
// then has a tenth of the weight of the others, so it runs late, but it always runs.
const lower = 10

// nicest is the highest possible niceness.
const nicest = 19
